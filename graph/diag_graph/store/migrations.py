"""The schema, as steps that were taken one after another. Append; never change or remove a step that was released.

Tables and columns are named for people who open the file with `sqlite3`; JSON stands in text columns and can be read
with SQLite's own `json_extract`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diag_graph.database.migrations import Migrations

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x64696167
"""`diag` in ASCII, in SQLite's header: tells a store from any other program's database."""


def m001_runs(db: Database) -> None:
    """Conversations, runs, and what the agents, tools and checks of a run left behind."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.table("chat_session").create({"session_id": str, "title": str, "created_at": str}, pk="session_id")
    db.table("diagnosis_run").create(
        {
            "run_id": str,
            "session_id": str,
            "agent_flow": str,
            "status": str,
            "question": str,
            "answer": str,
            "verdict": str,
            "model_verdict": str,
            "model": str,
            "prompt_tokens": int,
            "completion_tokens": int,
            "cost_usd": float,
            "tool_calls": int,
            "duration_ms": int,
            "failure_reason": str,
            "started_at": str,
            "finished_at": str,
            "replay_of": str,
            "orchestration_trace": str,
            "findings": str,
            "history": str,
            # Who is running it: set while the run is RUNNING and its process cares for it, else null.
            "owner_pid": int,
            "owner_started": str,
        },
        pk="run_id",
        not_null={"session_id", "agent_flow", "status", "question", "started_at"},
        foreign_keys=[("session_id", "chat_session", "session_id")],
    )
    db.table("diagnosis_run").create_index(["session_id"])
    db.table("agent_step").create(
        {
            "run_id": str,
            "step_number": int,
            "agent": str,
            "attempt": int,
            "round": int,
            "status": str,
            "output": str,
            "error": str,
            "error_kind": str,
            "truncated": int,
            "model": str,
            "prompt_tokens": int,
            "completion_tokens": int,
            "cost_usd": float,
            "duration_ms": int,
            "created_at": str,
        },
        pk=("run_id", "step_number"),
        foreign_keys=[("run_id", "diagnosis_run", "run_id")],
    )
    db.table("tool_invocation").create(
        {
            "run_id": str,
            "invocation_id": str,
            "position": int,
            "round": int,
            "tool": str,
            "arguments": str,
            "status": str,
            "result": str,
            "error": str,
            "duration_ms": int,
            "retrieval_details": str,
            "created_at": str,
        },
        pk=("run_id", "invocation_id"),
        foreign_keys=[("run_id", "diagnosis_run", "run_id")],
    )
    db.table("self_evaluation").create(
        {"run_id": str, "gatekeeper_audit": str, "verifier_evaluation": str, "created_at": str},
        pk="run_id",
        foreign_keys=[("run_id", "diagnosis_run", "run_id")],
    )


def m002_cached_tokens(db: Database) -> None:
    """Tokens of a prompt that the provider had cached."""
    db.table("agent_step").add_column("cached_tokens", int)


def m003_replays(db: Database) -> None:
    """The clock that a run was given, and whether live agents answered over recorded results."""
    db.table("diagnosis_run").add_column("now", str)
    db.table("diagnosis_run").add_column("what_if", int, not_null_default=0)


def m004_incidents(db: Database) -> None:
    """The folder of evidence that a conversation is about, so that a follow-up question need not name it again."""
    db.table("chat_session").add_column("incident", str)


MIGRATIONS: Migrations = (m001_runs, m002_cached_tokens, m003_replays, m004_incidents)
