"""Verified input: code, no agent. What passed the gate, and nothing else, goes on to the verifier."""

from __future__ import annotations

from diag_graph.contracts import GatekeeperAudit, InvocationStatus
from diag_graph.gate.verdicts import ceiling
from diag_graph.gate.verified import build_verified, verified_evidence
from diag_graph.nodes.deps import NodeCall
from diag_graph.state import Update, VerifiedInputChannels


def run(view: VerifiedInputChannels, call: NodeCall) -> Update:
    """Build the verified document, its evidence and the verdict's ceiling."""
    audit = view.get("gatekeeper_result") or GatekeeperAudit(status="fail")
    raw = view.get("executor_output") or {}
    empty = {made.id for made in call.deps.ledger.invocations if made.status is InvocationStatus.EMPTY}
    document = build_verified(raw, audit, call.deps.guidance_tools, empty)
    evidence = verified_evidence(raw, audit)
    return {
        "verified_executor_output": document,
        "verified_evidence": evidence,
        "verified_binding_count": len(evidence),
        "verifier_verdict_ceiling": ceiling(audit, len(evidence)),
    }
