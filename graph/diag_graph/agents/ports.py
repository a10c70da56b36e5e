"""What the graph asks of an agent, whoever it is: a language model, the built-in analyst, or a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from diag_graph.contracts import Invocation, JsonObject
from diag_graph.state import ComposerInput, ExecutorInput, PlannerInput, VerifierInput
from diag_graph.tools.definition import ToolSpec
from diag_graph.usage import NO_USAGE, Usage


@dataclass(frozen=True, slots=True)
class AgentReply:
    """What an agent answered.

    Attributes:
        text: The answer, which the graph parses; None and the empty string are answers too, if bad ones.
        truncated: The model's token limit cut the answer off, so that it is not to be trusted as a whole.
        note: What is worth knowing about how the answer came about, such as a budget that was reached.
        usage: What the answer cost.
    """

    text: str | None
    truncated: bool = False
    note: str | None = None
    usage: Usage = NO_USAGE


class Toolbox(Protocol):
    """The executor's way to evidence. Every call goes through the run's ledger."""

    def specs(self) -> Sequence[ToolSpec]:
        """The tools that are offered."""

    def call(self, tool: str, arguments: JsonObject) -> Invocation:
        """Run a tool, or answer from the record when an equal call already succeeded (E2). Never raises for a tool."""

    def call_many(self, asked: Sequence[tuple[str, JsonObject]]) -> Sequence[Invocation]:
        """Run the calls of one turn side by side; they are recorded, and answered, in the order asked."""

    def adopt(self, invocation: Invocation) -> Invocation:
        """Take over a call that was recorded earlier, as if it had just been made."""


class Planner(Protocol):
    """Turns a question into a plan."""

    def plan(self, request: PlannerInput) -> AgentReply:
        """Answer with a plan. Raises AgentFailure when no text comes."""


class Executor(Protocol):
    """Gathers evidence and binds claims to it."""

    def execute(self, request: ExecutorInput, tools: Toolbox) -> AgentReply:
        """Answer with an `executor_evidence_v2` document. Raises AgentFailure when no text comes."""


class Verifier(Protocol):
    """Judges verified claims by their evidence."""

    def verify(self, request: VerifierInput) -> AgentReply:
        """Answer with a verifier result. Raises AgentFailure when no text comes."""


class Composer(Protocol):
    """Words the answer."""

    def compose(self, request: ComposerInput) -> AgentReply:
        """Answer with a composed answer. Raises AgentFailure when no text comes."""


@dataclass(frozen=True, slots=True)
class AgentSet:
    """The four agents of a run.

    Attributes:
        label: How the run names who thinks: a model's name, `built-in analyst`, `recorded`.
        recorded: They play a recording: nobody knows which skills there were when it was made.
    """

    planner: Planner
    executor: Executor
    verifier: Verifier
    composer: Composer
    label: str
    recorded: bool = False
