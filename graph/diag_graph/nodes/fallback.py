"""Fallback: the fixed text, in code, by cause. It needs no agent and cannot fail for want of one (section 7)."""

from __future__ import annotations

from diag_graph.answer import render_failed_check, render_uncomposed
from diag_graph.gate.numbers import ungrounded_numbers
from diag_graph.nodes.composer import answer_sources, view_advice, view_claims
from diag_graph.nodes.deps import NodeCall
from diag_graph.state import FallbackChannels, Update
from diag_graph.topology import Node


def run(view: FallbackChannels, call: NodeCall) -> Update:
    """Write the fallback text for whatever led here."""
    events = view.get("orchestration_events") or []
    cause = events[-1]["node"] if events else Node.PLANNER
    reason = events[-1]["reason_code"] if events else ""
    verdict = view.get("effective_verdict")
    if cause == Node.COMPOSER and verdict is not None:
        result, claims = view.get("verifier_output"), view_claims(view)
        sources = answer_sources(view["diagnosis_context"].question, claims)
        missing = result.missing_info if result else ()
        return {
            "final_answer": render_uncomposed(
                claims,
                verdict,
                missing_info=[said for said in missing if not ungrounded_numbers(said, sources)],
                recommended_actions=result.recommended_actions if result else (),
                advised=view_advice(view),
            )
        }
    return {"final_answer": render_failed_check(Node(cause), reason, call.deps.ledger.counts())}
