"""The plan of a question that asks for facts: which tools show them, and where a follow-up narrows them down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from diag_graph.agents.analyst.earlier_turns import Earlier
from diag_graph.agents.analyst.judging import CLOCKS
from diag_graph.agents.analyst.question_kinds import QuestionKind
from diag_graph.analysis.records import utc
from diag_graph.contracts import JsonObject

_ORIENT = ("list_evidence", "See what evidence there is, for which services and which time")
_ALERTS = ("list_alerts", "See what was alerted on, since when, and whether it still fires")
_METRICS = ("find_metric_anomalies", "Find which series changed at the onset, and in what order")
_SPANS = ("find_span_anomalies", "Find which operations got slower or fail")
_PATTERNS = ("find_log_patterns", "Find messages that are new or far more frequent since the onset")
_CHANGES = ("list_changes", "List what was changed, nearest before the onset first")
_ERRORS = ("search_logs", "Find the errors that were logged, the first and the last")
_SIGNS = (_ALERTS, _METRICS, _SPANS, _PATTERNS)

PLANS: Mapping[QuestionKind, tuple[tuple[str, str], ...]] = {
    QuestionKind.CHANGES: (_ORIENT, _CHANGES),
    QuestionKind.ONSET: (_ORIENT, *_SIGNS),
    QuestionKind.SCOPE: (_ORIENT, *_SIGNS),
    QuestionKind.ONGOING: (_ORIENT, _ALERTS, _METRICS, _ERRORS),
    QuestionKind.LOGS: (_ORIENT, _ERRORS, _PATTERNS),
    QuestionKind.COMPARISON: (_ORIENT, _METRICS, _SPANS, _PATTERNS),
    QuestionKind.SUBJECT: (_ORIENT, *_SIGNS, _CHANGES),
}
"""What shows the facts that a question asks for; a kind that stands here is no diagnosis."""

NEEDED: Mapping[QuestionKind, frozenset[str]] = {
    QuestionKind.CHANGES: frozenset({"list_changes"}),
    QuestionKind.LOGS: frozenset({"search_logs"}),
}
"""Tools without which the facts cannot be shown. Other kinds need one of their plan, besides the orientation."""

INTENTS: Mapping[QuestionKind, str] = {
    QuestionKind.CHANGES: "List what was changed",
    QuestionKind.ONSET: "Say since when the trouble shows",
    QuestionKind.SCOPE: "Say what shows trouble, and so is affected",
    QuestionKind.ONGOING: "Say what is known of the trouble's end",
    QuestionKind.LOGS: "Show what was logged",
    QuestionKind.COMPARISON: "Compare what the question names",
    QuestionKind.SUBJECT: "Say what the evidence shows of what the question names",
}

ERRORS = "ERROR,FATAL,CRITICAL"
"""Levels of log lines that tell of a failure."""

_NARROWED = frozenset({"search_logs", "list_changes", "find_metric_anomalies"})
"""Tools that are also asked about the subject alone: among everything, little of it may be shown."""
_BEFORE = re.compile(r"\b(?:before|prior|earlier|preced|led up)|之前|以前|前に|その前", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:after|later|since)\b|之后|以后|その後|以降", re.IGNORECASE)


def can_show(kind: QuestionKind, offered: set[str]) -> bool:
    """Whether the tools on offer show what a question of this kind asks for."""
    planned = {tool for tool, _ in PLANS.get(kind, ())}
    return bool((planned - {"list_evidence"}) & offered) and NEEDED.get(kind, frozenset()) <= offered


def asked_steps(
    kind: QuestionKind, question: str, earlier: Earlier, phrases: Sequence[str], offered: set[str]
) -> Iterator[JsonObject]:
    """The steps to the facts.

    Args:
        kind: What the question asks for; one that `can_show` says yes to.
        question: As typed.
        earlier: What it leans on. Everything is looked at without it too: it may be wrong.
        phrases: What the question quotes.
        offered: Names of the tools on offer.
    """
    for tool, goal in PLANS[kind]:
        if tool not in offered:
            continue
        base: JsonObject = {"level": ERRORS} if tool == "search_logs" else {}
        if tool == "list_changes":
            base = _bounds(question, earlier)
        if earlier.subject and tool in _NARROWED:
            about = f"{goal}: {earlier.subject}, which the conversation is about"
            yield {"goal": about, "tool": tool, "arguments": {**base, "service": earlier.subject}}
        yield {"goal": goal, "tool": tool, "arguments": base}
    for phrase in phrases if "search_logs" in offered else ():
        goal = "Find log lines that hold the words quoted in the question"
        yield {"goal": goal, "tool": "search_logs", "arguments": {"query": phrase}}


def _bounds(question: str, earlier: Earlier) -> JsonObject:
    """For a question what came before or after "that": a change itself is left out; when trouble began is not sharp."""
    if earlier.time is None:
        return {}
    if _BEFORE.search(question):
        return {"until": utc(earlier.time + (-1 if earlier.is_change else CLOCKS))}
    return {"since": utc(earlier.time + 1)} if _AFTER.search(question) else {}
