"""From the events of a run to its orchestration trace (contract section 8)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from diag_graph.contracts import JsonObject
from diag_graph.state import Event
from diag_graph.topology import TRACE_VERSION, Node


def orchestration_trace(events: Sequence[Event], evidence_retry_count: int) -> JsonObject:
    """Build the trace of a run, finished or not.

    Args:
        events: One event a node attempt, in order.
        evidence_retry_count: Evidence rounds taken.

    Returns:
        The trace document; `final_node` and `termination_reason` are null when no node has run.
    """
    last = events[-1] if events else None
    return {
        "version": TRACE_VERSION,
        "transitions": [
            {
                "from": earlier["node"],
                "to": later["node"],
                "reason_code": earlier["reason_code"],
                "attempt": earlier["attempt"],
            }
            for earlier, later in pairwise(events)
        ],
        "final_node": last["node"] if last else None,
        "termination_reason": last["reason_code"] if last else None,
        "degraded": last is not None and last["node"] == Node.FALLBACK,
        "evidence_retry_count": evidence_retry_count,
    }
