"""A line an event, whole and at once, with no control codes: for pipes, log files and people who like it plain."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from diag_cli.render.safe import one_line, shortened
from diag_cli.render.streams import say
from diag_cli.render.usage import progress_words
from diag_cli.render.words import arguments_words, counted_attempt, node_words, outcome_words, reading_words, seconds
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
from diag_graph.outcome import INTERRUPTED_REASON, RunRow, RunStatus

_TEXT_LENGTH = 160


_PATIENCE, _PAUSE = 2.0, 5.0
"""Seconds of reading about which nothing is said, and those between two lines about it."""


class PlainDisplay:
    """Shows a run on stderr as lines."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is said before something happens; `clock` gives seconds."""
        self._clock = clock
        self._due: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        """Nothing is left open between two lines."""

    def __call__(self, event: Event) -> None:
        """Write the event's line, if it has one."""
        line = self._reading(event) if isinstance(event, EvidenceRead) else line_of(event)
        if line:
            say(line)

    def _reading(self, event: EvidenceRead) -> str:
        """A line about reading that takes long, once in a while."""
        now = self._clock()
        if self._due is None:
            self._due = now + _PATIENCE
        if now < self._due:
            return ""
        self._due = now + _PAUSE
        return reading_words(event)


def line_of(event: Event) -> str:  # noqa: PLR0911 - one return an event
    """What is said of an event; empty where its neighbours say all."""
    match event:
        case RunStarted(run):
            return f"run {run.run_id} started, {one_line(run.model)}"
        case NodeStarted(node, attempt, round_):
            return f"{node_words(node)} started{_counts(attempt, round_)}"
        case NodeFinished(node, outcome, reason_code, attempt, duration_ms):
            codes = f"{one_line(outcome)} {one_line(reason_code)}"
            return f"{node_words(node)} {codes}, {counted_attempt(node, attempt)}, {seconds(duration_ms)}"
        case ToolStarted(invocation_id, tool, arguments):
            asked = shortened(arguments_words(arguments), _TEXT_LENGTH)
            return f"  {one_line(invocation_id)} {one_line(tool)} started{f': {asked}' if asked else ''}"
        case ToolFinished(invocation, reused):
            told = shortened(outcome_words(invocation), _TEXT_LENGTH)
            how = "known already" if reused else f"{invocation.status} in {seconds(invocation.duration_ms)}"
            return f"  {one_line(invocation.id)} {one_line(invocation.tool)} {how}{f': {told}' if told else ''}"
        case ModelAnswered(agent, usage):
            return f"  {one_line(agent)}: {one_line(usage.model or '')} answered; {progress_words(usage)}"
        case AgentFinished(step) if step.error:
            return f"  {one_line(step.agent)}: {shortened(one_line(step.error), _TEXT_LENGTH)}"
        case RunFinished(document):
            return _end_of(document.run)
        case _:
            return ""


def _end_of(run: RunRow) -> str:
    interrupted = run.failure_reason == INTERRUPTED_REASON
    rest = f", verdict {run.verdict}" if run.verdict else ""
    if run.status is not RunStatus.SUCCESS and not interrupted:
        rest += f", {one_line(run.failure_reason or '')}"
    status = RunStatus.INTERRUPTED if interrupted else run.status  # as the store names it
    return f"run {run.run_id} ended: {status}{rest} in {seconds(run.duration_ms)}"


def _counts(attempt: int, round_: int) -> str:
    parts = [f"attempt {attempt}"] * (attempt > 1) + [f"round {round_}"] * (round_ > 1)
    return f" ({', '.join(parts)})" if parts else ""
