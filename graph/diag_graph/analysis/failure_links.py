"""Sightings of known failures, set in relation: what is over, and what is only a consequence of another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from diag_graph.analysis.document_subjects import State, Subject
from diag_graph.analysis.failure_signatures import Severity, Signature, TextKind

STALE = 3_600.0
"""Seconds before the onset after which what was last seen is history."""
ENDED_BY_STATE = frozenset({State.READY, State.DELETED})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands: the document and its line, or a log line's `file:line`."""

    source: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class FailureSighting:
    """A failure that some line names.

    Attributes:
        signature: Which.
        subject: What the text around the line is about.
        entity: What the failure is about: as the line says, else the subject.
        detail: More, as the line says.
        place: Where the first line stands.
        quote: That line.
        kind: What kind of text it stands in.
        lines: How many lines say so.
        first: Seconds since the epoch; None when the lines carry no time.
        last: As first.
        over: Why it is over; empty when nothing says that it is.
        explained_by: Failures whose consequence it is.
        row: The line is the row of a table: a state, and no stray message.
    """

    signature: Signature
    subject: Subject
    entity: str
    detail: str
    place: Place
    quote: str
    kind: TextKind = TextKind.LOG
    lines: int = 1
    first: float | None = None
    last: float | None = None
    over: str = ""
    explained_by: tuple[Signature, ...] = field(default=())
    row: bool = False

    @property
    def names(self) -> frozenset[str]:
        """What it is about, in all its names."""
        return frozenset(name for name in (self.entity, self.subject.name) if name)


def same_workload(one: str, other: str) -> bool:
    """Whether two names are the same, or one is a pod or a replica set of the other."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return bool(short) and (short == long or long.startswith((f"{short}-", f"{short}.", f"{short}:")))


_POD = re.compile(
    r"-(?:[a-f0-9]{6,10}|[bcdfghj-np-tv-xz2-9]{6,10})(?:-[a-z0-9]{4,5})?\Z|-\d{1,4}\Z"
    r"|-(?=[a-z]*\d|[^aeiou]+\Z)[a-z0-9]{5}\Z"
)
"""How Kubernetes ends the names of pods and replica sets: a hash, a random suffix without vowels, an ordinal."""


def is_pod_of(one: str, other: str) -> bool:
    """Whether two names are the same, or one is a pod or a replica set of the other, by the way such names are made."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return short == long or (long.startswith(f"{short}-") and _POD.fullmatch(long[len(short) :]) is not None)


def merged(sightings: Iterable[FailureSighting]) -> list[FailureSighting]:
    """One sighting a failure and what it is about: the first that gives a detail stands for all its lines."""
    found: dict[tuple[str, str], FailureSighting] = {}
    for one in sightings:
        key = (one.signature.id, one.entity)
        known = found.get(key)
        if known is None:
            found[key] = one
            continue
        times = [time for time in (known.first, known.last, one.first, one.last) if time is not None]
        found[key] = replace(
            one if one.detail and not known.detail else known,
            lines=known.lines + one.lines,
            first=min(times, default=None),
            last=max(times, default=None),
        )
    return list(found.values())


def linked(
    sightings: Sequence[FailureSighting], states: Mapping[str, State], onset: float | None
) -> list[FailureSighting]:
    """Say of each failure whether it is over, and whose consequence it is.

    Args:
        sightings: What was seen, recoveries too.
        states: How objects are now.
        onset: When the trouble began; what was last seen long before is over.
    """
    recoveries = [one for one in sightings if one.signature.severity is Severity.RECOVERY]
    judged = [replace(one, over=_over(one, recoveries, states, onset)) for one in sightings]
    present = [one for one in judged if not one.over and one.signature.severity in {Severity.CAUSE, Severity.HINT}]
    return [replace(one, explained_by=() if one.over else _explaining(one, present)) for one in judged]


def _over(
    one: FailureSighting, recoveries: Sequence[FailureSighting], states: Mapping[str, State], onset: float | None
) -> str:
    if one.signature.severity is Severity.RECOVERY:
        return ""
    state = next((states[name] for name in (one.entity, one.subject.name) if name in states), None)
    if one.signature.until_ready and state in ENDED_BY_STATE:
        return f"it is {state} now" if state is State.READY else f"it is {state}"
    ended = next((recovery for recovery in recoveries if _ends(recovery, one)), None)
    if ended is not None:
        return f"{ended.signature.title} after it"
    if onset is not None and one.last is not None and one.last < onset - STALE:
        return "last seen long before the onset"
    return ""


def _ends(recovery: FailureSighting, failure: FailureSighting) -> bool:
    """Whether a recovery is of this failure, of the same thing, and later."""
    if failure.signature.id not in recovery.signature.ends:
        return False
    if not any(same_workload(one, other) for one in recovery.names for other in failure.names):
        return False
    if recovery.last is not None and failure.last is not None:
        return recovery.last >= failure.last
    same = recovery.place.source == failure.place.source
    return same and (recovery.place.line or 0) > (failure.place.line or 0)


def _explaining(one: FailureSighting, present: Sequence[FailureSighting]) -> tuple[Signature, ...]:
    found = [other.signature for other in present if _seen_better(other, one)]
    found += [
        other.signature
        for other in present
        if other.signature.id != one.signature.id
        and one.signature.id in other.signature.explains
        and other.signature.id not in one.signature.explains
        and _related(other, one)
        and (other.signature.severity is Severity.CAUSE or one.signature.severity is Severity.CONSEQUENCE)
    ]
    return tuple({signature.id: signature for signature in found}.values())


def _seen_better(other: FailureSighting, one: FailureSighting) -> bool:
    """Whether another sighting of the same failure says whose it is, and this one shows only where it is felt."""
    return (
        other.signature.id == one.signature.id
        and bool(one.signature.about)
        and one.entity == one.subject.name != other.entity
        and one.subject.name == other.subject.name
    )


def _related(cause: FailureSighting, consequence: FailureSighting) -> bool:
    """Whether both are about the same thing, or one names the other, or the cause is one of shared ground."""
    if not cause.names or not consequence.names:
        return cause.place.source == consequence.place.source
    if any(same_workload(one, other) for one in cause.names for other in consequence.names):
        return True
    said = f"{cause.quote}\n{consequence.quote}".lower()
    return all(any(name.lower() in said for name in one.names) for one in (cause, consequence)) and (
        any(name.lower() in cause.quote.lower() for name in consequence.names)
        or any(name.lower() in consequence.quote.lower() for name in cause.names)
    )
