"""What can be wrong with an SQLite file of ours, each with one line of what to do (D3).

SQLite's errors cross one border: here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, NamedTuple

from diag_graph.errors import DiagError


class FileProblem(StrEnum):
    """Why a file cannot be used."""

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


class ProblemText(NamedTuple):
    """Both lines of an error; `{path}`, `{detail}` and what the kind of file is called are filled in."""

    message: str
    advice: str


class FileWords(NamedTuple):
    """How a kind of file is spoken of.

    Attributes:
        noun: What it is ("store").
        elsewhere: How another file is chosen.
        made_by: What creates it.
    """

    noun: str
    elsewhere: str
    made_by: str


TEXTS: Mapping[StrEnum, ProblemText] = {
    FileProblem.MISSING: ProblemText("there is no {noun} at {path}", "{made_by}"),
    FileProblem.LOCKED: ProblemText(
        "the {noun} {path} is locked by another process",
        "Wait for the process that holds it, or end it; a copy, a backup or an open sqlite3 shell can hold it too.",
    ),
    FileProblem.FULL: ProblemText("the disk that holds the {noun} {path} is full", "Free some space. {elsewhere}"),
    FileProblem.READ_ONLY: ProblemText(
        "the {noun} {path} cannot be written to: {detail}", "Make the file and its folder writable. {elsewhere}"
    ),
    FileProblem.NEWER: ProblemText(
        "the {noun} {path} was written by a newer version of diag ({detail})", "Upgrade diag. {elsewhere}"
    ),
    FileProblem.OLDER_READ_ONLY: ProblemText(
        "the {noun} {path} is of an older version and is read-only, so that it cannot be upgraded",
        "Copy it to where you can write, and name the copy. {elsewhere}",
    ),
    FileProblem.CORRUPT: ProblemText(
        "the {noun} {path} is damaged ({detail})",
        "Move it away to start afresh; `sqlite3 FILE .recover` can save what is left of it.",
    ),
    FileProblem.NOT_A_DATABASE: ProblemText("{path} is not a diag {noun}: {detail}", "{elsewhere}"),
    FileProblem.FOREIGN: ProblemText("{path} is no {noun}, but a database of another kind", "{elsewhere}"),
    FileProblem.IS_A_FOLDER: ProblemText("{path} is a folder, and the {noun} is a file", "{elsewhere}"),
    FileProblem.UNREACHABLE: ProblemText(
        "the {noun} {path} cannot be opened: {detail}", "Check the path and its permissions. {elsewhere}"
    ),
    FileProblem.DISK: ProblemText(
        "the disk does not take or give what belongs to the {noun} {path}: {detail}",
        "Check the disk and its quota. {elsewhere}",
    ),
    FileProblem.UNWRITABLE_VALUE: ProblemText("a value cannot be kept in the {noun} {path}: {detail}", ""),
    FileProblem.OTHER: ProblemText("the {noun} {path} gave an error: {detail}", "{elsewhere}"),
}


class FileError(DiagError):
    """A file of ours cannot be used. Each kind of file has its own class, which says how it is spoken of.

    Attributes:
        problem: Which of the known problems it is.
    """

    words: ClassVar[FileWords]
    texts: ClassVar[Mapping[StrEnum, ProblemText]] = TEXTS

    def __init__(self, problem: StrEnum, path: Path, detail: str = "") -> None:
        text = self.texts[problem]
        filled = {**self.words._asdict(), "path": path, "detail": detail}
        super().__init__(text.message.format(**filled), text.advice.format(**filled))
        self.problem = problem


# Primary result codes, https://www.sqlite.org/rescode.html
_BY_SQLITE_CODE: dict[int, FileProblem] = {
    sqlite3.SQLITE_BUSY: FileProblem.LOCKED,
    sqlite3.SQLITE_LOCKED: FileProblem.LOCKED,
    sqlite3.SQLITE_FULL: FileProblem.FULL,
    sqlite3.SQLITE_READONLY: FileProblem.READ_ONLY,
    sqlite3.SQLITE_PERM: FileProblem.UNREACHABLE,
    sqlite3.SQLITE_AUTH: FileProblem.UNREACHABLE,
    sqlite3.SQLITE_CANTOPEN: FileProblem.UNREACHABLE,
    sqlite3.SQLITE_IOERR: FileProblem.DISK,
    sqlite3.SQLITE_CORRUPT: FileProblem.CORRUPT,
    sqlite3.SQLITE_NOTADB: FileProblem.NOT_A_DATABASE,
    sqlite3.SQLITE_TOOBIG: FileProblem.UNWRITABLE_VALUE,
}


def of_sqlite(error: sqlite3.Error, path: Path, kind: type[FileError]) -> FileError:
    """SQLite's error in our words."""
    code = getattr(error, "sqlite_errorcode", None)  # errors that the driver raises itself carry none
    problem = FileProblem.OTHER if code is None else _BY_SQLITE_CODE.get(code & 0xFF, FileProblem.OTHER)
    return kind(problem, path, str(error))


@contextmanager
def translated(path: Path, kind: type[FileError]) -> Iterator[None]:
    """Let nothing but this kind of error out of a block that works on the file at `path`."""
    try:
        yield
    except sqlite3.Error as error:
        raise of_sqlite(error, path, kind) from error
    except (OverflowError, RecursionError, TypeError, ValueError) as error:
        raise kind(FileProblem.UNWRITABLE_VALUE, path, str(error)) from error
    except OSError as error:
        raise kind(FileProblem.UNREACHABLE, path, error.strerror or str(error)) from error
