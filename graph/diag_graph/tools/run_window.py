"""The window of a run, with the times that the user stated beside the question."""

from __future__ import annotations

import re
from datetime import datetime

from diag_graph.analysis.question_times import stated_time
from diag_graph.analysis.records import Window, utc
from diag_graph.errors import InputError
from diag_graph.sources.ports import Evidence
from diag_graph.tools.orientation import orient

_SHORT_AGO = re.compile(r"\A(\d+)\s*([mhd])\Z")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def run_window(
    evidence: Evidence, question: str, now: datetime, *, since: str | None, until: str | None, zone: str
) -> Window:
    """The window that a run looks at: as the user said, else as the evidence says.

    Args:
        evidence: The run's sources.
        question: As typed.
        now: The run's clock.
        since: Start of the window, as the user wrote it.
        until: Its end.
        zone: IANA name of the zone in which times without one are read.

    Raises:
        InputError: a time cannot be read, the end is not after the start, or nothing was recorded in between.
    """
    span = evidence.inventory.span()

    def read(text: str | None, option: str) -> float | None:
        if text is None:
            return None
        spelled = _SHORT_AGO.sub(lambda ago: f"{ago[1]} {_UNITS[ago[2]]} ago", text.strip())
        stated = stated_time(spelled, now.timestamp(), span, zone)
        if stated is None:
            raise InputError(
                f"{option}: {text[:60]!r} is no time", "Write 2026-07-16T06:05:00Z, 06:05, 30m or '20 minutes ago'."
            )
        return stated.time

    begin, end = read(since, "--since"), read(until, "--until")
    if begin is not None and end is not None and end <= begin:
        raise InputError("--until is not after --since", "Swap them, or give dates with the times.")
    if span is not None and ((begin or span.start) > span.end or (end or span.end) < span.start):
        raise InputError(
            f"nothing was recorded then: the evidence runs from {utc(span.start)} to {utc(span.end)}",
            "Choose --since and --until within that.",
        )
    return orient(evidence, question, now.timestamp(), begin, end)
