"""Evidence retry: code, no agent. What the verifier missed becomes the second round's task (contract section 6)."""

from __future__ import annotations

from diag_graph.contracts import RetryContext, Standing, VerifiedDocument
from diag_graph.gate.verdicts import allowed_claims
from diag_graph.nodes.deps import NodeCall
from diag_graph.routing import evidence_gaps
from diag_graph.state import EvidenceRetryChannels, Update
from diag_graph.topology import Verdict


def run(view: EvidenceRetryChannels, call: NodeCall) -> Update:
    """Prepare the second round.

    A claim whose bindings passed is not yet a fact: the verifier may have found that they say nothing of it, or the
    contrary. Facts are what could be stated as confirmed if the run ended here.
    """
    document, evidence = view.get("verified_executor_output") or VerifiedDocument(), view.get("verified_evidence", ())
    result = view.get("verifier_output")
    sayable = allowed_claims(document, evidence, result.facts_checked if result else (), Verdict.LOW_CONFID)
    return {
        "retry_context": RetryContext(
            prior_verified_output=document,
            prior_verified_evidence=evidence,
            evidence_gaps=evidence_gaps(result),
            confirmed_facts=tuple(claim.text for claim in sayable if claim.standing is Standing.CONFIRMED),
            completed_queries=call.deps.ledger.completed_queries(),
        )
    }
