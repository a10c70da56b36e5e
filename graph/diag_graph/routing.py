"""Which way a run goes: pure guards over the state, reading the table in `topology`.

Guards change nothing and never raise. What is absent, null, of the wrong type or unknown goes to fallback (R1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from diag_graph.contracts import FactCheck, GatekeeperAudit, Verification, VerifierResult
from diag_graph.topology import (
    END,
    RETRY_KEY,
    ROUTES,
    STATUS_KEY,
    STATUS_REASON,
    AgentStatus,
    Condition,
    Node,
    Reason,
    Verdict,
)

View = Mapping[str, Any]
"""Any mapping with the state's keys; nothing is assumed of its values."""

_WITHOUT_STATUS = {
    Node.VERIFIED_INPUT: Reason.VERIFIED_INPUT_BUILT,
    Node.EVIDENCE_RETRY: Reason.EVIDENCE_RETRY_PREPARED,
}
_GAPS = (Verification.NO_EVIDENCE, Verification.INDIRECT_SUPPORT)


def evidence_gaps(result: object) -> tuple[FactCheck, ...]:
    """The facts that lack support (contract section 6): named, with no evidence found or indirect evidence only."""
    if not isinstance(result, VerifierResult):
        return ()
    return tuple(fact for fact in result.facts_checked if fact.fact.strip() and fact.verification in _GAPS)


def next_node(source: Node, state: View) -> str:
    """Where the run goes after `source`.

    Args:
        source: The node that has just run.
        state: The state with that node's update in it.

    Returns:
        A node's name, or `END`.
    """
    if _ended_in_error(source, state):
        return END if source is Node.FALLBACK else Node.FALLBACK
    status = _text(state, STATUS_KEY[source]) if source in STATUS_KEY else None
    for route in ROUTES:
        fits = not route.statuses or status in route.statuses
        if route.source is source and fits and CONDITIONS[route.condition](source, state):
            return route.target
    return Node.FALLBACK


def reason_code(source: Node, state: View) -> str:
    """Why the node's attempt ended as it did (contract section 8), from the state with its update in it."""
    if source is Node.FALLBACK:
        return _last_reason(state) or Reason.FALLBACK_ERROR
    if source in _WITHOUT_STATUS:
        return _WITHOUT_STATUS[source]
    status = _text(state, STATUS_KEY[source])
    if status is None:
        return unknown_status(source)
    if source is Node.GATEKEEPER and status == Verdict.LOW_CONFID:
        passed = has_verified_binding(source, state)
        return Reason.GATEKEEPER_LOW_CONFID if passed else Reason.GATEKEEPER_NO_VERIFIED_BINDING
    if source is Node.VERIFIER and status == AgentStatus.COMPLETED:
        return _verdict_reason(state)
    return STATUS_REASON.get((source, status), unknown_status(source))


def unknown_status(source: Node) -> Reason:
    """The reason code of a status that nobody knows."""
    return Reason(f"{source}_unknown_status")


def node_error(source: Node) -> Reason:
    """The reason code of an exception that a node let through."""
    return Reason(f"{source}_error")


def _verdict_reason(state: View) -> Reason:
    verdict = _text(state, "effective_verdict")
    if verdict != Verdict.LOW_CONFID:
        settled = {str(Verdict.PASS): Reason.VERIFIER_PASS, str(Verdict.REJECT): Reason.VERIFIER_REJECT}
        return settled.get(verdict or "", unknown_status(Node.VERIFIER))
    if _text(state, "verifier_verdict_ceiling") != Verdict.PASS:
        return Reason.VERIFIER_LOW_CONFID_CEILING
    if not evidence_gaps(state.get("verifier_output")):
        return Reason.VERIFIER_LOW_CONFID_NO_GAP
    if not _is_zero(state.get("evidence_retry_count")):
        return Reason.VERIFIER_LOW_CONFID_RETRY_SPENT
    return Reason.VERIFIER_EVIDENCE_GAP


# --- guards ----------------------------------------------------------------------------------------------------


def always(source: Node, state: View) -> bool:  # noqa: ARG001 - a guard's signature
    """Holds of every state."""
    return True


def first_technical_failure(source: Node, state: View) -> bool:
    """The node has not been repeated yet in this phase."""
    key = RETRY_KEY.get(source)
    return key is not None and _is_zero(state.get(key))


def has_verified_binding(source: Node, state: View) -> bool:  # noqa: ARG001 - a guard's signature
    """At least one binding of this round's audit passed."""
    audit = state.get("gatekeeper_result")
    return isinstance(audit, GatekeeperAudit) and any(row.status == "pass" for row in audit.checked_bindings)


def evidence_gap_open(source: Node, state: View) -> bool:
    """LOW_CONFID for want of evidence that a second round may still bring."""
    return verdict_low_confid(source, state) and _verdict_reason(state) is Reason.VERIFIER_EVIDENCE_GAP


def verdict_pass_or_reject(source: Node, state: View) -> bool:  # noqa: ARG001 - a guard's signature
    """The effective verdict needs no more evidence."""
    return _text(state, "effective_verdict") in (Verdict.PASS, Verdict.REJECT)


def verdict_low_confid(source: Node, state: View) -> bool:  # noqa: ARG001 - a guard's signature
    """The effective verdict is LOW_CONFID."""
    return _text(state, "effective_verdict") == Verdict.LOW_CONFID


CONDITIONS: dict[Condition, Callable[[Node, View], bool]] = {
    Condition.ALWAYS: always,
    Condition.FIRST_TECHNICAL_FAILURE: first_technical_failure,
    Condition.HAS_VERIFIED_BINDING: has_verified_binding,
    Condition.EVIDENCE_GAP_OPEN: evidence_gap_open,
    Condition.VERDICT_PASS_OR_REJECT: verdict_pass_or_reject,
    Condition.VERDICT_LOW_CONFID: verdict_low_confid,
}


def _ended_in_error(source: Node, state: View) -> bool:
    return _last_reason(state) == node_error(source)


def _last_reason(state: View) -> str | None:
    events = state.get("orchestration_events")
    last = events[-1] if isinstance(events, list) and events else None
    reason = last.get("reason_code") if isinstance(last, dict) else None
    return reason if isinstance(reason, str) else None


def _text(state: View, key: str) -> str | None:
    """A text of the state; a value of another type is not even compared: it might say that it equals anything."""
    value = state.get(key)
    return value if isinstance(value, str) else None


def _is_zero(count: object) -> bool:
    """A counter that stands at zero; a counter that is missing or broken is spent, so that no loop can open."""
    return type(count) is int and count == 0
