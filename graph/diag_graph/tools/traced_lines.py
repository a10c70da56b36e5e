"""The log lines that say which trace they belong to, those nearest to the onset, as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from diag_graph.analysis.courses import Event
from diag_graph.analysis.log_courses import traced_events
from diag_graph.analysis.records import LogRecord, TimeRange
from diag_graph.sources.ports import Evidence, LogSource

MAX_LINES = 20_000
"""Lines on either side of the onset that are followed: a second's work, and hundreds of traces."""
LOOKED_AT = 500
"""Lines without a trace among them after which no line is expected to have one."""
SLICES = 20
"""Into how many parts the time before the onset is cut, to read the latest first."""

_KEPT = "traced lines"


def read_traced(evidence: Evidence, window: TimeRange, onset: float) -> Sequence[Event]:
    """Lines of traces in a window about the onset; none where lines do not say their trace. Kept for later calls."""
    if evidence.logs is None or not _says_traces(evidence, evidence.logs, TimeRange(onset, window.end)):
        return ()
    key = f"{_KEPT} {window.start} {window.end} {onset}"
    kept = evidence.derived.get(key)
    if isinstance(kept, tuple):
        return kept
    spans = evidence.spans.spans(window) if evidence.spans else ()
    events = tuple(traced_events(list(_lines(evidence.logs, window, onset)), spans))
    evidence.derived[key] = events
    return events


def _says_traces(evidence: Evidence, source: LogSource, since: TimeRange) -> bool:
    """Whether lines say which trace they belong to; looked for once, in a few."""
    if not isinstance(found := evidence.derived.get(_KEPT), bool):
        found = any(record.trace_id for record in islice(source.records(since), LOOKED_AT))
        evidence.derived[_KEPT] = found
    return found


def _lines(source: LogSource, window: TimeRange, onset: float) -> Iterator[LogRecord]:
    """Those since the onset, then those before, latest part first."""
    yield from islice(source.records(TimeRange(onset, window.end)), MAX_LINES)
    width, read = (onset - window.start) / SLICES, 0
    for place in range(SLICES):
        if width <= 0 or read >= MAX_LINES:
            return
        end = onset - place * width
        for record in source.records(TimeRange(end - width, end)):
            if record.time is not None and record.time < end:
                read += 1
                yield record
