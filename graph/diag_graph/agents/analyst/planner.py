"""The analyst's planner: picks tools by the question and by what is offered, and in round two by what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diag_graph.agents.analyst.asked_steps import INTENTS, asked_steps, can_show
from diag_graph.agents.analyst.earlier_turns import pointed_at
from diag_graph.agents.analyst.guidance import MAX_ASKED_FOR, MAX_QUERY
from diag_graph.agents.analyst.question_kinds import QuestionKind, question_kind
from diag_graph.agents.analyst.runbook_questions import runbook_subject
from diag_graph.agents.analyst.skill_choice import chosen_skill
from diag_graph.agents.analyst.writing import reply
from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import FactCheck, JsonObject
from diag_graph.state import PlannerInput
from diag_graph.tools.definition import LOOKUP_KNOWLEDGE
from diag_graph.topology import PlannerMode

SURVEY: tuple[tuple[str, str], ...] = (
    ("list_evidence", "See what evidence there is, for which services and which time, and who calls whom"),
    ("list_alerts", "See what was alerted on, and since when"),
    ("find_metric_anomalies", "Find which series changed at the onset, and in what order"),
    ("find_span_anomalies", "Find which operation got slower or fails, by the time spent in itself"),
    ("find_log_patterns", "Find messages that are new or far more frequent since the onset"),
    (
        "find_failure_signatures",
        "Find which known failures documents and logs name, and which are only their consequences",
    ),
    ("list_changes", "Find what was changed shortly before the onset"),
)
"""The first look at any incident: what changed, where, in what order, and what was touched before."""

GAP_TOOLS: tuple[tuple[str, JsonObject, str], ...] = (
    ("find_span_anomalies", {}, "Look at the time that {entity} spends in itself, and at its failing calls"),
    ("find_metric_anomalies", {"limit": 60}, "Look at all series of {entity}, weaker changes too"),
    ("search_logs", {"level": "ERROR", "limit": 20}, "Look for errors that {entity} logged"),
    ("search_logs", {"level": "WARN", "limit": 20}, "Look for warnings that {entity} logged"),
    ("list_changes", {}, "Look for changes of {entity}"),
)
"""What can still be asked about one entity when a claim about it lacks support."""

MAX_GAP_ENTITIES = 2
_CLOCK_QUESTION = re.compile(r"\bwhat (?:time|day|date) is\b|\bcurrent time\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“`]([^\"”`]{4,120})[\"”`]")
_SUBJECT = re.compile(r"\A(?P<entity>[\w./:-]+(?: [\w./:-]+)?) (?:is|as) ")


class AnalystPlanner:
    """Plans by rule."""

    def plan(self, request: PlannerInput) -> AgentReply:
        """A plan as JSON text."""
        offered = {tool.name for tool in request.tools}
        choice = None
        if request.mode is PlannerMode.EVIDENCE_GAP_ONLY:
            steps = list(_increments(request, offered))
            intent = "Close the gaps in the evidence"
        elif LOOKUP_KNOWLEDGE in offered and question_kind(request.question) is QuestionKind.RUNBOOK:
            steps = [_runbook_step(request.question)]
            intent = f"Show what runbooks advise: {request.question[:200]}"
        elif can_show(kind := question_kind(request.question), offered):
            earlier = pointed_at(request.question, request.history)
            steps = list(asked_steps(kind, request.question, earlier, _phrases(request.question), offered))
            intent = f"{INTENTS[kind]}: {request.question[:200]}"
        else:
            steps = list(_survey(request.question, offered))
            intent = f"Find what the evidence shows about: {request.question[:200]}"
            choice = chosen_skill(request.question, request.history, request.skills)
        if not steps:
            steps = [{"goal": "Say what can be said without further evidence", "tool": None, "arguments": {}}]
        numbered = [{"step_id": f"step-{index}", **step} for index, step in enumerate(steps, 1)]
        if choice is not None:
            intent += f" (the skill {choice.skill} fits: {', '.join(choice.words)})"
        return reply({"intent": intent, "selected_skill": choice.skill if choice else None, "steps": numbered})


def _runbook_step(question: str) -> JsonObject:
    arguments = {"query": runbook_subject(question[:MAX_QUERY]), "limit": MAX_ASKED_FOR}
    return {"goal": "Find what the runbooks say", "tool": LOOKUP_KNOWLEDGE, "arguments": arguments}


def _survey(question: str, offered: set[str]) -> Iterator[JsonObject]:
    if _CLOCK_QUESTION.search(question) and "current_time" in offered:
        yield {"goal": "Say what time it is", "tool": "current_time", "arguments": {}}
        return
    for tool, goal in SURVEY:
        if tool in offered:
            yield {"goal": goal, "tool": tool, "arguments": {}}
    if "search_logs" in offered:
        for phrase in _phrases(question):
            goal = "Find log lines that hold the words quoted in the question"
            yield {"goal": goal, "tool": "search_logs", "arguments": {"query": phrase}}


def _phrases(question: str) -> list[str]:
    """What a question quotes."""
    return _QUOTED.findall(question)[:2]


def _increments(request: PlannerInput, offered: set[str]) -> Iterator[JsonObject]:
    """Calls about the entities that the gaps are about, and none that was made already (E1)."""
    done = [(query.tool, query.arguments) for query in request.completed_queries]
    for entity in _gap_entities(request.evidence_gaps):
        for tool, arguments, goal in GAP_TOOLS:
            wanted = {**arguments, "service": entity}
            if tool in offered and not _made(tool, wanted, done):
                yield {"goal": goal.format(entity=entity), "tool": tool, "arguments": wanted}


def _gap_entities(gaps: tuple[FactCheck, ...]) -> list[str]:
    """Whom the gaps are about: a fact begins with its subject."""
    subjects = [match["entity"] for gap in gaps if (match := _SUBJECT.match(gap.fact))]
    return list(dict.fromkeys(subjects))[:MAX_GAP_ENTITIES]


def _made(tool: str, arguments: JsonObject, done: list[tuple[str, JsonObject]]) -> bool:
    return any(tool == name and arguments.items() <= earlier.items() for name, earlier in done)
