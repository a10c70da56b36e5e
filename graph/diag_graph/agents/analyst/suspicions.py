"""Whom the statements speak against, and which of them to show: the ranking of `analysis`, turned into suspicions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from diag_graph.agents.analyst.claims import MAX_CAUSES, MAX_OBSERVATIONS, MAX_PER_ENTITY, Suspicion
from diag_graph.agents.analyst.judging import CLOCKS
from diag_graph.agents.analyst.reading import began, names_entity, times
from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.analysis.ranking import Role, Suspect, rank_entities
from diag_graph.analysis.records import Edge

MIN_SCORE = 0.35
"""A suspect below this shows too little to be accused of anything."""
WORTH_STATING = 0.5
"""A change elsewhere is stated when it is at least this strong, compared with the strongest of its signal."""
RIVAL_SHARE = 0.6
"""Another suspect is named when it is at least this strong, compared with the first."""
RECENT = 2_700.0
"""Seconds before the first sign of trouble within which a change is worth a look."""
SIGNS, RELATIONS = 3, 2
"""How many statements of each kind a suspicion shows."""


def suspicions(question: str, seen: Sequence[Sighting]) -> list[Suspicion]:
    """The entities to blame, most suspected first; none when nothing speaks clearly against anybody."""
    ranked = _ranked(seen)
    if not ranked or ranked[0][0].score < MIN_SCORE:
        return []
    bar = max(MIN_SCORE, RIVAL_SHARE * ranked[0][0].score)
    subjects = symptom_entities(question, seen)
    return [
        _suspicion(suspect, statements, subjects) for suspect, statements in ranked[:MAX_CAUSES] if suspect.score >= bar
    ]


def symptom_entities(question: str, seen: Iterable[Sighting]) -> set[str]:
    """What the alerts are about, and what the question names."""
    seen = list(seen)
    alerted = {one.entity for one in seen if one.field("signal") == "alert" and one.entity}
    return alerted | {one.entity for one in seen if one.entity and names_entity(question, one.entity)}


def observations(question: str, seen: Sequence[Sighting], suspected: Sequence[Suspicion]) -> list[Sighting]:
    """What else is worth stating: alerts, the symptom, changes, what was searched in vain, what was not read."""
    subjects = symptom_entities(question, seen)
    blamed = {suspicion.entity for suspicion in suspected}
    alerts = [one for one in seen if one.field("signal") == "alert" and not one.field("annotation") and not one.empty]
    anomalies = [one for one in seen if one.field("signal") in {"metric", "log", "span"} and _tells(one)]
    strongest = {
        signal: max(_score(one) for one in anomalies if one.field("signal") == signal)
        for signal in {one.field("signal") for one in anomalies}
    }
    anomalies = [
        one
        for one in anomalies
        if one.entity in blamed | subjects or _score(one) >= WORTH_STATING * strongest[one.field("signal")]
    ]
    anomalies.sort(key=lambda one: (one.entity not in blamed, one.entity not in subjects, -_score(one)))
    first = min((start for one in anomalies if (start := began(one.text)) is not None), default=None)
    changes = [one for one in seen if one.field("signal") == "change" and _is_recent(one, first)]
    changes.sort(key=lambda one: (one.entity not in blamed, -(began(one.text) or 0.0)))
    unread = [one for one in seen if one.field("problem") is True]
    empty = [one for one in seen if one.empty]
    chosen = [*alerts[:2], *_few_each(anomalies), *changes[:1]]
    return [*chosen[:MAX_OBSERVATIONS], *unread[:3], *empty[:4]]


def _ranked(seen: Sequence[Sighting]) -> list[tuple[Suspect, dict[Role, list[Sighting]]]]:
    results = [list(group) for _, group in groupby(seen, key=lambda one: one.invocation_id)]
    edges = [Edge(str(one.field("caller")), str(one.field("callee"))) for one in seen if one.field("signal") == "call"]
    onset = next((found for one in seen if one.field("section") == "overview" and (found := one.field("onset"))), None)
    suspects = rank_entities(
        [[one.item for one in result] for result in results], edges, times(onset)[0] if onset else None
    )
    ranked = []
    for suspect in suspects:
        by_role: dict[Role, list[Sighting]] = {role: [] for role in Role}
        for support in suspect.support:
            by_role[support.role].append(results[support.position][support.index])
        if by_role[Role.CAUSE] or by_role[Role.SYMPTOM]:
            ranked.append((suspect, by_role))
    return ranked


def _suspicion(suspect: Suspect, statements: dict[Role, list[Sighting]], subjects: set[str]) -> Suspicion:
    signs = [*statements[Role.CAUSE], *statements[Role.SYMPTOM]]
    lead, others = signs[0], _varied(signs[1:], signs[0])
    since = min((start for one in signs if (start := began(one.text)) is not None), default=suspect.onset)
    changes = [one for one in statements[Role.CHANGE] if _is_recent(one, since)]
    troubled = subjects | set(suspect.explained_by)
    relations = sorted(
        statements[Role.RELATION],
        key=lambda one: {one.field("caller"), one.field("callee")}.isdisjoint(troubled - {suspect.entity}),
    )
    return Suspicion(
        entity=suspect.entity,
        lead=lead,
        change=max(changes, key=lambda one: began(one.text) or 0.0, default=None),
        support=(*others[:SIGNS], *relations[:RELATIONS]),
    )


def _varied(signs: Sequence[Sighting], lead: Sighting) -> list[Sighting]:
    """Further signs, those of a kind that the lead is not of first."""
    return sorted(signs, key=lambda one: one.field("signal") == lead.field("signal"))


def _few_each(statements: Iterable[Sighting]) -> list[Sighting]:
    """At most a few statements an entity."""
    chosen: list[Sighting] = []
    for statement in statements:
        if sum(one.entity == statement.entity for one in chosen) < MAX_PER_ENTITY:
            chosen.append(statement)
    return chosen


def _tells(one: Sighting) -> bool:
    return not one.empty and _score(one) > 0


def _is_recent(change: Sighting, since: float | None) -> bool:
    """Whether something was changed before the first sign of trouble, and not long before."""
    made = began(change.text)
    return made is not None and since is not None and -CLOCKS <= since - made <= RECENT


def _score(one: Sighting) -> float:
    value = one.field("score")
    return float(value) if isinstance(value, int | float) else 0.0
