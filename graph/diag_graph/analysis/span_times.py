"""Self time of spans, and who calls whom, from the spans of traces."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diag_graph.analysis.records import Edge, Span

AWAITED_MS = 1.0
"""Milliseconds by which a call may end after what waits for it: the two are recorded one after the other."""
_STATUS_KEYS = ("rpc.grpc.status_code", "http.status_code", "http.response.status_code")
_CANCELLED_CODES = frozenset({"1", "499"})
_MESSAGE_KEYS = (
    "exception.message",
    "error.message",
    "error",
    "status.message",
    "status_message",
    "otel.status_description",
    "message",
)


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """A span with what its trace says about it.

    Attributes:
        span: The span.
        self_ms: Its duration less the time in which at least one child ran, or a call that it waits for, in
            milliseconds; never negative.
        parent: Its parent span, if it was recorded.
        failing_child: Whether a direct child failed and was not merely given up: the span's error is then not its own.
        callee: The service of its only child, where that is another one: the span is then the call itself, seen from
            the caller, and its self time is spent on the way or in the callee's queue. Empty otherwise.
    """

    span: Span
    self_ms: float
    parent: Span | None
    failing_child: bool
    callee: str


def timed(spans: Sequence[Span]) -> list[TimedSpan]:
    """Each span with its self time, in the order given.

    Self time is the duration less the union of the children's intervals (clipped to the span: clocks of hosts differ),
    so that a slow callee does not make its callers slow too; it is the exclusive latency that MicroRank (WWW 2021) and
    TraceRCA (IWQoS 2021) rank by. Where a handler runs asynchronously, the calls that it waits for stand beside it and
    not beneath: a span without children does not work while a call of its service runs that begins and ends within it.
    """
    parents = _parents(spans)
    children: dict[int, list[Span]] = defaultdict(list)
    for span, parent in zip(spans, parents, strict=True):
        if parent is not None:
            children[id(parent)].append(span)
    result = []
    for span, parent in zip(spans, parents, strict=True):
        own = children.get(id(span), ())
        callees = {child.service for child in own if child.service != span.service}
        result.append(
            TimedSpan(
                span=span,
                self_ms=max(span.duration_ms - _union_ms(span, own or _awaited(span, parent, children)), 0.0),
                parent=parent,
                failing_child=any(child.error and not cancelled(child) for child in own),
                callee=callees.pop() if len(own) == 1 and callees else "",
            )
        )
    return result


def _awaited(span: Span, parent: Span | None, children: Mapping[int, Sequence[Span]]) -> list[Span]:
    """The calls to other services that begin and end within a span, beside it; not to the millisecond."""
    end = span.start + (span.duration_ms + AWAITED_MS) / 1_000
    return [
        beside
        for beside in (children.get(id(parent), ()) if parent is not None else ())
        if beside is not span
        and beside.service == span.service
        and span.start <= beside.start
        and beside.start + beside.duration_ms / 1_000 <= end
        and any(called.service != span.service for called in children.get(id(beside), ()))
    ]


def cancelled(span: Span) -> bool:
    """Whether a failed span was given up by its caller, whose failure it then is (gRPC status 1, HTTP status 499)."""
    codes = {str(span.attributes.get(key, "")) for key in _STATUS_KEYS}
    return not codes.isdisjoint(_CANCELLED_CODES) or "cancel" in f"{error_text(span)} {span.status}".lower()


def error_text(span: Span) -> str:
    """What a failed span's attributes say of its error (OpenTelemetry's and plainer names); empty when nothing."""
    for key in _MESSAGE_KEYS:
        value = span.attributes.get(key)
        if isinstance(value, str) and value.lower() not in ("", "true", "false"):
            return value
    return ""


def _parents(spans: Sequence[Span]) -> list[Span | None]:
    """Each span's parent: of the same trace, or of another one where the span's identifier alone is unambiguous.

    Recorders lose trace identifiers across message queues and exports; a parent that names its child is a parent.
    """
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    owners = Counter(span.span_id for span in spans)
    alone = {span.span_id: span for span in spans if owners[span.span_id] == 1}
    return [
        (by_id.get((span.trace_id, span.parent_id)) or alone.get(span.parent_id)) if span.parent_id else None
        for span in spans
    ]


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
    counts: Counter[Edge] = Counter()
    for span, parent in zip(spans, _parents(spans), strict=True):
        if parent is not None and parent.service and span.service and parent.service != span.service:
            counts[Edge(parent.service, span.service)] += 1
    return counts
