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
from dataclasses import dataclass, replace

from diag_graph.analysis.call_paths import EXPLAINING_SHARE, explaining_callees, reachable, reached_from
from diag_graph.analysis.entity_cases import (
    EntityCase,
    Role,
    Support,
    alerted,
    doubt_idle_callees,
    doubt_unconfirmed,
    doubt_unshared_latency,
    gather_cases,
)
from diag_graph.analysis.records import Edge
from diag_graph.analysis.troubles import (
    ALERTABLE,
    LEFT_WHEN_EXPLAINED,
    OWN_OF_A_PEER,
    SEEN_BY_CALLERS,
    Item,
    Trouble,
    metric_trouble,
)

__all__ = ["Role", "Support", "Suspect", "rank_entities"]

EARLINESS_SCALE = 300.0
"""Seconds by which an entity's trouble may follow the first trouble until it counts for little."""
EXPLAINING_DELAY = 120.0
"""Seconds by which a callee's trouble may be seen later than its caller's and still explain it, or two samples."""
CHANGED = 0.4
"""How much a change of the entity just before the onset adds."""
MENTIONED = 0.6
"""What an entity gets of the failures in which another one names it."""
MAX_SUPPORT = 12
UNREACHED = 0.6
"""What remains of an entity that the alert's subject does not reach by calls, where calls are known."""
ENDPOINT = 0.6
"""What remains of an endpoint that its callers alone measure, when a service that they call has the same trouble."""
UNFELT = 0.35
"""What remains of an entity whose resources moved when nobody, not itself nor a caller, is slower or fails for it."""


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


def rank_entities(
    results: Sequence[Sequence[Item]], edges: Iterable[Edge], onset: float | None, *, noticed: bool = False
) -> list[Suspect]:
    """Rank the entities that items speak of, most suspected first.

    Args:
        results: The items of each tool call, in the order of the calls: positions in `Support` count these. Items of
            `list_alerts` tell what the symptom is.
        edges: Calls between services, caller first.
        onset: When the trouble began, as far as known; used where no item says when an entity's trouble began.
        noticed: Whether somebody, other than an alert, says whom the trouble is about.
    """
    subjects, symptoms = alerted(results)
    cases = gather_cases(results, symptoms)
    callees: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.caller != edge.callee:
            callees[edge.caller].add(edge.callee)
    doubt_idle_callees(cases, callees)
    if not (subjects or noticed):
        doubt_unconfirmed(cases)
        if _symptoms_are_measured(results):
            doubt_unshared_latency(cases, callees, _measured(results))
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
    unfelt = set() if subjects or not _symptoms_are_measured(results) else _unfelt(cases, callees)
    scores: dict[str, float] = {}
    for entity, case in cases.items():
        strongest = max((spreading[callee] for callee in explaining[entity]), default=0.0)
        explained = 1.0 if case.waits else min(strongest / spreading[entity], 1.0) if strongest else 0.0
        named = sum(sorted(case.named_by.values(), reverse=True)[:2])
        score = case.strength(explained=explained) + MENTIONED * named * (1.0 - 0.5 * explained)
        score *= _earliness(onsets[entity], first) * _promptness(onsets[entity], onset, delay)
        score *= 1.0 + CHANGED * max((worth for worth, _ in case.changes), default=0.0)
        score *= UNFELT if entity in unfelt else 1.0
        score *= ENDPOINT if _is_endpoint_of_a_sibling(entity, cases, callees, onsets, delay) else 1.0
        scores[entity] = score * (UNREACHED if reached and entity not in reached else 1.0)
    suspects = [
        _suspect(entity, cases[entity], score, [callee for callee in explaining[entity] if scores[callee] > score])
        for entity, score in scores.items()
        if score > 0
    ]
    return sorted(suspects, key=lambda suspect: (-suspect.score, suspect.onset or math.inf, suspect.entity))


def _suspect(entity: str, case: EntityCase, score: float, explained_by: Sequence[str]) -> Suspect:
    return Suspect(
        entity=entity,
        score=round(score, 4),
        support=_support(case, Role.SYMPTOM if explained_by else Role.CAUSE),
        onset=case.onset(),
        explained_by=tuple(explained_by),
        named_by=tuple(sorted(case.named_by)),
    )


def _is_endpoint_of_a_sibling(
    entity: str,
    cases: Mapping[str, EntityCase],
    callees: Mapping[str, set[str]],
    onsets: Mapping[str, float | None],
    delay: float,
) -> bool:
    """Whether an entity may be the address of a service, as a caller sees it, and that service has its trouble too.

    A proxy or a load balancer is in call graphs as one more thing that the caller calls, beside the service behind it:
    it calls nothing, and nothing is known of it but how its calls go.
    """
    case = cases[entity]
    kinds = {one.trouble for one in case.observed}
    if callees.get(entity) or not kinds & ALERTABLE or not kinds <= SEEN_BY_CALLERS:
        return False
    siblings = {name for called in callees.values() if entity in called for name in called if callees.get(name)}
    for name in (siblings & cases.keys()) - {entity}:
        own, its = onsets[entity], onsets[name]
        shared = kinds & ALERTABLE & {one.trouble for one in cases[name].observed}
        strong = cases[name].strongest() >= EXPLAINING_SHARE * case.strongest()
        if shared and strong and (own is None or its is None or its <= own + delay):
            return True
    return False


def _symptoms_are_measured(results: Sequence[Sequence[Item]]) -> bool:
    """Whether latencies or errors are recorded at all: else that none changed says nothing."""
    recorded = (str(item.get("metric")) for items in results for item in items if item.get("section") == "metrics")
    return any(metric_trouble(metric) in ALERTABLE for metric in recorded)


def _measured(results: Sequence[Sequence[Item]]) -> frozenset[str]:
    """The entities of which series are recorded, as far as the inventory lists them."""
    listed = (item for items in results for item in items if item.get("section") == "services")
    return frozenset(str(item["entity"]) for item in listed if (item.get("counts") or {}).get("series"))


def _unfelt(cases: Mapping[str, EntityCase], callees: Mapping[str, set[str]]) -> set[str]:
    """Entities of which only resources and traffic changed, and which nothing that got worse calls."""
    felt = {entity for entity, case in cases.items() if any(one.felt for one in case.observed)}
    reached = felt.union(*(reachable(entity, callees) for entity in felt))
    return cases.keys() - reached


def _blame_awaited_peers(cases: Mapping[str, EntityCase], onsets: Mapping[str, float | None], delay: float) -> None:
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


def _earliness(onset: float | None, first: float | None) -> float:
    """1 for the first trouble, falling to 0.6 for trouble that came long after it."""
    if onset is None or first is None:
        return 0.8
    return 0.6 + 0.4 * math.exp(-max(onset - first, 0.0) / EARLINESS_SCALE)


def _promptness(began: float | None, onset: float | None, delay: float) -> float:
    """1 for trouble that began by the time at which it was noticed, falling to one half for trouble long after it.

    Args:
        began: When the entity's trouble began.
        onset: When trouble was noticed, or taken to begin.
        delay: Seconds that are no delay: what sampling and clocks make of one moment.
    """
    late = 0.0 if began is None or onset is None else began - onset - delay
    return 0.5 + 0.5 * math.exp(-max(late, 0.0) / EARLINESS_SCALE)


def _support(case: EntityCase, role: Role) -> tuple[Support, ...]:
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
