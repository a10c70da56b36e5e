"""What happens in a run, as small frozen classes in one union. The store and the renderers listen; nobody answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diag_graph.contracts import AgentStep, Invocation


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins. Times are ISO 8601 in UTC."""

    run_id: str
    session_id: str
    agent_flow: str
    question: str
    model: str
    started_at: str
    replay_of: str | None = None


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A node attempt begins. `attempt` counts technical attempts, `round` evidence rounds; both from 1."""

    node: str
    attempt: int
    round: int


@dataclass(frozen=True, slots=True)
class NodeFinished:
    """A node attempt ended; `attempt` is the trace's (technical attempt, or round)."""

    node: str
    outcome: str
    reason_code: str
    attempt: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call is about to be executed. `invocation_id` is the one it will be recorded under."""

    invocation_id: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call was answered; `reused` when an earlier equal call answers it and nothing new was recorded."""

    invocation: Invocation
    reused: bool = False


@dataclass(frozen=True, slots=True)
class AgentFinished:
    """An agent call ended, well or badly."""

    step: AgentStep


@dataclass(frozen=True, slots=True)
class RunFinished:
    """A run ended. `record` is the run's row: the envelope's `run` object with snake_case keys."""

    run_id: str
    status: str
    answer: str | None
    verdict: str | None
    model_verdict: str | None
    failure_reason: str | None
    orchestration_trace: dict[str, Any]
    gatekeeper: dict[str, Any] | None
    verifier: dict[str, Any] | None
    findings: list[dict[str, Any]]
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    tool_calls: int
    duration_ms: int
    finished_at: str


Event = RunStarted | NodeStarted | NodeFinished | ToolStarted | ToolFinished | AgentFinished | RunFinished
Listener = Callable[[Event], None]
