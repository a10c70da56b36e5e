"""What the program says, in documents that are checked against it.

    <!-- output: COMMAND -->     a shell command, run at the root of the repository, with what it writes to both streams
    <!-- terminal: COMMAND -->   the same on a terminal of 100 columns: what is left on its screen
    <!-- dialogue: COMMAND -->   the same with the command before it; of the show and the list of evidence, nothing
    <!-- table: NAME -->         a table that the program makes
    ...
    <!-- end -->

`DIAG_UPDATE_DOCS=1 pytest tests/cli/test_cli_docs.py` writes what is between. Ids of runs, times and durations of runs
differ from run to run and are not compared.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cli_samples import PROGRAM, environment
from pseudo_terminal import screen_of, sent_to_terminal

from diag_cli.exits import statuses_as_markdown
from diag_cli.settings import variables_as_markdown

ROOT = Path(__file__).parents[2]
COLUMNS, TERMINAL_COLUMNS = 80, 100

TABLES: dict[str, Callable[[], str]] = {
    "settings": variables_as_markdown,
    "exit statuses": statuses_as_markdown,
}

_BLOCK = re.compile(
    r"<!-- (?P<kind>output|terminal|dialogue|table): (?P<what>.+?) -->\n(?P<shown>.*?)<!-- end -->", re.DOTALL
)
_DURATION = r"(?:\d+ ms|\d+\.\d s|\d+m \d\d s?)"
_VARIABLE = [
    (re.compile(r"(?m)^reading .+: [\d,]+ of [\d,]+ MB, \d+%\n"), ""),  # said where reading takes long
    (re.compile(r"\b[0-9a-f]{16}\b"), "ID"),
    (re.compile(r"(?m)^(ID +)\d{4}-\d\d-\d\d \d\d:\d\d\b"), r"\1TIME"),
    (re.compile(rf"(?m)((?:attempt|round) \d+, |\bin ){_DURATION}(?=:|$)"), r"\1TIME"),
    (re.compile(rf"(?m)^((?:[✓✗!]|    inv-).*?) +{_DURATION}$"), r"\1 TIME"),
    (re.compile(r'("(?:startedAt|finishedAt)": )"[^"]*"'), r"\1TIME"),
    (re.compile(r'("durationMs": )\d+'), r"\1TIME"),
]


_EVIDENCE_LIST = re.compile(r"(?<=\nEvidence\n).*?(?=\n\n|\Z)", re.DOTALL)


class Block(NamedTuple):
    """One checked part of a document."""

    kind: str
    what: str
    shown: str

    def current(self, home: Path) -> str:
        """What the program says now, as the document shows it."""
        if self.kind == "table":
            return f"{TABLES[self.what]()}\n"
        if self.kind == "dialogue":
            shown = seen_of(self.what, home, DIAG_DISPLAY="none").replace(f"{ROOT}/", "")
            return f"```text\n$ {self.what}\n{_EVIDENCE_LIST.sub('  ...', shown)}```\n"
        shown = seen_of(self.what, home) if self.kind == "terminal" else written_by(self.what, home)
        return f"```text\n{shown}```\n"


def blocks(text: str) -> list[Block]:
    """The checked parts of a document."""
    return [Block(found["kind"], found["what"], found["shown"]) for found in _BLOCK.finditer(text)]


def updated(text: str, home: Path) -> str:
    """The document with what the program says now; a part that says the same is left as it is."""

    def fresh(found: re.Match[str]) -> str:
        block = Block(found["kind"], found["what"], found["shown"])
        now = block.current(home)
        shown = block.shown if comparable(block.shown) == comparable(now) else now
        return f"<!-- {block.kind}: {block.what} -->\n{shown}<!-- end -->"

    return _BLOCK.sub(fresh, text)


def comparable(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, stand_in in _VARIABLE:
        text = pattern.sub(stand_in, text)
    return text


def written_by(command: str, home: Path) -> str:
    """What a shell command writes, where `diag` is the program under test and has a home of its own."""
    done = subprocess.run(
        ["sh", "-c", command],
        env=_surroundings(home, COLUMNS=str(COLUMNS)),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout


def seen_of(command: str, home: Path, **more: str) -> str:
    """What is left on the screen of a terminal after a shell command, without blank lines around it."""
    variables = _surroundings(home, TERM="xterm-256color", **more)
    del variables["COLUMNS"]
    return screen_of(sent_to_terminal(["sh", "-c", command], variables, ROOT, TERMINAL_COLUMNS)).strip("\n") + "\n"


def _surroundings(home: Path, **more: str) -> dict[str, str]:
    programs = home / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "diag"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    variables = environment(home, **more)
    return {**variables, "PATH": f"{programs}:{variables['PATH']}"}
