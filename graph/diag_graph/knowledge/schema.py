"""The index file: a file of its own, for it can be made anew at any time from what lies on disk, and runs cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diag_graph.database.opening import FileKind
from diag_graph.database.problems import FileError, FileWords

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x64696B6E
"""`dikn` in ASCII, in SQLite's header: tells an index of runbooks from a store of runs."""


class KnowledgeError(FileError):
    """The index of runbooks cannot be used."""

    words = FileWords(
        "runbook index",
        "Choose another file with --index or DIAG_KNOWLEDGE; `diag knowledge add` makes a new one.",
        "`diag knowledge add PATH` makes one from your Markdown runbooks.",
    )


def m001_knowledge(db: Database) -> None:
    """Paths that were added, their files, what could not be read, passages, and the full text of these."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(
        "CREATE TABLE knowledge_root (root_id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, label TEXT NOT NULL,"
        " added_at TEXT NOT NULL, read_at TEXT NOT NULL)"
    )
    db.execute(
        "CREATE TABLE knowledge_file (file_id INTEGER PRIMARY KEY,"
        " root_id INTEGER NOT NULL REFERENCES knowledge_root (root_id), path TEXT NOT NULL,"
        " content_hash TEXT NOT NULL, title TEXT NOT NULL, domain TEXT NOT NULL, tags TEXT NOT NULL,"
        " own_domain INTEGER NOT NULL, UNIQUE (root_id, path))"
    )
    db.execute(
        "CREATE TABLE knowledge_problem (root_id INTEGER NOT NULL REFERENCES knowledge_root (root_id),"
        " path TEXT NOT NULL, why TEXT NOT NULL)"
    )
    db.execute(
        "CREATE TABLE passage (passage_id INTEGER PRIMARY KEY,"
        " file_id INTEGER NOT NULL REFERENCES knowledge_file (file_id), headings TEXT NOT NULL,"
        " first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, units TEXT NOT NULL, fingerprint TEXT NOT NULL)"
    )
    db.execute("CREATE INDEX passage_of_file ON passage (file_id)")
    db.execute(
        "CREATE VIRTUAL TABLE passage_text USING fts5 (title, headings, body,"
        " tokenize = 'porter unicode61 remove_diacritics 2')"
    )


KIND = FileKind(APPLICATION_ID, (m001_knowledge,), KnowledgeError)
