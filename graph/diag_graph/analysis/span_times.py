"""Self time of spans, and who calls whom, from the spans of traces."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diag_graph.analysis.records import Edge, Span


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """A span with what its trace says about it.

    Attributes:
        span: The span.
        self_ms: Its duration less the time in which at least one child ran, in milliseconds; never negative.
        parent: Its parent span, if it was recorded.
        failing_child: Whether a direct child failed, so that this span's error is not its own.
    """

    span: Span
    self_ms: float
    parent: Span | None
    failing_child: bool


def timed(spans: Sequence[Span]) -> list[TimedSpan]:
    """Each span with its self time, in the order given.

    Self time is the duration less the union of the children's intervals (clipped to the span: clocks of hosts differ),
    so that a slow callee does not make its callers slow too; it is the exclusive latency that MicroRank (WWW 2021) and
    TraceRCA (IWQoS 2021) rank by.
    """
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    children: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for span in spans:
        if span.parent_id:
            children[span.trace_id, span.parent_id].append(span)
    result = []
    for span in spans:
        own = children.get((span.trace_id, span.span_id), ())
        busy = _union_ms(span, own)
        result.append(
            TimedSpan(
                span=span,
                self_ms=max(span.duration_ms - busy, 0.0),
                parent=by_id.get((span.trace_id, span.parent_id)) if span.parent_id else None,
                failing_child=any(child.error for child in own),
            )
        )
    return result


def _union_ms(span: Span, children: Iterable[Span]) -> float:
    begin, end = span.start, span.start + span.duration_ms / 1_000
    intervals = sorted(
        (max(child.start, begin), min(child.start + child.duration_ms / 1_000, end)) for child in children
    )
    busy, reached = 0.0, begin
    for start, stop in intervals:
        if stop > reached:
            busy += stop - max(start, reached)
            reached = stop
    return busy * 1_000


def call_counts(spans: Sequence[Span]) -> Mapping[Edge, int]:
    """Calls between services that spans show, with how often each was seen; calls within a service do not count."""
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    counts: Counter[Edge] = Counter()
    for span in spans:
        parent = by_id.get((span.trace_id, span.parent_id)) if span.parent_id else None
        if parent is not None and parent.service and span.service and parent.service != span.service:
            counts[Edge(parent.service, span.service)] += 1
    return counts
