"""What can be wrong with a store, or with what somebody asks of it, each with one line of what to do (D3)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

from diag_graph.database.problems import TEXTS, FileError, FileWords, ProblemText


class StoreProblem(StrEnum):
    """Why a run or a conversation cannot be shown. What can be wrong with the file itself stands in `FileProblem`."""

    NO_RUNS = "no_runs"
    NO_SUCH_RUN = "no_such_run"
    AMBIGUOUS = "ambiguous"
    NO_SESSIONS = "no_sessions"
    NO_SUCH_SESSION = "no_such_session"
    AMBIGUOUS_SESSION = "ambiguous_session"


RUN_TEXTS: Mapping[StrEnum, ProblemText] = {
    StoreProblem.NO_RUNS: ProblemText("there are no runs yet in {path}", 'Ask something first: diag ask "..."'),
    StoreProblem.NO_SUCH_RUN: ProblemText('there is no run "{detail}" in {path}', "`diag runs` lists them."),
    StoreProblem.AMBIGUOUS: ProblemText("more than one run begins with {detail}", "Give more of the id."),
    StoreProblem.NO_SESSIONS: ProblemText(
        "there is no conversation to go on with in {path}", 'The first question begins one: diag ask "..."'
    ),
    StoreProblem.NO_SUCH_SESSION: ProblemText(
        'there is no conversation "{detail}" in {path}', "`diag sessions` lists them."
    ),
    StoreProblem.AMBIGUOUS_SESSION: ProblemText(
        "more than one conversation begins with {detail}", "Give more of the id."
    ),
}


class StoreError(FileError):
    """The store, or a run in it, cannot be used."""

    words = FileWords("store", "Choose another file with --db or DIAG_DB.", "It is created by the first `diag ask`.")
    texts: ClassVar[Mapping[StrEnum, ProblemText]] = {**TEXTS, **RUN_TEXTS}
