"""A small incident, replies that make a legal run of it, and `ask`, which runs the whole graph against a script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from diag_graph import diagnose, open_folder
from diag_graph.agents.models import ModelSettings
from diag_graph.events import Listener
from diag_graph.outcome import RunDocument
from fake_model_server import FakeModelServer, Script, says, serving

QUESTION = "why does checkout fail since 14:05?"
NOW = datetime(2026, 7, 16, 14, 20, tzinfo=UTC)
POOL = "connection pool exhausted: 20 of 20 in use"
KEY = "key-of-the-test-0123456789"

LINES = (
    ("2026-07-16T14:00:01Z", "orders", "INFO", "order placed"),
    ("2026-07-16T14:02:01Z", "orders", "INFO", "order placed"),
    ("2026-07-16T14:05:12Z", "payment", "ERROR", POOL),
    ("2026-07-16T14:05:13Z", "orders", "ERROR", "payment answered 503"),
)

PLAN = {
    "intent": "find why",
    "selected_skill": None,
    "steps": [{"step_id": "s-1", "goal": "find errors", "tool": "search_logs", "arguments": {"level": "ERROR"}}],
}
VERIFIED = {
    "verdict": "PASS",
    "facts_checked": [
        {"claim_id": "claim-1", "fact": "the pool ran out", "verification": "direct_support", "reason": "it says so"}
    ],
    "missing_info": [],
    "recommended_actions": ["Raise the pool's limit."],
}
COMPOSED = {
    "summary": "The connection pool of payment ran out.",
    "findings": [{"claim_ids": ["claim-1"], "text": "payment's connection pool was exhausted: 20 of 20 in use"}],
    "limitations": [],
    "next_steps": ["Raise the pool's limit."],
}


def document(excerpt: str = POOL, invocation: str = "inv-1", path: str = "/items/1/text") -> dict[str, Any]:
    """An evidence document of one claim; the default cites what the plan's call finds."""
    binding = {"source_invocation_id": invocation, "raw_path": path, "evidence_excerpt": excerpt}
    claim = {
        "claim_id": "claim-1",
        "claim": "payment's connection pool was exhausted: 20 of 20 in use",
        "kind": "root_cause",
        "entity": "payment",
        "evidence_bindings": [binding],
    }
    return {"schema": "executor_evidence_v2", "claims": [claim], "missing_info": []}


def script(**roles: Sequence[Any]) -> Script:
    """A script of legal replies, with other answers for some roles."""
    legal: dict[str, Sequence[Any]] = {
        "planner": [says(PLAN)],
        "executor": [says(document())],
        "verifier": [says(VERIFIED)],
        "composer": [says(COMPOSED)],
    }
    return {**legal, **roles}


def incident(folder: Path) -> Path:
    """Write the incident's folder."""
    folder.mkdir(exist_ok=True)
    names = ("timestamp", "service", "level", "message")
    lines = [json.dumps(dict(zip(names, line, strict=True))) for line in LINES]
    (folder / "logs.ndjson").write_text("\n".join(lines) + "\n")
    return folder


def ask(
    server: FakeModelServer,
    folder: Path,
    listeners: Sequence[Listener] = (),
    model: str = "openai/fake",
    **settings: Any,  # noqa: ANN401 - of ModelSettings
) -> RunDocument:
    """Run the whole graph, with all four agents at the server."""
    wanted = ModelSettings(model, **{"api_base": server.base, "pause_seconds": 0.0, **settings})
    return diagnose(QUESTION, evidence=open_folder(folder), now=NOW, model=wanted, listeners=listeners)


def run_script(
    folder: Path,
    answers: Script,
    **settings: Any,  # noqa: ANN401 - of ModelSettings
) -> tuple[RunDocument, FakeModelServer]:
    """Run the whole graph against a script; gives the run, and the server with what arrived."""
    with serving(answers) as server:
        return ask(server, folder, **settings), server


def path_of(document: RunDocument) -> list[str]:
    """The nodes of a run, in order."""
    trace = document.run.orchestration_trace or {}
    return [step["from"] for step in trace["transitions"]] + [trace["final_node"]]


def end_of(document: RunDocument) -> str:
    """Why a run ended where it did."""
    return str((document.run.orchestration_trace or {})["termination_reason"])


def errors_of(document: RunDocument, role: str) -> list[str]:
    """What the steps of a role say, apart from what they answered."""
    return [step.error or "" for step in document.steps if step.agent == role]


def said(request: Mapping[str, Any]) -> str:
    """All that a request tells its model."""
    return "\n".join(str(message.get("content") or "") for message in request["messages"])
