"""Run files to replay, and the program as users start it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

PROGRAM = (sys.executable, "-c", "from diag_cli.app import main; main()")

POOL = "payment-db active connections rose from 12 to 50 (limit 50) at 06:01:50 UTC"
LINE = "06:02:11 ERROR orders \x1b[31mpool exhausted\x1b[0m, [bold]50 of 50 in use[/bold] \u202e"


class Outcome(NamedTuple):
    """What a command line came to."""

    status: int
    out: str
    err: str


Command = Callable[..., Outcome]


PLAN = {"agent": "planner", "output": {"intent": "find why", "steps": [{"step_id": "s1", "goal": "find what changed"}]}}
INVOCATIONS = [
    {
        "id": "inv-1",
        "tool": "find_metric_anomalies",
        "arguments": {"since": "2026-07-16T05:50:00Z"},
        "status": "ok",
        "result": {"items": [{"text": POOL}], "summary": "1 of 16 series changed"},
        "error": None,
    },
    {
        "id": "inv-2",
        "tool": "search_logs",
        "arguments": {"text": "pool"},
        "status": "ok",
        "result": {"items": [{"text": LINE}], "summary": "41 of 12,340 lines match"},
        "error": None,
    },
    {
        "id": "inv-3",
        "tool": "find_span_anomalies",
        "arguments": {},
        "status": "error",
        "result": None,
        "error": "the trace file is cut off",
    },
]
CLAIM = {
    "claim_id": "claim-1",
    "claim": "The pool of payment-db ran out: connections rose from 12 to 50",
    "kind": "root_cause",
    "entity": "payment-db",
    "evidence_bindings": [
        {"source_invocation_id": "inv-1", "raw_path": "/items/0/text", "evidence_excerpt": "rose from 12 to 50"},
        {"source_invocation_id": "inv-2", "raw_path": "/items/0/text", "evidence_excerpt": "50 of 50 in use"},
    ],
}
VERIFIER = {
    "agent": "verifier",
    "output": {
        "verdict": "PASS",
        "facts_checked": [{"claim_id": "claim-1", "fact": CLAIM["claim"], "verification": "direct_support"}],
        "missing_info": [],
        "recommended_actions": [],
    },
}
COMPOSER = {
    "agent": "composer",
    "output": {
        "summary": "Checkout waited for connections of payment-db.",
        "findings": [{"claim_ids": ["claim-1"], "text": "The pool of payment-db ran out"}],
        "limitations": [],
        "next_steps": ["Raise the pool's size"],
    },
}


def executor(*claims: dict[str, Any], invocations: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The executor's step, with these claims."""
    document = {"schema": "executor_evidence_v2", "claims": list(claims), "missing_info": []}
    return {"agent": "executor", "invocations": INVOCATIONS if invocations is None else invocations, "output": document}


def forged() -> dict[str, Any]:
    """A claim whose second citation stands in no tool result."""
    binding = {"source_invocation_id": "inv-2", "raw_path": "/items/0/text", "evidence_excerpt": "FORGED-EXCERPT"}
    return {**CLAIM, "evidence_bindings": [CLAIM["evidence_bindings"][0], binding]}


PASSING = [PLAN, executor(CLAIM), VERIFIER, COMPOSER]
REJECTED = [PLAN, executor(forged())]


def write_run(path: Path, steps: list[dict[str, Any]], **more: object) -> Path:
    """Write a run file of these steps."""
    document = {"format": "diag-run/1", "runId": "feedc0de", "question": "why is checkout slow?", "steps": steps}
    path.write_text(json.dumps({**document, "now": "2026-07-16T06:05:00Z", **more}), encoding="utf-8")
    return path


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment in which diag keeps everything under `home`, and finds no settings of the person who tests."""
    own = {"DIAG_HOME": str(home), "COLUMNS": "100"}
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("DIAG_", "NO_COLOR", "FORCE_"))}
    return {**ours, **own, **more}


def diag(home: Path, *arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Start the program as a shell would, its output in pipes."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        env=environment(home, **more),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
