"""What a run hands to its nodes beside the state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from diag_graph.agents.ports import AgentSet
from diag_graph.events import Listener
from diag_graph.state import SkillCard
from diag_graph.tools.definition import GUIDANCE
from diag_graph.tools.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Deps:
    """A run's dependencies; LangGraph hands them to each node as its runtime context.

    Attributes:
        agents: Who thinks.
        ledger: The run's tool calls.
        emit: Who hears what happens.
        skills: Registered skills, as the planner sees them; None in a replay, where nobody knows which there were.
        knowledge_domains: Titles of the runbook domains (L0), a line each.
        guidance_tools: Tools whose results are advice and no evidence (G6): those that say so of themselves, and in a
            replay, where no tool is offered, those of these names.
        clock: A monotonic clock, in seconds.
    """

    agents: AgentSet
    ledger: Ledger
    emit: Listener
    skills: tuple[SkillCard, ...] | None = ()
    knowledge_domains: tuple[str, ...] = ()
    guidance_tools: frozenset[str] = GUIDANCE
    clock: Callable[[], float] = time.perf_counter


@dataclass(frozen=True, slots=True)
class NodeCall:
    """One attempt at a node: dependencies, and the counts that the graph keeps (both from 1)."""

    deps: Deps
    attempt: int
    round: int
