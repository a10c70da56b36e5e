"""Verifier: judges verified claims by their matched texts. Its verdict counts only under the ceiling."""

from __future__ import annotations

from diag_graph.contracts import GatekeeperAudit, VerifiedDocument, VerifierResult
from diag_graph.gate.verdicts import effective
from diag_graph.nodes.agent_call import agent_status, ask_agent, format_reminder
from diag_graph.nodes.deps import NodeCall
from diag_graph.parsing import parse_model
from diag_graph.state import Update, VerifierChannels, VerifierInput
from diag_graph.topology import Node, Verdict


def run(view: VerifierChannels, call: NodeCall) -> Update:
    """Ask the verifier, and put its verdict under the ceiling."""
    request = VerifierInput(
        question=view["diagnosis_context"].question,
        verified_output=view.get("verified_executor_output") or VerifiedDocument(),
        audit=view.get("gatekeeper_result") or GatekeeperAudit(status="fail"),
        evidence=view.get("verified_evidence", ()),
        format_reminder=format_reminder(call),
    )
    answer = ask_agent(
        Node.VERIFIER,
        call,
        lambda: call.deps.agents.verifier.verify(request),
        lambda text: (parse_model(text, VerifierResult), None),
    )
    said = answer.value.verdict if answer.value else None
    highest = view.get("verifier_verdict_ceiling") or Verdict.LOW_CONFID
    return {
        "verifier_output": answer.value,
        "verifier_status": agent_status(answer),
        "verifier_model_verdict": said,
        "effective_verdict": effective(said, highest) if said else None,
    }
