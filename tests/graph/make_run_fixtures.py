"""Writes `fixtures/runs/graph/`: a replay for each row of the routing table, and for each kind of failure.

Run it again after a change that moves a trace:

    PYTHONPATH=graph:tests python tests/graph/make_run_fixtures.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from diag_graph.runfile import FORMAT, FileStep
from diag_graph.topology import RETRYABLE_KINDS, FailureKind
from recordings import (
    FORGED,
    NOW,
    QUESTION,
    SLOW,
    UNBOUND,
    bind,
    call,
    claim,
    composer,
    executor,
    fact,
    fails,
    no_facts,
    plan,
    play,
    says,
    speechless,
    verifier,
)

FOLDER = Path(__file__).parents[2] / "fixtures" / "runs" / "graph"

GAP = fact("no_evidence", None, "why the pool filled up", "no line speaks of it")
LOW = verifier("LOW_CONFID", fact(), GAP)
AGAIN = executor(
    claim(),
    claim("claim-2", "checkout p95 latency rose from 210 ms to 1,840 ms", bind(SLOW, "inv-2"), kind="observation"),
    calls=[call("inv-2", SLOW, tool="query_metrics", arguments={"metric": "latency"})],
)
BOTH = verifier("PASS", fact(), fact(claim_id="claim-2"))
CUT_OFF = '{"claims": [{"claim_id": "claim-1", "cla'

ROWS: dict[str, list[FileStep]] = {
    "planner-completed": [plan(), executor(), verifier(), composer()],
    "planner-invalid-once": [says("planner", "I would look at the logs."), plan(), executor(), verifier(), composer()],
    "planner-invalid-twice": [says("planner", "I would look at the logs."), says("planner", {"steps": []})],
    "planner-retryable-then-invalid": [fails("planner", "timeout"), says("planner", None)],
    "executor-invalid-missing": [plan(), says("executor", None, [call()])],
    "executor-invalid-broken": [plan(), says("executor", CUT_OFF, [call()])],
    "executor-invalid-no-object": [plan(), says("executor", "[]", [call()])],
    "executor-invalid-no-claims": [plan(), says("executor", {"claims": {}}, [call()])],
    "executor-legal-though-tools-failed": [
        plan(),
        executor(claims=[], calls=[call(status="error", error="timed out"), call("inv-2", status="blocked")]),
        no_facts("REJECT"),
        speechless(),
    ],
    "gatekeeper-pass-with-no-claims": [plan(), executor(claims=[]), no_facts("PASS"), speechless()],
    "gatekeeper-low-confid-with-verified": [plan(), executor(claim(), UNBOUND), verifier(), composer()],
    "gatekeeper-low-confid-none-verified": [plan(), executor(UNBOUND)],
    "gatekeeper-reject": [plan(), executor(claim(), claim("claim-2", "Payment ran out of memory", FORGED))],
    "verifier-pass": [plan(), executor(), verifier("PASS"), composer()],
    "verifier-reject": [plan(), executor(), verifier("REJECT", fact("contradicted")), speechless()],
    "verifier-evidence-gap": [plan(), executor(), LOW, plan(), AGAIN, BOTH, composer()],
    "verifier-low-confid-ceiling": [plan(), executor(claim(), UNBOUND), LOW, composer()],
    "verifier-low-confid-no-gap": [plan(), executor(), verifier("LOW_CONFID", fact()), composer()],
    "verifier-low-confid-retry-spent": [plan(), executor(), LOW, plan(), AGAIN, LOW, composer()],
    "verifier-invalid-once": [plan(), executor(), says("verifier", {"verdict": "pass"}), verifier(), composer()],
    "verifier-invalid-twice": [plan(), executor(), says("verifier", ""), says("verifier", {"verdict": "FINE"})],
    "composer-invalid-once": [plan(), executor(), verifier(), composer("It took 99 seconds."), composer()],
    "composer-invalid-twice": [
        plan(),
        executor(),
        verifier(),
        composer("It took 99 seconds."),
        composer("x", ("Something else.", ["claim-9"])),
    ],
    "every-agent-fails-once-in-both-rounds": [
        fails("planner", "timeout"),
        plan(),
        executor(),
        fails("verifier", "rate_limit"),
        LOW,
        fails("planner", "unavailable"),
        plan(),
        AGAIN,
        fails("verifier", "timeout"),
        LOW,
        fails("composer", "timeout"),
        fails("composer", "unavailable"),
    ],
    "second-round-planner-fails": [plan(), executor(), LOW, fails("planner", "auth")],
    "second-round-gatekeeper-reject": [
        plan(),
        executor(),
        LOW,
        plan(),
        executor(claim("claim-1", "Payment ran out of memory", FORGED), calls=[]),
    ],
}
"""At least one replay for each row of the table."""

BEFORE: dict[str, list[FileStep]] = {
    "planner": [],
    "executor": [plan()],
    "verifier": [plan(), executor()],
    "composer": [plan(), executor(), verifier()],
}
AFTER: dict[str, list[FileStep]] = {
    "planner": [plan(), executor(), verifier(), composer()],
    "verifier": [verifier(), composer()],
    "composer": [composer()],
}


def failures() -> dict[str, list[FileStep]]:
    """A replay for each agent and each kind of failure: overcome where it may be retried, and twice; else once."""
    runs: dict[str, list[FileStep]] = {}
    for agent, before in BEFORE.items():
        for kind in FailureKind:
            if kind is FailureKind.TOOL_BLOCKED and agent != "executor":
                continue
            failed = fails(agent, kind, f"{kind} in {agent}")
            name = f"{agent}-fails-{kind.replace('_', '-')}"
            if agent != "executor" and kind in RETRYABLE_KINDS:
                runs[f"{name}-once"] = [*before, failed, *AFTER[agent]]
                runs[f"{name}-twice"] = [*before, failed, failed]
            else:
                runs[name] = [*before, failed]
    return runs


def documents() -> dict[str, dict[str, Any]]:
    """The run files, by name, each with the trace that it comes to."""
    made = {}
    for name, steps in (ROWS | failures()).items():
        result = play(*steps)
        if result.divergence is not None:
            raise ValueError(f"{name}: {result.divergence}")
        made[name] = {
            "format": FORMAT,
            "runId": name,
            "question": QUESTION,
            "now": NOW,
            "steps": [_written(step) for step in steps],
            "orchestrationTrace": result.document.run.orchestration_trace,
        }
    return made


def _written(step: FileStep) -> dict[str, Any]:
    """A step as a person would write it: the output as an object where it is one."""
    out: dict[str, Any] = {"agent": step.agent}
    if step.invocations:
        fields = {"id", "tool", "arguments", "status", "result", "error"}
        out["invocations"] = [made.model_dump(mode="json", include=fields) for made in step.invocations]
    if step.error is not None:
        out["error"] = step.error.model_dump(mode="json")
    else:
        out["output"] = _object_or_text(step.output)
    return out


def _object_or_text(output: str | None) -> object:
    try:
        document = json.loads(output or "")
    except ValueError:
        return output
    return document if isinstance(document, dict) else output


def text_of(document: dict[str, Any]) -> str:
    """A run file as it is written."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def main() -> None:
    """Write all files, and take away those that are none of them any more."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = documents()
    for path in FOLDER.glob("*.json"):
        if path.stem not in made:
            path.unlink()
    for name, document in made.items():
        (FOLDER / f"{name}.json").write_text(text_of(document), encoding="utf-8")


if __name__ == "__main__":
    main()
