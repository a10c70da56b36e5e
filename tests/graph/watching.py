"""Agents that play a recording and keep what they were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from diag_graph.agents.ports import AgentReply, AgentSet, Toolbox
from diag_graph.agents.recorded import Recording
from diag_graph.contracts import Turn
from diag_graph.outcome import RunDocument
from diag_graph.run import Assignment, execute
from diag_graph.runfile import FileStep
from diag_graph.state import ComposerInput, ExecutorInput, PlannerInput, VerifierInput
from recordings import NOW, QUESTION


@dataclass
class Watch:
    """Four agents in one: each plays its next recorded step, and its inputs stand here afterwards."""

    steps: Sequence[FileStep]
    planner: list[PlannerInput] = field(default_factory=list)
    executor: list[ExecutorInput] = field(default_factory=list)
    verifier: list[VerifierInput] = field(default_factory=list)
    composer: list[ComposerInput] = field(default_factory=list)

    def run(self, question: str = QUESTION, history: tuple[Turn, ...] = ()) -> RunDocument:
        """Run the graph with these agents."""
        self._played = Recording(self.steps).agents()
        agents = AgentSet(planner=self, executor=self, verifier=self, composer=self, label="watched")
        return execute(Assignment(question=question, agents=agents, now=NOW, session_id="s-1", history=history))

    def plan(self, request: PlannerInput) -> AgentReply:
        """Plan as recorded."""
        self.planner.append(request)
        return self._played.planner.plan(request)

    def execute(self, request: ExecutorInput, tools: Toolbox) -> AgentReply:
        """Execute as recorded."""
        self.executor.append(request)
        return self._played.executor.execute(request, tools)

    def verify(self, request: VerifierInput) -> AgentReply:
        """Verify as recorded."""
        self.verifier.append(request)
        return self._played.verifier.verify(request)

    def compose(self, request: ComposerInput) -> AgentReply:
        """Compose as recorded."""
        self.composer.append(request)
        return self._played.composer.compose(request)
