"""Recorded results as a model sees them: every item a line that begins with its address, so that a citation is copied.

    [inv-3] search_logs {"service": "orders"} -> ok: 41 of 12,340 lines matched
    [inv-3 /items/0/text] 06:02:11 ERROR pool exhausted

What a tool returned in the house's shape (`items` with a `text` each) is shown by items; any other JSON by its leaves.
A line break within a text is shown as a space, which the gatekeeper takes for the same, so that no text can look like
a line of another result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from diag_graph.contracts import Invocation, InvocationStatus, JsonObject

MAX_LINE = 600
"""Characters of a text that are shown; tools' own items are shorter."""
MAX_ITEMS = 40
_ARGUMENT_CHARS = 200


class Line(NamedTuple):
    """One citable text and its address."""

    pointer: str
    text: str


def shown_result(call: Invocation, max_chars: int) -> str:
    """A recorded call in full, as far as `max_chars` go; what is left out is told, and stays citable."""
    head = headline(call)
    if call.status not in {InvocationStatus.OK, InvocationStatus.EMPTY}:
        return head
    lines, shown, room = list(citable_lines(call.result)), [head], max_chars - len(head)
    for line in lines[:MAX_ITEMS]:
        text = f"[{call.id} {line.pointer}] {_one_line(line.text, MAX_LINE)}"
        room -= len(text) + 1
        if room < 0 and len(shown) > 1:
            break
        shown.append(text)
    left = len(lines) - (len(shown) - 1)
    if left:
        shown.append(
            f"({left} more items of {call.id} are not shown; ask for less: a service, a shorter window, a text)"
        )
    if hint := _tools_hint(call.result):
        shown.append(hint)
    return "\n".join(shown)


def shortened_result(call: Invocation) -> str:
    """A recorded call as its id and summary alone, for when there is no more room."""
    lines = sum(1 for _ in citable_lines(call.result))
    return f"{headline(call)} ({lines} items, shortened to make room)"


def headline(call: Invocation) -> str:
    """A recorded call in one line: id, tool, arguments, how it ended."""
    asked = _one_line(json.dumps(call.arguments, ensure_ascii=False), _ARGUMENT_CHARS)
    if call.status in {InvocationStatus.OK, InvocationStatus.EMPTY}:
        told = call.result.get("summary") if isinstance(call.result, dict) else None
    else:
        told = call.error
    said = f": {_one_line(str(told), MAX_LINE)}" if told else ""
    return f"[{call.id}] {call.tool} {asked} -> {call.status}{said}"


def citable_lines(result: Any) -> Iterator[Line]:  # noqa: ANN401 - any recorded JSON value
    """The texts of a recorded result with their JSON Pointers (RFC 6901), in recorded order."""
    items = result.get("items") if isinstance(result, dict) else None
    if isinstance(items, list) and items and all(isinstance(item, dict) and "text" in item for item in items):
        for index, item in enumerate(items):
            yield Line(f"/items/{index}/text", str(item["text"]))
        return
    pending: list[tuple[str, Any]] = [("", result)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            members = [(f"{pointer}/{_escaped(name)}", member) for name, member in value.items()]
            pending.extend(reversed(members))
        elif isinstance(value, list):
            pending.extend(reversed([(f"{pointer}/{index}", member) for index, member in enumerate(value)]))
        elif value is not None:
            yield Line(pointer, value if isinstance(value, str) else json.dumps(value))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _tools_hint(result: Any) -> str:  # noqa: ANN401 - any recorded JSON value
    """What the tool itself says about what it left out."""
    cut: JsonObject | None = result.get("truncated") if isinstance(result, dict) else None
    if not isinstance(cut, dict):
        return ""
    return f"(the tool gave {cut.get('shown')} of {cut.get('total')}; {_one_line(str(cut.get('hint')), MAX_LINE)})"


def _one_line(text: str, limit: int) -> str:
    """A text on one line; one that is too long ends where it is cut, and says so outside of the text."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit]} (cut)"
