"""What is missing is no permission: a ceiling, a verdict, an agent that broke."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diag_graph.agents.recorded import Recording
from diag_graph.contracts import DiagnosisContext, VerifiedDocument, VerifiedEvidence, VerifierResult
from diag_graph.nodes import verifier as node
from diag_graph.nodes.composer import view_claims
from diag_graph.nodes.deps import Deps, NodeCall
from diag_graph.run import Assignment, execute
from diag_graph.runfile import FileStep
from diag_graph.state import ComposerChannels, Update, VerifierChannels
from diag_graph.tools.ledger import Ledger
from diag_graph.topology import Verdict
from recordings import NOW, QUESTION, composer, executor, fails, plan, says, verifier


def judged(step: FileStep, ceiling: Verdict | None) -> Update:
    """What the node writes when its agent takes this step."""
    context = DiagnosisContext(question=QUESTION, session_id="s-1", run_id="r-1", now=NOW)
    view: VerifierChannels = {"diagnosis_context": context, "verified_executor_output": VerifiedDocument()}
    if ceiling is not None:
        view["verifier_verdict_ceiling"] = ceiling
    deps = Deps(Recording([step]).agents(), Ledger((), None, lambda event: None), lambda event: None)
    return node.run(view, NodeCall(deps, 1, 1))


@pytest.mark.parametrize(
    ("ceiling", "effective"), [(Verdict.PASS, "PASS"), (Verdict.LOW_CONFID, "LOW_CONFID"), (None, "LOW_CONFID")]
)
def test_a_pass_needs_a_ceiling_that_says_so(ceiling: Verdict | None, effective: str) -> None:
    """Section 5: the lower of the two; a ceiling that is missing is no permission."""
    assert judged(verifier("PASS"), ceiling)["effective_verdict"] == effective


@pytest.mark.parametrize("step", [fails("verifier"), fails("verifier", "auth"), says("verifier", "{}")], ids=str)
def test_a_verifier_that_failed_has_no_verdict(step: FileStep) -> None:
    """Section 4: no failure is ever a verdict."""
    update = judged(step, Verdict.PASS)
    assert (update["verifier_model_verdict"], update["effective_verdict"]) == (None, None)


@pytest.mark.parametrize("missing", ["verified_executor_output", "verifier_output", "effective_verdict"])
def test_nothing_is_allowed_without_a_verdict_and_what_it_rests_on(missing: str) -> None:
    """Section 5: claims are allowed by document, judgement and verdict together."""
    entry = {"source_invocation_id": "inv-1", "raw_path": "/a"}
    verified = {
        "claim_id": "c",
        "claim": "x",
        "kind": "observation",
        "evidence_bindings": [entry | {"evidence_excerpt": "x"}],
    }
    supported = {"verdict": "PASS", "facts_checked": [{"claim_id": "c", "fact": "x", "verification": "direct_support"}]}
    evidence = entry | {"claim_id": "c", "tool_name": "t", "matched_text": "x"}
    view: ComposerChannels = {
        "verified_executor_output": VerifiedDocument.model_validate({"claims": [verified]}),
        "verified_evidence": (VerifiedEvidence.model_validate(evidence),),
        "verifier_output": VerifierResult.model_validate(supported),
        "effective_verdict": Verdict.PASS,
    }
    assert [claim.claim_id for claim in view_claims(view)] == ["c"]
    assert view_claims(view | {missing: None}) == ()


class Broken:
    """An agent with a fault in its own code, whatever it is asked."""

    def __getattr__(self, name: str) -> object:
        def fail(*request: object) -> object:
            raise LookupError(f"{name} came upon something")

        return fail


@pytest.mark.parametrize("agent", ["planner", "executor", "verifier", "composer"])
def test_an_agents_own_fault_is_a_failure_of_its_call(agent: str) -> None:
    """Section 4: any other exception is not retried; the step is recorded, and the run ends with a safe answer."""
    played = Recording([plan(), executor(), verifier(), composer()]).agents()
    agents = replace(played, **{agent: Broken()})
    document = execute(Assignment(question=QUESTION, agents=agents, now=NOW, session_id="s-1"))
    reason = "executor_failed" if agent == "executor" else f"{agent}_non_retryable_failed"
    assert document.run.failure_reason == reason
    assert document.run.answer
    last = document.steps[-1]
    assert (last.agent, last.error_kind, last.attempt) == (agent, "other", 1)
    assert "LookupError" in (last.error or "")
