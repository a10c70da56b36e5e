"""Programs on a real terminal: a pseudo-terminal, what it is sent, and what is left on its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from cli_samples import PROGRAM, environment

_LINES = 30
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07)")
_CURSOR_UP = re.compile(r"\x1b\[(\d*)A")
_ERASE_LINE = "\x1b[2K"
_TAKE_TERMINAL = "import os, sys; os.login_tty(int(sys.argv[1])); os.execvp(sys.argv[2], sys.argv[2:])"
"""So that Ctrl-C reaches the program as it does from a keyboard."""
_PIECE = re.compile(f"{_ESCAPE.pattern}|\r|\n|[^\x1b\r\n]+")


def on_terminal(home: Path, *arguments: object, columns: int = 80, **more: str) -> str:
    """What a terminal of this width is sent when diag runs on it."""
    variables = environment(home, TERM="xterm-256color", **more)
    del variables["COLUMNS"]
    return sent_to_terminal([*PROGRAM, *map(str, arguments)], variables, home, columns)


def sent_to_terminal(command: Sequence[str], variables: Mapping[str, str], cwd: Path, columns: int) -> str:
    """What a terminal is sent when a command runs on it, its line ends as in a file."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, columns, 0, 0))
    process = subprocess.Popen(command, env=dict(variables), cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    sent = bytearray()
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux's word for "the other side is gone"
            break
        if not piece:
            break
        sent += piece
    os.close(ours)
    process.wait(timeout=60)
    return sent.decode("utf-8").replace("\r\n", "\n")


class Dialogue:
    """A program on a terminal of its own, talked to as a person would: wait for what it shows, then type."""

    def __init__(
        self, command: Sequence[str], variables: Mapping[str, str], cwd: Path, descriptors: Sequence[int] = ()
    ) -> None:
        """Start it; it may use these file descriptors too."""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, 100, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, str(theirs), *command],
            env={**variables, "PROMPT_TOOLKIT_NO_CPR": "1"},  # nobody here would answer where the cursor is
            cwd=cwd,
            pass_fds=(theirs, *descriptors),
        )
        os.close(theirs)
        self._shown = ""

    def until(self, marker: str, within_s: float = 60.0) -> str:
        """What it shows next, up to and with this text, without escapes."""
        end = time.monotonic() + within_s
        while marker not in (seen := visible(self._shown).replace("\r\n", "\n")):
            if not select.select([self._ours], [], [], max(0.0, end - time.monotonic()))[0]:
                raise AssertionError(f"{marker!r} was not shown: {seen[-2000:]}")
            self._shown += os.read(self._ours, 65536).decode("utf-8", "replace")
        before, _, self._shown = seen.partition(marker)
        return before + marker

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._ours, text.encode())

    def end(self) -> int:
        """Wait until it ends, and give its exit status."""
        with suppress(OSError):
            while os.read(self._ours, 65536):
                pass
        os.close(self._ours)
        return self._process.wait(timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failed: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def visible(sent: str) -> str:
    """The text without its escapes, what was drawn over included."""
    return _ESCAPE.sub("", sent)


def screen_of(sent: str) -> str:
    """What is left to be read in the end, without styles: of the escapes, those that Rich's live view uses."""
    rows, row, column = [""], 0, 0
    for piece in _PIECE.findall(sent):
        if piece == "\n":
            row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
        elif piece == "\r":
            column = 0
        elif piece == _ERASE_LINE:
            rows[row] = ""
        elif up := _CURSOR_UP.fullmatch(piece):
            row = max(0, row - int(up[1] or 1))
        elif not piece.startswith("\x1b"):
            kept = rows[row].ljust(column)
            rows[row] = kept[:column] + piece + kept[column + len(piece) :]
            column += len(piece)
    return "\n".join(line.rstrip() for line in rows)
