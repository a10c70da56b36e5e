"""Conversations: the runs that share a session id. The caller holds the transaction.

A replay stands in the store as a run of its own, and is no part of a conversation: nobody asked it anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diag_graph.contracts import Turn
from diag_graph.outcome import RECORDED, RunRow, RunStatus, SessionRow
from diag_graph.store import rows

if TYPE_CHECKING:
    from sqlite_utils import Database

TITLE_LENGTH = 80

_ASKED = f"run.replay_of IS NULL AND run.what_if = 0 AND run.model IS NOT '{RECORDED}'"
"""`RunRow.is_replay`, negated, in SQL."""


def ensure(db: Database, run: RunRow) -> None:
    """Write a run's conversation, unless it is there."""
    title = rows.storable(" ".join(run.question.split()))[:TITLE_LENGTH]
    db.table("chat_session").insert(
        {"session_id": rows.storable(run.session_id), "title": title, "created_at": run.started_at}, ignore=True
    )


def note_incident(db: Database, session_id: str, incident: str) -> None:
    """Write which folder of evidence a conversation is about now."""
    values = [rows.storable(incident), rows.storable(session_id)]
    db.execute("UPDATE chat_session SET incident = ? WHERE session_id = ?", values)


def matching(db: Database, reference: str, *, latest: bool) -> list[str]:
    """The ids of the conversations that a reference can mean, that of the latest question first.

    Args:
        db: The open store.
        reference: An id, or a beginning of one: a whole id is no beginning.
        latest: The reference stands for the conversation of the latest question.
    """
    ids = f"SELECT run.session_id FROM diagnosis_run AS run WHERE {_ASKED}"  # noqa: S608 - our own words
    order = "GROUP BY run.session_id ORDER BY max(run.rowid) DESC"
    if latest:
        return _first_column(db, f"{ids} {order} LIMIT 1")
    if not reference:
        return []
    whole = _first_column(db, f"{ids} AND run.session_id = ? {order}", reference)
    return whole or _first_column(db, f"{ids} AND substr(run.session_id, 1, ?) = ? {order}", len(reference), reference)


def listed(db: Database, limit: int | None, session_id: str | None = None) -> list[SessionRow]:
    """Conversations with what is known of each, that of the latest question first."""
    one = "AND run.session_id = ?" if session_id is not None else ""
    query = f"""
        SELECT session.session_id, session.title, session.created_at, session.incident, asked.runs,
               latest.started_at AS last_asked, latest.verdict AS last_verdict
        FROM (SELECT run.session_id, count(*) AS runs, max(run.rowid) AS latest
              FROM diagnosis_run AS run WHERE {_ASKED} {one} GROUP BY run.session_id) AS asked
        JOIN chat_session AS session ON session.session_id = asked.session_id
        JOIN diagnosis_run AS latest ON latest.rowid = asked.latest
        ORDER BY asked.latest DESC LIMIT ?
    """  # noqa: S608 - our own words
    given = [session_id] if session_id is not None else []
    return [SessionRow.model_validate(row) for row in db.query(query, [*given, -1 if limit is None else limit])]


def history(db: Database, session_id: str, limit: int) -> list[Turn]:
    """The last questions that were answered, oldest first."""
    query = f"""
        SELECT run.question, run.answer FROM diagnosis_run AS run
        WHERE run.session_id = ? AND run.status = ? AND run.answer IS NOT NULL AND {_ASKED}
        ORDER BY run.rowid DESC LIMIT ?
    """  # noqa: S608 - our own words
    found = list(db.query(query, [session_id, RunStatus.SUCCESS.value, limit]))
    return [Turn(question=row["question"], answer=row["answer"]) for row in reversed(found)]


def _first_column(db: Database, query: str, *parameters: object) -> list[str]:
    return [row[0] for row in db.execute(query, parameters).fetchall()]
