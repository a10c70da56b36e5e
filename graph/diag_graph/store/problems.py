"""What can be wrong with a store, each with one line of what to do (D3). SQLite's errors cross one border: here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from diag_graph.errors import DiagError


class StoreProblem(StrEnum):
    """Why a store, or a run in it, cannot be used."""

    MISSING = "missing"
    LOCKED = "locked"
    FULL = "full"
    READ_ONLY = "read_only"
    NEWER = "newer"
    OLDER_READ_ONLY = "older_read_only"
    CORRUPT = "corrupt"
    NOT_A_DATABASE = "not_a_database"
    FOREIGN = "foreign"
    IS_A_FOLDER = "is_a_folder"
    UNREACHABLE = "unreachable"
    DISK = "disk"
    UNWRITABLE_VALUE = "unwritable_value"
    OTHER = "other"
    NO_RUNS = "no_runs"
    NO_SUCH_RUN = "no_such_run"
    AMBIGUOUS = "ambiguous"


class _Text(NamedTuple):
    """Both lines of an error; `{path}` and `{detail}` are filled in."""

    message: str
    advice: str


_ELSEWHERE = "Choose another file with --db or DIAG_DB."

TEXTS: dict[StoreProblem, _Text] = {
    StoreProblem.MISSING: _Text("there is no store at {path}", "It is created by the first `diag ask`."),
    StoreProblem.LOCKED: _Text(
        "the store {path} is locked by another process",
        "Wait for the process that holds it, or end it; a copy, a backup or an open sqlite3 shell can hold it too.",
    ),
    StoreProblem.FULL: _Text("the disk that holds the store {path} is full", f"Free some space. {_ELSEWHERE}"),
    StoreProblem.READ_ONLY: _Text(
        "the store {path} cannot be written to: {detail}", f"Make the file and its folder writable. {_ELSEWHERE}"
    ),
    StoreProblem.NEWER: _Text(
        "the store {path} was written by a newer version of diag ({detail})", f"Upgrade diag. {_ELSEWHERE}"
    ),
    StoreProblem.OLDER_READ_ONLY: _Text(
        "the store {path} is of an older version and is read-only, so that it cannot be upgraded",
        "Copy it to where you can write, and name the copy with --db.",
    ),
    StoreProblem.CORRUPT: _Text(
        "the store {path} is damaged ({detail})",
        "Move it away to start afresh; `sqlite3 FILE .recover` can save what is left of it.",
    ),
    StoreProblem.NOT_A_DATABASE: _Text("{path} is not a diag store: {detail}", _ELSEWHERE),
    StoreProblem.FOREIGN: _Text("{path} is a database of another program", _ELSEWHERE),
    StoreProblem.IS_A_FOLDER: _Text("{path} is a folder, and the store is a file", "Name a file within it with --db."),
    StoreProblem.UNREACHABLE: _Text(
        "the store {path} cannot be opened: {detail}", f"Check the path and its permissions. {_ELSEWHERE}"
    ),
    StoreProblem.DISK: _Text(
        "the disk does not take or give what belongs to the store {path}: {detail}",
        f"Check the disk and its quota. {_ELSEWHERE}",
    ),
    StoreProblem.UNWRITABLE_VALUE: _Text("a value cannot be kept in the store {path}: {detail}", ""),
    StoreProblem.OTHER: _Text("the store {path} gave an error: {detail}", _ELSEWHERE),
    StoreProblem.NO_RUNS: _Text("there are no runs yet in {path}", 'Ask something first: diag ask "..."'),
    StoreProblem.NO_SUCH_RUN: _Text('there is no run "{detail}" in {path}', "`diag runs` lists them."),
    StoreProblem.AMBIGUOUS: _Text("more than one run begins with {detail}", "Give more of the id."),
}


class StoreError(DiagError):
    """The store, or a run in it, cannot be used.

    Attributes:
        problem: Which of the known problems it is.
    """

    def __init__(self, problem: StoreProblem, path: Path, detail: str = "") -> None:
        text = TEXTS[problem]
        super().__init__(text.message.format(path=path, detail=detail), text.advice)
        self.problem = problem


# Primary result codes, https://www.sqlite.org/rescode.html
_BY_SQLITE_CODE: dict[int, StoreProblem] = {
    sqlite3.SQLITE_BUSY: StoreProblem.LOCKED,
    sqlite3.SQLITE_LOCKED: StoreProblem.LOCKED,
    sqlite3.SQLITE_FULL: StoreProblem.FULL,
    sqlite3.SQLITE_READONLY: StoreProblem.READ_ONLY,
    sqlite3.SQLITE_PERM: StoreProblem.UNREACHABLE,
    sqlite3.SQLITE_AUTH: StoreProblem.UNREACHABLE,
    sqlite3.SQLITE_CANTOPEN: StoreProblem.UNREACHABLE,
    sqlite3.SQLITE_IOERR: StoreProblem.DISK,
    sqlite3.SQLITE_CORRUPT: StoreProblem.CORRUPT,
    sqlite3.SQLITE_NOTADB: StoreProblem.NOT_A_DATABASE,
    sqlite3.SQLITE_TOOBIG: StoreProblem.UNWRITABLE_VALUE,
}


def of_sqlite(error: sqlite3.Error, path: Path) -> StoreError:
    """SQLite's error in our words."""
    code = getattr(error, "sqlite_errorcode", None)  # errors that the driver raises itself carry none
    problem = StoreProblem.OTHER if code is None else _BY_SQLITE_CODE.get(code & 0xFF, StoreProblem.OTHER)
    return StoreError(problem, path, str(error))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Let nothing but StoreError out of a block that works on the store at `path`."""
    try:
        yield
    except sqlite3.Error as error:
        raise of_sqlite(error, path) from error
    except (OverflowError, RecursionError, TypeError, ValueError) as error:
        raise StoreError(StoreProblem.UNWRITABLE_VALUE, path, str(error)) from error
    except OSError as error:
        raise StoreError(StoreProblem.UNREACHABLE, path, error.strerror or str(error)) from error
