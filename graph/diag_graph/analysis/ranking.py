"""Who is to blame: entities ranked by all that the evidence tools found, with the items that speak for and against.

Works on recorded items, so that every reason has a citable place. What is taken from whom: robust deviations as scores
(N-sigma and BARO, see `departures`); exclusive time and failures at their origin (MicroRank, TraceRCA, see
`span_changes`); blame moves from a caller to the anomalous service that it calls, as in the traversal baseline of the
PetShop paper (Hardt et al., "The PetShop Dataset", CLeaR 2024) and in MicroRCA (Wu et al., NOMS 2020); earlier beats
later, as causes precede symptoms; a change of the entity itself shortly before counts for it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from diag_graph.analysis.call_paths import EXPLAINING_SHARE, explaining_callees, reached_from
from diag_graph.analysis.question_times import parse_time
from diag_graph.analysis.records import Edge
from diag_graph.analysis.troubles import (
    ALERTABLE,
    BENIGN,
    LEFT_WHEN_EXPLAINED,
    OWN_OF_A_PEER,
    POOL_LEFT,
    WEIGHT,
    Item,
    Trouble,
    is_benign,
    metric_trouble,
    trouble_of,
)

EARLINESS_SCALE = 300.0
"""Seconds by which an entity's trouble may follow the first trouble until it counts for little."""
EXPLAINING_DELAY = 120.0
"""Seconds by which a callee's trouble may be seen later than its caller's and still explain it, or two samples."""
CHANGE_SCALE = 900.0
CLOCK_SKEW = 60.0
"""Seconds by which the clock of a deploy system and the first sample of a metric may disagree."""
CHANGED = 0.4
"""How much a change of the entity just before the onset adds."""
MENTIONED = 0.6
"""What an entity gets of the failures in which another one names it."""
MAX_SUPPORT = 12


class Role(StrEnum):
    """What an item says about a suspect."""

    CAUSE = "cause"
    SYMPTOM = "symptom"
    CHANGE = "change"
    RELATION = "relation"


STARVED_CALLER = 0.35
"""What waiting calls to a service are worth when their caller itself is short of a resource."""
OTHER_SYMPTOM = 0.6
UNREACHED = 0.6
"""What remains of an entity that the alert's subject does not reach by calls, where calls are known."""
MAX_ITEM = 1.25

SCALE = {"metric": 4.0, "span": 10.0, "log": 5.0}
"""A strong score of each signal, so that scores of different tools can be added."""


@dataclass(frozen=True, slots=True)
class Support:
    """Where one reason stands: the result's position in the input, the item's index in it, and what it says."""

    position: int
    index: int
    role: Role


@dataclass(frozen=True, slots=True)
class Suspect:
    """One entity, and how much speaks for its being the cause.

    Attributes:
        entity: As its items name it.
        score: Comparable within one ranking.
        support: Items about it, strongest first; then its changes; then failures that name it, and its calls.
        onset: When its trouble was first seen, seconds since the epoch; None when no item says.
        explained_by: Anomalous services that it calls and that are more suspect than it: its trouble is their symptom.
        named_by: Entities whose failures name it.
    """

    entity: str
    score: float
    support: tuple[Support, ...]
    onset: float | None = None
    explained_by: tuple[str, ...] = ()
    named_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Observation:
    """One anomaly of an entity, and what it is worth."""

    worth: float
    trouble: Trouble
    support: Support
    time: float | None
    callers: tuple[str, ...] = ()
    step: float = 0.0
    waits_for: str = ""


@dataclass(slots=True)
class _Case:
    """All that was found about one entity."""

    observed: list[_Observation] = field(default_factory=list)
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


def rank_entities(results: Sequence[Sequence[Item]], edges: Iterable[Edge], onset: float | None) -> list[Suspect]:
    """Rank the entities that items speak of, most suspected first.

    Args:
        results: The items of each tool call, in the order of the calls: positions in `Support` count these. Items of
            `list_alerts` tell what the symptom is.
        edges: Calls between services, caller first.
        onset: When the trouble began, as far as known; used where no item says when an entity's trouble began.
    """
    subjects, symptoms = _alerted(results)
    cases = _cases(results, symptoms)
    callees: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.caller != edge.callee:
            callees[edge.caller].add(edge.callee)
    reached = reached_from(subjects, callees)
    raw = {entity: case.strength() for entity, case in cases.items()}
    spreading = {entity: case.strongest(without=Trouble.CANCELLED) for entity, case in cases.items()}
    onsets = {entity: case.onset() for entity, case in cases.items()}
    weighty = [time for entity, time in onsets.items() if time is not None and raw[entity] >= 0.5 * max(raw.values())]
    first = min(weighty, default=onset)
    delay = max(
        EXPLAINING_DELAY, 2.0 * max((one.step for case in cases.values() for one in case.observed), default=0.0)
    )
    _blame_awaited_peers(cases, onsets, delay)
    explaining = {
        entity: explaining_callees(entity, callees, spreading, onsets, blamed_by=case.named_by, delay=delay)
        for entity, case in cases.items()
    }
    scores: dict[str, float] = {}
    for entity, case in cases.items():
        strongest = max((spreading[callee] for callee in explaining[entity]), default=0.0)
        explained = 1.0 if case.waits else min(strongest / spreading[entity], 1.0) if strongest else 0.0
        named = sum(sorted(case.named_by.values(), reverse=True)[:2])
        score = case.strength(explained=explained) + MENTIONED * named * (1.0 - 0.5 * explained)
        score *= _earliness(onsets[entity], first)
        score *= 1.0 + CHANGED * max((worth for worth, _ in case.changes), default=0.0)
        scores[entity] = score * (UNREACHED if reached and entity not in reached else 1.0)
    suspects = [
        _suspect(entity, cases[entity], score, [callee for callee in explaining[entity] if scores[callee] > score])
        for entity, score in scores.items()
        if score > 0
    ]
    return sorted(suspects, key=lambda suspect: (-suspect.score, suspect.onset or math.inf, suspect.entity))


def _suspect(entity: str, case: _Case, score: float, explained_by: Sequence[str]) -> Suspect:
    return Suspect(
        entity=entity,
        score=round(score, 4),
        support=_support(case, Role.SYMPTOM if explained_by else Role.CAUSE),
        onset=case.onset(),
        explained_by=tuple(explained_by),
        named_by=tuple(sorted(case.named_by)),
    )


def _cases(results: Sequence[Sequence[Item]], symptoms: frozenset[Trouble]) -> dict[str, _Case]:
    cases: dict[str, _Case] = defaultdict(_Case)
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


def _observe(cases: dict[str, _Case], item: Item, support: Support, symptoms: frozenset[Trouble]) -> None:
    """Note an anomaly with its entity, and with the entities that a failing one names."""
    entity, trouble = str(item["entity"]), trouble_of(item)
    score = min(float(item["score"]) / SCALE[item["signal"]], MAX_ITEM)
    if symptoms and trouble in ALERTABLE and trouble not in symptoms:
        score *= OTHER_SYMPTOM
    if is_benign(item, trouble):
        score *= BENIGN
    callers = tuple(item.get("callers") or ()) if trouble is Trouble.CALLS else ()
    step = float(item.get("step") or 0.0)
    peer = str(item.get("waits_for") or "")
    worth = score * WEIGHT[trouble]
    cases[entity].observed.append(_Observation(worth, trouble, support, _time(item), callers, step, peer))
    for name in item.get("mentions") or ():
        case = cases[str(name)]
        case.named_by[entity] = max(case.named_by.get(entity, 0.0), score)
        case.named_in.append(replace(support, role=Role.RELATION))


def _blame_awaited_peers(cases: Mapping[str, _Case], onsets: Mapping[str, float | None], delay: float) -> None:
    """A call that waits for a peer with trouble of its own speaks against the peer; a quiet peer explains nothing."""
    for client, case in cases.items():
        for one in case.observed:
            peer = cases.get(one.waits_for)
            if peer is None or one.waits_for == client:
                continue
            own = max((seen.worth for seen in peer.observed if seen.trouble in OWN_OF_A_PEER), default=0.0)
            began, its = onsets.get(client), onsets.get(one.waits_for)
            in_time = began is None or its is None or its <= began + delay
            if own >= EXPLAINING_SHARE * one.worth > 0 and in_time:
                case.waits = True
                peer.named_by[client] = max(peer.named_by.get(client, 0.0), one.worth)
                peer.named_in.append(replace(one.support, role=Role.RELATION))


def _blame_starved_callers(cases: Mapping[str, _Case]) -> None:
    """A caller short of a resource makes its own calls wait: do not blame whom it calls."""
    starved = {
        entity for entity, case in cases.items() if any(one.trouble is Trouble.RESOURCE for one in case.observed)
    }
    for case in cases.values():
        case.observed = [
            replace(one, worth=one.worth * STARVED_CALLER) if one.callers and starved.issuperset(one.callers) else one
            for one in case.observed
        ]


def _alerted(results: Sequence[Sequence[Item]]) -> tuple[frozenset[str], frozenset[Trouble]]:
    """What the alerts are about: entities, and the kinds of trouble that their metrics show."""
    alerts = [item for items in results for item in items if item.get("signal") == "alert" and not item.get("empty")]
    subjects = frozenset(str(item["entity"]) for item in alerts if item.get("entity"))
    return subjects, frozenset(metric_trouble(str(item["metric"])) for item in alerts if item.get("metric"))


def _time(item: Item) -> float | None:
    text = item.get("onset")
    return parse_time(text) if isinstance(text, str) else None


def _earliness(onset: float | None, first: float | None) -> float:
    """1 for the first trouble, falling to 0.6 for trouble that came long after it."""
    if onset is None or first is None:
        return 0.8
    return 0.6 + 0.4 * math.exp(-max(onset - first, 0.0) / EARLINESS_SCALE)


def _support(case: _Case, role: Role) -> tuple[Support, ...]:
    supports = [
        replace(one.support, role=role if one.trouble in LEFT_WHEN_EXPLAINED else Role.CAUSE)
        for one in sorted(case.observed, key=lambda one: -one.worth)
    ]
    changes = [support for _, support in sorted(case.changes, key=lambda one: -one[0])]
    return (
        *supports[:MAX_SUPPORT],
        *changes[:MAX_SUPPORT],
        *case.named_in[:MAX_SUPPORT],
        *case.relations[:MAX_SUPPORT],
    )
