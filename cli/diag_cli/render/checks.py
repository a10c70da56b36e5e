"""What of a run was checked, and by whom: the gatekeeper's audit, the second round, the verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from diag_cli.citations import Cited, cited
from diag_cli.render.lines import line_of, text_of
from diag_cli.render.safe import one_line, shortened
from diag_cli.render.words import Tone, counted, failure_words, tone

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diag_graph.contracts import VerifierResult
    from diag_graph.outcome import AgentStep, RunDocument

_EXCERPT_LENGTH = 200


def audit_lines(document: RunDocument) -> Iterator[RenderableType]:
    """How many bindings passed, and each that failed with why and what it quotes."""
    audit = document.gatekeeper
    if audit is None:
        return
    failed = [one for one in cited(document) if one.binding.status == "fail"]
    good = len(audit.checked_bindings) - len(failed)
    verdict = audit.status if audit.severity is None else f"{audit.status}, {audit.severity}"
    told = text_of("").append(verdict, Tone.GOOD if audit.status == "pass" else Tone.BAD)
    yield told.append(f"  {counted(good, 'binding')} passed, {len(failed)} failed")
    for one in failed:
        yield _failed(one)
    for issue in audit.claim_issues:
        told = text_of(f"claim {one_line(issue.claim_id or '?')}: ").append(failure_words(issue.failure), "red")
        yield line_of((1, None), text_of("✗", "red"), told)


def _failed(one: Cited) -> RenderableType:
    binding = one.binding
    where = f"{one_line(binding.source_invocation_id or '?')} {one_line(binding.raw_path or '')}".strip()
    told = text_of(f"claim {one_line(binding.claim_id or '?')}, citing {where}: ")
    told.append(failure_words(binding.failure) if binding.failure else "", "red")
    if one.excerpt:
        told.append(f'\nit quotes: "{shortened(one_line(one.excerpt), _EXCERPT_LENGTH)}"', "dim")
    return line_of((1, None), text_of("✗", "red"), told)


def second_round_lines(document: RunDocument) -> Iterator[RenderableType]:
    """What the second evidence round was asked for, and what it added; nothing when there was none."""
    trace = document.run.orchestration_trace or {}
    if not trace.get("evidence_retry_count"):
        return
    first = _first_verdict(document)
    if first is not None:
        from diag_graph.routing import evidence_gaps

        gaps = [one_line(gap.fact) for gap in evidence_gaps(first)]
        yield _row("asked for", "; ".join(gaps) or "nothing that was named")
    calls = [call for call in document.invocations if call.round > 1]
    made = ", ".join(f"{one_line(call.id)} {one_line(call.tool)} {call.status}" for call in calls)
    yield _row("called", made or "no tool that had not been called before")
    ids = {call.id for call in calls}
    fresh = [
        one.binding
        for one in cited(document)
        if one.binding.status == "pass" and one.binding.source_invocation_id in ids
    ]
    claims = sorted({one_line(binding.claim_id) for binding in fresh if binding.claim_id})
    added = (
        f"{counted(len(fresh), 'binding')} that passed, for {', '.join(claims)}" if fresh else "nothing that is cited"
    )
    yield _row("added", added)
    if first is not None:
        yield _row("verdict", f"{first.verdict} before, {document.run.verdict or 'none'} after")


def _row(name: str, said: str) -> RenderableType:
    return line_of((9, None), text_of(name, "dim"), text_of(said))


def _first_verdict(document: RunDocument) -> VerifierResult | None:
    """What the verifier said that led to the second round."""
    from diag_graph.contracts import VerifierResult
    from diag_graph.parsing import InvalidReplyError, parse_model

    def read(step: AgentStep) -> VerifierResult | None:
        try:
            return parse_model(step.output, VerifierResult)
        except InvalidReplyError:
            return None

    steps = [step for step in document.steps if step.agent == "verifier" and step.round == 1]
    return read(steps[-1]) if steps else None


def verdict_lines(document: RunDocument) -> Iterator[RenderableType]:
    """The effective verdict, the verifier's own and the ceiling, and each fact that it checked."""
    verifier = document.verifier
    if verifier is None:
        return
    effective = str(document.run.verdict or "none")
    told = text_of("").append(one_line(effective), f"bold {tone(effective)}")
    told.append(
        f"  the verifier said {verifier.get('model_verdict')}, the ceiling was {verifier.get('ceiling')}", "dim"
    )
    yield told
    for fact in verifier.get("facts_checked") or []:
        verification = str(fact.get("verification"))
        text = text_of(one_line(str(fact.get("fact"))))
        if fact.get("reason"):
            text.append(f"  {one_line(str(fact['reason']))}", "dim")
        yield line_of((16, None), text_of(one_line(verification), "dim"), text)
