"""The first line of an answer, by what was asked for: it answers the question, in the words of the allowed claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from diag_graph.agents.analyst.question_kinds import FACTUAL, QuestionKind
from diag_graph.agents.analyst.reading import names_entity
from diag_graph.contracts import AllowedClaim, ClaimKind, Standing

UNSHOWN: Mapping[QuestionKind, str] = {
    QuestionKind.CHANGES: "The evidence does not show what was changed.",
    QuestionKind.ONSET: "The evidence does not show since when.",
    QuestionKind.SCOPE: "The evidence does not show who is affected.",
    QuestionKind.ONGOING: "The evidence does not show whether it goes on.",
    QuestionKind.LOGS: "The evidence shows no such log line.",
    QuestionKind.COMPARISON: "The evidence does not show what the question compares.",
    QuestionKind.SUBJECT: "The evidence does not show what the question asks about.",
}
"""Said when no statement about it stood up to the checks."""

ANSWERED_BY: Mapping[QuestionKind, frozenset[str]] = {
    QuestionKind.CHANGES: frozenset({"list_changes"}),
    QuestionKind.LOGS: frozenset({"search_logs", "find_log_patterns", "read_document", "find_failure_signatures"}),
}
"""Tools whose statements can answer it; any but the inventory where nothing stands here."""

WRONG = "Something is wrong."
UNUSUAL = "Something is out of the ordinary."
"""Said of a cause that is merely possible: what it rests on may be harmless."""
ELSEWHERE = "Elsewhere something is wrong."
FIRST = "First: {step}"

_BEGINS = re.compile(r"; (the trouble is taken to begin at .+)", re.DOTALL)
_ABOUT_ONE = re.compile(r"\ANo \w+ \(service '(?P<service>[^']+)'")


def asked_summary(
    kind: QuestionKind, question: str, claims: Sequence[AllowedClaim], cause: str | None, actions: Sequence[str]
) -> str | None:
    """The first line; None for a kind that has none of its own.

    Args:
        kind: What was asked for.
        question: In whose words.
        claims: The allowed claims, in the executor's order.
        cause: How the answer names the cause; None when it names none.
        actions: The recommended actions.
    """
    if kind in FACTUAL and cause is None:
        return _fact_line(kind, claims)
    if cause is not None and kind is QuestionKind.STATE:
        aside = next((claim.text for claim in claims if _is_about_asked(claim.text, question)), None)
        aside = aside or _seen_beside(question, claims)
        sure = any(one.kind is ClaimKind.ROOT_CAUSE and one.standing is not Standing.POSSIBLE for one in claims)
        return f"{aside} {ELSEWHERE} {cause}" if aside else f"{WRONG if sure else UNUSUAL} {cause}"
    if cause is not None and kind is QuestionKind.CHANGES:
        return f"{UNSHOWN[kind]} {cause}"
    if cause is not None and kind is QuestionKind.ADVICE:
        # A number of a runbook is none that a tool measured (C2).
        step = next((action for action in actions if not re.search(r"\d", action)), None)
        return f"{FIRST.format(step=step)} {cause}" if step else cause
    return None


def _is_about_asked(text: str, question: str) -> bool:
    """Whether a search without a match looked at just what the question names; a second round looks at suspects."""
    found = _ABOUT_ONE.search(text)
    return found is not None and any(names_entity(question, name.strip()) for name in found["service"].split(","))


def _seen_beside(question: str, claims: Sequence[AllowedClaim]) -> str | None:
    """What is observed of one that the question names, where the cause is another."""
    blamed = next((claim.entity for claim in claims if claim.kind is ClaimKind.ROOT_CAUSE), None)
    if blamed and names_entity(question, blamed):
        return None
    observed = (claim for claim in claims if claim.kind is ClaimKind.OBSERVATION and claim.entity)
    text = next((claim.text for claim in observed if names_entity(question, claim.entity or "")), None)
    return text if text is None or text.endswith(".") else f"{text}."


def _fact_line(kind: QuestionKind, claims: Sequence[AllowedClaim]) -> str:
    answering = [claim for claim in claims if _can_answer(kind, claim)]
    if answering and answering[0].kind is ClaimKind.NO_EVIDENCE:  # what was asked about showed nothing
        return answering[0].text
    shown = [claim for claim in answering if claim.kind is ClaimKind.OBSERVATION]
    if not shown:
        return UNSHOWN[kind]
    return _LINES[kind](shown) if kind in _LINES else shown[0].text


def _can_answer(kind: QuestionKind, claim: AllowedClaim) -> bool:
    tools = {citation.tool for citation in claim.citations}
    if kind in ANSWERED_BY:
        return bool(tools & ANSWERED_BY[kind])
    # That there is something to look at answers no question but since when, which the inventory knows.
    return tools != {"list_evidence"} or (kind is QuestionKind.ONSET and bool(_BEGINS.search(claim.text)))


def _changes(shown: Sequence[AllowedClaim]) -> str:
    more = " More changes stand below." if len(shown) > 1 else ""
    return f"What was changed: {shown[0].text}{more}"


def _onset(shown: Sequence[AllowedClaim]) -> str:
    taken = _BEGINS.search(shown[0].text)
    return f"T{taken[1][1:]}" if taken else f"Since when: {shown[0].text}"


def _scope(shown: Sequence[AllowedClaim]) -> str:
    names = list(dict.fromkeys(claim.entity for claim in shown if claim.entity))
    return f"Trouble shows at {', '.join(names)}." if names else shown[0].text


def _ongoing(shown: Sequence[AllowedClaim]) -> str:
    return f"Last seen in what was collected: {shown[0].text}"


_LINES: Mapping[QuestionKind, Callable[[Sequence[AllowedClaim]], str]] = {
    QuestionKind.CHANGES: _changes,
    QuestionKind.ONSET: _onset,
    QuestionKind.SCOPE: _scope,
    QuestionKind.ONGOING: _ongoing,
}
