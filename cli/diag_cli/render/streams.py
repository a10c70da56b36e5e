"""Where output goes: stdout carries what was asked for, stderr what is said about it.

A terminal gets styles, everything else plain text. `NO_COLOR` (any value, https://no-color.org) takes styles and the
live view away; `FORCE_COLOR` gives styles to a pipe.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from diag_cli.render.safe import one_line
from diag_graph.errors import DiagError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

READABLE_WIDTH = 100
"""Columns beyond which text is not spread: long lines are hard to read."""

_LEAST_WIDTH = 40
"""Columns that a table needs; on a narrower terminal, the terminal wraps."""


class ReaderGoneError(Exception):
    """Whoever read our output stopped reading; there is nobody to tell, and nothing more to do."""


class OutputError(DiagError):
    """The output cannot be written."""


def is_styled(stream: TextIO) -> bool:
    """Whether the stream takes styles."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal(stream) and os.environ.get("TERM") != "dumb")


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at the stream."""
    return not stream.closed and stream.isatty()


def say(text: str) -> None:
    """One line or more to stderr, whole and at once; where nobody can be told, nothing is said."""
    with suppress(ReaderGoneError, OutputError):
        _write(sys.stderr, text + "\n")


def complain(message: str, advice: str = "") -> None:
    """One line of what went wrong and one of what to do, to stderr; a terminal gets them wrapped at words."""
    for mark, text in (("diag: ", message), (" " * 6, advice)):
        if text:
            say(_hanging(mark, one_line(text)))


def tell(text: str) -> None:
    """A sentence to stderr; a terminal gets it wrapped at words."""
    say(_hanging("", one_line(text)))


def _hanging(mark: str, text: str) -> str:
    if not is_terminal(sys.stderr):
        return mark + text
    width = max(_LEAST_WIDTH, min(shutil.get_terminal_size().columns, READABLE_WIDTH))
    return textwrap.fill(
        text,
        width,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,  # a path or a command must stay whole, to be copied
        break_on_hyphens=False,
    )


def put(text: str) -> None:
    """Text to stdout, whole and at once."""
    _write(sys.stdout, text if text.endswith("\n") else text + "\n")


def put_drawn(draw: Callable[[Console], RenderableType], *, plain: bool = False) -> None:
    """Something that Rich draws, to stdout: styled on a terminal unless it is to be `plain`, as text elsewhere."""
    console = console_for(sys.stdout, plain=plain)
    with console.capture() as captured:
        console.print(draw(console))
    lines = (line.rstrip() for line in captured.get().splitlines())  # Rich pads every line to the width
    put("\n".join(lines))


def console_for(stream: TextIO, *, widest: int = READABLE_WIDTH, plain: bool = False) -> Console:
    """A Rich console that never reads markup, and spreads text over `widest` columns at most."""
    from rich.console import Console

    styled = is_styled(stream) and not plain
    console = Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=False,
        force_terminal=styled,
        no_color=not styled,
        legacy_windows=False,
    )
    console.width = max(_LEAST_WIDTH, min(console.width, widest))
    return console


def be_lenient() -> None:
    """Let no character that the terminal's encoding lacks stop the output: it is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError as error:
        _detach(stream)
        raise ReaderGoneError from error
    except OSError as error:
        _detach(stream)
        raise OutputError(f"the output cannot be written: {error.strerror}", "Send it somewhere else.") from error


def _detach(stream: TextIO) -> None:
    """Point a stream that takes nothing any more at nothing, or Python complains when it flushes it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
