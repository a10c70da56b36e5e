"""Writes a run down as it happens, so that a killed process loses at most the call in flight (D2, T2)."""

from __future__ import annotations

import threading

from diag_graph import state
from diag_graph.events import AgentFinished, Event, NodeFinished, RunFinished, RunStarted, ToolFinished
from diag_graph.store.problems import StoreError
from diag_graph.store.runs import Store
from diag_graph.topology import Node
from diag_graph.trace import orchestration_trace


class StoreListener:
    """A listener for one run at a time. It never breaks a run: at the first trouble it goes quiet (D3).

    Attributes:
        problem: What kept it from writing; None while all is well.
    """

    def __init__(self, store: Store, incident: str | None = None) -> None:
        """Write to this open store, and of the conversation that it is about this folder of evidence."""
        self.problem: StoreError | None = None
        self._store = store
        self._incident = incident
        self._run_id: str | None = None
        self._passed: list[state.Event] = []
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Write what the event says that is worth keeping."""
        with self._lock:
            if self.problem is not None:
                return
            try:
                self._write(event)
            except StoreError as error:
                self.problem = error

    def close(self) -> None:
        """Give up a run that has not ended, as when the user interrupts it: it then reads as interrupted at once."""
        with self._lock:
            if self._run_id is None or self.problem is not None:
                return
            try:
                self._store.abandon_run(self._run_id)
            except StoreError as error:
                self.problem = error
            self._run_id = None

    def _write(self, event: Event) -> None:
        match event:
            case RunStarted(run):
                self._store.begin_run(run, self._incident)
                self._run_id, self._passed = run.run_id, []
            case RunFinished(document):
                self._store.finish_run(document)
                self._run_id = None
            case AgentFinished(step) if self._run_id is not None:
                self._store.add_step(self._run_id, step)
            case ToolFinished(invocation, reused=False) if self._run_id is not None:
                self._store.add_invocation(self._run_id, invocation)
            case NodeFinished(node, outcome, reason_code, attempt) if self._run_id is not None:
                self._passed.append(state.Event(node=node, outcome=outcome, reason_code=reason_code, attempt=attempt))
                rounds = sum(event["node"] == Node.EVIDENCE_RETRY for event in self._passed)
                self._store.note_path(self._run_id, orchestration_trace(self._passed, rounds))
            case _:
                pass  # what has only begun leaves nothing to keep
