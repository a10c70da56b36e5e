"""A schema as steps that were taken one after another, and the table of those that a file has taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLIED_TABLE = "applied_migration"

Migrations = Sequence[Callable[["Database"], None]]
"""Steps in their order. Append; never change or remove a step that was released."""


def names(steps: Migrations) -> list[str]:
    """Names of all steps that this version knows, in their order."""
    return [step.__name__ for step in steps]


def applied(db: Database) -> list[str]:
    """Names of the steps that the file has taken; empty for a file that has no schema of ours."""
    table = db.table(APPLIED_TABLE)
    return [row["name"] for row in table.rows_where(order_by="rowid")] if table.exists() else []


def apply_pending(db: Database, steps: Migrations) -> None:
    """Take the missing steps. The caller holds a write transaction, so that of two processes one does it."""
    done = set(applied(db))
    if not done:
        db.table(APPLIED_TABLE).create({"name": str, "applied_at": str}, pk="name", if_not_exists=True)
    for step in steps:
        if step.__name__ not in done:
            step(db)
            db.table(APPLIED_TABLE).insert({"name": step.__name__, "applied_at": datetime.now(UTC).isoformat()})
