"""The answer, to stdout. In a pipe it is the engine's text, harmless; a terminal gets it wrapped, and calmly styled."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from diag_cli.render.safe import harmless
from diag_cli.render.streams import is_styled, is_terminal, put, put_drawn
from diag_cli.render.words import tone

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_LINE = re.compile(r"(?P<indent> *)(?P<mark>- |\[\d+\] +|)(?P<text>.*)", re.DOTALL)
_CITATION = re.compile(r"\[\d+\]")
_VERDICT = re.compile(r"Verdict: (?P<verdict>[A-Z_]+)\.")


def print_answer(answer: str, *, plain: bool = False) -> None:
    """Print the answer; `plain`: without control codes, whatever the stream could take."""
    if is_terminal(sys.stdout) or (is_styled(sys.stdout) and not plain):
        put_drawn(lambda console: drawn(answer, console), plain=plain)
    else:
        put(harmless(answer))


def drawn(answer: str, console: Console) -> RenderableType:
    """The answer as Rich draws it, wrapped to the console's width."""
    from rich.console import Group

    return Group(*_lines(harmless(answer), console))


def _lines(text: str, console: Console) -> Iterator[RenderableType]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        # A heading is a line at the margin that begins a section: blank above, an indented line below.
        after = lines[number + 1] if number + 1 < len(lines) else ""
        blank_above = number > 0 and not lines[number - 1]
        heading = bool(line) and not line.startswith(" ") and blank_above and after.startswith(" ")
        yield _line(line, console, "bold" if heading or number == 0 else "")


def _line(line: str, console: Console, style: str) -> RenderableType:
    """A line under its own indent: what is wrapped stands below the text, not below the mark."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    parts = _LINE.fullmatch(line)
    if parts is None or not line:
        return Text("")
    indent, mark = len(parts["indent"]), parts["mark"]
    quoted = indent > 0 and parts["text"].startswith('"')
    text = _styled(parts["text"], "" if quoted else style or ("dim" if mark.startswith("[") else ""))
    row = Table.grid()
    if mark:
        row.add_column(width=len(mark), no_wrap=True)
    row.add_column(overflow="fold")
    row.add_row(*([Text(mark, "cyan" if mark.startswith("[") else "dim")] if mark else []), text)
    return Padding(row, (0, 0, 0, min(indent, console.width // 4)))


def _styled(text: str, style: str) -> Text:
    from rich.text import Text

    styled = Text(text, style=style)
    verdict = _VERDICT.match(text)
    if verdict:
        styled.stylize(f"bold {tone(verdict['verdict'])}", 0, verdict.end() - 1)
    elif not text.startswith('"'):
        styled.highlight_regex(_CITATION, "cyan")
    return styled
