"""Where work ends early or fails: what used to come next in it, and does not, or an error that takes its place.

Nezha (Yu et al., ESEC/FSE 2023) makes of each trace a graph of events, counts pairs of an event and one that follows
it, and ranks by how much the support of a pair changed between the fault-free and the fault-suffering time. Here the
support is conditional: of the traces in which the first event of a pair happened, the share in which the second one
followed. It is the same however many requests there are, and however many of them a recorder keeps.

Three courses are told apart. Work that ends early no longer does what it always did next. Work that fails reports an
error there. Work that took another branch does something else in its place: it was given something else to do, which
is no fault of its own, and is not told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from diag_graph.analysis.share_evidence import SUBSTANTIAL, share_evidence

MIN_TRACES = 2
"""Traces on either side of the onset below which a pair has no support."""
FOLLOWERS = 20
"""How many events after an event still count as following it."""
ALWAYS = 0.95
"""The share from which something always follows; as little as is left of one, it never does.

What follows now and then depends on what is asked for, and so its share moves with the mixture of requests."""
OTHER_BRANCH = 0.5
"""By how much the share of an event that is no failure must grow to be what is done instead."""

FAR_LESS = 0.5
"""By how much the share of a call must fall for its callee to have less to do."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a service did in the course of one trace.

    Attributes:
        work: What it is a part of: all that a service did for one trace, or for one call.
        service: Who did it.
        kind: What was done, alike each time: an operation, a call, a template of log lines.
        time: When.
        failed: Whether it reports a failure.
        callee: The service that is called; empty for what is no call.
        text: How a person would name it; for a log line, the line.
        level: Of a log line.
    """

    work: str
    service: str
    kind: str
    time: float
    failed: bool = False
    callee: str = ""
    text: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """How often something followed, before the onset and since, out of how many times."""

    before: int
    all_before: int
    since: int
    all_since: int

    @property
    def evidence(self) -> float:
        """Common logarithm of the Bayes factor for a change."""
        return share_evidence(self.before, self.all_before, self.since, self.all_since)

    @property
    def change(self) -> float:
        """The share since less the share before."""
        return self.since / self.all_since - self.before / self.all_before

    @property
    def is_over(self) -> bool:
        """Whether it always followed before, and never does since."""
        return self.before >= ALWAYS * self.all_before and self.since <= (1 - ALWAYS) * self.all_since


@dataclass(frozen=True, slots=True)
class Course:
    """A service whose work ends early, or fails on its way.

    Attributes:
        service: Which.
        after: The last thing that it still does.
        missing: What used to follow; None when only a failure is new.
        missed: How often that follows.
        failure: The failure that follows instead; None when there is none.
        failed: How often that follows.
        onset: When it first happened since the onset.
        uncalled: Services that it calls there far less, or no longer.
        unlike: Whether it only shows with works that began otherwise than any before: they may be other requests.
    """

    service: str
    after: Event
    missing: Event | None
    missed: Share | None
    failure: Event | None
    failed: Share | None
    onset: float
    uncalled: tuple[str, ...] = ()
    unlike: bool = False

    @property
    def evidence(self) -> float:
        """Common logarithm of the Bayes factor of its more telling half."""
        return max(share.evidence for share in (self.missed, self.failed) if share is not None)


@dataclass(slots=True)
class _Step:
    """A kind of event of a service: in which work it happened, when first, and what followed it there."""

    example: Event
    before: dict[str, dict[str, Event]] = field(default_factory=dict)
    since: dict[str, dict[str, Event]] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    gaps: Counter[str] = field(default_factory=Counter)
    """How far away what follows is, summed."""
    led: dict[str, frozenset[str]] = field(default_factory=dict)
    """What had been done when it first happened in a work."""


def changed_courses(events: Iterable[Event], onset: float) -> list[Course]:
    """The services whose work ends early or fails since the onset, most telling first; one course a service.

    Args:
        events: What services did, in any order.
        onset: When the trouble began.
    """
    best: dict[str, tuple[tuple[bool, float, float], Course]] = {}
    for (service, _), step in _steps(events, onset).items():
        course = _course(service, _alike(step)) or _course(service, step, unlike=True)
        if course is None:
            continue
        # Of pairs that tell the same, the one whose halves lie closest says where.
        target = course.failure or course.missing
        gap = step.gaps[target.kind] / len(step.times) if target else 0.0
        rank = (not course.unlike, round(course.evidence, 6), -gap)
        if service not in best or rank > best[service][0]:
            best[service] = (rank, course)
    return sorted((course for _, course in best.values()), key=lambda one: (-one.evidence, one.onset, one.service))


def _steps(events: Iterable[Event], onset: float) -> Mapping[tuple[str, str], _Step]:
    steps: dict[tuple[str, str], _Step] = {}
    works: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        works[event.work, event.service].append(event)
    for (work, service), done in works.items():
        done.sort(key=lambda event: event.time)
        for place, event in enumerate(done):
            step = steps.setdefault((service, event.kind), _Step(event))
            later = step.times.setdefault(work, event.time) >= onset
            step.led.setdefault(work, frozenset(one.kind for one in done[:place] if not one.failed))
            followers = (step.since if later else step.before).setdefault(work, {})
            for gap, follower in enumerate(_following(done, place), 1):
                if follower.kind not in followers:
                    followers[follower.kind] = follower
                    step.gaps[follower.kind] += gap
    return steps


def _alike(step: _Step) -> _Step:
    """The step without those works since the onset that did something before it that no earlier work had done there.

    One operation serves requests of several kinds, and of few sampled traces those before the onset may be of one kind,
    those since of another: what differs is then what was asked for. What a work did before tells of which kind it is.
    """
    known = frozenset[str]().union(*(step.led[work] for work in step.before))
    return replace(step, since={work: then for work, then in step.since.items() if step.led[work] <= known})


def _following(done: Sequence[Event], place: int) -> Iterator[Event]:
    """The events after one, up to its next like."""
    for event in done[place + 1 : place + 1 + FOLLOWERS]:
        if event.kind == done[place].kind:
            return
        yield event


def _course(service: str, step: _Step, *, unlike: bool = False) -> Course | None:
    """How the work after an event changed, when it ends early or fails."""
    if min(len(step.before), len(step.since)) < MIN_TRACES or step.example.failed:
        return None
    seen = {kind: event for work in (*step.before.values(), *step.since.values()) for kind, event in work.items()}
    shares = {kind: _share(step, kind) for kind in seen}
    telling = {kind: share for kind, share in shares.items() if share.evidence >= SUBSTANTIAL}
    failing = [kind for kind, share in telling.items() if share.change > 0 and seen[kind].failed]
    missing = [kind for kind, share in telling.items() if share.change < 0 and not seen[kind].failed]
    if not failing:
        instead = [kind for kind, share in shares.items() if share.change >= OTHER_BRANCH and not seen[kind].failed]
        missing = [kind for kind in missing if telling[kind].is_over]
        if not missing or 2 * len(instead) > len(missing):
            return None

    def most_telling(kinds: Sequence[str]) -> str | None:
        return min(kinds, key=lambda kind: (-round(shares[kind].evidence, 6), step.gaps[kind], kind), default=None)

    failure, gone = most_telling(failing), most_telling(missing)
    first = None if failure is None else _first(step, failure)
    return Course(
        service=service,
        after=step.example,
        missing=None if gone is None else seen[gone],
        missed=None if gone is None else shares[gone],
        failure=first,
        failed=None if failure is None else shares[failure],
        onset=first.time if first else min(step.times[work] for work, then in step.since.items() if gone not in then),
        uncalled=tuple(sorted({seen[kind].callee for kind in shares if shares[kind].change <= -FAR_LESS} - {""})),
        unlike=unlike,
    )


def _share(step: _Step, kind: str) -> Share:
    before = sum(kind in followers for followers in step.before.values())
    since = sum(kind in followers for followers in step.since.values())
    return Share(before, len(step.before), since, len(step.since))


def _first(step: _Step, kind: str) -> Event:
    return min((then[kind] for then in step.since.values() if kind in then), key=lambda event: event.time)
