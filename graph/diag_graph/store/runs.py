"""The store of runs: each piece written in a small transaction of its own, each document read as of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from diag_graph.contracts import Invocation, JsonObject, Turn
from diag_graph.database import opening
from diag_graph.database.opening import DEFAULT_WAIT_S, FileKind
from diag_graph.database.problems import FileProblem, translated
from diag_graph.outcome import INTERRUPTED_REASON, AgentStep, RunDocument, RunRow, RunStatus, SessionRow
from diag_graph.store import rows, sessions
from diag_graph.store.migrations import APPLICATION_ID, MIGRATIONS
from diag_graph.store.problems import StoreError, StoreProblem
from diag_graph.store.process import ProcessIdentity, is_alive, this_process

if TYPE_CHECKING:
    from sqlite_utils import Database

KIND = FileKind(APPLICATION_ID, MIGRATIONS, StoreError)

LATEST = "last"
"""What a person may write for the id of the latest run or session."""

_CANDIDATES_SHOWN = 5


class Store:
    """One open store. Close it, or use it as a context manager."""

    def __init__(self, db: Database, path: Path) -> None:
        """See `open`."""
        self._db = db
        self.path = path

    @classmethod
    def open(cls, path: Path, *, create: bool = True, wait_s: float = DEFAULT_WAIT_S) -> Self:
        """Open the store at `path`; create it, private to its owner, when it is not there and `create` is set.

        Raises:
            StoreError: it is not there, locked for longer than `wait_s`, not a store, damaged, newer, out of reach.
        """
        return cls(opening.connect(path, KIND, wait_s=wait_s, create=create), path)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    # --- writing ---------------------------------------------------------------------------------------------

    def begin_run(self, run: RunRow, incident: str | None = None) -> None:
        """Write a run that begins, owned by this process, and its conversation if that is new.

        Args:
            run: The run.
            incident: The folder of evidence that it looks at; None leaves what the conversation was about before.
        """
        owner = this_process()
        with self._writing():
            self._ensure_session(run)
            if incident is not None:
                sessions.note_incident(self._db, run.session_id, incident)
            self._db.table("diagnosis_run").insert(
                {**rows.of_run(run), "owner_pid": owner.pid, "owner_started": owner.started}
            )

    def add_step(self, run_id: str, step: AgentStep) -> None:
        """Write an agent call that ended."""
        with self._writing():
            number = self._next("agent_step", "step_number", run_id)
            key = {"run_id": run_id, "step_number": number, "created_at": _now()}
            self._db.table("agent_step").insert({**rows.of_step(step), **key})

    def add_invocation(self, run_id: str, invocation: Invocation) -> None:
        """Write a tool call that was executed."""
        with self._writing():
            position = self._next("tool_invocation", "position", run_id)
            key = {"run_id": run_id, "position": position, "created_at": _now()}
            self._db.table("tool_invocation").insert({**rows.of_invocation(invocation), **key})
            self._db.execute("UPDATE diagnosis_run SET tool_calls = tool_calls + 1 WHERE run_id = ?", [run_id])

    def note_path(self, run_id: str, trace: JsonObject) -> None:
        """Write how far a run has come through the graph."""
        with self._writing():
            self._db.execute(
                "UPDATE diagnosis_run SET orchestration_trace = ? WHERE run_id = ?", [rows.to_json(trace), run_id]
            )

    def finish_run(self, document: RunDocument) -> None:
        """Write how a run ended, its findings and its evaluation; nobody owns it any more."""
        run_id = document.run.run_id
        ended = {**rows.of_outcome(document), "owner_pid": None, "owner_started": None}
        with self._writing():
            self._ensure_session(document.run)
            self._db.table("diagnosis_run").upsert({**rows.of_run(document.run), **ended}, pk="run_id")
            self._db.table("self_evaluation").upsert(
                {"run_id": run_id, **rows.of_evaluation(document), "created_at": _now()}, pk="run_id"
            )

    def abandon_run(self, run_id: str) -> None:
        """Give up a run that did not end: it reads as interrupted though its process lives on."""
        with self._writing():
            self._db.execute(
                "UPDATE diagnosis_run SET owner_pid = NULL, owner_started = NULL WHERE run_id = ?", [run_id]
            )

    def _ensure_session(self, run: RunRow) -> None:
        sessions.ensure(self._db, run)

    def _next(self, table: str, column: str, run_id: str) -> int:
        query = f"SELECT coalesce(max({column}), 0) + 1 FROM {table} WHERE run_id = ?"  # noqa: S608 - our own names
        number: int = self._db.execute(query, [run_id]).fetchone()[0]
        return number

    # --- reading ---------------------------------------------------------------------------------------------

    def resolve(self, reference: str) -> str:
        """The id of the run that a person means: an id, a unique beginning of one, or `last`.

        Raises:
            StoreError: no run, no such run, or several; of several, the message names the latest.
        """
        reference = rows.storable(reference)
        with self._reading():
            if reference == LATEST:
                found = self._ids("1 ORDER BY rowid DESC LIMIT 1")
                if not found:
                    raise StoreError(StoreProblem.NO_RUNS, self.path)
                return found[0]
            if self._ids("run_id = ?", reference):
                return reference
            begins = "substr(run_id, 1, ?) = ? ORDER BY rowid DESC"
            found = self._ids(begins, len(reference), reference) if reference else []
        if not found:
            raise StoreError(StoreProblem.NO_SUCH_RUN, self.path, reference)
        if len(found) > 1:
            raise StoreError(StoreProblem.AMBIGUOUS, self.path, _candidates(reference, found))
        return found[0]

    def resolve_session(self, reference: str) -> str:
        """The id of the conversation that a person means: an id, a unique beginning of one, or `last`.

        Raises:
            StoreError: no conversation, no such conversation, or several; of several, the message names the latest.
        """
        reference = rows.storable(reference)
        with self._reading():
            found = sessions.matching(self._db, reference, latest=reference == LATEST)
        if not found:
            problem = StoreProblem.NO_SESSIONS if reference == LATEST else StoreProblem.NO_SUCH_SESSION
            raise StoreError(problem, self.path, reference)
        if len(found) > 1:
            raise StoreError(StoreProblem.AMBIGUOUS_SESSION, self.path, _candidates(reference, found))
        return found[0]

    def run(self, run_id: str) -> RunDocument:
        """Everything of one run; as far as it got, when it did not end.

        Raises:
            StoreError: there is no such run, or its record cannot be read.
        """
        with self._reading():
            found = list(self._db.table("diagnosis_run").rows_where("run_id = ?", [run_id]))
            if not found:
                raise StoreError(StoreProblem.NO_SUCH_RUN, self.path, run_id)
            steps = self._db.table("agent_step").rows_where("run_id = ?", [run_id], order_by="step_number")
            invocations = self._db.table("tool_invocation").rows_where("run_id = ?", [run_id], order_by="position")
            evaluation = list(self._db.table("self_evaluation").rows_where("run_id = ?", [run_id]))
            gatekeeper, verifier = rows.to_evaluation(evaluation[0]) if evaluation else (None, None)
            return RunDocument(
                run=_as_seen(found[0]),
                findings=rows.to_findings(found[0]),
                history=rows.to_history(found[0]),
                now=found[0]["now"],
                gatekeeper=gatekeeper,
                verifier=verifier,
                steps=tuple(map(rows.to_step, steps)),
                invocations=tuple(map(rows.to_invocation, invocations)),
            )

    def runs(self, limit: int | None = None, *, session_id: str | None = None) -> list[RunRow]:
        """The latest runs, latest first; all of them without a limit, one conversation's with a session id."""
        where = "session_id = ?" if session_id else None
        with self._reading():
            found = self._db.table("diagnosis_run").rows_where(
                where, [session_id] if session_id else [], order_by="rowid DESC", limit=limit
            )
            return [_as_seen(row) for row in found]

    def history(self, session_id: str, limit: int) -> list[Turn]:
        """The last questions of a conversation that were answered, oldest first; replays are not part of it."""
        with self._reading():
            return sessions.history(self._db, session_id, limit)

    def sessions(self, limit: int | None = None) -> list[SessionRow]:
        """The conversations, that of the latest question first; all of them without a limit. Replays are none."""
        with self._reading():
            return sessions.listed(self._db, limit)

    def session(self, session_id: str) -> SessionRow:
        """One conversation, by its whole id.

        Raises:
            StoreError: there is no such conversation.
        """
        with self._reading():
            found = sessions.listed(self._db, None, session_id)
        if not found:
            raise StoreError(StoreProblem.NO_SUCH_SESSION, self.path, session_id)
        return found[0]

    def count(self) -> int:
        """How many runs there are."""
        with self._reading():
            number: int = self._db.table("diagnosis_run").count
            return number

    def check_writable(self) -> None:
        """Take the write lock and let go of it again, changing nothing.

        Raises:
            StoreError: nothing could be written now, and why.
        """
        with self._writing():
            pass

    def _ids(self, where: str, *parameters: object) -> list[str]:
        query = f"SELECT run_id FROM diagnosis_run WHERE {where}"  # noqa: S608 - our own conditions, values bound
        return [row[0] for row in self._db.execute(query, parameters).fetchall()]

    # --- both ------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with translated(self.path, StoreError), opening.write_transaction(self._db):
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with translated(self.path, StoreError):
            try:
                with opening.read_transaction(self._db):
                    yield
            except (ValidationError, ValueError) as error:  # someone edited it, or the file is damaged
                raise StoreError(FileProblem.CORRUPT, self.path, "a record does not read as a run") from error


def _as_seen(row: dict[str, Any]) -> RunRow:
    """The run of a row; INTERRUPTED when it was ended from outside, or RUNNING and its process is gone (D2)."""
    run = rows.to_run(row)
    if run.status is RunStatus.FAILED and run.failure_reason == INTERRUPTED_REASON:
        return run.model_copy(update={"status": RunStatus.INTERRUPTED})
    if run.status is not RunStatus.RUNNING:
        return run
    pid = row["owner_pid"]
    if pid is not None and is_alive(ProcessIdentity(pid, row["owner_started"] or "")):
        return run
    return run.model_copy(update={"status": RunStatus.INTERRUPTED})


def _candidates(reference: str, found: list[str]) -> str:
    shown = ", ".join(found[:_CANDIDATES_SHOWN])
    return f'"{reference}": {shown}{", ..." if len(found) > _CANDIDATES_SHOWN else ""}'


def _now() -> str:
    return datetime.now(UTC).isoformat()
