"""From a run to what is scored of it. Pure.

What counts is what a user is told: the findings that the answer may state, in their order, and its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diag_graph.contracts import AllowedClaim, Citation, ClaimKind, Invocation
from diag_graph.evals.documents import NO_COMMIT, Outcome
from diag_graph.gate.normalise import normalise
from diag_graph.gate.pointer import resolve
from diag_graph.gate.values import text_of
from diag_graph.outcome import RunDocument, RunStatus
from diag_graph.tools.list_changes import LIST_CHANGES


def outcome_of(case: str, document: RunDocument, *, model_calls: int, seconds: float) -> Outcome:
    """What the run of a case came to.

    Args:
        case: The case's name.
        document: The run.
        model_calls: Requests that a model answered in it.
        seconds: Wall clock.
    """
    run, trace = document.run, document.run.orchestration_trace or {}
    recorded = {invocation.id: invocation for invocation in document.invocations}
    causes = [claim for claim in document.findings if claim.kind is ClaimKind.ROOT_CAUSE]
    failed = run.status is not RunStatus.SUCCESS
    return Outcome(
        case=case,
        ranked=tuple(dict.fromkeys(claim.entity or claim.text for claim in causes)),  # a cause is one, named or not
        answer=run.answer or "",
        verdict=run.verdict,
        degraded=bool(trace.get("degraded")),
        ended=trace.get("termination_reason"),
        commit=next((commit for claim in causes for commit in _commits(claim, recorded)), NO_COMMIT),
        statements=len(document.findings),
        cited=sum(_is_cited(claim, recorded) for claim in document.findings),
        model_calls=model_calls,
        prompt_tokens=run.prompt_tokens,
        completion_tokens=run.completion_tokens,
        cost_usd=run.cost_usd,
        seconds=seconds,
        crash=f"the run failed: {run.failure_reason}" if failed else None,
    )


def _is_cited(claim: AllowedClaim, recorded: Mapping[str, Invocation]) -> bool:
    """Whether a statement cites something, and all that it cites stands where it says."""
    return bool(claim.citations) and all(_holds(citation, recorded) for citation in claim.citations)


def _holds(citation: Citation, recorded: Mapping[str, Invocation]) -> bool:
    invocation = recorded.get(citation.invocation_id)
    found = resolve(invocation.result, citation.path) if invocation else None
    if invocation is None or found is None or invocation.tool != citation.tool:
        return False
    return normalise(citation.matched_text) in normalise(text_of(found.value))


def _commits(claim: AllowedClaim, recorded: Mapping[str, Invocation]) -> Iterator[str]:
    """The commits of the changes that a claim cites, in its order."""
    for citation in claim.citations:
        invocation = recorded.get(citation.invocation_id)
        if invocation is None or invocation.tool != LIST_CHANGES.name:
            continue
        item = resolve(invocation.result, "/".join(citation.path.split("/")[:3]))  # "/items/3" of "/items/3/text"
        if item is not None and isinstance(item.value, dict) and item.value.get("commit"):
            yield str(item.value["commit"])
