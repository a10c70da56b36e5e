"""A run as it happens, on a terminal: what has ended is printed once and stays; what runs moves below it.

Only the running node and its tool calls are redrawn, so that a long run never outgrows the screen.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from diag_cli.render.safe import one_line
from diag_cli.render.streams import console_for
from diag_cli.render.words import (
    Tone,
    arguments_words,
    attempt_words,
    node_words,
    outcome_words,
    seconds,
    tone,
)
from diag_graph.events import (
    AgentFinished,
    Event,
    NodeFinished,
    NodeStarted,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from diag_graph.topology import Node

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_FRAMES_A_SECOND = 8
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_SPINNER = "|/-\\"
_MARKS: dict[Tone, tuple[str, str]] = {Tone.GOOD: ("✓", "+"), Tone.DOUBTFUL: ("!", "!"), Tone.BAD: ("✗", "x")}
"""A sign for each tone, and what stands for it where the terminal has no Unicode."""

_DURATION_WIDTH = 8
_LEAST_LINES, _KEPT_FREE = 3, 4
"""Lines that the moving part has at least, and lines of the screen that it leaves alone."""


class LiveDisplay:
    """Shows a run on stderr while it happens. Use it as a context manager around the run."""

    def __init__(self) -> None:
        """Nothing is drawn before the run starts."""
        from rich.live import Live

        self._console = console_for(sys.stderr)
        self._unicode = "utf" in self._console.encoding.lower()
        self._lock = threading.RLock()
        self._begun = False
        self._node: NodeStarted | None = None
        self._node_begun = 0.0
        self._errors: list[str] = []
        self._calls: dict[str, ToolFinished | ToolStarted] = {}
        self._call_begun = 0.0
        self._live = Live(
            console=self._console,
            get_renderable=self._running,
            refresh_per_second=_FRAMES_A_SECOND,
            transient=True,
            redirect_stdout=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *ended: object) -> None:
        """Leave the terminal as it was; of a node that was cut short, leave what had been seen."""
        with self._lock:
            if self._node is not None:
                cut = self._block("!", "cut short", _ms_since(self._node_begun), Tone.DOUBTFUL)
                self._node = None
                self._print(cut)
        self._live.stop()

    def __call__(self, event: Event) -> None:
        """Take an event in."""
        with self._lock:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case RunStarted(run):
                self._begun = True
                self._print(self._text(f"run {run.run_id} · {one_line(run.model)}", "dim"))
            case NodeStarted():
                self._node, self._node_begun = event, time.monotonic()
                self._calls, self._errors = {}, []
            case ToolStarted(invocation_id):
                self._calls[invocation_id], self._call_begun = event, time.monotonic()
            case ToolFinished(invocation):
                self._calls[f"{invocation.id} again" if event.reused else invocation.id] = event
            case AgentFinished(step) if step.error:
                self._errors.append(one_line(step.error))
            case NodeFinished(node, outcome, reason_code, _, duration_ms):
                went = tone(outcome, node, reason_code)
                ended = self._block(self._mark(went), attempt_words(node, outcome, reason_code), duration_ms, went)
                self._node = None  # first: printing draws what still runs below
                self._print(ended)
            case RunFinished():
                self._print(self._text(""))
            case _:
                pass

    # --- drawing ---------------------------------------------------------------------------------------------

    def _print(self, what: RenderableType) -> None:
        self._live.console.print(what)

    def _running(self) -> RenderableType:
        """The part that moves: the running node, with as many of its latest calls as the screen holds."""
        with self._lock:
            if self._node is None:
                return self._text("" if self._begun else f"{self._spinner()} starting", "dim")
            limit = max(_LEAST_LINES, self._console.height - _KEPT_FREE)
            return self._block(self._spinner(), "", _ms_since(self._node_begun), limit=limit)

    def _block(
        self, mark: str, told: str, ms: int, went: Tone | None = None, limit: int | None = None
    ) -> RenderableType:
        """A node's line and, below it, its tool calls and what went wrong."""
        from rich.console import Group

        if self._node is None:
            return self._text("")
        lines = [self._node_line(self._node, mark, told, ms, went), *self._call_lines()]
        lines += [self._row("", "", self._text(error, "yellow"), "") for error in self._errors]
        if limit is not None and len(lines) > limit:
            lines = [lines[0], self._row("", "", self._text("...", "dim"), ""), *lines[2 - limit :]]
        return Group(*lines)

    def _node_line(self, node: NodeStarted, mark: str, told: str, ms: int, went: Tone | None) -> Table:
        text = self._text(told, "dim" if went is Tone.GOOD else went or "")
        if node.attempt > 1 or (node.round > 1 and node.node in {Node.PLANNER, Node.EXECUTOR}):
            which = f"attempt {node.attempt}" if node.attempt > 1 else f"round {node.round}"
            text = self._text("").append(f"{which}  ", "yellow").append_text(text)
        return self._row(mark, self._text(node_words(node.node)), text, seconds(ms), went or "")

    def _call_lines(self) -> Iterator[Table]:
        for event in self._calls.values():
            if isinstance(event, ToolStarted):
                told = self._text(arguments_words(event.arguments), "dim")
                yield self._call_line(event.invocation_id, event.tool, "", told, seconds(_ms_since(self._call_begun)))
            else:
                call = event.invocation
                told = self._text(outcome_words(call), "dim")
                status, took = ("known", "") if event.reused else (call.status.value, seconds(call.duration_ms))
                yield self._call_line(call.id, call.tool, status, told, took)

    def _call_line(self, invocation_id: str, tool: str, status: str, told: RenderableType, took: str) -> Table:
        from rich.table import Table

        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(width=3)
        row.add_column(width=6, no_wrap=True)
        row.add_column(width=21, no_wrap=True, overflow="ellipsis")
        row.add_column(width=6, no_wrap=True)
        row.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        row.add_column(width=_DURATION_WIDTH, justify="right", no_wrap=True, style="dim")
        name, label = self._text(one_line(invocation_id), "dim"), self._text(one_line(tool))
        row.add_row("", name, label, self._text(status, tone(status) if took else "dim"), told, took)
        return row

    def _row(self, mark: str, name: RenderableType, told: RenderableType, took: str, style: str = "") -> Table:
        from rich.table import Table

        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(width=1)
        row.add_column(width=14, no_wrap=True)
        row.add_column(ratio=1, overflow="fold")
        row.add_column(width=_DURATION_WIDTH, justify="right", no_wrap=True, style="dim")
        row.add_row(self._text(mark, style or "cyan"), name, told, took)
        return row

    def _text(self, text: str, style: str = "") -> Text:
        from rich.text import Text

        return Text(text, style=style)

    def _mark(self, went: Tone) -> str:
        sign, plain = _MARKS[went]
        return sign if self._unicode else plain

    def _spinner(self) -> str:
        frames = _SPINNER if self._unicode else _ASCII_SPINNER
        return frames[int(time.monotonic() * _FRAMES_A_SECOND) % len(frames)]


def _ms_since(moment: float) -> int:
    return round((time.monotonic() - moment) * 1000)
