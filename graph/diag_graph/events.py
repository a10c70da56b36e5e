"""What happens in a run, as small frozen classes in one union. The store and the renderers listen; nobody answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from diag_graph.contracts import Invocation
from diag_graph.outcome import AgentStep, RunDocument, RunRow
from diag_graph.usage import Usage


@dataclass(frozen=True, slots=True)
class EvidenceRead:
    """Much evidence is being read, before a run or within one: so far `done` of `total` bytes, now of `source`."""

    source: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins; `run` is its row, status RUNNING."""

    run: RunRow


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
class ModelAnswered:
    """A model answered one request of an agent, whose call goes on; `usage` is that call's so far."""

    agent: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class AgentFinished:
    """An agent call ended, well or badly."""

    step: AgentStep


@dataclass(frozen=True, slots=True)
class RunFinished:
    """A run ended, well or badly."""

    document: RunDocument


Event = (
    EvidenceRead
    | RunStarted
    | NodeStarted
    | NodeFinished
    | ToolStarted
    | ToolFinished
    | ModelAnswered
    | AgentFinished
    | RunFinished
)
Listener = Callable[[Event], None]

_log = logging.getLogger(__name__)


def tell(listeners: Sequence[Listener], event: Event) -> None:
    """Tell everybody. A listener only shows or keeps what happened: its fault must never change what the run does."""
    for listener in listeners:
        try:
            listener(event)
        except Exception:  # noqa: BLE001 - see above
            _log.exception("a listener failed on %s", type(event).__name__)
