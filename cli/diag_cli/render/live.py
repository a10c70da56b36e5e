"""A run as it happens, on a terminal: what has ended is printed once and stays; what runs moves below it.

Only the running node and its tool calls are redrawn, so that a long run never outgrows the screen.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

from diag_cli.render.safe import one_line
from diag_cli.render.streams import console_for
from diag_cli.render.usage import progress_words
from diag_cli.render.words import (
    Tone,
    arguments_words,
    attempt_words,
    counted_attempt,
    node_words,
    outcome_words,
    reading_words,
    seconds,
    tone,
)
from diag_graph.events import (
    AgentFinished,
    Event,
    EvidenceRead,
    ModelAnswered,
    NodeFinished,
    NodeStarted,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_FRAMES_A_SECOND = 8
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_SPINNER = "|/-\\"
_MARKS: dict[Tone, tuple[str, str]] = {Tone.GOOD: ("✓", "+"), Tone.DOUBTFUL: ("!", "!"), Tone.BAD: ("✗", "x")}
"""A sign for each tone, and what stands for it where the terminal has no Unicode."""

_WIDEST = 120
"""Columns that the view spreads over; what stands in them is short, and read down rather than across."""

_ROOM_FOR_WORDS = 110
"""Columns from which on an outcome's words stand beside its codes."""

_CODES_WIDTH = 44
"""Columns of an outcome and its reason code; the few longer pairs take two lines."""

_NODE_WIDTH, _TOOL_WIDTH, _OUTCOME_WIDTH, _DURATION_WIDTH = 15, 23, 10, 7
_LEAST_LINES, _KEPT_FREE = 3, 4
"""Lines that the moving part has at least, and lines of the screen that it leaves alone."""


class _Ended(NamedTuple):
    """How a node attempt ended, as it is shown."""

    mark: str
    codes: str
    words: str
    attempt: str
    went: Tone | None


class LiveDisplay:
    """Shows a run on stderr while it happens. Use it as a context manager around the run."""

    def __init__(self) -> None:
        """Nothing is drawn before the run starts."""
        from rich.live import Live

        self._console = console_for(sys.stderr, widest=_WIDEST)
        self._unicode = "utf" in self._console.encoding.lower()
        self._lock = threading.Lock()
        self._begun = False
        self._reading = ""
        self._node: NodeStarted | None = None
        self._node_begun = 0.0
        self._errors: list[str] = []
        self._used = ""
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
        self._print(self._cut_short())
        self._live.stop()

    def __call__(self, event: Event) -> None:
        """Take an event in.

        Nothing is printed under the lock: Live draws from a thread of its own, under a lock of its own, and asks for
        ours while it holds that.
        """
        with self._lock:
            lasting = self._take(event)
        self._print(lasting)

    def _take(self, event: Event) -> RenderableType | None:
        """Note an event; what comes back is to stay on the screen."""
        match event:
            case EvidenceRead():
                self._reading = reading_words(event)
            case RunStarted(run):
                self._begun, self._reading = True, ""
                return self._text(f"run {run.run_id} · {one_line(run.model)}", "dim")
            case NodeStarted():
                self._node, self._node_begun = event, time.monotonic()
                self._calls, self._errors, self._used = {}, [], ""
            case ModelAnswered(_, usage):
                self._used = progress_words(usage)
            case ToolStarted(invocation_id):
                self._calls[invocation_id], self._call_begun = event, time.monotonic()
            case ToolFinished(invocation):
                self._reading = ""
                self._calls[f"{invocation.id} again" if event.reused else invocation.id] = event
            case AgentFinished(step) if step.error:
                self._errors.append(one_line(step.error))
            case NodeFinished():
                return self._closed(self._ended(event), event.duration_ms)
            case RunFinished():
                return self._text("")
            case _:
                pass
        return None

    def _cut_short(self) -> RenderableType | None:
        with self._lock:
            if self._node is None:
                return None
            return self._closed(_Ended("!", "cut short", "", "", Tone.DOUBTFUL), _ms_since(self._node_begun))

    def _closed(self, ended: _Ended, ms: int) -> RenderableType:
        block = self._block(ended, ms)
        self._node = None  # what is printed above is drawn no more below
        return block

    def _ended(self, event: NodeFinished) -> _Ended:
        went = tone(event.outcome, event.node, event.reason_code)
        codes = f"{one_line(event.outcome):<{_OUTCOME_WIDTH}}  {one_line(event.reason_code)}"
        words = attempt_words(event.node, event.reason_code)
        return _Ended(self._mark(went), codes, words, counted_attempt(event.node, event.attempt), went)

    # --- drawing ---------------------------------------------------------------------------------------------

    def _print(self, lasting: RenderableType | None) -> None:
        if lasting is not None:
            self._live.console.print(lasting)

    def _running(self) -> RenderableType:
        """The part that moves: the running node, with as many of its latest calls as the screen holds."""
        with self._lock:
            if self._node is None:
                return self._text("" if self._begun else f"{self._spinner()} {self._reading or 'starting'}", "dim")
            limit = max(_LEAST_LINES, self._console.height - _KEPT_FREE)
            return self._block(None, _ms_since(self._node_begun), limit=limit)

    def _block(self, ended: _Ended | None, ms: int, limit: int | None = None) -> RenderableType:
        """A node's line and, below it, its tool calls and what went wrong; `ended` is None while it runs."""
        from rich.console import Group

        if self._node is None:
            return self._text("")
        lines = [self._node_line(self._node, ended, ms), *self._call_lines()]
        remarks = [self._text(error, "yellow") for error in self._errors]
        if ended is None and self._reading:  # by a tool, when nobody had asked for it before
            remarks.append(self._text(self._reading, "dim"))
        if ended and self._used:
            remarks.append(self._text(self._used, "dim"))
        if ended and ended.words and ended.went is not Tone.GOOD and not remarks and not self._is_roomy:
            remarks.append(self._text(ended.words, "dim"))
        lines += [self._remark(remark) for remark in remarks]
        if limit is not None and len(lines) > limit:
            lines = [lines[0], self._remark(self._text("...", "dim")), *lines[2 - limit :]]
        return Group(*lines)

    @property
    def _is_roomy(self) -> bool:
        return self._console.width >= _ROOM_FOR_WORDS

    def _node_line(self, node: NodeStarted, ended: _Ended | None, ms: int) -> Table:
        from rich.table import Table

        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(width=1)
        row.add_column(width=_NODE_WIDTH, no_wrap=True)
        row.add_column(width=_CODES_WIDTH if self._is_roomy else None, ratio=None if self._is_roomy else 1)
        if self._is_roomy:
            row.add_column(ratio=1)
        row.add_column(width=9, no_wrap=True, style="dim")
        row.add_column(width=_DURATION_WIDTH, justify="right", no_wrap=True, style="dim")
        if ended is None:
            again = counted_attempt(node.node, node.attempt) if node.attempt > 1 else ""
            ended = _Ended(self._spinner(), self._used, "", again or f"round {node.round}" * (node.round > 1), None)
        words = [self._text("" if self._errors else ended.words, "dim")] if self._is_roomy else []
        mark, codes = self._text(ended.mark, ended.went or "cyan"), self._text(ended.codes, ended.went or "")
        row.add_row(mark, self._text(node_words(node.node)), codes, *words, ended.attempt, seconds(ms))
        return row

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
        row.add_column(width=_TOOL_WIDTH, no_wrap=True, overflow="ellipsis")
        row.add_column(width=6, no_wrap=True)
        row.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        row.add_column(width=_DURATION_WIDTH, justify="right", no_wrap=True, style="dim")
        name, label = self._text(one_line(invocation_id), "dim"), self._text(one_line(tool))
        row.add_row("", name, label, self._text(status, tone(status) if took else "dim"), told, took)
        return row

    def _remark(self, remark: RenderableType) -> Table:
        """A line below a node's, under its outcome."""
        from rich.table import Table

        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(width=1)
        row.add_column(width=_NODE_WIDTH)
        row.add_column(ratio=1, overflow="fold")
        row.add_row("", "", remark)
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
