"""Which operations got slower by self time, fail at their origin, or are no longer called, since the onset.

Per service and operation, as TraceRCA (Li et al., IWQoS 2021) and MicroRank (Yu et al., WWW 2021) do: blame follows
exclusive time and the deepest failing span, so that callers of a slow or failing callee are not blamed with it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from diag_graph.analysis.log_changes import rate_evidence
from diag_graph.analysis.peers import Wait, common_wait, wait_of
from diag_graph.analysis.records import FloatArray, Span
from diag_graph.analysis.span_times import TimedSpan, cancelled, error_text, timed

MIN_SPANS = 5
"""Spans before the onset below which an operation has no baseline."""
MIN_RATIO = 1.5
"""How many times as long a self time must be."""
MIN_MS = 1.0
MATERIAL_SHARE = 0.05
"""By how much a self time must grow: milliseconds, and as a share of the usual duration of whole requests."""
MIN_Z = 4.5
"""Deviation of the rank sum, in standard deviations: one operation in some hundred thousand by chance."""
APART_Z = 2.5
APART_RATIO = 4.0
APART_MS = 10.0
"""What takes the place of `MIN_Z` where there are too few spans for it: a much larger change."""
FEW_SPANS = 2
TAIL_QUANTILE = 0.95
MIN_STOPPED_EVIDENCE = 8.0
MIN_FAILURE_Z = 4.0
MIN_FAILURES = 3
"""Failed or slow spans that are no chance where there was none before."""
CALL_GAP = "call"
"""Marks the waiting time of calls to a service, seen from its callers."""


class SpanKind(StrEnum):
    """How an operation changed."""

    SLOWER = "slower"
    """By its median self time."""
    SLOWER_TAIL = "slower at the tail"
    """Only part of its calls."""
    CALLS_SLOWER = "calls slower"
    """Calls to the service wait longer outside of what it recorded: network, queue, connection."""
    FAILING = "failing"
    STOPPED = "stopped"
    """It is no longer called."""


@dataclass(frozen=True, slots=True)
class SpanChange:
    """One operation that changed.

    Attributes:
        service: Whose operation it is (for calls: the callee).
        operation: Its name.
        kind: How it changed.
        before: Median self time in ms, share of spans that failed, or number of spans; None: no baseline.
        after: The same since the onset.
        count_before: Spans before.
        count_after: Spans since.
        callers: Services that call it, most frequent first.
        onset: Start of the first span since the onset that shows it (for a failure its end; if it stopped, the last).
        failures: Failed spans since that have no failed call beneath.
        message: What a failed span says of its error.
        score: Comparable over operations.
        wait: What its self time, or its failures, are a call to; None when it is no call to something unrecorded.
    """

    service: str
    operation: str
    kind: SpanKind
    before: float | None
    after: float
    count_before: int
    count_after: int
    callers: tuple[str, ...]
    onset: float
    score: float
    failures: int = 0
    message: str = ""
    wait: Wait | None = None


@dataclass(frozen=True, slots=True)
class SpanSurvey:
    """All that was found.

    Attributes:
        changes: Most telling first.
        before: Spans before the onset.
        after: Spans since.
        operations: Number of services' operations seen.
        recording: Services that have spans.
        compared: Number of operations with enough spans before the onset and since to be compared.
    """

    changes: tuple[SpanChange, ...]
    before: int
    after: int
    operations: int
    recording: frozenset[str] = frozenset()
    compared: int = 0


@dataclass(slots=True)
class _Operation:
    service: str
    name: str
    before: list[TimedSpan]
    after: list[TimedSpan]


def survey_spans(spans: Sequence[Span], onset: float) -> SpanSurvey:
    """Compare every operation's spans since the onset with those before.

    Args:
        spans: Spans of whole traces as far as they were recorded.
        onset: When the trouble began; a span belongs to the time in which it ended, for it may wait for the trouble.
    """
    operations: dict[tuple[str, str, bool], _Operation] = {}
    before = 0
    for one in timed(spans):
        span = one.span
        later = span.start + span.duration_ms / 1_000 >= onset
        before += not later
        # A call span is waiting for its callee: it says something about the callee and the way to it.
        keys = [(span.service, span.name, False)] if not one.callee else [(one.callee, span.service, True)]
        for service, name, call in keys:
            group = operations.setdefault((service, name, call), _Operation(service, name, [], []))
            (group.after if later else group.before).append(one)
        if one.callee and _fails_itself(one):
            group = operations.setdefault((span.service, span.name, False), _Operation(span.service, span.name, [], []))
            (group.after if later else group.before).append(one)
    seconds = _seconds(spans, onset)
    all_gaps = np.array([one.self_ms for (_, _, call), group in operations.items() if call for one in group.before])
    material = _material_ms(spans)
    recording = frozenset(span.service for span in spans)
    changes: list[SpanChange] = []
    for (_, _, call), operation in operations.items():
        found = [_slower(operation, material, all_gaps if call else None)]
        if not call:
            found += [_failing(operation), _stopped(operation, seconds)]
        wait = None if call or not any(found) else _wait(operation, recording)
        changes.extend(replace(change, wait=wait) for change in found if change is not None)
    changes.sort(key=lambda change: (-change.score, change.onset, change.service, change.operation))
    own = [operation for (_, _, call), operation in operations.items() if not call]
    compared = sum(len(one.before) >= MIN_SPANS and len(one.after) >= FEW_SPANS for one in own)
    return SpanSurvey(tuple(changes), before, len(spans) - before, len(own), recording, compared)


def _wait(operation: _Operation, recording: frozenset[str]) -> Wait | None:
    """What the operation's own time is spent waiting for, when most of its spans are calls to something unrecorded."""
    shown = operation.after or operation.before
    return common_wait([None if one.callee else wait_of(one.span, recording) for one in shown])


def _seconds(spans: Sequence[Span], onset: float) -> tuple[float, float]:
    starts = [span.start for span in spans]
    return max(onset - min(starts, default=onset), 1.0), max(max(starts, default=onset) - onset, 1.0)


def _material_ms(spans: Sequence[Span]) -> float:
    """What an operation must gain to be felt: a share of the usual duration of whole requests (parentless spans)."""
    roots = [span.duration_ms for span in spans if not span.parent_id]
    return max(MIN_MS, MATERIAL_SHARE * float(np.median(roots))) if roots else MIN_MS


def _slower(operation: _Operation, material: float, all_gaps: FloatArray | None) -> SpanChange | None:
    """How an operation got slower; with `all_gaps`, the waits of all calls before, it is the calls to a service.

    Waiting on the way is alike for all services of a system, so that rare calls may borrow the others' baseline.
    """
    own = np.array([one.self_ms for one in operation.before])
    after = np.array([one.self_ms for one in operation.after])
    call = all_gaps is not None
    rare = all_gaps is not None and 0 < own.size < MIN_SPANS <= all_gaps.size
    before = all_gaps if rare and all_gaps is not None else own
    if before.size < MIN_SPANS or after.size < FEW_SPANS:
        return None
    centre, now = float(np.median(own)), float(np.median(after))
    z = rank_sum_z(before, after)
    kind = SpanKind.CALLS_SLOWER if call else SpanKind.SLOWER
    threshold = centre
    clear = not rare and z >= MIN_Z and now >= MIN_RATIO * centre and now - centre >= material
    if not clear and not _apart(before, now, centre, z):
        if rare:
            return None
        tail = float(np.quantile(before, TAIL_QUANTILE))
        limit = max(MIN_RATIO * tail, tail + material)
        slow = after[after > limit]
        seen, since = _of_traces(operation.before), _of_traces(operation.after)
        z = _tail_z(seen, since, limit)
        if (since > limit).sum() < MIN_FAILURES or z < MIN_Z:
            return None
        threshold, centre, now = tail, tail, float(np.median(slow))
        kind = SpanKind.CALLS_SLOWER if call else SpanKind.SLOWER_TAIL
    gain = now / max(centre, 0.05)
    return SpanChange(
        service=operation.service,
        operation=CALL_GAP if call else operation.name,
        kind=kind,
        before=centre,
        after=now,
        count_before=own.size,
        count_after=after.size,
        callers=(operation.name,) if call else _callers(operation),
        onset=min((one.span.start for one in operation.after if one.self_ms > threshold), default=0.0),
        score=round(float(np.log1p(min(z, 60.0)) * np.log1p(now - centre) * gain / (1 + gain)), 3),
    )


def _apart(before: FloatArray, now: float, centre: float, z: float) -> bool:
    """Whether few spans say it all the same: most of the later ones lie far above nearly every earlier one."""
    beyond = now > float(np.quantile(before, TAIL_QUANTILE))
    return beyond and z >= APART_Z and now >= APART_RATIO * centre and now - centre >= APART_MS


def rank_sum_z(before: FloatArray, after: FloatArray) -> float:
    """How far later values rank above earlier ones, in standard deviations (Mann-Whitney, normal approximation).

    Args:
        before: Earlier values, at least one.
        after: Later values, at least one.
    """
    pooled = np.concatenate([before, after])
    ordered = np.sort(pooled)
    ranks = (np.searchsorted(ordered, after, "left") + np.searchsorted(ordered, after, "right") + 1) / 2
    n, m = float(before.size), float(after.size)
    expected = m * (n + m + 1) / 2
    return float((ranks.sum() - expected) / np.sqrt(n * m * (n + m + 1) / 12))


def _of_traces(ones: Sequence[TimedSpan]) -> FloatArray:
    """The longest self time of each trace: one slow moment of a trace that calls ten times is one, and not ten."""
    longest: dict[str, float] = {}
    for one in ones:
        longest[one.span.trace_id] = max(one.self_ms, longest.get(one.span.trace_id, 0.0))
    return np.array(list(longest.values()))


def _tail_z(before: FloatArray, after: FloatArray, limit: float) -> float:
    """Deviation of the share of later values above a limit from the earlier share, of at least one value."""
    expected = max(float((before > limit).sum()), 1.0) / before.size
    observed = float((after > limit).sum())
    spread = np.sqrt(max(after.size * expected * (1 - min(expected, 0.5)), 0.25))
    return float((observed - after.size * expected) / spread)


def _failing(operation: _Operation) -> SpanChange | None:
    later = [one for one in operation.after if _fails_itself(one)]
    earlier = sum(_fails_itself(one) for one in operation.before)
    if not later:
        return None
    n_before, n_after = len(operation.before), len(operation.after)
    share_before = earlier / n_before if n_before else 0.0
    share = len(later) / n_after
    pooled = (earlier + len(later)) / (n_before + n_after)
    z = (share - share_before) / _spread(pooled, n_before, n_after)
    never_before = earlier == 0 and len(later) >= MIN_FAILURES
    if n_before >= MIN_SPANS and z < MIN_FAILURE_Z and not never_before:
        return None
    words = [text for one in later if (text := error_text(one.span))]
    return SpanChange(
        service=operation.service,
        operation=operation.name,
        kind=SpanKind.FAILING,
        before=share_before if n_before else None,
        after=share,
        count_before=n_before,
        count_after=n_after,
        callers=_callers(operation),
        onset=min(one.span.start + one.span.duration_ms / 1_000 for one in later),
        score=round(float(np.log1p(len(later)) * (0.5 + share) * 2.0), 3),
        failures=len(later),
        message=Counter(words).most_common(1)[0][0] if words else "",
    )


def _spread(pooled: float, n_before: int, n_after: int) -> float:
    """Standard error of the difference of two shares."""
    return float(np.sqrt(max(pooled * (1 - pooled), 1e-4) * (1 / max(n_before, 1) + 1 / n_after)))


def _fails_itself(one: TimedSpan) -> bool:
    """Whether a span failed with no failed call beneath, and not because its caller gave up on it."""
    return one.span.error and not one.failing_child and not cancelled(one.span)


def _stopped(operation: _Operation, seconds: tuple[float, float]) -> SpanChange | None:
    before, after = len(operation.before), len(operation.after)
    if after or rate_evidence(before, after, *seconds) < MIN_STOPPED_EVIDENCE:
        return None
    return SpanChange(
        service=operation.service,
        operation=operation.name,
        kind=SpanKind.STOPPED,
        before=float(before),
        after=0.0,
        count_before=before,
        count_after=0,
        callers=_callers(operation),
        onset=max(one.span.start for one in operation.before),
        score=round(0.3 * float(np.log1p(before)), 3),
    )


def _callers(operation: _Operation) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    for one in (*operation.before, *operation.after):
        if one.parent is not None and one.parent.service != operation.service:
            seen[one.parent.service] += 1
    by_frequency: dict[str, int] = defaultdict(int, seen)
    return tuple(sorted(by_frequency, key=lambda name: (-by_frequency[name], name)))
