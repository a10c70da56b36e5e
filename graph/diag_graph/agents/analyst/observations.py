"""What else is worth stating beside the causes: alerts, what changed where, what was looked for in vain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diag_graph.agents.analyst.claims import MAX_OBSERVATIONS, MAX_PER_ENTITY, Suspicion
from diag_graph.agents.analyst.judging import CLOCKS, RECENT
from diag_graph.agents.analyst.kinds import CAUSAL, evidence_kind
from diag_graph.agents.analyst.reading import began, names_entity
from diag_graph.agents.analyst.sightings import Sighting

ANOMALIES = frozenset({"metric", "log", "span"})
WORTH_STATING = 0.5
"""A change elsewhere is stated when it is at least this strong, compared with the strongest of its signal."""
MAX_ALERTS, MAX_CHANGES, MAX_UNREAD, MAX_EMPTY = 2, 1, 3, 4


def symptom_entities(question: str, seen: Iterable[Sighting]) -> set[str]:
    """What the alerts are about, and what the question names."""
    seen = list(seen)
    alerted = {one.entity for one in seen if one.field("signal") == "alert" and one.entity}
    return alerted | {one.entity for one in seen if one.entity and names_entity(question, one.entity)}


def observations(question: str, seen: Sequence[Sighting], suspected: Sequence[Suspicion]) -> list[Sighting]:
    """What to state, in the order of the answer: alerts, trouble, a change, what could not be read, what was not found.

    Trouble of a service that a suspect calls is stated wherever there is some, for it speaks against the suspect.
    """
    blamed = {suspicion.entity for suspicion in suspected}
    behind = {
        str(one.field("callee")) for one in seen if one.field("signal") == "call" and one.field("caller") in blamed
    }
    near = blamed | symptom_entities(question, seen)
    anomalies = sorted(
        (one for one in seen if one.field("signal") in ANOMALIES and not one.empty and score(one) > 0),
        key=lambda one: (one.entity not in blamed, one.entity not in near, -score(one)),
    )
    opposing = [one for one in anomalies if one.entity in behind - blamed and _shows_own_trouble(one)]
    first = min((start for one in anomalies if (start := began(one.text)) is not None), default=None)
    changes = [one for one in seen if one.field("signal") == "change" and is_recent(one, first)]
    if suspected:  # what was changed elsewhere says nothing about them
        changes = [one for one in changes if one.entity in near]
    changes.sort(key=lambda one: (one.entity not in blamed, -(began(one.text) or 0.0)))
    alerts = [one for one in seen if one.field("signal") == "alert" and not one.field("annotation") and not one.empty]
    trouble = few_each([*opposing[:1], *_strong(anomalies, near)])
    quiet = symptom_entities(question, seen) - {one.entity for one in anomalies}
    inventory = [one for one in seen if one.field("section") == "services" and one.entity in quiet and suspected]
    return [
        *alerts[:MAX_ALERTS],
        *inventory[:MAX_ALERTS],
        *trouble[:MAX_OBSERVATIONS],
        *changes[:MAX_CHANGES],
        *[one for one in seen if one.field("problem") is True][:MAX_UNREAD],
        *[one for one in seen if one.empty][:MAX_EMPTY],
    ]


def is_recent(change: Sighting, since: float | None) -> bool:
    """Whether something was changed before the first sign of trouble, and not long before."""
    made = began(change.text)
    return made is not None and since is not None and -CLOCKS <= since - made <= RECENT


def score(one: Sighting) -> float:
    """How strong an anomaly is, by its tool."""
    value = one.field("score")
    return float(value) if isinstance(value, int | float) else 0.0


def _shows_own_trouble(one: Sighting) -> bool:
    return evidence_kind(one.tool, one.text, one.entity) in CAUSAL


def _strong(anomalies: Sequence[Sighting], near: set[str]) -> list[Sighting]:
    """Trouble of the entities in question, and of others only where it is among the strongest."""
    strongest: dict[str, float] = {}
    for one in anomalies:
        strongest[one.tool] = max(score(one), strongest.get(one.tool, 0.0))
    return [one for one in anomalies if one.entity in near or score(one) >= WORTH_STATING * strongest[one.tool]]


def few_each(statements: Iterable[Sighting]) -> list[Sighting]:
    """At most a few statements an entity."""
    chosen: list[Sighting] = []
    for statement in statements:
        if statement not in chosen and sum(one.entity == statement.entity for one in chosen) < MAX_PER_ENTITY:
            chosen.append(statement)
    return chosen
