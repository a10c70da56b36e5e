"""Does a change fit a failure: by when it took effect, by what it touched, and by what it does.

A change shortly before a failure is suspected by anybody; most are innocent. So three things must agree. Time: it took
effect before the failure began. Place: it went to where the trouble starts, to what that calls, or to what calls it.
Content: what it does is about what fails (`change_subjects`), or names what the failure names, where a word counts the
less the more changes use it (inverse document frequency: Sparck Jones, "A statistical interpretation of term
specificity", Journal of Documentation, 1972). Where its content says nothing either way, time and place alone make it
possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diag_graph.analysis.change_candidates import Candidate, candidates
from diag_graph.analysis.change_outside import made_elsewhere
from diag_graph.analysis.change_reasons import Vocabularies, reasons
from diag_graph.analysis.change_subjects import Subject, apart
from diag_graph.analysis.failure_links import same_workload
from diag_graph.analysis.records import Change

ROLLOUT = 600.0
"""Seconds within which a change takes effect (Kubernetes gives a rollout as long: `progressDeadlineSeconds`): so soon
before a failure, time and place make a change possible whose content hints at it, or is not recorded."""
PROMPT = 120.0
"""Seconds before a failure within which time and place make any change possible: two samples of most metrics."""
REACH = 6 * 3_600.0
"""Seconds before a failure within which a change whose content fits is blamed: pools fill and caches empty slowly."""
TIME_SCALE = 3_600.0
FITTING = 0.45
"""What content and place together must reach."""
MECHANISM = 0.5
"""What the strongest reason must be worth where a diff shows what a change does: shared words are then too little."""
FURTHER = 0.4
"""What each further reason adds, compared with the one before it: they are seldom independent."""
NEARBY, SHARED, ELSEWHERE = 0.8, 0.7, 0.0
"""How much a place counts: what the failing service calls or is called by, code that services share, and the rest."""
UNDEPLOYED = 0.6
"""What a commit is worth for which no deploy is recorded, where deploys are recorded."""
COSTS_OF_TELEMETRY = frozenset({Subject.DISK, Subject.CPU, Subject.MISSING_VALUE})
"""What logging more can bring about: full disks, work, and an error in the very expression that is logged."""


class Standing(StrEnum):
    """How a change stands to a failure."""

    FITS = "fits"
    POSSIBLE = "may fit"
    MISFIT = "does not fit"


@dataclass(frozen=True, slots=True)
class Failure:
    """What fails, where, and since when.

    Attributes:
        text: Its words: messages, names of metrics and operations.
        places: Where it starts, then what stands near: what that calls, or is called by.
        since: When it began, seconds since the epoch.
        slack: Seconds by which a change may be recorded after its first effect.
    """

    text: str
    places: Sequence[str]
    since: float
    slack: float = 5.0


@dataclass(frozen=True, slots=True)
class Fit:
    """How one change stands to a failure.

    Attributes:
        change: The deploy, flag or setting; a commit where no deploy of it is recorded.
        commit: What was deployed, where the change is a deploy and its commit is recorded.
        standing: Whether it fits.
        score: How well, comparable within one failure.
        why: Reasons, each a predicate whose subject is the change; what is quoted is the change's or the failure's.
        unproven: Of a misfit, that nothing rules it out: there is just too little that speaks for it.
    """

    change: Change
    commit: Change | None
    standing: Standing
    score: float
    why: tuple[str, ...]
    unproven: bool = False


def weigh(changes: Sequence[Change], failure: Failure) -> list[Fit]:
    """All changes, those that fit best first; of the others, those that were made nearest before the failure.

    Args:
        changes: Everything that is recorded.
        failure: What fails.
    """
    known = list(candidates(changes, failure.places))
    spoken = Vocabularies.of(known, failure.text, failure.places)
    fits = _one_possible([_fit(one, failure, spoken) for one in known])
    order = list(Standing)
    return sorted(fits, key=lambda fit: (order.index(fit.standing), -fit.score, _lead(fit, failure)))


def _one_possible(fits: Sequence[Fit]) -> list[Fit]:
    """Of several changes that are merely possible, only the most likely is, and one that fits leaves none."""
    best = max((fit.score for fit in fits if fit.standing is Standing.POSSIBLE), default=0.0)
    best = math.inf if any(fit.standing is Standing.FITS for fit in fits) else best
    return [
        Fit(fit.change, fit.commit, Standing.MISFIT, 0.0, ("fits less well than another change",))
        if fit.standing is Standing.POSSIBLE and fit.score < best
        else fit
        for fit in fits
    ]


def _lead(fit: Fit, failure: Failure) -> float:
    """Seconds before the failure, and those that came after it behind all others."""
    time = fit.change.time
    if time is None:
        return math.inf
    return failure.since - time if time <= failure.since else REACH + time - failure.since


def _fit(one: Candidate, failure: Failure, spoken: Vocabularies) -> Fit:
    place = _place_worth(one, failure.places)
    against = next(_objections(one, failure, place, spoken), "")
    if against or one.time is None:
        return Fit(one.change, one.commit, Standing.MISFIT, 0.0, (against,))
    lead = max(failure.since - one.time, 0.0)
    found = sorted(reasons(one, spoken), reverse=True)
    content = sum(worth * FURTHER**rank for rank, (worth, _) in enumerate(found)) * place
    near = 1.0 / (1.0 + lead / TIME_SCALE)
    said = tuple(why for _, why in found[:2])
    shown = bool(found) and (not one.contents.is_read or found[0][0] >= MECHANISM)
    if shown and content >= FITTING and lead <= REACH:
        return Fit(one.change, one.commit, Standing.FITS, content * near, said)
    soon = lead <= (ROLLOUT if found or not one.contents.is_read else PROMPT)
    if soon and one.service and one.deployed and place == 1.0:
        why = said or (f"was made there just before, but {_unsaid(one)}",)
        return Fit(one.change, one.commit, Standing.POSSIBLE, near + content, why)
    return Fit(one.change, one.commit, Standing.MISFIT, 0.0, (_too_little(one, said),), unproven=True)


def _unsaid(one: Candidate) -> str:
    """What time and place alone leave open."""
    if one.contents.packages:
        return "changes versions of packages only, and what these do is not recorded"
    return "what it does speaks neither for that nor against" if one.contents.known else "what it does is not recorded"


def _objections(one: Candidate, failure: Failure, place: float, spoken: Vocabularies) -> Iterator[str]:
    """What rules a change out, whatever it does."""
    if one.time is None:
        yield "was made at a time that is not recorded"
    elif one.time > failure.since + failure.slack:
        yield "came after the failure began"
    if not place:
        yield f"went to {one.service}, which is neither where the trouble starts nor next to it"
    if one.contents.inert:
        yield one.contents.inert
    if one.contents.telemetry and not COSTS_OF_TELEMETRY & spoken.subjects.keys():
        yield "changes what is logged or measured only"
    touched = apart(" ".join((*one.contents.touched, *one.contents.files)))
    yield from (why for why, needed in made_elsewhere(failure.text).items() if not any(w in touched for w in needed))


def _too_little(one: Candidate, said: Sequence[str]) -> str:
    if said:
        return f"shows no more than that it {said[0]}"
    return "touches nothing that the failure names" if one.contents.known else "changed what is not recorded"


def _place_worth(one: Candidate, places: Sequence[str]) -> float:
    deployed = 1.0 if one.deployed else UNDEPLOYED
    if not one.service:
        return SHARED * deployed
    rank = next((rank for rank, place in enumerate(places) if same_workload(place, one.service)), None)
    if rank is None:
        return ELSEWHERE
    return (1.0 if rank == 0 else NEARBY) * deployed
