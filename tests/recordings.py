"""Builders of recorded runs, and `play`, which puts them through the same graph, agents and replay that ship.

A recorded run is a list of steps. The builders' defaults make a legal step each, so that a test says only what is
special about its own; a small shop's broken payment service is what they all speak of.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from diag_graph.events import Listener
from diag_graph.playback import ReplayResult, replay
from diag_graph.runfile import FORMAT, FileStep, RunFile

QUESTION = "why did checkout get slow at 14:05?"
NOW = "2026-07-16T14:20:00Z"

POOL = "2026-07-16T14:05:12Z payment ERROR connection pool exhausted: 20 of 20 in use"
SLOW = "checkout p95 latency rose from 210 ms to 1,840 ms at 2026-07-16T14:05:00Z"
NOTHING = "no deploy of payment between 2026-07-16T13:30:00Z and 2026-07-16T14:20:00Z"


def plan(**fields: object) -> FileStep:
    """A planner's step that gives a plan of one log search."""
    step = {"step_id": "s-1", "goal": "find errors of payment", "tool": "search_logs", "arguments": {"text": "ERROR"}}
    return says(
        "planner", {"intent": "find the cause of slow checkouts", "selected_skill": None, "steps": [step]} | fields
    )


def call(
    invocation_id: str = "inv-1",
    *texts: str,
    tool: str = "search_logs",
    status: str = "ok",
    error: str | None = None,
    arguments: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A tool call whose result has an item for each text; one that failed has no result."""
    items = [{"text": text} for text in texts or (POOL,)]
    result = {"items": items, "summary": f"{len(items)} found", "truncated": None}
    return {
        "id": invocation_id,
        "tool": tool,
        "arguments": {"text": "ERROR"} if arguments is None else arguments,
        "status": status,
        "result": result if status in ("ok", "empty") else None,
        "error": error,
    }


def bind(
    excerpt: str = "connection pool exhausted: 20 of 20 in use",
    invocation_id: str = "inv-1",
    path: str = "/items/0/text",
) -> dict[str, Any]:
    """A binding; the default is a true one of the default call."""
    return {"source_invocation_id": invocation_id, "raw_path": path, "evidence_excerpt": excerpt}


def claim(
    claim_id: str = "claim-1",
    text: str = "The connection pool of payment was exhausted",
    *bindings: dict[str, Any],
    kind: str = "root_cause",
    entity: str | None = "payment",
) -> dict[str, Any]:
    """A claim; without bindings of its own it has the default, true one."""
    return {
        "claim_id": claim_id,
        "claim": text,
        "kind": kind,
        "entity": entity,
        "evidence_bindings": list(bindings or (bind(),)),
    }


FORGED = bind("payment ran out of memory")
"""A binding whose excerpt stands nowhere in the result."""
UNBOUND = {"claim_id": "claim-9", "claim": "Something else is odd too", "kind": "observation", "evidence_bindings": []}
"""A claim without a binding: low_confid, and no more."""


def executor(
    *claims: dict[str, Any],
    calls: Sequence[dict[str, Any]] | None = None,
    missing_info: Sequence[str] = (),
    **fields: object,
) -> FileStep:
    """An executor's step; the default is one call and one true claim."""
    document = {
        "schema": "executor_evidence_v2",
        "claims": list(claims) if claims else [claim()],
        "missing_info": list(missing_info),
        **fields,
    }
    return says("executor", document, calls=[call()] if calls is None else calls)


def fact(
    verification: str = "direct_support",
    claim_id: str | None = "claim-1",
    text: str = "The pool was exhausted",
    reason: str = "the line says so",
) -> dict[str, Any]:
    """One fact checked."""
    return {"claim_id": claim_id, "fact": text, "verification": verification, "reason": reason}


def verifier(
    verdict: str = "PASS",
    *facts: dict[str, Any],
    missing_info: Sequence[str] = (),
    recommended_actions: Sequence[str] = (),
    **fields: object,
) -> FileStep:
    """A verifier's step; the default supports the default claim directly."""
    result = {
        "verdict": verdict,
        "facts_checked": list(facts) if facts else [fact()],
        "missing_info": list(missing_info),
        "recommended_actions": list(recommended_actions),
    }
    return says("verifier", result | fields)


def no_facts(verdict: str) -> FileStep:
    """A verifier's step that checked no fact at all."""
    return verifier(verdict, facts_checked=[])


def composer(
    summary: str = "The payment service ran out of database connections.",
    *findings: tuple[str, Sequence[str]],
    limitations: Sequence[str] = (),
    next_steps: Sequence[str] = (),
) -> FileStep:
    """A composer's step. A finding is a text and the claim ids that it cites; the default is one on claim-1."""
    given = findings or (("The connection pool of payment was exhausted.", ("claim-1",)),)
    return says(
        "composer",
        {
            "summary": summary,
            "findings": [{"text": text, "claim_ids": list(claim_ids)} for text, claim_ids in given],
            "limitations": list(limitations),
            "next_steps": list(next_steps),
        },
    )


def speechless(summary: str = "Nothing could be shown.") -> FileStep:
    """A composer's step without a finding."""
    return says("composer", {"summary": summary, "findings": [], "limitations": [], "next_steps": []})


def says(agent: str, output: object, calls: Sequence[dict[str, Any]] = ()) -> FileStep:
    """A step with just this output: an object, a text as it is, or None for no answer at all."""
    text = json.dumps(output, ensure_ascii=False) if isinstance(output, dict | list) else output
    return FileStep.model_validate({"agent": agent, "output": text, "invocations": list(calls)})


def fails(agent: str, kind: str = "timeout", message: str = "", calls: Sequence[dict[str, Any]] = ()) -> FileStep:
    """A step in which the agent gave no text."""
    error = {"kind": kind, "message": message}
    return FileStep.model_validate({"agent": agent, "error": error, "invocations": list(calls)})


def run_file(*steps: FileStep, **fields: object) -> RunFile:
    """A run file of these steps."""
    return RunFile.model_validate({"format": FORMAT, "question": QUESTION, "now": NOW, **fields, "steps": list(steps)})


def play(*steps: FileStep, listeners: Sequence[Listener] = (), **fields: object) -> ReplayResult:
    """Replay these steps; `fields` are the run file's (`question`, `history`, `orchestrationTrace`, ...)."""
    return replay(run_file(*steps, **fields), listeners=listeners)


def path_of(result: ReplayResult) -> list[str]:
    """The nodes that the run went through, in order."""
    trace = result.document.run.orchestration_trace or {}
    passed = [row["from"] for row in trace["transitions"]]
    return [*passed, trace["final_node"]] if trace["final_node"] else passed


def reasons_of(result: ReplayResult) -> list[str]:
    """The reason code of each node attempt, in order."""
    trace = result.document.run.orchestration_trace or {}
    passed = [row["reason_code"] for row in trace["transitions"]]
    return [*passed, trace["termination_reason"]] if trace["termination_reason"] else passed


def answer_of(result: ReplayResult) -> str:
    """The run's answer; there must be one."""
    answer = result.document.run.answer
    assert answer
    return answer
