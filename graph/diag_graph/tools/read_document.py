"""`read_document`: lines of a text document, as they stand in it, with their numbers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from pydantic import Field

from diag_graph.analysis.numbers import plural
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import DocumentSource
from diag_graph.tools.definition import MAX_ITEM_TEXT, Tool, ToolArguments, ToolContext, ToolError, ToolOutput
from diag_graph.tools.scope import CUT, nothing

_MAX_LISTED = 12
_CONTEXT_LINES = 1


class DocumentArguments(ToolArguments):
    """Which lines of which document."""

    name: str = Field(description="A document's name, as list_evidence gives it.")
    from_line: int = Field(default=1, ge=1, description="First line, counted from 1.")
    to_line: int | None = Field(default=None, ge=1, description="Last line. Default: as far as limit goes.")
    query: str | None = Field(
        default=None, description="Only lines that hold this text, case ignored, and their neighbours."
    )
    limit: int = Field(default=120, ge=1, le=1_000, description="How many lines to give.")


def _run(arguments: DocumentArguments, context: ToolContext) -> ToolOutput:
    source = context.evidence.documents
    name = _resolved(arguments.name, source)
    lines = source.lines(name) if source is not None else ()
    end = len(lines) if arguments.to_line is None else min(arguments.to_line, len(lines))
    if arguments.from_line > max(end, 1):
        raise ToolError(f"{name} has {plural(len(lines), 'line')}: none from {arguments.from_line} to {end}")
    numbers = list(range(arguments.from_line, end + 1))
    if arguments.query:
        numbers = _around(lines, numbers, arguments.query.lower())
    wanted = [number for number in numbers if lines[number - 1].strip()]
    if not wanted:
        asked = f" that holds {arguments.query!r}" if arguments.query else " with text"
        text = f"No line{asked} is in document {name}, lines {arguments.from_line} to {end} of {len(lines):,}."
        return ToolOutput(nothing(text, "document", document=name), "nothing matched", empty=True)
    items = [_item(name, number, lines[number - 1]) for number in wanted[: arguments.limit]]
    truncated = None
    if len(wanted) > arguments.limit:
        hint = f"go on with from_line {wanted[arguments.limit]}, or give a query"
        truncated = {"shown": arguments.limit, "total": len(wanted), "hint": hint}
    summary = f"{plural(len(items), 'line')} of {name}, which has {plural(len(lines), 'line')}; blank ones are left out"
    return ToolOutput(items, summary, truncated=truncated, extra={"document": name, "lines": len(lines)})


def _resolved(name: str, source: DocumentSource | None) -> str:
    """The document of that name, or the only one whose name ends so, case ignored.

    Raises:
        ToolError: there is none, or more than one.
    """
    known = list(source.names()) if source is not None else []
    if name in known:
        return name
    alike = [one for one in known if one.lower().endswith(name.lower().lstrip("/"))]
    if len(alike) == 1:
        return alike[0]
    near = alike or difflib.get_close_matches(name, known, n=_MAX_LISTED, cutoff=0.4) or known
    listed = ", ".join(near[:_MAX_LISTED]) or "none"
    raise ToolError(f"there is no document {name!r}; there are {plural(len(known), 'document')}, such as: {listed}")


def _around(lines: Sequence[str], numbers: list[int], query: str) -> list[int]:
    """Line numbers that hold the text, and their neighbours."""
    allowed = set(numbers)
    hits = [number for number in numbers if query in lines[number - 1].lower()]
    near = {number + offset for number in hits for offset in range(-_CONTEXT_LINES, _CONTEXT_LINES + 1)}
    return sorted(near & allowed)


def _item(name: str, number: int, line: str) -> JsonObject:
    text = line if len(line) <= MAX_ITEM_TEXT else line[: MAX_ITEM_TEXT - len(CUT)] + CUT
    return {
        "text": text,
        "entity": "",
        "signal": "document",
        "change": "line",
        "onset": None,
        "score": 0.0,
        "document": name,
        "line": number,
        "source": f"{name}:{number}",
        "cut": len(line) > MAX_ITEM_TEXT,
    }


def _offered(context: ToolContext) -> bool:
    return context.evidence.documents is not None and bool(context.evidence.documents.names())


READ_DOCUMENT = Tool(
    name="read_document",
    summary="Lines of a text document (command output, configuration, postmortem), as they stand, by range or by text.",
    arguments=DocumentArguments,
    run=_run,
    offered=_offered,
)
