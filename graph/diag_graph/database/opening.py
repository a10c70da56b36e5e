"""Opening a file: created private to its owner, in WAL mode, waiting for others, migrated (D3, D4)."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from diag_graph.database import migrations
from diag_graph.database.problems import FileError, FileProblem, translated

if TYPE_CHECKING:
    from sqlite_utils import Database

DEFAULT_WAIT_S = 15.0
"""How long a locked file is waited for, in seconds."""

_RETRY_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file.

    Attributes:
        application_id: Stands in SQLite's header, and tells such a file from any other database.
        steps: Its schema.
        error: What is raised when one cannot be used.
    """

    application_id: int
    steps: migrations.Migrations
    error: type[FileError]


@contextmanager
def _numpy_hidden() -> Iterator[None]:
    """Keep sqlite-utils from importing numpy, which it does where it finds it, for column types that we never use.

    It would double the start-up time of `diag runs` and `diag trace`.
    """
    if "numpy" in sys.modules:
        yield
        return
    sys.modules["numpy"] = None  # type: ignore[assignment]  # the import system's own way to say "not there"
    try:
        yield
    finally:
        del sys.modules["numpy"]


def connect(path: Path, kind: FileKind, *, wait_s: float, create: bool) -> Database:
    """Open the file at `path`, bring its schema up to date, and give the connection, in autocommit mode.

    Args:
        path: The file.
        kind: What it must be.
        wait_s: How long to wait for a lock that another process holds, in seconds.
        create: Create the file, and its folder, when it is not there.

    Raises:
        FileError: of the kind: it cannot be used, and why.
    """
    with translated(path, kind.error):
        if path.is_dir():
            raise kind.error(FileProblem.IS_A_FOLDER, path)
        if create:
            _create_private(path)
        elif not path.exists():
            raise kind.error(FileProblem.MISSING, path)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return _connect_once(path, kind, wait_s)
        except FileError as error:
            # SQLite's busy handler is not asked while two connections switch a new file to WAL.
            if error.problem is not FileProblem.LOCKED or time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_PAUSE_S)


def _create_private(path: Path) -> None:
    """Create the file for its owner's eyes only; SQLite gives its WAL files the same mode."""
    if path.exists():
        return
    if not path.parent.exists():
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
    with suppress(FileExistsError):  # another process was faster
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _connect_once(path: Path, kind: FileKind, wait_s: float) -> Database:
    with translated(path, kind.error):
        with _numpy_hidden():
            from sqlite_utils import Database

        # A reader needs to write too (WAL's index); what lies on read-only ground is read as it stands.
        writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        mode = "rw" if writable else "ro" if Path(f"{path}-wal").exists() else "ro&immutable=1"
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=wait_s,
            isolation_level=None,
            check_same_thread=False,  # tools and nodes may run on other threads; the listener serialises its writes
        )
        try:
            db = Database(connection, execute_plugins=False)  # a user's sqlite-utils plugins are none of our business
            _ensure_schema(db, path, kind, writable=writable)
        except BaseException:
            connection.close()
            raise
        return db


def _ensure_schema(db: Database, path: Path, kind: FileKind, *, writable: bool) -> None:
    # In this order: another process may be creating the schema just now, and does it in one step.
    fresh = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application != kind.application_id and not fresh:
        raise kind.error(FileProblem.FOREIGN, path)
    done = migrations.applied(db)
    unknown = [name for name in done if name not in migrations.names(kind.steps)]
    if unknown:
        raise kind.error(FileProblem.NEWER, path, f"it has {unknown[-1]}")
    pending = len(done) < len(migrations.names(kind.steps))
    if not writable:
        if pending:
            raise kind.error(FileProblem.OLDER_READ_ONLY, path)
        return
    db.enable_wal()
    if pending:
        with write_transaction(db):
            migrations.apply_pending(db, kind.steps)
    db.execute("PRAGMA foreign_keys = ON")


@contextmanager
def write_transaction(db: Database) -> Iterator[None]:
    """One transaction that takes the write lock at its start: what waiting for others there is happens there."""
    db.execute("BEGIN IMMEDIATE")
    with _ended(db):
        yield


@contextmanager
def read_transaction(db: Database) -> Iterator[None]:
    """Read everything as it stood at one moment."""
    db.execute("BEGIN")
    with _ended(db):
        yield


@contextmanager
def _ended(db: Database) -> Iterator[None]:
    try:
        yield
        db.commit()
    except BaseException:
        db.rollback()
        raise
