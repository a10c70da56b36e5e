"""What was found about each entity: its anomalies with what each is worth, its changes, who names it and who calls it.

Works on recorded items, and keeps for each where it stands, so that whatever is concluded can be cited.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from diag_graph.analysis.call_paths import reachable
from diag_graph.analysis.change_kinds import ChangeKind
from diag_graph.analysis.question_times import parse_time
from diag_graph.analysis.troubles import (
    ALERTABLE,
    BENIGN,
    FELL,
    LEFT_WHEN_EXPLAINED,
    POOL_LEFT,
    UNNOTICED,
    WEIGHT,
    Item,
    Trouble,
    is_benign,
    is_relief,
    metric_trouble,
    trouble_of,
)

CHANGE_SCALE = 900.0
CLOCK_SKEW = 60.0
"""Seconds by which the clock of a deploy system and the first sample of a metric may disagree."""
STARVED_CALLER = 0.35
"""What waiting calls to a service are worth when their caller itself is short of a resource."""
LESS_TO_DO = 0.35
"""What a fall is worth where a caller whose work ends early explains it."""
OTHER_SYMPTOM = 0.6
IDLE = 0.4
"""Traffic below this share of what it was makes a service idle, and its latency worth this share."""
UNCONFIRMED = 0.4
"""What is doubted is worth when nobody noticed: one sample may be over at once, other work may be other requests."""
STRONG = 0.5
"""The worth from which a latency is felt though no caller of its service is slower: few of theirs may come there."""
MAX_ITEM = 1.25
SCALE = {"metric": 4.0, "span": 10.0, "log": 5.0}
"""A strong score of each signal, so that scores of different tools can be added."""


class Role(StrEnum):
    """What an item says about a suspect."""

    CAUSE = "cause"
    SYMPTOM = "symptom"
    CHANGE = "change"
    RELATION = "relation"


@dataclass(frozen=True, slots=True)
class Support:
    """Where one reason stands: the result's position in the input, the item's index in it, and what it says."""

    position: int
    index: int
    role: Role


@dataclass(frozen=True, slots=True)
class Observation:
    """One anomaly of an entity, and what it is worth."""

    worth: float
    trouble: Trouble
    support: Support
    time: float | None
    callers: tuple[str, ...] = ()
    step: float = 0.0
    waits_for: str = ""
    felt: bool = False
    """Whether somebody notices it: it is slower or fails."""
    idle: bool = False
    """Whether it says that its entity is hardly called any more."""
    less: bool = False
    """Whether it says that a measure of its entity fell, which nobody notices."""
    doubted: bool = False
    """Whether it rests on one sample, the last one, of a series, or on work that may have been of another kind."""


@dataclass(slots=True)
class EntityCase:
    """All that was found about one entity."""

    observed: list[Observation] = field(default_factory=list)
    changes: list[tuple[float, Support]] = field(default_factory=list)
    relations: list[Support] = field(default_factory=list)
    named_by: dict[str, float] = field(default_factory=dict)
    named_in: list[Support] = field(default_factory=list)
    waits: bool = False
    """Whether it is shown to wait for a peer that has trouble of its own."""

    def strength(self, *, explained: float = 0.0, without: Trouble | None = None) -> float:
        """The best item of each kind of trouble, in full for the strongest kind and half as much for each further one.

        Args:
            explained: How much of it a callee explains, from 0 (nothing) to 1 (as strong as this).
            without: A kind of trouble to leave out.
        """
        best: dict[Trouble, float] = defaultdict(float)
        for one in (one for one in self.observed if one.trouble is not without):
            left = 1.0 - explained * (1.0 - self.left(one.trouble))
            best[one.trouble] = max(best[one.trouble], one.worth * left)
        ordered = sorted(best.values(), reverse=True)
        return sum(worth * 0.5**place for place, worth in enumerate(ordered))

    def left(self, trouble: Trouble) -> float:
        """What remains of a kind of its trouble when a callee explains it all."""
        return POOL_LEFT if self.waits and trouble is Trouble.POOL else LEFT_WHEN_EXPLAINED.get(trouble, 1.0)

    def strongest(self, *, without: Trouble | None = None) -> float:
        """The worth of its strongest item."""
        return max((one.worth for one in self.observed if one.trouble is not without), default=0.0)

    def onset(self) -> float | None:
        """When its weighty trouble began."""
        strongest = max((one.worth for one in self.observed), default=0.0)
        return min((one.time for one in self.observed if one.time and one.worth >= 0.5 * strongest), default=None)


def gather_cases(results: Sequence[Sequence[Item]], symptoms: frozenset[Trouble]) -> dict[str, EntityCase]:
    """What the items tell of each entity.

    Args:
        results: The items of each tool call, in the order of the calls.
        symptoms: Kinds of trouble that the alerts are about; empty when they do not say.
    """
    cases: dict[str, EntityCase] = defaultdict(EntityCase)
    placed = [
        (Support(position, index, Role.CAUSE), item)
        for position, items in enumerate(results)
        for index, item in enumerate(items)
        if item.get("entity") and not item.get("empty")
    ]
    for support, item in placed:
        if item.get("signal") in SCALE and float(item.get("score") or 0.0) > 0:
            _observe(cases, item, support, symptoms)
    _blame_starved_callers(cases)
    _doubt_idle_latency(cases)
    for support, item in placed:
        entity = str(item["entity"])
        if item.get("signal") == "change" and entity in cases:
            worth = _change_worth(_time(item), cases[entity].onset(), item)
            cases[entity].changes.append((worth, replace(support, role=Role.CHANGE)))
        elif item.get("signal") == "call":
            for end in {str(item.get("caller")), str(item.get("callee"))} & cases.keys():
                cases[end].relations.append(replace(support, role=Role.RELATION))
    return cases


def _change_worth(time: float | None, trouble: float | None, item: Item) -> float:
    """1 for a change just before its entity's own trouble, one half 15 minutes before it, 0 after it."""
    if time is None or trouble is None or item.get("change") == "diff":
        return 0.0
    lead = trouble - time
    return 1.0 / (1.0 + max(lead, 0.0) / CHANGE_SCALE) if lead >= -CLOCK_SKEW else 0.0


def _observe(cases: dict[str, EntityCase], item: Item, support: Support, symptoms: frozenset[Trouble]) -> None:
    """Note an anomaly with its entity, and with the entities that a failing one names."""
    entity, trouble = str(item["entity"]), trouble_of(item)
    score = min(float(item["score"]) / SCALE[item["signal"]], MAX_ITEM)
    if symptoms and trouble in ALERTABLE and trouble not in symptoms:
        score *= OTHER_SYMPTOM
    if is_benign(item, trouble):
        score *= BENIGN
    if is_relief(item, trouble):
        score *= FELL
    callers = tuple(item.get("callers") or ()) if trouble is Trouble.CALLS else ()
    step = float(item.get("step") or 0.0)
    peer = str(item.get("waits_for") or "")
    worth = score * WEIGHT[trouble]
    felt = trouble not in UNNOTICED and not is_benign(item, trouble)
    idle = trouble is Trouble.TRAFFIC and float(item.get("after") or 0.0) < IDLE * float(item.get("before") or 0.0)
    less = item.get("signal") == "metric" and item.get("direction") == "down" and not felt
    doubted = item.get("change") == ChangeKind.SPIKE or item.get("unlike") is True
    cases[entity].observed.append(
        Observation(worth, trouble, support, _time(item), callers, step, peer, felt, idle, less, doubted)
    )
    for name in item.get("mentions") or ():
        case = cases[str(name)]
        case.named_by[entity] = max(case.named_by.get(entity, 0.0), score)
        case.named_in.append(replace(support, role=Role.RELATION))


def _blame_starved_callers(cases: Mapping[str, EntityCase]) -> None:
    """A caller short of a resource makes its own calls wait: do not blame whom it calls."""
    starved = {
        entity for entity, case in cases.items() if any(one.trouble is Trouble.RESOURCE for one in case.observed)
    }
    starved |= _waiting_both_ways(cases)
    for case in cases.values():
        case.observed = [
            replace(one, worth=one.worth * STARVED_CALLER) if one.callers and starved.issuperset(one.callers) else one
            for one in case.observed
        ]


def _waiting_both_ways(cases: Mapping[str, EntityCase]) -> set[str]:
    """Entities whose calls to several others wait, as the calls to them do: what these calls share is that entity.

    As in MicroRCA (Wu et al., NOMS 2020), where an anomalous edge speaks against both its ends.
    """
    waiting: dict[str, set[str]] = defaultdict(set)
    for entity, case in cases.items():
        for one in case.observed:
            if one.trouble is Trouble.CALLS and len(one.callers) == 1:
                waiting[one.callers[0]].add(entity)
    return {
        caller
        for caller, called in waiting.items()
        if len(called) > 1
        and caller in cases
        and any(one.trouble is Trouble.CALLS and set(one.callers) - called for one in cases[caller].observed)
    }


def _doubt_idle_latency(cases: Mapping[str, EntityCase]) -> None:
    """The latency of what is hardly called any more is that of a few calls: nobody waits for it."""
    for case in cases.values():
        if any(one.idle for one in case.observed):
            case.observed = [
                replace(one, worth=one.worth * IDLE, felt=False) if one.trouble is Trouble.LATENCY else one
                for one in case.observed
            ]


def doubt_idle_callees(cases: Mapping[str, EntityCase], callees: Mapping[str, set[str]]) -> None:
    """Whom a caller calls whose work ends early has less to do: what fell there, felt by nobody, is that one's symptom.

    Args:
        cases: What was found about each entity; changed in place.
        callees: Who calls whom.
    """
    short = {entity for entity, case in cases.items() if any(one.trouble is Trouble.COURSE for one in case.observed)}
    called = set().union(*(reachable(caller, callees) - {caller} for caller in short))
    for entity in called & cases.keys():
        cases[entity].observed = [
            replace(one, worth=one.worth * LESS_TO_DO) if one.less else one for one in cases[entity].observed
        ]


def doubt_unconfirmed(cases: Mapping[str, EntityCase]) -> None:
    """What the very last sample alone shows, or other work than before, is worth less where nobody noticed it."""
    for case in cases.values():
        case.observed = [replace(one, worth=one.worth * UNCONFIRMED) if one.doubted else one for one in case.observed]


def doubt_unshared_latency(
    cases: Mapping[str, EntityCase], callees: Mapping[str, set[str]], measured: frozenset[str]
) -> None:
    """Who waits for a slow service is slow as well: where none of its callers is, nobody felt that it is a bit slower.

    Args:
        cases: What was found about each entity; changed in place.
        callees: Who calls whom.
        measured: Entities of which series are recorded.
    """
    felt = {entity for entity, case in cases.items() if any(one.felt for one in case.observed)}
    for entity, case in cases.items():
        callers = {caller for caller, called in callees.items() if entity in called}
        if callers and callers <= measured and not callers & felt:
            case.observed = [
                replace(one, felt=one.felt and not (one.trouble is Trouble.LATENCY and one.worth < STRONG))
                for one in case.observed
            ]


def alerted(results: Sequence[Sequence[Item]]) -> tuple[frozenset[str], frozenset[Trouble]]:
    """What the alerts are about: entities, and the kinds of trouble that their metrics show."""
    alerts = [item for items in results for item in items if item.get("signal") == "alert" and not item.get("empty")]
    subjects = frozenset(str(item["entity"]) for item in alerts if item.get("entity"))
    return subjects, frozenset(metric_trouble(str(item["metric"])) for item in alerts if item.get("metric"))


def _time(item: Item) -> float | None:
    text = item.get("onset")
    return parse_time(text) if isinstance(text, str) else None
