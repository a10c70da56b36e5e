"""Logs are read once: the patterns of a body of evidence, kept for every tool that asks for them.

Reading is what costs: a line of a large file is parsed each time that it is asked for. So what orientation reads first
is mined at once, and later calls narrow the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from threading import Lock

from diag_graph.analysis.log_patterns import PatternSurvey, count_patterns, survey_of
from diag_graph.analysis.records import LogRecord, TimeRange
from diag_graph.sources.ports import Evidence, FormSource, LogSource

MAX_LINES = 1_000_000
"""Lines that one call reads of a window that was not read before, far within its time limit."""
COUNTED = 20_000
"""Lines that are counted one by one where nothing was read before."""
SLICES = 20
"""Into how many parts of the time a sample of a longer log reaches."""
SAMPLED = 500
"""Lines a slice."""

_KEPT = "log patterns"
_reading = Lock()


@dataclass(frozen=True, slots=True)
class _Kept:
    window: TimeRange
    survey: PatternSurvey


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Lines by service.

    Attributes:
        services: Number of lines of each.
        sampled: How many lines were looked at, when not all were; None when all are counted.
    """

    services: Mapping[str, int]
    sampled: int | None = None


@dataclass(slots=True)
class _Extent:
    """From when to when lines were read; set while they are."""

    start: float
    end: float


def read_patterns(evidence: Evidence, window: TimeRange) -> PatternSurvey:
    """The patterns of all lines in a window, however many; read once and kept."""
    with _reading:
        kept = _kept(evidence, window)
        if kept is None:
            kept = _surveyed(evidence.logs, window) if evidence.logs else PatternSurvey(())
            evidence.derived[_KEPT] = _Kept(window, kept)
        return kept


def patterns_about(evidence: Evidence, window: TimeRange, onset: float | None) -> PatternSurvey:
    """The patterns in a window for one call: from what was read already, else from at most `MAX_LINES` lines.

    Where there are more, lines since the onset are read first, then as many of the time just before it.
    """
    with _reading:
        kept = _kept(evidence, window)
        if kept is not None:
            return kept
        if evidence.logs is None:
            return PatternSurvey(())
        logs = evidence.logs
        survey = _surveyed(logs, window) if isinstance(logs, FormSource) else _bounded(logs, window, onset)
        evidence.derived[_KEPT] = _Kept(survey.cut or window, replace(survey, cut=None))
        return survey


def _surveyed(source: LogSource, window: TimeRange) -> PatternSurvey:
    if isinstance(source, FormSource):
        return survey_of(source.forms(window))
    return count_patterns(source.records(window))


def _kept(evidence: Evidence, window: TimeRange) -> PatternSurvey | None:
    """What was read already, when it covers all of a window in which there is evidence."""
    kept, span = evidence.derived.get(_KEPT), evidence.inventory.span()
    if not isinstance(kept, _Kept):
        return None
    start, end = (
        (window.start, window.end) if span is None else (max(window.start, span.start), min(window.end, span.end))
    )
    return kept.survey.within(window) if kept.window.start <= start and end <= kept.window.end else None


def _bounded(source: LogSource, window: TimeRange, onset: float | None) -> PatternSurvey:
    extent = _Extent(window.start, window.end)
    survey = count_patterns(_nearest(source, window, window.start if onset is None else onset, extent))
    read = TimeRange(extent.start, extent.end)
    return survey if read == window else replace(survey, cut=read)


def _nearest(source: LogSource, window: TimeRange, onset: float, extent: _Extent) -> Iterator[LogRecord]:
    """Lines since the onset, at most half of the limit; then those before it, latest part first, up to the limit."""
    onset = min(max(onset, window.start), window.end)
    read = 0
    for record in source.records(TimeRange(onset, window.end)):
        if read >= MAX_LINES // 2 and record.time is not None:
            extent.end = record.time
            break
        read += 1
        yield record
    width = (onset - window.start) / SLICES
    for place in range(SLICES):
        if width <= 0:
            return
        end, start = onset - place * width, onset - (place + 1) * width
        if read >= MAX_LINES:
            extent.start = end
            return
        for record in source.records(TimeRange(start, end)):
            if record.time is not None and record.time < end:
                read += 1
                yield record


def count_lines(evidence: Evidence) -> LineCounts:
    """Lines by service: all of them where they were read already or are few, else of a sample over the whole time."""
    span = evidence.inventory.span()
    if evidence.logs is None:
        return LineCounts({})
    kept = None if span is None else _kept(evidence, span)
    if kept is not None:
        services: Counter[str] = Counter()
        for pattern in kept.patterns:
            services[pattern.service] += pattern.lines
        return LineCounts(services)
    counted = Counter(record.service for record in islice(evidence.logs.records(), COUNTED + 1))
    if counted.total() <= COUNTED or span is None:
        return LineCounts(counted, None if counted.total() <= COUNTED else counted.total())
    sampled = Counter(record.service for record in _sample(evidence.logs, span))
    return LineCounts(sampled, sampled.total())


def _sample(source: LogSource, span: TimeRange) -> Iterator[LogRecord]:
    width = (span.end - span.start) / SLICES
    starts = (span.start + place * width for place in range(SLICES))
    return chain.from_iterable(islice(source.records(TimeRange(start, start + width)), SAMPLED) for start in starts)
