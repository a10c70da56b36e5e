"""Evidence retry: code, no agent. What the verifier missed becomes the second round's task (SPEC section 6)."""

from __future__ import annotations

from diag_graph.contracts import RetryContext, VerifiedDocument
from diag_graph.nodes.deps import NodeCall
from diag_graph.routing import evidence_gaps
from diag_graph.state import EvidenceRetryChannels, Update


def run(view: EvidenceRetryChannels, call: NodeCall) -> Update:
    """Prepare the second round."""
    return {
        "retry_context": RetryContext(
            prior_verified_output=view.get("verified_executor_output") or VerifiedDocument(),
            prior_verified_evidence=view.get("verified_evidence", ()),
            evidence_gaps=evidence_gaps(view.get("verifier_output")),
            completed_queries=call.deps.ledger.completed_queries(),
        )
    }
