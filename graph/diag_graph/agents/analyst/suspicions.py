"""Whom the statements speak against, and which of them to show: the ranking of `analysis`, turned into suspicions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from diag_graph.agents.analyst.claims import MAX_CAUSES, Suspicion
from diag_graph.agents.analyst.observations import is_recent, symptom_entities
from diag_graph.agents.analyst.reading import began, times
from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.analysis.ranking import Role, Suspect, rank_entities
from diag_graph.analysis.records import Edge

MIN_SCORE = 0.35
"""A suspect below this shows too little to be accused of anything."""
RIVAL_SHARE = 0.6
"""Another suspect is named when it is at least this strong, compared with the first."""
SIGNS, RELATIONS = 3, 2
"""How many statements of each kind a suspicion shows."""


def suspicions(question: str, seen: Sequence[Sighting]) -> list[Suspicion]:
    """The entities to blame, most suspected first; none when nothing speaks clearly against anybody."""
    ranked = _ranked(seen, noticed=bool(symptom_entities(question, seen)))
    if not ranked or ranked[0][0].score < MIN_SCORE:
        return []
    bar = max(MIN_SCORE, RIVAL_SHARE * ranked[0][0].score)
    accused = {suspect.entity for suspect, _ in ranked if suspect.score >= MIN_SCORE}
    troubled = symptom_entities(question, seen) | accused
    return [
        _suspicion(suspect, statements, troubled) for suspect, statements in ranked[:MAX_CAUSES] if suspect.score >= bar
    ]


def _ranked(seen: Sequence[Sighting], *, noticed: bool) -> list[tuple[Suspect, dict[Role, list[Sighting]]]]:
    results = [list(group) for _, group in groupby(seen, key=lambda one: one.invocation_id)]
    edges = [Edge(str(one.field("caller")), str(one.field("callee"))) for one in seen if one.field("signal") == "call"]
    onset = next((found for one in seen if one.field("section") == "overview" and (found := one.field("onset"))), None)
    suspects = rank_entities(
        [[one.item for one in result] for result in results],
        edges,
        times(onset)[0] if onset else None,
        noticed=noticed,
    )
    ranked = []
    for suspect in suspects:
        by_role: dict[Role, list[Sighting]] = {role: [] for role in Role}
        for support in suspect.support:
            by_role[support.role].append(results[support.position][support.index])
        if by_role[Role.CAUSE] or by_role[Role.SYMPTOM]:
            ranked.append((suspect, by_role))
    return ranked


def _suspicion(suspect: Suspect, statements: dict[Role, list[Sighting]], troubled: set[str]) -> Suspicion:
    signs = [*statements[Role.CAUSE], *statements[Role.SYMPTOM]]
    lead, others = signs[0], _varied(signs[1:], signs[0])
    since = min((start for one in signs if (start := began(one.text)) is not None), default=suspect.onset)
    changes = [one for one in statements[Role.CHANGE] if is_recent(one, since)]
    relations = sorted(
        statements[Role.RELATION],
        key=lambda one: (one.field("callee") not in troubled - {suspect.entity}, one.field("caller") not in troubled),
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
