"""What services did in the course of a trace, from log lines that carry their trace's identifier."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from diag_graph.analysis.courses import Event
from diag_graph.analysis.log_masks import headline, masked_column
from diag_graph.analysis.log_patterns import FAILURES
from diag_graph.analysis.records import LogRecord, Span
from diag_graph.analysis.span_courses import executions
from diag_graph.analysis.span_times import timed

CLOCKS = 0.005
"""Seconds by which a log's clock and a tracer's differ on one host."""

_SITE = re.compile(
    r"(?<![\w/])(?:[\w$\[\]]+\.)*[\w$]+(?:#|\.(?:java|kt|scala|go|py|rb|rs|cs|js|ts|cc|cpp|php):)\d{1,5}\b"
)
"""A place in the code, as loggers write it: `o.s.OrderServiceImpl#118`, `checkout.go:77`."""


def traced_events(records: Sequence[LogRecord], spans: Sequence[Span] = ()) -> list[Event]:
    """The lines of traces as events, alike where the same place in the code logged them, or in the same words.

    What follows a line must follow it within the same call: that a service is not called again is its caller's doing.
    Spans say which lines belong to one call; where there are none, all lines of a service in a trace are one work.

    Args:
        records: Log lines; those without a trace or a time are left out, and those of a service that was called more
            than once in a trace, when none of its calls was going on.
        spans: Spans of the same time.
    """
    traced = [record for record in records if record.trace_id and record.time is not None]
    said = [headline(record.message, record.attributes) for record in traced]
    calls = _calls(spans, {record.trace_id for record in traced})
    return [
        Event(
            work=work,
            service=record.service,
            kind=f"{record.level} {code_place(text) or masked}",
            time=record.time or 0.0,
            failed=record.level in FAILURES,
            text=text,
            level=record.level,
        )
        for record, text, masked in zip(traced, said, masked_column(said).to_list(), strict=True)
        if (work := _call_of(record, calls.get((record.trace_id, record.service), ())))
    ]


def _calls(spans: Sequence[Span], traces: set[str]) -> Mapping[tuple[str, str], list[Span]]:
    """The spans with which services began to work, by trace and service, latest first."""
    followed = timed([span for span in spans if span.trace_id in traces])
    entries = {id(entry): entry for entry in executions(followed).values()}
    calls: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for entry in sorted(entries.values(), key=lambda span: -span.start):
        calls[entry.trace_id, entry.service].append(entry)
    return calls


def _call_of(record: LogRecord, calls: Sequence[Span]) -> str:
    """The call that a line was logged in: the latest that had begun and not ended; empty when that cannot be told."""
    if len(calls) <= 1:
        return record.trace_id
    time = record.time or 0.0
    during = [one for one in calls if one.start - CLOCKS <= time <= one.start + one.duration_ms / 1_000 + CLOCKS]
    return f"{record.trace_id} {during[0].span_id}" if during else ""


def code_place(text: str) -> str:
    """The place in the code that a message names as its origin; empty when it names none."""
    found = _SITE.search(text)
    return found.group() if found else ""
