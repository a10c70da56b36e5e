"""Runs to put into a store."""

from __future__ import annotations

from diag_graph.contracts import (
    AllowedClaim,
    CheckedBinding,
    Citation,
    ClaimKind,
    GatekeeperAudit,
    Invocation,
    InvocationStatus,
    Standing,
    Turn,
)
from diag_graph.outcome import AgentStep, RunDocument, RunRow, RunStatus

TRACE = {
    "version": "stategraph-v1",
    "transitions": [{"from": "planner", "to": "executor", "reason_code": "planner_completed", "attempt": 1}],
    "final_node": "composer",
    "termination_reason": "composer_completed",
    "degraded": False,
    "evidence_retry_count": 0,
}


def started(run_id: str = "run-1", session_id: str = "s-1", question: str = "why is checkout slow?") -> RunRow:
    """The row of a run that begins."""
    return RunRow(
        run_id=run_id,
        session_id=session_id,
        status=RunStatus.RUNNING,
        question=question,
        model="built-in analyst",
        started_at="2026-07-16T06:05:00Z",
    )


def step(agent: str = "planner", output: str | None = "{}") -> AgentStep:
    """An agent call that went well."""
    return AgentStep(agent=agent, attempt=1, round=1, status="COMPLETED", output=output, duration_ms=12)


def invocation(invocation_id: str = "inv-1", result: object = None) -> Invocation:
    """A tool call that found something."""
    return Invocation(
        id=invocation_id,
        tool="search_logs",
        arguments={"text": "timeout"},
        status=InvocationStatus.OK,
        result={"items": [{"text": "pool exhausted"}]} if result is None else result,
        duration_ms=3,
    )


def finished(row: RunRow, answer: str = "The pool ran dry. [1]") -> RunDocument:
    """The document of a run that gave an answer."""
    citation = Citation(invocation_id="inv-1", tool="search_logs", path="/items/0/text", matched_text="pool exhausted")
    return RunDocument(
        run=row.model_copy(
            update={
                "status": RunStatus.SUCCESS,
                "answer": answer,
                "verdict": "PASS",
                "model_verdict": "PASS",
                "tool_calls": 1,
                "duration_ms": 1234,
                "finished_at": "2026-07-16T06:05:01Z",
                "orchestration_trace": TRACE,
            }
        ),
        findings=(
            AllowedClaim(
                claim_id="claim-1",
                kind=ClaimKind.ROOT_CAUSE,
                standing=Standing.CONFIRMED,
                entity="payment-db",
                text="The pool ran dry",
                citations=(citation,),
            ),
        ),
        gatekeeper=GatekeeperAudit(
            status="pass",
            checked_bindings=(
                CheckedBinding(
                    claim_id="claim-1",
                    source_invocation_id="inv-1",
                    tool_name="search_logs",
                    raw_path="/items/0/text",
                    status="pass",
                    matched_text="pool exhausted",
                ),
            ),
        ),
        history=(Turn(question="is it up?", answer="yes"),),
        now="2026-07-16T06:00:00Z",
        verifier={"verdict": "PASS", "model_verdict": "PASS", "ceiling": "PASS", "facts_checked": []},
    )
