"""The shape of the diagnosis graph, as data: nodes, statuses, reason codes and the routing table.

Every vocabulary stands here once. Nothing in this module decides; `routing` reads the table against a state.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

RECURSION_LIMIT = 32
"""LangGraph's super-step limit for a run: a last safeguard, never the thing that stops a loop (R4)."""

TRACE_VERSION = "stategraph-v1"


class Node(StrEnum):
    """The eight nodes."""

    PLANNER = "planner"
    EXECUTOR = "executor"
    GATEKEEPER = "gatekeeper"
    VERIFIED_INPUT = "verified_input"
    VERIFIER = "verifier"
    EVIDENCE_RETRY = "evidence_retry"
    COMPOSER = "composer"
    FALLBACK = "fallback"


END = "__end__"
"""The pseudo-node that ends a run (LangGraph's own name for it)."""


class AgentStatus(StrEnum):
    """How a planner, verifier or composer attempt went, technically."""

    COMPLETED = "COMPLETED"
    INVALID_OUTPUT = "INVALID_OUTPUT"
    RETRYABLE_FAILED = "RETRYABLE_FAILED"
    NON_RETRYABLE_FAILED = "NON_RETRYABLE_FAILED"


class ExecutorStatus(StrEnum):
    """How the executor's attempt went. It speaks of its output, not of how its tools fared."""

    COMPLETED = "COMPLETED"
    INVALID_OUTPUT = "INVALID_OUTPUT"
    TOOL_BLOCKED = "TOOL_BLOCKED"
    FAILED = "FAILED"


class Verdict(StrEnum):
    """A gatekeeper status, a verifier verdict, a ceiling."""

    PASS = "PASS"
    LOW_CONFID = "LOW_CONFID"
    REJECT = "REJECT"


class PlannerMode(StrEnum):
    """What the planner is asked for: a plan, or increments that close evidence gaps."""

    NORMAL = "NORMAL"
    EVIDENCE_GAP_ONLY = "EVIDENCE_GAP_ONLY"


class FailureKind(StrEnum):
    """Why an agent call failed, in our words; foreign exceptions are mapped to these at one border."""

    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    UNAVAILABLE = "unavailable"
    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    CONTEXT_LENGTH = "context_length"
    CONFIG = "config"
    TOOL_BLOCKED = "tool_blocked"
    OTHER = "other"


RETRYABLE_KINDS = frozenset({FailureKind.TIMEOUT, FailureKind.RATE_LIMIT, FailureKind.UNAVAILABLE})


class Condition(StrEnum):
    """What must hold of the state, besides the source's status, for a route to be taken."""

    ALWAYS = "always"
    FIRST_TECHNICAL_FAILURE = "first technical failure"
    HAS_VERIFIED_BINDING = "at least one passed binding"
    EVIDENCE_GAP_OPEN = "ceiling PASS, a gap, no evidence round yet"
    VERDICT_PASS_OR_REJECT = "effective verdict PASS or REJECT"
    VERDICT_LOW_CONFID = "effective verdict LOW_CONFID"


class Route(NamedTuple):
    """One row of the routing table. Rows of a source are tried in order; the first that holds is taken.

    Attributes:
        source: The node that has just run.
        statuses: Values of the source's status for which the row applies; empty for a node without a status.
        condition: What else must hold.
        target: Where the run goes: a node's name, or `END`.
    """

    source: Node
    statuses: tuple[str, ...]
    condition: Condition
    target: str


_TECHNICAL = (AgentStatus.INVALID_OUTPUT, AgentStatus.RETRYABLE_FAILED)
_DONE = (AgentStatus.COMPLETED,)


def _agent_failures(node: Node) -> tuple[Route, ...]:
    return (
        Route(node, _TECHNICAL, Condition.FIRST_TECHNICAL_FAILURE, node),
        Route(node, (*_TECHNICAL, AgentStatus.NON_RETRYABLE_FAILED), Condition.ALWAYS, Node.FALLBACK),
    )


ROUTES: tuple[Route, ...] = (
    Route(Node.PLANNER, _DONE, Condition.ALWAYS, Node.EXECUTOR),
    *_agent_failures(Node.PLANNER),
    Route(Node.EXECUTOR, (ExecutorStatus.COMPLETED,), Condition.ALWAYS, Node.GATEKEEPER),
    Route(
        Node.EXECUTOR,
        (ExecutorStatus.INVALID_OUTPUT, ExecutorStatus.TOOL_BLOCKED, ExecutorStatus.FAILED),
        Condition.ALWAYS,
        Node.FALLBACK,
    ),
    Route(Node.GATEKEEPER, (Verdict.PASS,), Condition.ALWAYS, Node.VERIFIED_INPUT),
    Route(Node.GATEKEEPER, (Verdict.LOW_CONFID,), Condition.HAS_VERIFIED_BINDING, Node.VERIFIED_INPUT),
    Route(Node.GATEKEEPER, (Verdict.LOW_CONFID, Verdict.REJECT), Condition.ALWAYS, Node.FALLBACK),
    Route(Node.VERIFIED_INPUT, (), Condition.ALWAYS, Node.VERIFIER),
    Route(Node.VERIFIER, _DONE, Condition.VERDICT_PASS_OR_REJECT, Node.COMPOSER),
    Route(Node.VERIFIER, _DONE, Condition.EVIDENCE_GAP_OPEN, Node.EVIDENCE_RETRY),
    Route(Node.VERIFIER, _DONE, Condition.VERDICT_LOW_CONFID, Node.COMPOSER),
    *_agent_failures(Node.VERIFIER),
    Route(Node.EVIDENCE_RETRY, (), Condition.ALWAYS, Node.PLANNER),
    Route(Node.COMPOSER, _DONE, Condition.ALWAYS, END),
    *_agent_failures(Node.COMPOSER),
    Route(Node.FALLBACK, (), Condition.ALWAYS, END),
)
"""The whole of contract section 2. What no row covers goes to fallback (R1)."""


STATUS_KEY: dict[Node, str] = {
    Node.PLANNER: "planner_status",
    Node.EXECUTOR: "executor_status",
    Node.GATEKEEPER: "gatekeeper_status",
    Node.VERIFIER: "verifier_status",
    Node.COMPOSER: "composer_status",
}
"""Where a node's status stands in the state; the other nodes have none and always complete."""

RETRY_KEY: dict[Node, str] = {
    Node.PLANNER: "planner_retry_count",
    Node.VERIFIER: "verifier_retry_count",
    Node.COMPOSER: "composer_retry_count",
}
"""Where the count of a node's technical retries stands."""


class Reason(StrEnum):
    """Reason codes of the orchestration trace: why a node attempt ended as it did."""

    PLANNER_COMPLETED = "planner_completed"
    PLANNER_INVALID_OUTPUT = "planner_invalid_output"
    PLANNER_RETRYABLE_FAILED = "planner_retryable_failed"
    PLANNER_NON_RETRYABLE_FAILED = "planner_non_retryable_failed"
    PLANNER_UNKNOWN_STATUS = "planner_unknown_status"
    PLANNER_ERROR = "planner_error"
    EXECUTOR_COMPLETED = "executor_completed"
    EXECUTOR_INVALID_OUTPUT = "executor_invalid_output"
    EXECUTOR_TOOL_BLOCKED = "executor_tool_blocked"
    EXECUTOR_FAILED = "executor_failed"
    EXECUTOR_UNKNOWN_STATUS = "executor_unknown_status"
    EXECUTOR_ERROR = "executor_error"
    GATEKEEPER_PASS = "gatekeeper_pass"
    GATEKEEPER_LOW_CONFID = "gatekeeper_low_confid"
    GATEKEEPER_NO_VERIFIED_BINDING = "gatekeeper_no_verified_binding"
    GATEKEEPER_REJECT = "gatekeeper_reject"
    GATEKEEPER_UNKNOWN_STATUS = "gatekeeper_unknown_status"
    GATEKEEPER_ERROR = "gatekeeper_error"
    VERIFIED_INPUT_BUILT = "verified_input_built"
    VERIFIED_INPUT_UNKNOWN_STATUS = "verified_input_unknown_status"
    VERIFIED_INPUT_ERROR = "verified_input_error"
    VERIFIER_PASS = "verifier_pass"
    VERIFIER_REJECT = "verifier_reject"
    VERIFIER_LOW_CONFID_CEILING = "verifier_low_confid_ceiling"
    VERIFIER_LOW_CONFID_NO_GAP = "verifier_low_confid_no_gap"
    VERIFIER_LOW_CONFID_RETRY_SPENT = "verifier_low_confid_retry_spent"
    VERIFIER_EVIDENCE_GAP = "verifier_evidence_gap"
    VERIFIER_INVALID_OUTPUT = "verifier_invalid_output"
    VERIFIER_RETRYABLE_FAILED = "verifier_retryable_failed"
    VERIFIER_NON_RETRYABLE_FAILED = "verifier_non_retryable_failed"
    VERIFIER_UNKNOWN_STATUS = "verifier_unknown_status"
    VERIFIER_ERROR = "verifier_error"
    EVIDENCE_RETRY_PREPARED = "evidence_retry_prepared"
    EVIDENCE_RETRY_UNKNOWN_STATUS = "evidence_retry_unknown_status"
    EVIDENCE_RETRY_ERROR = "evidence_retry_error"
    COMPOSER_COMPLETED = "composer_completed"
    COMPOSER_INVALID_OUTPUT = "composer_invalid_output"
    COMPOSER_RETRYABLE_FAILED = "composer_retryable_failed"
    COMPOSER_NON_RETRYABLE_FAILED = "composer_non_retryable_failed"
    COMPOSER_UNKNOWN_STATUS = "composer_unknown_status"
    COMPOSER_ERROR = "composer_error"
    FALLBACK_ERROR = "fallback_error"


STATUS_REASON: dict[tuple[Node, str], Reason] = {
    **{
        (node, status): Reason(f"{node}_{status.lower()}")
        for node in (Node.PLANNER, Node.COMPOSER)
        for status in AgentStatus
    },
    **{(Node.EXECUTOR, status): Reason(f"executor_{status.lower()}") for status in ExecutorStatus},
    **{
        (Node.VERIFIER, status): Reason(f"verifier_{status.lower()}")
        for status in AgentStatus
        if status is not AgentStatus.COMPLETED
    },
    (Node.GATEKEEPER, Verdict.PASS): Reason.GATEKEEPER_PASS,
    (Node.GATEKEEPER, Verdict.REJECT): Reason.GATEKEEPER_REJECT,
}
"""Reasons that a status alone decides; a verdict's and the gatekeeper's LOW_CONFID need more of the state."""
