"""A skill's body in pieces that can be quoted, and the calls that its steps make.

A numbered step that begins with a call in backticks makes that call: the tool's name, and its arguments as JSON where
it is given any. Whoever reads sees the same text; code need not guess what a sentence means.

    1. `list_alerts`: what fired, and since when.
    2. `find_metric_anomalies {"metric": "pool, connection"}`: what ran short.
    3. `search_logs {"service": "<the suspect>"}`: an argument in angle brackets is for a reader to fill in.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_CALLS = 20
"""Calls that the steps of one skill make; further ones are only text."""

_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)]) ")
_STEP_CALL = re.compile(r"\d{1,3}[.)] +`(?P<tool>[A-Za-z_][\w.-]*)(?: *(?P<arguments>\{[^`]*\}))?`")
_HEADING = re.compile(r"#{1,6} ")
_FENCE = ("```", "~~~")
_PLACE = re.compile(r"<[^<>]+>")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a step makes.

    Attributes:
        tool: The tool's name, as written.
        arguments: Its arguments.
        line: The line of the body that the step begins on, from 1.
        fault: Why the arguments cannot be used; None when they can.
    """

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    line: int = 1
    fault: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether a reader has to fill an argument in."""
        return any(_PLACE.search(text) for text in _texts(self.arguments))


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a body.

    Attributes:
        text: On one line.
        line: The line of the body that it begins on, from 1.
        heading: The heading that it stands under; empty before the first.
        call: The call that it makes.
    """

    text: str
    line: int
    heading: str = ""
    call: Call | None = None


def pieces(body: str, limit: int) -> list[Piece]:
    """A body in pieces of at most `limit` characters: paragraphs, list items, headings, and lines of code.

    One that is longer is cut between words. The first `MAX_CALLS` steps that begin with a call carry it.
    """
    found: list[Piece] = []
    calls, heading = 0, ""
    for line, text, is_code in _blocks(body):
        if not is_code and _HEADING.match(text):
            heading = text.lstrip("#").strip()
        call = _call(text, line) if calls < MAX_CALLS and not is_code else None
        calls += call is not None
        for index, part in enumerate(textwrap.wrap(text, limit, break_on_hyphens=False)):
            found.append(Piece(part, line, heading, call if index == 0 else None))
    return found


def _blocks(body: str) -> Iterator[tuple[int, str, bool]]:
    """Paragraphs, list items, headings and lines of code: the line each begins on, its text, whether it is code."""
    begun, parts, fenced = 1, list[str](), False
    for number, raw in enumerate(body.split("\n"), 1):
        line = raw.strip()
        marker = line.startswith(_FENCE)
        alone = fenced or marker or bool(_HEADING.match(line))
        fenced = fenced != marker
        if parts and (not line or alone or _ITEM.match(line)):
            yield begun, " ".join(parts), False
            parts = []
        if not line or marker:
            continue
        if alone:
            yield number, line, fenced
            continue
        begun = begun if parts else number
        parts.append(line)
    if parts:
        yield begun, " ".join(parts), False


def _call(text: str, line: int) -> Call | None:
    found = _STEP_CALL.match(text)
    if found is None:
        return None
    if found["arguments"] is None:
        return Call(found["tool"], line=line)
    try:
        value = json.loads(found["arguments"])
    except (ValueError, RecursionError):
        return Call(found["tool"], line=line, fault="its arguments are no JSON")
    return Call(found["tool"], value, line)


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
