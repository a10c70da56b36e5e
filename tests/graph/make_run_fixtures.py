"""Writes `fixtures/runs/graph/`: a replay for each row of the routing table, each failure, each check of the gate.

Run it again after a change that moves a trace:

    PYTHONPATH=graph:tests python tests/graph/make_run_fixtures.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gate_run_fixtures import cases
from round_run_fixtures import AGAIN, BOTH, CUT_OFF, LOW, failures, second_rounds

from diag_graph.runfile import FORMAT, FileStep
from recordings import (
    FORGED,
    NOW,
    QUESTION,
    UNBOUND,
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

ROWS: dict[str, list[FileStep]] = {
    "planner-completed": [plan(), executor(), verifier(), composer()],
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
}
"""At least one replay for each row of the table."""


def runs() -> dict[str, list[FileStep]]:
    """All of them, by the name of their file."""
    checked = {name: case.steps for name, case in cases().items()}
    return ROWS | failures() | second_rounds() | checked


def documents() -> dict[str, dict[str, Any]]:
    """The run files, by name, each with the trace that it comes to."""
    made = {}
    for name, steps in runs().items():
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
