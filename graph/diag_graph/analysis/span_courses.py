"""What services did in the course of a call, from spans; and calls that are not seen to arrive, or are repeated."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diag_graph.analysis.courses import Course, Event, Share, changed_courses
from diag_graph.analysis.records import FloatArray, Span
from diag_graph.analysis.share_evidence import DECISIVE, SUBSTANTIAL
from diag_graph.analysis.span_times import TimedSpan, cancelled, timed

MAX_SPANS = 10_000
"""Spans on either side of the onset that are followed, those nearest to it."""
MIN_REPEATED = 3
"""Executions on either side without which a number of calls is no habit."""
TWICE = 2.0
"""How many times as many calls an execution must make."""
RETRIED = 0.5
"""The share of the calls that fail from which repeated calls are retries."""
ORPHANED = 0.2
"""The share of spans whose parent is not recorded from which it is told."""


class FlowKind(StrEnum):
    """How the flow of calls to a service changed."""

    NOT_ARRIVING = "not arriving"
    """Its callers call it, and it records nothing of that."""
    RETRIED = "retried"
    """One execution of its caller calls it several times, because calls fail."""
    FANNED_OUT = "fanned out"
    """One execution of its caller calls it several times, though they succeed."""
    ORPHANED = "orphaned"
    """Its spans name a parent that nobody recorded."""


@dataclass(frozen=True, slots=True)
class FlowChange:
    """How calls from one service to another changed.

    Attributes:
        kind: How.
        caller: Who calls; for orphaned spans who usually does, and empty when that is not known.
        callee: Who is called.
        operation: What is called, as the caller names it (`NOT_ARRIVING`) or as the callee does.
        share: How often it is so; for repeated calls None.
        before: Calls an execution makes, median; for the other kinds 0.
        since: The same since the onset.
        onset: When it first was so since the onset.
        evidence: Common logarithm of the Bayes factor, or of the odds.
    """

    kind: FlowKind
    caller: str
    callee: str
    operation: str
    share: Share | None
    onset: float
    evidence: float
    before: float = 0.0
    since: float = 0.0

    @property
    def entity(self) -> str:
        """Whom it speaks against: who is not reached, fails, calls too often, or does not record what it calls."""
        at_caller = self.kind in (FlowKind.FANNED_OUT, FlowKind.ORPHANED)
        return (self.caller or self.callee) if at_caller else self.callee


@dataclass(frozen=True, slots=True)
class FlowSurvey:
    """How work goes on and calls flow.

    Attributes:
        courses: Services whose work ends early.
        flows: Calls that do not arrive, are repeated, or come from nowhere.
    """

    courses: tuple[Course, ...]
    flows: tuple[FlowChange, ...]


def survey_flows(spans: Sequence[Span], onset: float) -> FlowSurvey:
    """Compare what follows what, and how calls flow, since the onset with before.

    Args:
        spans: Spans of whole traces as far as they were recorded.
        onset: When the trouble began.
    """
    near = _nearest(spans, onset)
    followed = timed(near)
    entries = executions(followed)
    flows = [*_not_arriving(followed, onset), *_repeated(followed, entries, onset), *_orphaned(followed, onset)]
    flows.sort(key=lambda flow: (-flow.evidence, flow.onset, flow.callee, flow.operation))
    return FlowSurvey(tuple(changed_courses(_events(followed, entries), onset)), tuple(flows))


def _nearest(spans: Sequence[Span], onset: float) -> list[Span]:
    """The spans on either side of the onset that lie nearest to it, in whole traces."""
    starts: dict[str, float] = {}
    for span in spans:
        starts[span.trace_id] = min(span.start, starts.get(span.trace_id, span.start))
    sizes = Counter(span.trace_id for span in spans)
    chosen: set[str] = set()
    for traces in (
        sorted((trace for trace, start in starts.items() if start >= onset), key=lambda trace: starts[trace]),
        sorted((trace for trace, start in starts.items() if start < onset), key=lambda trace: -starts[trace]),
    ):
        taken = 0
        for trace in traces:
            if taken >= MAX_SPANS:
                break
            chosen.add(trace)
            taken += sizes[trace]
    return [span for span in spans if span.trace_id in chosen]


def executions(followed: Sequence[TimedSpan]) -> Mapping[int, Span]:
    """By a span's identity, the span with which its service began to work: whose caller is another one, or unknown."""
    parents = {id(one.span): one.parent for one in followed}
    entries: dict[int, Span] = {}
    for one in followed:
        chain, span = [], one.span
        while id(span) not in entries:
            chain.append(id(span))
            parent = parents[id(span)]
            if parent is None or parent.service != span.service or id(parent) in chain:
                entries[id(span)] = span
                break
            span = parent
        entries.update(dict.fromkeys(chain, entries[id(span)]))
    return entries


def _events(followed: Sequence[TimedSpan], entries: Mapping[int, Span]) -> Iterator[Event]:
    """What each execution did: its own spans, and the calls that it made, by what was called."""
    for one in followed:
        span, entry = one.span, entries[id(one.span)]
        failed = span.error and not one.failing_child and not cancelled(span)
        if not one.callee:
            yield Event(f"{entry.trace_id} {entry.span_id}", span.service, span.name, span.start, failed=failed)
        if one.parent is not None and one.parent.service != span.service:
            called, kind = entries[id(one.parent)], f"{span.service} {span.name}"
            work = f"{called.trace_id} {called.span_id}"
            yield Event(work, called.service, kind, one.parent.start, callee=span.service)


def _not_arriving(followed: Sequence[TimedSpan], onset: float) -> Iterator[FlowChange]:
    """Call spans that always had a span of the service that they call beneath, and now have none."""
    arrived: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    first: dict[tuple[str, str], float] = {}
    parents = {id(one.parent) for one in followed if one.parent is not None}
    for one in followed:
        leaf = id(one.span) not in parents
        if one.callee or leaf:
            key, later = (one.span.service, one.span.name), one.span.start >= onset
            arrived[key][later].append(one.callee)
            if later and not one.callee:
                first[key] = min(one.span.start, first.get(key, one.span.start))
    for (caller, name), (before, since) in arrived.items():
        callees = set(before) - {""}
        if len(callees) == 1 and len(before) > 1 and len(since) > 1:
            share = Share(sum(map(bool, before)), len(before), sum(map(bool, since)), len(since))
            if share.is_over and share.evidence >= SUBSTANTIAL:
                yield FlowChange(
                    FlowKind.NOT_ARRIVING, caller, callees.pop(), name, share, first[caller, name], share.evidence
                )


def _repeated(followed: Sequence[TimedSpan], entries: Mapping[int, Span], onset: float) -> Iterator[FlowChange]:
    """Executions that call the same operation of a service more than twice as often as before, all of them."""
    calls: dict[tuple[str, str, str, str], dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for one in followed:
        if one.parent is not None and one.parent.service != one.span.service:
            entry = entries[id(one.parent)]
            calls[entry.service, entry.name, one.span.service, one.span.name][id(entry)].append(one.span)
    for (caller, _, callee, name), made in calls.items():
        before, since = _counts(made, onset, later=False), _counts(made, onset, later=True)
        if min(before.size, since.size) < MIN_REPEATED:
            continue
        usual, now = float(np.median(before)), float(np.median(since))
        if now < TWICE * usual or since.min() <= before.max():
            continue
        spans = [span for group in made.values() if group[0].start >= onset for span in group]
        kind = FlowKind.RETRIED if sum(span.error for span in spans) >= RETRIED * len(spans) else FlowKind.FANNED_OUT
        share = Share(0, before.size, since.size, since.size)
        yield FlowChange(
            kind, caller, callee, name, None, min(span.start for span in spans), share.evidence, usual, now
        )


def _counts(made: Mapping[int, Sequence[Span]], onset: float, *, later: bool) -> FloatArray:
    return np.array([len(group) for group in made.values() if (group[0].start >= onset) is later], dtype=np.float64)


def _orphaned(followed: Sequence[TimedSpan], onset: float) -> Iterator[FlowChange]:
    """Services whose spans name a parent that is not recorded, far more often than before."""
    lost: dict[str, tuple[list[bool], list[bool]]] = defaultdict(lambda: ([], []))
    callers: dict[str, Counter[str]] = defaultdict(Counter)
    first: dict[str, float] = {}
    for one in followed:
        span, later = one.span, one.span.start >= onset
        orphan = bool(span.parent_id) and one.parent is None
        if span.parent_id and (orphan or (one.parent is not None and one.parent.service != span.service)):
            lost[span.service][later].append(orphan)
        if one.parent is not None and one.parent.service != span.service:
            callers[span.service][one.parent.service] += 1
        if orphan and later:
            first[span.service] = min(span.start, first.get(span.service, span.start))
    for service, (before, since) in lost.items():
        if before and since:
            share = Share(sum(before), len(before), sum(since), len(since))
            if share.evidence >= DECISIVE and share.change >= ORPHANED:
                usual = callers[service].most_common(1)
                caller = usual[0][0] if usual else ""
                yield FlowChange(FlowKind.ORPHANED, caller, service, "", share, first[service], share.evidence)
