"""Gatekeeper: code, no agent. Checks every binding of this round against this run's recorded invocations."""

from __future__ import annotations

from diag_graph.gate.check import check_document
from diag_graph.gate.verdicts import gate_status
from diag_graph.nodes.deps import NodeCall
from diag_graph.state import GatekeeperChannels, Update


def run(view: GatekeeperChannels, call: NodeCall) -> Update:
    """Audit the executor's document, the whole of it in each round (G4)."""
    audit = check_document(view.get("executor_output"), call.deps.ledger.invocations)
    return {"gatekeeper_result": audit, "gatekeeper_status": gate_status(audit)}
