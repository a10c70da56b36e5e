"""What a run looks at: where its evidence begins and ends, and when the trouble began, with the reason in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diag_graph.analysis.question_times import stated_time
from diag_graph.analysis.records import Alert, TimeRange, Window, utc

BASELINE = 6 * 3_600.0
"""Seconds before the onset that are looked at, at most."""
AFTERMATH = 2 * 3_600.0
"""Seconds after the onset that are looked at, at most."""
SLACK = 1_800.0
"""How far outside the evidence a stated time may lie and still be taken (an alert may fire after the last sample)."""

Detect = Callable[[TimeRange, float | None], float | None]
"""Finds the onset within a range; given a stated time, the first lasting change shortly before it; None if none is."""


@dataclass(frozen=True, slots=True)
class _Onset:
    time: float
    origin: str


def choose_window(
    question: str,
    now: float,
    alerts: Sequence[Alert],
    data_span: TimeRange | None,
    *,
    hint: TimeRange | None = None,
    since: float | None = None,
    until: float | None = None,
    detect: Detect | None = None,
    zone: str = "UTC",
) -> Window:
    """Choose the window of a run and the onset of the trouble.

    The onset is, by the first that is known and that lies within what the user asked to look at: the earliest start of
    a firing alert; a time in the question; the start of the window that the evidence names; the strongest common
    change in the data; the start that the user gave. What lies before that start is the baseline still. An alert and
    a person notice late, so an alert's or a question's time is moved to the first lasting change shortly before it, if
    there is one.

    Args:
        question: As typed.
        now: The run's clock, seconds since the epoch.
        alerts: Alerts of the evidence.
        data_span: From when to when there is evidence; None when nothing carries a time.
        hint: A window that the evidence itself names.
        since: Where to look from, as the user gave it: the trouble began no earlier.
        until: End of what is to be looked at, as the user gave it.
        detect: Finds an onset in the data.
        zone: IANA name of the zone in which times without one are read.
    """
    asked = TimeRange(-math.inf if since is None else since, math.inf if until is None else until)
    stated = _stated(question, now, alerts, data_span, hint=hint, asked=asked, zone=zone)
    moved = _detected(stated, data_span, until, detect)
    onset = moved if moved is not None and moved.time in asked else stated
    if onset is None and since is not None:
        onset = _Onset(since, f"the given start ({utc(since)})")
    if onset is None:
        data = data_span or TimeRange(now - BASELINE, now)
        words = "all of the evidence: no alert or question names a time, and no common change stands out in the data"
        return Window(float(data.start), float(data.end if until is None else until), None, words)
    start, end = onset.time - BASELINE, onset.time + AFTERMATH
    if data_span is not None:
        start = max(start, data_span.start)
        end = max(min(end, data_span.end), onset.time)
    else:
        end = min(end, max(now, onset.time))
    if stated is not None:
        end = max(end, stated.time)
    return Window(float(start), float(end if until is None else until), float(onset.time), onset.origin)


def _stated(
    question: str,
    now: float,
    alerts: Sequence[Alert],
    data: TimeRange | None,
    *,
    hint: TimeRange | None,
    asked: TimeRange,
    zone: str,
) -> _Onset | None:
    firing = [alert for alert in alerts if alert.starts_at is not None and alert.status != "resolved"]
    dated = sorted(
        ((alert.starts_at, alert.name) for alert in (firing or alerts) if alert.starts_at is not None),
        key=lambda a: a[0],
    )
    for time, name in dated:
        if _plausible(time, data) and time in asked:
            return _Onset(time, f"the start of alert {name} ({utc(time)})")
    said = stated_time(question, now, data, zone)
    if said is not None and _plausible(said.time, data) and said.time in asked:
        return _Onset(said.time, f'the time in the question ("{said.words}", read as {utc(said.time)})')
    if hint is not None and hint.start in asked:
        return _Onset(hint.start, f"the window that the evidence names (from {utc(hint.start)})")
    return None


def _plausible(time: float, data: TimeRange | None) -> bool:
    """Whether a time is one that the evidence can speak of."""
    return data is None or data.start - SLACK <= time <= data.end + SLACK


def _detected(
    stated: _Onset | None, data: TimeRange | None, until: float | None, detect: Detect | None
) -> _Onset | None:
    if detect is None or data is None:
        return None
    within = TimeRange(data.start, min(data.end, until) if until is not None else data.end)
    found = detect(within, None if stated is None else stated.time)
    if found is None:
        return None
    if stated is None:
        return _Onset(found, f"the strongest common change in the data ({utc(found)})")
    if found >= stated.time:
        return None
    return _Onset(found, f"the first lasting change in the data ({utc(found)}) before {stated.origin}")
