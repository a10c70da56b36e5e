"""Composer: words the allowed claims. Code checks what it says, and renders the citations (C1, C2, C3)."""

from __future__ import annotations

import re

from diag_graph.answer import render_answer
from diag_graph.contracts import Advice, AllowedClaim, ComposedAnswer
from diag_graph.gate.numbers import ungrounded_numbers
from diag_graph.gate.verdicts import advice, allowed_claims
from diag_graph.nodes.agent_call import agent_status, ask_agent, format_reminder
from diag_graph.nodes.deps import NodeCall
from diag_graph.parsing import InvalidReplyError, parse_model
from diag_graph.state import READ_GUIDANCE, ComposerChannels, ComposerInput, Update
from diag_graph.topology import Node, Verdict

_CITATION_MARK = re.compile(r"\[\d+\]|\A\s*verdict\s*:", re.IGNORECASE)
"""What only code may write into an answer (C3)."""


def run(view: ComposerChannels, call: NodeCall) -> Update:
    """Ask the composer for the answer's words, and render them."""
    request = composer_input(view, call)
    answer = ask_agent(
        Node.COMPOSER,
        call,
        lambda: call.deps.agents.composer.compose(request),
        lambda text: (read_answer(text, request), None),
    )
    composed = answer.value
    return {
        "composer_output": composed,
        "composer_status": agent_status(answer),
        "final_answer": render_answer(composed, request.allowed_claims, request.verdict, view_advice(view))
        if composed
        else None,
    }


def composer_input(view: ComposerChannels, call: NodeCall) -> ComposerInput:
    """All that the composer may know."""
    result, verdict = view.get("verifier_output"), view.get("effective_verdict")
    guided = (READ_GUIDANCE,) if view_advice(view) else ()
    return ComposerInput(
        question=view["diagnosis_context"].question,
        allowed_claims=view_claims(view),
        verdict=verdict or Verdict.REJECT,
        missing_info=result.missing_info if result else (),
        recommended_actions=(*(result.recommended_actions if result else ()), *guided),
        format_reminder=format_reminder(call),
    )


def view_claims(view: ComposerChannels) -> tuple[AllowedClaim, ...]:
    """The claims that the answer may state: none unless there is a verdict that they rest on."""
    document, result, verdict = (
        view.get("verified_executor_output"),
        view.get("verifier_output"),
        view.get("effective_verdict"),
    )
    if document is None or result is None or verdict is None:
        return ()
    return allowed_claims(document, view.get("verified_evidence", ()), result.facts_checked, verdict)


def view_advice(view: ComposerChannels) -> tuple[Advice, ...]:
    """What guidance advises, under the same verdict: code adds it to the answer, past the composer."""
    document, result, verdict = (
        view.get("verified_executor_output"),
        view.get("verifier_output"),
        view.get("effective_verdict"),
    )
    if document is None or result is None or verdict is None:
        return ()
    return advice(document, view.get("verified_evidence", ()), result.facts_checked, verdict)


def read_answer(text: str | None, request: ComposerInput) -> ComposedAnswer:
    """Read a composed answer and check what it says.

    Raises:
        InvalidReplyError: a finding cites no allowed claim or another one (C1), or a number stands in the summary, a
            limitation or a finding that stands neither in the question nor in the allowed claims (C2).
    """
    composed = parse_model(text, ComposedAnswer)
    if not composed.summary.strip():
        raise InvalidReplyError("the summary is empty")
    sources = answer_sources(request.question, request.allowed_claims)
    _check_marks(composed, sources)
    allowed = {claim.claim_id for claim in request.allowed_claims}
    for finding in composed.findings:
        if not finding.text.strip():
            raise InvalidReplyError("a finding has no text")
        if not finding.claim_ids:
            raise InvalidReplyError(f"the finding {finding.text[:80]!r} cites no claim")
        foreign = [claim_id for claim_id in finding.claim_ids if claim_id not in allowed]
        if foreign:
            raise InvalidReplyError(f"a finding cites {foreign[0][:80]!r}, which is no allowed claim")
    _check_numbers(composed, sources)
    return composed


def _check_marks(composed: ComposedAnswer, sources: list[str]) -> None:
    """C3: no citation and no verdict is the composer's to write; `[12]` within a quoted log line is no citation."""
    texts = (composed.summary, *composed.limitations, *composed.next_steps, *(one.text for one in composed.findings))
    for said in texts:
        for mark in _CITATION_MARK.findall(said):
            if not any(mark in source for source in sources):
                raise InvalidReplyError(f"{said[:80]!r} holds {mark.strip()!r}: code writes citations and verdicts")


def _check_numbers(composed: ComposedAnswer, sources: list[str]) -> None:
    """C2. All texts are looked at as one, for sources are long and mostly all is well; only then one by one."""
    texts = (composed.summary, *composed.limitations, *(finding.text for finding in composed.findings))
    if not ungrounded_numbers("\n".join(texts), sources):
        return
    for said in texts:
        strays = ungrounded_numbers(said, sources)
        if strays:
            raise InvalidReplyError(
                f"the number {strays[0]} in {said[:80]!r} stands neither in the question nor in the evidence"
            )


def answer_sources(question: str, claims: tuple[AllowedClaim, ...]) -> list[str]:
    """What the words of an answer may rest on (C2): the question, the allowed claims and their matched texts."""
    matched = (citation.matched_text for claim in claims for citation in claim.citations)
    return [question, *(claim.text for claim in claims), *matched]
