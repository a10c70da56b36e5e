"""A run as a whole: what `ask` and `replay` return, what the store keeps, what `trace` shows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from diag_graph.contracts import AllowedClaim, Frozen, GatekeeperAudit, Invocation, JsonObject, Turn
from diag_graph.topology import FailureKind


class AgentError(Frozen):
    """Why an agent call gave no text."""

    kind: FailureKind
    message: str = ""


class AgentStep(Frozen):
    """One agent call, as recorded."""

    agent: str
    attempt: int
    round: int
    status: str
    output: str | None = None
    """The agent's text, as it came."""
    error: str | None = None
    """The failure, or why the output was not legal."""
    error_kind: FailureKind | None = None
    """Set when the call failed; null when it answered, legally or not."""
    truncated: bool = False
    """The model's token limit cut the output off."""
    model: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    """Of the prompt's tokens, those that the provider had cached; null when it does not say."""
    completion_tokens: int | None = None
    cost_usd: float | None = None
    """Price in US dollars; null when no model was called, or one without a known price."""
    duration_ms: int = 0


class RunStatus(StrEnum):
    """The life cycle of a run; it says nothing of an answer's quality (D1)."""

    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"
    """Never stored: how a run reads that its user ended, or that is RUNNING and whose process is gone (D2)."""


INTERRUPTED_REASON = "interrupted"
"""`failure_reason` of a run that was ended from outside: Ctrl-C, or a signal to the program."""


RECORDED = "recorded"
"""`model` of a run whose agents were a recording."""


class AgentFlow(StrEnum):
    """Who asked: a person, or an alert."""

    CHAT = "CHAT"
    AIOPS = "AIOPS"


class RunRow(Frozen):
    """One run's own data. Times are ISO 8601 in UTC."""

    run_id: str
    session_id: str
    agent_flow: AgentFlow = AgentFlow.CHAT
    status: RunStatus
    question: str
    answer: str | None = None
    verdict: str | None = None
    """The verdict that the answer rests on; null after a fallback from before verification."""
    model_verdict: str | None = None
    """What the verifier itself said, for audit."""
    model: str = ""
    """The language model, `built-in analyst`, or `recorded`."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    tool_calls: int = 0
    duration_ms: int | None = None
    failure_reason: str | None = None
    started_at: str
    """When it began, by the machine's clock."""
    finished_at: str | None = None
    replay_of: str | None = None
    """Of a replay: the run id that the file names."""
    what_if: bool = False
    """Live agents answered, over the tool results of an earlier run."""
    orchestration_trace: JsonObject | None = None

    @property
    def is_replay(self) -> bool:
        """Whether nobody asked this: its agents, or its tools, were a recording. A file need not name its run."""
        return self.what_if or self.replay_of is not None or self.model == RECORDED


class SessionRow(Frozen):
    """One conversation. Times are ISO 8601 in UTC."""

    session_id: str
    title: str
    """Its first question, in one line, shortened."""
    runs: int
    """How many questions were asked in it; replays do not count."""
    created_at: str
    last_asked: str
    """When its latest question was asked."""
    last_verdict: str | None = None
    """The verdict of the latest question's run."""
    incident: str | None = None
    """The folder of evidence that it was last about, as an absolute path; null when it had none."""


class RunDocument(Frozen):
    """A run with everything that it left behind."""

    run: RunRow
    findings: tuple[AllowedClaim, ...] = ()
    """The allowed claims, root causes first; empty after a fallback from before verification."""
    gatekeeper: GatekeeperAudit | None = None
    verifier: JsonObject | None = None
    """The verifier's evaluation: `verdict` (effective), `model_verdict`, `ceiling`, `facts_checked`, `claim_flags`."""
    history: tuple[Turn, ...] = ()
    """The earlier turns of the session that the run was given."""
    now: str | None = None
    """The run's clock, which stands still: a replay's is its file's, whenever it is played. ISO 8601 in UTC."""
    steps: tuple[AgentStep, ...] = ()
    invocations: tuple[Invocation, ...] = ()


def _total(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - a sum of ints, or of floats, or None
    """The sum of what is known; None when nothing is."""
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _cost(steps: Sequence[AgentStep]) -> float | None:
    """What the run cost; None when a part of it has no known price, for half a price misleads."""
    costs = [step.cost_usd for step in steps if step.prompt_tokens is not None or step.cost_usd is not None]
    return None if None in costs else _total(costs)


def used_by(steps: Sequence[AgentStep]) -> dict[str, Any]:
    """The tokens and the cost of a run's steps, as fields of its row."""
    return {
        "prompt_tokens": _total([step.prompt_tokens for step in steps]),
        "completion_tokens": _total([step.completion_tokens for step in steps]),
        "cost_usd": _cost(steps),
    }
