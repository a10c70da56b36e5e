"""Builders of documents and invocations for the gate's tests."""

from __future__ import annotations

from diag_graph.contracts import Invocation, InvocationStatus, JsonObject

LINE = "p99 latency of payment-db rose from 210 ms to 2.31 s at 2026-07-16T06:05:00Z"
RESULT: JsonObject = {
    "items": [{"text": LINE, "value": 2.31}, {"text": "no restart of payment-db was seen", "count": 0}],
    "summary": "2 items",
    "truncated": None,
}
GUIDANCE = frozenset({"lookup_knowledge", "read_skill"})


def invocation(
    number: int = 1,
    result: object = RESULT,
    *,
    tool: str = "search_logs",
    status: InvocationStatus = InvocationStatus.OK,
) -> Invocation:
    """A recorded tool call, `inv-<number>`."""
    return Invocation(id=f"inv-{number}", tool=tool, status=status, result=result)


def binding(excerpt: object = LINE, path: object = "/items/0/text", source: object = "inv-1") -> JsonObject:
    """A binding as an agent writes it."""
    return {"source_invocation_id": source, "raw_path": path, "evidence_excerpt": excerpt}


def claim(
    claim_id: object = "claim-1", *bindings: object, text: object = "payment-db got slow", **fields: object
) -> JsonObject:
    """A claim as an agent writes it."""
    return {"claim_id": claim_id, "claim": text, "evidence_bindings": list(bindings), **fields}


def document(*claims: object) -> JsonObject:
    """An executor's document."""
    return {"schema": "executor_evidence_v2", "claims": list(claims), "missing_info": ["free text of the executor"]}


def citing(excerpt: object, value: object) -> tuple[JsonObject, list[Invocation]]:
    """A document whose one binding cites a value, and the run that recorded it."""
    return document(claim("claim-1", binding(excerpt, "/here"))), [invocation(result={"here": value})]
