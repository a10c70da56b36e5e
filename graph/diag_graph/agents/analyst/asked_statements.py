"""What to state when a question asks for facts: the statements that answer it, first the one that answers it best.

The words are the tools', as everywhere; what is chosen is what was asked for. Whom it is about comes from the question
and from the plan's arguments, as far as the evidence knows the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from diag_graph.agents.analyst.observations import ANOMALIES, WORTH_STATING, few_each, score
from diag_graph.agents.analyst.question_kinds import QuestionKind
from diag_graph.agents.analyst.reading import began, names_entity
from diag_graph.agents.analyst.sightings import Sighting, sightings
from diag_graph.agents.ports import Toolbox
from diag_graph.contracts import Invocation, Plan

MAX_CHANGES, MAX_FIRST_SIGNS, MAX_AFFECTED, MAX_LINES, MAX_ALERTS = 6, 5, 8, 5, 2
MAX_EACH = 3
"""Statements about each that a question compares or asks about."""
MAX_FOCUS = 3
MAX_SERIES = 2
"""Series whose last value is looked at."""
MAX_UNREAD, MAX_EMPTY = 3, 4

NARROWER: Mapping[QuestionKind, tuple[str, ...]] = {
    QuestionKind.CHANGES: ("list_changes",),
    QuestionKind.ONSET: ("find_metric_anomalies",),
    QuestionKind.ONGOING: ("search_logs",),
    QuestionKind.LOGS: ("search_logs",),
    QuestionKind.COMPARISON: ("find_metric_anomalies", "find_log_patterns"),
    QuestionKind.SUBJECT: ("find_metric_anomalies", "find_log_patterns"),
}
"""What is asked about each that the question names, once the evidence is known to know it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is there to answer from.

    Attributes:
        seen: All statements.
        focus: Whom the question is about, as the evidence writes the names.
        named: Whether the question names them itself; else the conversation does.
    """

    seen: Sequence[Sighting]
    focus: tuple[str, ...]
    named: bool

    def about_focus(self, one: Sighting) -> bool:
        """Whether a statement is about one of them."""
        return any(one.entity == name or names_entity(one.text, name) for name in self.focus)

    def is_of_focus(self, one: Sighting) -> bool:
        """Whether a statement is of one of them: that others speak of them in their logs says nothing of theirs."""
        if one.field("signal") != "log":
            return self.about_focus(one)
        return one.entity in self.focus or any(f"(service '{name}'" in one.text for name in self.focus)

    def focused(self, found: Iterable[Sighting]) -> list[Sighting]:
        """Those about the focus; all of them when none is."""
        every = list(found)
        return [one for one in every if self.about_focus(one)] or every

    def anomalies(self) -> list[Sighting]:
        """What changed at the onset, the strongest first."""
        found = (one for one in self.seen if one.field("signal") in ANOMALIES and not one.empty and score(one) > 0)
        return sorted(found, key=lambda one: -score(one))

    def alerts(self) -> list[Sighting]:
        """Alerts, without what they say of themselves."""
        return [one for one in self.seen if one.field("signal") == "alert" and not one.field("annotation")]


def asked_statements(
    kind: QuestionKind, question: str, plan: Plan, made: Sequence[Invocation], tools: Toolbox
) -> list[Sighting]:
    """The statements that answer a question for facts; none when the evidence shows nothing of what was asked.

    Args:
        kind: What is asked for.
        question: As typed.
        plan: Its arguments say what a follow-up is about.
        made: The plan's calls.
        tools: For further calls, about what the question names.
    """
    known = sightings(made)
    entities = list(dict.fromkeys(one.entity for one in known if one.entity and one.field("signal") != "change"))
    named = named_in(question, entities)
    narrower = [
        tools.call(call.tool, {**call.arguments, "service": name})
        for name in named[:MAX_FOCUS]
        for call in _widest(made)
        if call.tool in NARROWER.get(kind, ())
    ]
    focus = (named or _planned(plan, entities))[:MAX_FOCUS]
    asked = Asked(sightings([*narrower, *made]), tuple(focus), bool(named))
    found = _CHOICES[kind](asked, tools)
    told = any(asked.is_of_focus(one) and one.tool != "list_evidence" for one in found)
    silent = [one for one in asked.seen if one.empty and (asked.about_focus(one) or not found)][:MAX_EMPTY]
    unread = [one for one in asked.seen if one.field("problem") is True] if found or silent else []
    answer = [*silent, *found] if named and not told else [*found, *silent]
    return [*answer, *unread[:MAX_UNREAD]]


def silence_about(question: str, seen: Sequence[Sighting], tools: Toolbox) -> list[Sighting]:
    """That nothing was found about what a question names, where nothing was: it was asked whether it is in order."""
    entities = list(dict.fromkeys(one.entity for one in seen if one.entity and one.field("signal") != "change"))
    troubled = {one.entity for one in seen if one.field("signal") in ANOMALIES and not one.empty}
    quiet = [name for name in named_in(question, entities) if name not in troubled]
    surveyed = {one.tool for one in seen}
    calls = [
        tools.call(tool, {"service": name})
        for name in quiet[:MAX_FOCUS]
        for tool in NARROWER[QuestionKind.SUBJECT]
        if tool in surveyed
    ]
    return [one for one in sightings(calls) if one.empty]


def named_in(question: str, entities: Iterable[str]) -> list[str]:
    """The entities that a question names, in its order."""
    named = [name for name in entities if names_entity(question, name)]
    return sorted(named, key=lambda name: question.lower().find(name.lower()))


def _widest(made: Sequence[Invocation]) -> list[Invocation]:
    """The calls about everything: what a question names itself is not yet in a plan."""
    return [call for call in made if not call.arguments.get("service") and not call.arguments.get("query")]


def _planned(plan: Plan, entities: Iterable[str]) -> list[str]:
    """Whom the plan's arguments name, as far as the evidence knows them."""
    planned = {str(step.arguments["service"]).lower() for step in plan.steps if step.arguments.get("service")}
    return [name for name in entities if name.lower() in planned]


def _changes(asked: Asked, tools: Toolbox) -> list[Sighting]:  # noqa: ARG001 - one of a table
    changes = [one for one in asked.seen if one.field("signal") == "change" and one.field("change") != "diff"]
    made = [one for one in changes if not one.empty]
    if asked.named:
        return asked.focused(made)[:MAX_CHANGES]
    return sorted(made, key=lambda one: not asked.about_focus(one))[:MAX_CHANGES]


def _onset(asked: Asked, tools: Toolbox) -> list[Sighting]:  # noqa: ARG001 - one of a table
    overview = [one for one in asked.seen if one.field("section") == "overview" and one.field("onset")]
    dated = [(start, one) for one in asked.anomalies() if (start := began(one.text)) is not None]
    first = [one for _, one in sorted(dated, key=lambda entry: entry[0])]
    own = (asked.focused(first) if asked.named else few_each(asked.focused(first)))[:MAX_FIRST_SIGNS]
    head = [*own, *overview[:1]] if asked.named else [*overview[:1], *own]
    return [*head, *asked.alerts()[:MAX_ALERTS]]


def _scope(asked: Asked, tools: Toolbox) -> list[Sighting]:  # noqa: ARG001 - one of a table
    callers = [one for one in asked.seen if one.field("signal") == "call" and one.field("callee") in asked.focus]
    strongest: dict[str, Sighting] = {}
    best: dict[str, float] = {}
    for one in asked.anomalies():
        if score(one) >= WORTH_STATING * best.setdefault(one.tool, score(one)):
            strongest.setdefault(one.entity, one)
    return [*list(strongest.values())[:MAX_AFFECTED], *asked.alerts()[:MAX_ALERTS], *callers[:MAX_EACH]]


def _ongoing(asked: Asked, tools: Toolbox) -> list[Sighting]:
    """What the alerts, the errors and the series that changed were last seen at."""
    moved = [one for one in asked.focused(asked.anomalies()) if one.field("signal") == "metric"]
    last: list[Sighting] = []
    for one in moved[:MAX_SERIES]:
        arguments = {"metric": str(one.field("metric")), "service": one.entity}
        found = sightings([tools.call("query_metrics", arguments)])
        last += [s for s in found if s.field("change") == "summary" and s.entity == one.entity][:1]
    counts = asked.focused(one for one in asked.seen if one.field("change") == "count")
    alerts = asked.alerts()[:MAX_ALERTS]
    over = [one for one in alerts if one.field("status") == "resolved"]
    back = [one for one in moved[:MAX_SERIES] if ", when it was back)" in one.text]
    # Errors that are always there go on: what is said to be over is the better answer.
    ended = [*over, *back] if len(back) == len(moved[:MAX_SERIES]) else []
    return [*ended, *counts[:1], *(one for one in alerts if one not in ended), *last]


def _logs(asked: Asked, tools: Toolbox) -> list[Sighting]:  # noqa: ARG001 - one of a table
    found = [one for one in asked.seen if one.tool == "search_logs" and not one.empty]
    counts = asked.focused(one for one in found if one.field("change") == "count")
    if not counts:
        return []
    lines = [one for one in found if one.invocation_id == counts[0].invocation_id and one != counts[0]]
    patterns = [one for one in asked.focused(asked.anomalies()) if one.field("signal") == "log"]
    return [counts[0], *lines[:MAX_LINES], *patterns[:MAX_EACH]]


def _about(asked: Asked, tools: Toolbox) -> list[Sighting]:  # noqa: ARG001 - one of a table
    """Of each that the question names: what changed about it, and what was changed; of nobody, the strongest."""
    if not asked.focus:
        return asked.anomalies()[:MAX_FIRST_SIGNS]
    found: list[Sighting] = []
    for name in asked.focus:
        own = [one for one in (*asked.anomalies(), *asked.alerts()) if one.entity == name]
        touched = [
            one
            for one in asked.seen
            if one.field("signal") == "change" and one.entity == name and one.field("change") != "diff"
        ]
        has = [one for one in asked.seen if one.field("section") == "services" and one.entity == name]
        found += [*own[:MAX_EACH], *[one for one in touched if not one.empty][:1], *(has[:1] if not own else ())]
    return found


_CHOICES: Mapping[QuestionKind, Callable[[Asked, Toolbox], list[Sighting]]] = {
    QuestionKind.CHANGES: _changes,
    QuestionKind.ONSET: _onset,
    QuestionKind.SCOPE: _scope,
    QuestionKind.ONGOING: _ongoing,
    QuestionKind.LOGS: _logs,
    QuestionKind.COMPARISON: _about,
    QuestionKind.SUBJECT: _about,
}
