"""Replay: `ask` with recorded agents, and a comparison with the trace that the file carries (contract section 11).

Its counterpart asks what would have been: live agents over recorded tool results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from diag_graph.agents.recorded import Recording
from diag_graph.contracts import JsonObject
from diag_graph.errors import ReplayDivergence
from diag_graph.events import Event, Listener, RunFinished
from diag_graph.outcome import RunDocument
from diag_graph.run import Assignment, execute, iso, live_agents, new_id
from diag_graph.runfile import RunFile

if TYPE_CHECKING:
    from diag_graph.agents.models import ModelSettings

_END_FIELDS = ("version", "final_node", "termination_reason", "degraded", "evidence_retry_count")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two traces differ.

    Attributes:
        where: JSON Pointer into the orchestration trace.
        expected: What the file's trace has there; None when it has nothing.
        actual: What this replay has there.
    """

    where: str
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replay came to.

    Attributes:
        document: The replay's own run.
        divergence: Why the replay left the recording (P1); None when it did not.
        difference: The first difference from the file's trace; None when there is none, or no trace to compare with.
        compared: Whether the file carries a trace.
    """

    document: RunDocument
    divergence: str | None
    difference: Difference | None
    compared: bool

    @property
    def matches(self) -> bool:
        """Whether the replay went as the file says."""
        return self.divergence is None and self.difference is None


def replay(run_file: RunFile, *, listeners: Sequence[Listener] = ()) -> ReplayResult:
    """Play a run file through the graph. No model and no tool is called.

    Args:
        run_file: The file, read.
        listeners: Who hears what happens.

    Returns:
        The replay's run, a run of its own, and how it compares.
    """
    recording = Recording(run_file.steps)
    ended: list[RunDocument] = []

    def keep_end(event: Event) -> None:
        if isinstance(event, RunFinished):
            ended.append(event.document)

    assignment = Assignment(
        question=run_file.question,
        agents=recording.agents(),
        now=run_file.now or iso(datetime.now(UTC)),
        session_id=new_id(),
        history=run_file.history,
        replay_of=run_file.run_id,
    )
    divergence = None
    try:
        execute(assignment, (keep_end, *listeners))
        recording.finish()
    except ReplayDivergence as error:
        divergence = error.message
    document = ended[0]
    expected = run_file.orchestration_trace
    difference = None
    if expected is not None and divergence is None:
        difference = first_difference(expected, document.run.orchestration_trace or {})
    return ReplayResult(document, divergence, difference, compared=expected is not None)


def what_if(
    run_file: RunFile, *, model: str | ModelSettings | None = None, listeners: Sequence[Listener] = ()
) -> RunDocument:
    """Ask live agents the question of a run file, and answer their tool calls from its record.

    No tool is called: a call that the file does not have gets an error that says so.

    Args:
        run_file: The file, read. Its agents' outputs play no part.
        model: The language model that thinks; None: the built-in analyst.
        listeners: Who hears what happens.

    Returns:
        The run, with `what_if` set.

    Raises:
        ConfigError: the model cannot be used.
    """
    return execute(
        Assignment(
            question=run_file.question,
            agents=live_agents(model, listeners),
            now=run_file.now or iso(datetime.now(UTC)),
            session_id=new_id(),
            history=run_file.history,
            replay_of=run_file.run_id,
            recorded=tuple(call for step in run_file.steps for call in step.invocations),
        ),
        listeners,
    )


def first_difference(expected: JsonObject, actual: JsonObject) -> Difference | None:
    """The first difference of two orchestration traces: transitions in order, then how the run ended.

    Args:
        expected: The file's trace; a field that it leaves out is not compared.
        actual: The replay's.
    """
    if "transitions" in expected:
        rows = expected["transitions"] if isinstance(expected["transitions"], list) else []
        for index, (due, found) in enumerate(zip_longest(rows, actual.get("transitions", []))):
            if due != found:
                return Difference(f"/transitions/{index}", due, found)
    for field in _END_FIELDS:
        if field in expected and expected[field] != actual.get(field):
            return Difference(f"/{field}", expected[field], actual.get(field))
    return None
