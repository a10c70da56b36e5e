"""One recorded tool call, its result as JSON with the cited parts marked: by style, or between « and ».

A line that holds a cited part has `>` in the margin. A result cannot put one there, whatever it holds.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from diag_cli.citations import Cited, Part, cited, parts_of
from diag_cli.envelope import as_text, camel
from diag_cli.render.knowledge import how_found
from diag_cli.render.safe import harmless_json, one_line, shortened
from diag_cli.render.streams import is_styled, is_terminal, put, put_drawn
from diag_cli.render.words import arguments_words, counted, failure_words, seconds, tone

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from diag_graph.contracts import Invocation
    from diag_graph.outcome import RunDocument

_CITED_STYLE = "bold black on yellow"
_OPEN, _CLOSE = "«", "»"
_EXCERPT_LENGTH = 120
_INDENT = 2


class _Piece(NamedTuple):
    """A piece of a line of JSON."""

    text: str
    is_cited: bool = False


_Line = tuple[int, list[_Piece]]
"""How deep a line is indented, and its pieces."""


def print_invocation(document: RunDocument, invocation: Invocation) -> None:
    """Print a call, who cites it, and its result."""
    put_drawn(lambda console: _page(document, invocation, console))


def print_invocation_json(document: RunDocument, invocation: Invocation) -> None:
    """Print the same for programs."""
    citations = [
        {
            "claimId": one.binding.claim_id,
            "path": one.binding.raw_path,
            "status": one.binding.status,
            "failure": one.binding.failure,
            "excerpt": one.excerpt,
            "matchedText": one.binding.matched_text,
        }
        for one in _of(document, invocation)
    ]
    put(as_text({"runId": document.run.run_id, "invocation": camel(invocation), "citations": citations}))


def _of(document: RunDocument, invocation: Invocation) -> list[Cited]:
    return [one for one in cited(document) if one.binding.source_invocation_id == invocation.id]


def _page(document: RunDocument, invocation: Invocation, console: Console) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    bindings = _of(document, invocation)
    piped = not is_terminal(sys.stdout)
    if piped:
        console.width = 1_000_000  # a pipe has no edge to wrap at
    head = Text(f"{one_line(invocation.id)}  {one_line(invocation.tool)}  ").append(
        invocation.status, f"bold {tone(invocation.status)}"
    )
    head.append(f"  {seconds(invocation.duration_ms)}", "dim")
    said = (arguments_words(invocation.arguments), one_line(invocation.error or ""))
    page: list[RenderableType] = [head, *(Text(line, "dim") for line in said if line)]
    page += [Text(""), Text(_summed_up(bindings), "bold"), *map(_citation, bindings)]
    if invocation.retrieval_details:
        how = how_found(invocation.retrieval_details)
        page += [Text(""), Text("How it was found", "bold"), *(Text(f"  {line}", "dim") for line in how)]
    if invocation.result is not None:
        lines = json_lines(invocation.result, parts_of(invocation, bindings))
        page += [Text(""), *(_drawn(line, console, wrap=not piped) for line in lines)]
    return Group(*page)


def _summed_up(bindings: Sequence[Cited]) -> str:
    if not bindings:
        return "No binding cites it"
    failed = sum(one.binding.status == "fail" for one in bindings)
    return f"Cited by {counted(len(bindings), 'binding')}{f', {failed} failed' if failed else ''}"


def _citation(one: Cited) -> RenderableType:
    from rich.text import Text

    binding = one.binding
    line = Text(f"  {one_line(binding.claim_id or '?')}  {one_line(binding.raw_path or '?')}  ")
    if one.excerpt:
        line.append(f'"{shortened(one_line(one.excerpt), _EXCERPT_LENGTH)}"', "dim")
    if binding.failure:
        line.append(f"  {failure_words(binding.failure)}", "red")
    return line


def _drawn(line: _Line, console: Console, *, wrap: bool) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    depth, pieces = line
    styled = is_styled(sys.stdout)
    text = Text()
    for piece in pieces:
        if piece.is_cited and not styled:
            text.append(f"{_OPEN}{piece.text}{_CLOSE}")
        else:
            text.append(piece.text, _CITED_STYLE if piece.is_cited else "")
    margin = "> " if any(piece.is_cited for piece in pieces) else "  "
    indent = margin + " " * min(depth * _INDENT, console.width // 4)
    if not wrap:
        return Text(indent).append_text(text)
    rest = " " * len(indent) if margin.isspace() else "> " + " " * (len(indent) + _INDENT - 2)
    rows = text.wrap(console, console.width - len(rest), overflow="fold")
    return Group(*(Text(rest if number else indent).append_text(row) for number, row in enumerate(rows)))


def json_lines(value: Any, parts: Sequence[Part]) -> Iterator[_Line]:  # noqa: ANN401 - any JSON value
    """A JSON value, indented as `json.dumps` does it, with the parts in pieces of their own.

    Args:
        value: The recorded result.
        parts: What is to be marked. A part of an object or array marks the whole of it.
    """
    at: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        at[part.path].append(part)
    yield from _lines(value, "", at, depth=0, before="", after="", inside=False)


def _lines(
    value: Any,  # noqa: ANN401 - any JSON value
    path: str,
    at: dict[str, list[Part]],
    *,
    depth: int,
    before: str,
    after: str,
    inside: bool,
) -> Iterator[_Line]:
    """The lines of what stands at `path`; `inside`: within something that is cited as a whole."""
    if not isinstance(value, dict | list) or not value:
        yield depth, [_Piece(before), *_leaf(value, at.get(path, []), whole=inside), _Piece(after)]
        return
    inside = inside or path in at
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield depth, [_Piece(before), _Piece(opening, inside)]
    named = value.items() if isinstance(value, dict) else enumerate(value)
    for number, (name, member) in enumerate(named):
        token = str(name).replace("~", "~0").replace("/", "~1")
        label = f"{_json(name)}: " if isinstance(value, dict) else ""
        comma = "," if number + 1 < len(value) else ""
        yield from _lines(member, f"{path}/{token}", at, depth=depth + 1, before=label, after=comma, inside=inside)
    yield depth, [_Piece(closing, inside), _Piece(after)]


def _leaf(value: Any, parts: Sequence[Part], *, whole: bool) -> Iterator[_Piece]:  # noqa: ANN401 - any JSON value
    if whole or (parts and not isinstance(value, str)):
        yield _Piece(_json(value), is_cited=True)
        return
    if not parts:
        yield _Piece(_json(value))
        return
    yield _Piece('"')
    done = 0
    for start, end in _merged(parts):
        yield _Piece(_json(value[done:start])[1:-1])
        yield _Piece(_json(value[start:end])[1:-1], is_cited=True)
        done = end
    yield _Piece(_json(value[done:])[1:-1] + '"')


def _merged(parts: Sequence[Part]) -> list[tuple[int, int]]:
    """The parts in order, those that overlap or touch as one."""
    merged: list[tuple[int, int]] = []
    for _, start, end in sorted(parts, key=lambda part: (part.start, part.end)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _json(value: object) -> str:
    return harmless_json(json.dumps(value, ensure_ascii=False))
