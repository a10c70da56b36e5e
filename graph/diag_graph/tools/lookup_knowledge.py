"""`lookup_knowledge`: passages of runbooks, each named by its file, its headings and its lines.

What it returns is advice (G6): it can show that a runbook recommends something, and never that anything happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from diag_graph.analysis.numbers import plural
from diag_graph.contracts import JsonObject
from diag_graph.knowledge.passages import pieces
from diag_graph.sources.ports import FoundPassage, Retrieval
from diag_graph.tools.definition import (
    LOOKUP_KNOWLEDGE,
    MAX_ITEM_TEXT,
    Tool,
    ToolArguments,
    ToolContext,
    ToolError,
    ToolOutput,
)
from diag_graph.tools.scope import asked_for, clip, nothing

MAX_SOURCE, MAX_HEADING, HEADINGS = 100, 60, 2
"""Characters of a file's name and of a heading in a statement, and how many headings stand there: the innermost."""


class KnowledgeArguments(ToolArguments):
    """What to look up."""

    query: str = Field(
        min_length=1,
        max_length=2_000,
        description="The failure in words, with names and error codes; Chinese and Japanese too.",
    )
    domain: str | None = Field(default=None, description="Only runbooks of this domain.")
    limit: int = Field(default=4, ge=1, le=10, description="How many passages to give.")


def _run(arguments: KnowledgeArguments, context: ToolContext) -> ToolOutput:
    source = context.guidance.knowledge
    if source is None:
        raise ToolError("there is no index of runbooks")
    found = source.search(arguments.query, domain=arguments.domain, limit=arguments.limit)
    details = dict(found.details)
    if not found.passages:
        text = _nothing_found(arguments, found, source.domains())
        return ToolOutput(nothing(text, "knowledge"), "no passage", empty=True, retrieval_details=details)
    items = [item for passage in found.passages for item in _items(passage)]
    files = plural(len({passage.source for passage in found.passages}), "runbook")
    summary = (
        f"{plural(len(found.passages), 'passage')} of {files}, of {found.searched:,} searched; advice, no evidence"
    )
    truncated = None
    if found.matched > len(found.passages):
        truncated = {"shown": len(found.passages), "total": found.matched, "hint": _HINT}
    return ToolOutput(items, summary, truncated=truncated, retrieval_details=details)


_HINT = "name a domain, give more of the failure's own words, or raise limit"


def _nothing_found(arguments: KnowledgeArguments, found: Retrieval, domains: Sequence[str]) -> str:
    known = ", ".join(line.partition(":")[0] for line in domains)
    asked = asked_for(query=clip(arguments.query, MAX_HEADING * 2), domain=arguments.domain)
    return (
        f"No runbook passage is about what was asked{asked}; {found.searched:,} searched, domains: {known or 'none'}."
    )


def _items(passage: FoundPassage) -> Iterator[JsonObject]:
    """The passage in pieces that can each be quoted whole; each says where it stands."""
    place = _place(passage)
    for piece in pieces(passage.units, MAX_ITEM_TEXT - len(place)):
        several = "\n" in piece  # then all of its lines begin at the margin, and what is indented stays so
        yield {
            "text": f"{place.rstrip()}\n{piece}" if several else f"{place}{piece}",
            "entity": "",
            "signal": "knowledge",
            "source": passage.source,
            "headings": list(passage.headings),
            "lines": f"{passage.first}-{passage.last}",
            "domain": passage.domain,
            "relevance": passage.relevance,
            "share": passage.share,
            "score": passage.score,
        }


def _place(passage: FoundPassage) -> str:
    """Where a passage stands: `runbooks/db/pool.md, 'Pool exhausted' > 'Mitigation': `."""
    headings = " > ".join(f"'{clip(heading, MAX_HEADING)}'" for heading in passage.headings[-HEADINGS:])
    source = clip(passage.source, MAX_SOURCE)
    return f"{source}, {headings}: " if headings else f"{source}: "


def _offered(context: ToolContext) -> bool:
    return context.guidance.knowledge is not None


LOOKUP = Tool(
    name=LOOKUP_KNOWLEDGE,
    summary="Passages of the team's runbooks about a failure: what they advise, never what happened.",
    arguments=KnowledgeArguments,
    run=_run,
    offered=_offered,
    guidance=True,
)
