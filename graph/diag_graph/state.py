"""The graph's state, and the narrow view of it that each node gets.

Three layers keep a node's sight narrow (S1):

* `DiagnosisState` is what LangGraph holds. Only the wrapper in `build` and the guards in `routing` know it.
* The `...Channels` name, for each node, the keys that LangGraph hands to it at all (its `input_schema`).
* The frozen `...Input` models are all that an agent is given; the node's body builds them from its channels.

Every key is replaced by what a node returns, but for `orchestration_events`, which is appended to.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from diag_graph.contracts import (
    AllowedClaim,
    CompletedQuery,
    ComposedAnswer,
    DiagnosisContext,
    FactCheck,
    Frozen,
    GatekeeperAudit,
    JsonObject,
    Plan,
    RetryContext,
    Turn,
    VerifiedDocument,
    VerifiedEvidence,
    VerifierResult,
)
from diag_graph.topology import AgentStatus, ExecutorStatus, Node, PlannerMode, Verdict


class Event(TypedDict):
    """What one node attempt did (contract section 8)."""

    node: str
    outcome: str
    reason_code: str
    attempt: int


class Control(TypedDict, total=False):
    """What the wrapper needs at every node to count attempts and to write events."""

    planner_retry_count: int
    verifier_retry_count: int
    composer_retry_count: int
    evidence_retry_count: int
    orchestration_events: Annotated[list[Event], operator.add]


class DiagnosisState(Control, total=False):
    """The whole state (contract section 3). It holds no prompt, no model reasoning and no raw tool result."""

    diagnosis_context: DiagnosisContext
    planner_plan: Plan | None
    planner_status: AgentStatus | None
    planner_mode: PlannerMode
    executor_output: JsonObject | None
    executor_status: ExecutorStatus | None
    gatekeeper_result: GatekeeperAudit | None
    gatekeeper_status: Verdict | None
    verified_executor_output: VerifiedDocument | None
    verified_evidence: tuple[VerifiedEvidence, ...]
    verified_binding_count: int
    verifier_verdict_ceiling: Verdict | None
    verifier_output: VerifierResult | None
    verifier_status: AgentStatus | None
    verifier_model_verdict: Verdict | None
    effective_verdict: Verdict | None
    composer_output: ComposedAnswer | None
    composer_status: AgentStatus | None
    retry_context: RetryContext | None
    final_answer: str | None
    failure_reason: str | None


# --- what LangGraph hands to each node -------------------------------------------------------------------------


class PlannerChannels(Control, total=False):
    """Planner: the question, and in round two what is missing."""

    diagnosis_context: DiagnosisContext
    planner_mode: PlannerMode
    retry_context: RetryContext | None


class ExecutorChannels(Control, total=False):
    """Executor: the question, the plan, and in round two the prior verified output."""

    diagnosis_context: DiagnosisContext
    planner_plan: Plan | None
    retry_context: RetryContext | None


class GatekeeperChannels(Control, total=False):
    """Gatekeeper: the executor's output; invocations come from this run's ledger."""

    executor_output: JsonObject | None


class VerifiedInputChannels(Control, total=False):
    """Verified input: the executor's output and its audit."""

    executor_output: JsonObject | None
    gatekeeper_result: GatekeeperAudit | None
    gatekeeper_status: Verdict | None


class VerifierChannels(Control, total=False):
    """Verifier: what was verified, and the ceiling that the wrapper applies to its verdict."""

    diagnosis_context: DiagnosisContext
    verified_executor_output: VerifiedDocument | None
    gatekeeper_result: GatekeeperAudit | None
    verified_evidence: tuple[VerifiedEvidence, ...]
    verifier_verdict_ceiling: Verdict | None


class EvidenceRetryChannels(Control, total=False):
    """Evidence retry: what was verified and what the verifier missed."""

    verified_executor_output: VerifiedDocument | None
    verified_evidence: tuple[VerifiedEvidence, ...]
    verifier_output: VerifierResult | None


class ComposerChannels(Control, total=False):
    """Composer: what the allowed claims are computed from."""

    diagnosis_context: DiagnosisContext
    verified_executor_output: VerifiedDocument | None
    verified_evidence: tuple[VerifiedEvidence, ...]
    verifier_output: VerifierResult | None
    effective_verdict: Verdict | None


class FallbackChannels(ComposerChannels, total=False):
    """Fallback: the cause (the last event), and for a composer cause what was verified."""

    failure_reason: str | None


# --- what a node's body is given -------------------------------------------------------------------------------


class ToolCard(Frozen):
    """An evidence tool as the planner sees it."""

    name: str
    summary: str


class SkillCard(Frozen):
    """A skill as the planner sees it; its body is never here."""

    name: str
    description: str


class PlannerInput(Frozen):
    """All that a planner may know."""

    question: str
    history: tuple[Turn, ...] = ()
    now: str
    mode: PlannerMode = PlannerMode.NORMAL
    evidence_gaps: tuple[FactCheck, ...] = ()
    """In round two: what the verifier could not find support for (E1)."""
    completed_queries: tuple[CompletedQuery, ...] = ()
    confirmed_facts: tuple[str, ...] = ()
    """In round two: the texts of claims that the verifier confirmed, for orientation."""
    tools: tuple[ToolCard, ...] = ()
    skills: tuple[SkillCard, ...] = ()
    knowledge_domains: tuple[str, ...] = ()
    format_reminder: str | None = None
    """Set on a technical retry, for a model: the fixed reminder of the contract (R3)."""


class ExecutorInput(Frozen):
    """All that an executor may know; tools are handed to it beside this."""

    question: str
    now: str
    plan: Plan
    retry_context: RetryContext | None = None


class VerifierInput(Frozen):
    """All that a verifier may know."""

    question: str
    verified_output: VerifiedDocument
    audit: GatekeeperAudit
    evidence: tuple[VerifiedEvidence, ...]
    format_reminder: str | None = None


READ_GUIDANCE = "Read what the runbooks advise: it is quoted here, each passage with its source."
"""The recommended action that stands for verified guidance: code adds the passages to the next steps (G6).

Their words are not the composer's to see.
"""


class ComposerInput(Frozen):
    """All that a composer may know."""

    question: str
    allowed_claims: tuple[AllowedClaim, ...]
    verdict: Verdict
    missing_info: tuple[str, ...] = ()
    recommended_actions: tuple[str, ...] = ()
    format_reminder: str | None = None


Update = dict[str, Any]
"""A node's update of the state; its keys are checked against `OWN_KEYS` once, in the wrapper."""

OWN_KEYS: dict[Node, frozenset[str]] = {
    Node.PLANNER: frozenset({"planner_plan", "planner_status"}),
    Node.EXECUTOR: frozenset({"executor_output", "executor_status"}),
    Node.GATEKEEPER: frozenset({"gatekeeper_result", "gatekeeper_status"}),
    Node.VERIFIED_INPUT: frozenset(
        {"verified_executor_output", "verified_evidence", "verified_binding_count", "verifier_verdict_ceiling"}
    ),
    Node.VERIFIER: frozenset({"verifier_output", "verifier_status", "verifier_model_verdict", "effective_verdict"}),
    Node.EVIDENCE_RETRY: frozenset({"retry_context"}),
    Node.COMPOSER: frozenset({"composer_output", "composer_status", "final_answer"}),
    Node.FALLBACK: frozenset({"final_answer"}),
}
"""What each node's body writes, and nothing else: counters, mode, events and failure reason are the graph's (R2).

A key of its own that a body leaves out becomes null, so that nothing of an earlier round can stand in for it.
"""
