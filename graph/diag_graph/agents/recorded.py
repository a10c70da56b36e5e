"""Agents that play back a recording (section 11). They ship: replay is `ask` with these, and so are the tests."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from diag_graph.agents.ports import AgentReply, AgentSet, Toolbox
from diag_graph.contracts import Frozen, Invocation
from diag_graph.errors import AgentFailure, ReplayDivergence
from diag_graph.outcome import RECORDED, AgentError
from diag_graph.state import ComposerInput, ExecutorInput, PlannerInput, VerifierInput
from diag_graph.topology import Node


class RecordedStep(Frozen):
    """What one agent did once."""

    agent: str
    output: str | None = None
    truncated: bool = False
    """The model's token limit had cut the output off."""
    error: AgentError | None = None
    invocations: tuple[Invocation, ...] = Field(default=())
    """Of an executor: the tool calls that it made, with their results."""


class Recording:
    """The recorded steps of a run and how far they have been played."""

    def __init__(self, steps: Sequence[RecordedStep]) -> None:
        self._steps = tuple(steps)
        self._played = 0

    def take(self, agent: str) -> RecordedStep:
        """The next step, which must be this agent's.

        Raises:
            ReplayDivergence: another agent's step is due, or none is left (P1).
        """
        if self._played == len(self._steps):
            raise ReplayDivergence(
                f"the graph asked for a step of {agent}, but all {len(self._steps)} recorded steps have been played",
                position=self._played,
            )
        due = self._steps[self._played]
        if due.agent != agent:
            raise ReplayDivergence(
                f"step {self._played + 1} of the file (/steps/{self._played}) is {due.agent}'s, "
                f"but the graph asked for a step of {agent}",
                position=self._played,
            )
        self._played += 1
        return due

    def finish(self) -> None:
        """Say that the run is over.

        Raises:
            ReplayDivergence: steps are left (P1).
        """
        if self._played < len(self._steps):
            due = self._steps[self._played]
            raise ReplayDivergence(
                f"the run ended, but {len(self._steps) - self._played} of {len(self._steps)} recorded steps are left; "
                f"next was step {self._played + 1} (/steps/{self._played}), {due.agent}'s",
                position=self._played,
            )

    def agents(self) -> AgentSet:
        """Four agents that play this recording."""
        player = _Player(self)
        return AgentSet(
            planner=player, executor=player, verifier=player, composer=player, label=RECORDED, recorded=True
        )


class _Player:
    """All four agents in one: what differs is only whose step is taken."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def plan(self, request: PlannerInput) -> AgentReply:  # noqa: ARG002 - a recording does not look at its input
        return self._answer(self._recording.take(Node.PLANNER))

    def execute(self, request: ExecutorInput, tools: Toolbox) -> AgentReply:  # noqa: ARG002
        step = self._recording.take(Node.EXECUTOR)
        for invocation in step.invocations:
            tools.adopt(invocation)
        return self._answer(step)

    def verify(self, request: VerifierInput) -> AgentReply:  # noqa: ARG002
        return self._answer(self._recording.take(Node.VERIFIER))

    def compose(self, request: ComposerInput) -> AgentReply:  # noqa: ARG002
        return self._answer(self._recording.take(Node.COMPOSER))

    @staticmethod
    def _answer(step: RecordedStep) -> AgentReply:
        if step.error is not None:
            raise AgentFailure(step.error.kind, step.error.message)
        return AgentReply(text=step.output, truncated=step.truncated)
