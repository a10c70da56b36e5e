"""Failures that documents and logs name: whom they speak against, when nothing with numbers speaks more clearly.

A cause counts when it is about what was asked or alerted on, or is shown to touch it; a cluster has many troubles at
any time, and most of them are not the one that was asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from diag_graph.agents.analyst.claims import MAX_CAUSES, Suspicion
from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.analysis.failure_links import same_workload

RIVAL = 0.75
"""Another cause is named when it is at least this strong, compared with the first."""
SUPPORT = 4
MAX_STATED = 6
"""Failures that are stated beside the suspicions."""
MAX_NAMELESS = 2
"""Of these, causes that are about nothing by name, when something else was asked about."""
_NAME = re.compile(r"(?<![\w./:-])[a-z0-9][a-z0-9.]*[-.][a-z0-9.:-]*[a-z0-9](?![\w/])", re.IGNORECASE)
_NAMESPACES = (re.compile(r"\bnamespace[ =]+(\S+)", re.IGNORECASE), re.compile(r"(\S+) namespace\b", re.IGNORECASE))
_WORD = re.compile(r"(?<![\w./:-])[a-z][a-z0-9_]{2,}(?![\w/-])", re.IGNORECASE)
_KINDS = frozenset(
    {"pod", "pods", "node", "nodes", "deployment", "service", "services", "job", "jobs", "namespace", "cluster"}
    | {"database", "instance", "container", "volume", "host", "server", "worker", "app", "application", "replica"}
    | {"system", "why", "what", "the", "and", "are"}
)
"""Words that are no names, though names begin with them."""
_LABELS = re.compile(
    r"\b(?:pod|deployment|statefulset|daemonset|job|job_name|node|service|container|\w*identifier)=([\w.-]+)"
)


def named_failures(seen: Iterable[Sighting]) -> list[Sighting]:
    """All items that name a failure, strongest first."""
    found = [one for one in seen if one.field("change") == "failure" and not one.empty]
    return sorted(found, key=lambda one: -_score(one))


def subjects_of(question: str, seen: Sequence[Sighting]) -> list[str]:
    """What the question and the alerts are about: the names in them that stand in the evidence, too."""
    alerts = [one for one in seen if one.field("signal") == "alert" and not one.empty]
    asked = "\n".join((question, *(one.text for one in alerts)))
    spaces = {name.strip(".,;:?![]'\"") for pattern in _NAMESPACES for name in pattern.findall(asked)}
    known = "\n".join(_shown(one) for one in seen if one.field("signal") != "alert").lower()
    named = [name for name in _NAME.findall(asked) if any(char.isalpha() for char in name) and name.lower() in known]
    labels = [name for name in _LABELS.findall(asked) if name.lower() in known]
    words = [one.entity for one in alerts if one.entity and one.entity.lower() in known]
    plain = _plain_names(question, seen)
    return [name for name in dict.fromkeys((*named, *labels, *words, *plain)) if name not in spaces]


def _plain_names(question: str, seen: Sequence[Sighting]) -> list[str]:
    """Words of the question by which something in the evidence goes: `cart` when there is a pod `cart-6c8f9-x7k2q`."""
    entities = {name for one in seen for name in (one.entity, str(one.field("about") or "")) if name}
    words = [word for word in _WORD.findall(question) if word.lower() not in _KINDS]
    return [
        word for word in words if any(same_workload(word, entity) for entity in entities if len(entity) >= len(word))
    ]


def relevant_failures(question: str, seen: Sequence[Sighting]) -> list[Sighting]:
    """Named failures about what was asked, or shown to touch it; all of them when nothing known was asked about."""
    failures = named_failures(seen)
    subjects = subjects_of(question, seen)
    if not subjects:
        return failures
    near = set(subjects)
    for _ in range(2):  # a pod's node, and what that node's failure touches
        for one in failures:
            if _touches(one, near):
                near.update(name for name in (one.entity, str(one.field("about") or "")) if name)
    return [one for one in failures if _touches(one, near)]


def named_suspicions(question: str, seen: Sequence[Sighting]) -> list[Suspicion]:
    """Whom the named causes speak against, most suspected first."""
    relevant = relevant_failures(question, seen)
    causes = [one for one in relevant if one.field("standing") == "cause" and one.entity and one.field("sure")]
    subjects = subjects_of(question, seen)
    causes.sort(key=lambda one: (-_score(one), not _is_about(one, subjects), -int(one.field("lines") or 1)))
    first = _score(causes[0]) if causes else 0.0
    found: dict[str, Suspicion] = {}
    for cause in causes:
        if cause.entity not in found and _score(cause) >= RIVAL * first and len(found) < MAX_CAUSES:
            found[cause.entity] = Suspicion(cause.entity, cause, support=_support(cause, relevant))
    return list(found.values())


def with_named_failures(suspicions: Sequence[Suspicion], seen: Sequence[Sighting]) -> list[Suspicion]:
    """Suspicions by other evidence, each with the failures that are named of the same entity."""
    failures = [one for one in named_failures(seen) if one.field("standing") in {"cause", "symptom", "hint"}]
    return [
        replace(
            one,
            support=(
                *[said for said in failures if said.entity and same_workload(said.entity, one.entity)][:2],
                *one.support,
            ),
        )
        for one in suspicions
    ]


def stated_failures(question: str, seen: Sequence[Sighting]) -> list[Sighting]:
    """What to state of named failures beside the suspicions: those that matter here, and how things are.

    A cause that is about nothing by name may matter: nothing says that it is of something else.
    """
    relevant = [one for one in relevant_failures(question, seen) if one.field("standing") != "hint" or one.entity]
    nameless = [one for one in named_failures(seen) if _is_nameless_cause(one) and one not in relevant]
    relevant = [*relevant[: MAX_STATED - len(nameless[:MAX_NAMELESS])], *nameless[:MAX_NAMELESS]]
    states = [one for one in seen if one.field("standing") == "state"]
    return [*relevant[:MAX_STATED], *states[:1]]


def _support(cause: Sighting, relevant: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """What the cause explains, what hints at how it came about, and what else fails at the same thing."""
    identifier = cause.field("signature")
    explained = [one for one in relevant if identifier in (one.field("explained_by") or ())]
    hints = [one for one in relevant if identifier in (one.field("explains") or ())]
    others = [one for one in relevant if one.entity == cause.entity and one.field("standing") == "cause"]
    chosen = dict.fromkeys(one.text for one in (*explained[:2], *hints[:1], *others) if one is not cause)
    return tuple(next(one for one in relevant if one.text == text) for text in list(chosen)[:SUPPORT])


def _is_nameless_cause(one: Sighting) -> bool:
    return one.field("standing") == "cause" and not one.entity and not one.field("about")


def _is_about(one: Sighting, subjects: Iterable[str]) -> bool:
    names = [name for name in (one.entity, str(one.field("about") or "")) if name]
    return any(same_workload(subject, name) for subject in subjects for name in names)


def _touches(one: Sighting, near: Iterable[str]) -> bool:
    near = list(near)
    text = one.text.lower()
    return _is_about(one, near) or any(re.search(rf"(?<![\w-]){re.escape(name.lower())}(?!\w)", text) for name in near)


def _shown(one: Sighting) -> str:
    return f"{one.text}\n{one.field('document') or ''}"


def _score(one: Sighting) -> float:
    value = one.field("score")
    return float(value) if isinstance(value, int | float) else 0.0
