"""Runbooks and postmortems: Markdown files in a full-text index, what is advised and never what happened.

    markdown.py     a file's text -> title, tags, domain, sections of blocks
    passages.py     sections -> passages of whole blocks, each with its heading path and lines
    terms.py        text -> what is indexed of it; a question -> what is searched for (Chinese and Japanese too)
    files.py        what lies under a path that somebody adds
    schema.py       the index file, and what can be wrong with it
    index.py        KnowledgeIndex: adding, listing, removing
    indexing.py     bringing the index up to what lies on disk, by content hash
    ranking.py      how relevant a passage is, and which passages say the same
    search.py       finding passages

Importing this package loads nothing heavy.
"""

from __future__ import annotations

from diag_graph.knowledge.index import KnowledgeIndex
from diag_graph.knowledge.schema import KnowledgeError

__all__ = ["KnowledgeError", "KnowledgeIndex"]
