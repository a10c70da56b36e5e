"""The analyst's composer: words the allowed claims for people, and says no more than they do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.agents.analyst.asked_summary import asked_summary
from diag_graph.agents.analyst.headline import headline
from diag_graph.agents.analyst.no_fault import is_undated, what_was_seen, without_a_cause
from diag_graph.agents.analyst.question_kinds import FACTUAL, QuestionKind, question_kind
from diag_graph.agents.analyst.writing import reply
from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import AllowedClaim, ClaimKind, JsonObject, Standing
from diag_graph.state import READ_GUIDANCE, ComposerInput
from diag_graph.topology import Verdict

CAUSE_SUMMARIES: dict[Standing, str] = {
    Standing.CONFIRMED: "The trouble starts at {entity}{news}",
    Standing.LIKELY: "The trouble most likely starts at {entity}; this is not settled{news}",
    Standing.POSSIBLE: "The trouble may start at {entity}; the evidence for it is indirect{news}",
}
"""What is said first of a cause, by its standing; the news end with a full stop."""

HEDGES: dict[Standing, str] = {Standing.LIKELY: " most likely starts at ", Standing.POSSIBLE: " may start at "}
"""How the word of a cause is tempered by its standing."""

NO_CAUSE: dict[Verdict, str] = {
    Verdict.PASS: "Nothing abnormal was found in what was compared: no fault and no root cause is shown.",
    Verdict.LOW_CONFID: "No root cause can be shown from the evidence.",
    Verdict.REJECT: "The evidence speaks against the suspected cause; no root cause can be shown.",
}

NOT_EXHAUSTIVE = (
    "Only what the collected evidence covers was looked at; what was not found there may still have happened."
)
UNNAMED = "Nothing was looked at: no evidence was named."
NAME_EVIDENCE = "Name a folder of metrics, logs and traces: --incident DIR."
UNREADABLE = "{name} holds nothing that could be read."
NAME_ANOTHER = (
    "Name a folder that holds metrics, logs or traces: --incident DIR; `diag doctor` says what it reads of one."
)
"""What is said, and advised, when there was nothing to look at."""
NAME_A_TIME = "Name a time about which to look: `diag ask --since TIME`, or say it in the question."
RUNBOOKS_SHOWN = "What the runbooks advise stands under the next steps, each with where it comes from."
RUNBOOKS_ALONE = "Runbooks say what is advised, and not what happened: nothing else was looked at."
RUNBOOKS_NEAREST = "The nearest that the runbooks have stands under the next steps; it says little of what was asked."
NO_RUNBOOK = "No indexed runbook says anything about it."
NO_RUNBOOK_STEP = "See what is indexed with `diag knowledge list`, and add more with `diag knowledge add PATH`."


class AnalystComposer:
    """Composes by rule."""

    def __init__(self, *, looks: bool = True) -> None:
        """Take whether any evidence was named: without, it is not said that anything was looked at."""
        self._looks = looks

    def compose(self, request: ComposerInput) -> AgentReply:
        """A composed answer as JSON text."""
        causes = [claim for claim in request.allowed_claims if claim.kind is ClaimKind.ROOT_CAUSE]
        kind = question_kind(request.question)
        limitations = list(request.missing_info)
        findings = [_finding(claim) for claim in request.allowed_claims]
        blind = self._blind(request)
        if blind is not None and not _shows_runbooks(kind, request):
            summary, step = blind
            steps = [*_own_steps(request), step]
            return reply({"summary": summary, "findings": findings, "limitations": limitations, "next_steps": steps})
        if not causes:
            limitations.append(RUNBOOKS_ALONE if _shows_runbooks(kind, request) else NOT_EXHAUSTIVE)
        return reply(
            {
                "summary": _asked_summary(kind, request, causes) or _summary(request, causes),
                "findings": findings,
                "limitations": limitations,
                "next_steps": _next_steps(kind, request, causes),
            }
        )

    def _blind(self, request: ComposerInput) -> tuple[str, str] | None:
        """What to say first, and the step to take, when there was nothing to look at."""
        if not self._looks and not request.allowed_claims:
            return UNNAMED, NAME_EVIDENCE
        bare = next((found for claim in request.allowed_claims if (found := _HOLDS_NOTHING.match(claim.text))), None)
        return (UNREADABLE.format(name=bare["name"]), NAME_ANOTHER) if bare else None


_HOLDS_NOTHING = re.compile(r"(?P<name>.{1,300}?) holds nothing\. ")


def _shows_runbooks(kind: QuestionKind, request: ComposerInput) -> bool:
    return kind is QuestionKind.RUNBOOK and not request.allowed_claims


def _next_steps(kind: QuestionKind, request: ComposerInput, causes: Sequence[AllowedClaim]) -> list[str]:
    if _shows_runbooks(kind, request):
        return [] if READ_GUIDANCE in request.recommended_actions else [NO_RUNBOOK_STEP]
    undated = not causes and is_undated(request.allowed_claims)
    return _own_steps(request) or ([NAME_A_TIME] if undated else []) + _default_steps(kind, causes)


def _own_steps(request: ComposerInput) -> list[str]:
    """The recommended actions; that there is guidance goes without saying, for code quotes it right behind them."""
    return [action for action in request.recommended_actions if action != READ_GUIDANCE]


def _asked_summary(kind: QuestionKind, request: ComposerInput, causes: Sequence[AllowedClaim]) -> str | None:
    if _shows_runbooks(kind, request):
        if READ_GUIDANCE not in request.recommended_actions:
            return NO_RUNBOOK
        return RUNBOOKS_SHOWN if request.verdict is Verdict.PASS else RUNBOOKS_NEAREST
    cause = _summary(request, causes) if causes else None
    return asked_summary(kind, request.question, request.allowed_claims, cause, _own_steps(request))


def _summary(request: ComposerInput, causes: Sequence[AllowedClaim]) -> str:
    if causes:
        first = causes[0]
        news = headline(first, request.allowed_claims)
        return CAUSE_SUMMARIES[first.standing].format(entity=first.entity or "what the first finding names", news=news)
    if request.verdict is Verdict.PASS and not request.allowed_claims:
        return NO_CAUSE[Verdict.LOW_CONFID]
    said = NO_CAUSE[request.verdict]
    if request.verdict is Verdict.LOW_CONFID and request.allowed_claims:
        said = without_a_cause(request.allowed_claims)
    return said + what_was_seen(request.allowed_claims)


def _finding(claim: AllowedClaim) -> JsonObject:
    """A claim in its own words; of a cause that is not confirmed, how far it is to be believed."""
    text = claim.text
    if claim.kind is ClaimKind.ROOT_CAUSE and claim.standing in HEDGES:
        text = text.replace(" starts at ", HEDGES[claim.standing], 1)
    return {"claim_ids": [claim.claim_id], "text": text}


def _default_steps(kind: QuestionKind, causes: Sequence[AllowedClaim]) -> list[str]:
    if causes or kind in FACTUAL:
        return []
    return [
        "If the trouble goes on, widen the window with --since and --until, or add evidence (logs, traces, changes).",
        "If an alert fired without trouble, compare its threshold with the normal values of its metric.",
    ]
