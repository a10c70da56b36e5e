"""The frozen documents that nodes and agents hand to each other.

Documents that an agent writes are read through these models and through nothing else; unknown extra fields are
ignored, and nothing is repaired. The executor's document is the exception: it stays the parsed JSON object, for
structure errors inside a claim or a binding are the gatekeeper's to judge.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from diag_graph.topology import PlannerMode, Verdict

JsonObject = dict[str, Any]
"""A parsed JSON object whose shape nobody has vouched for."""

EVIDENCE_SCHEMA = "executor_evidence_v2"


class Frozen(BaseModel):
    """Base of every contract: immutable, tolerant of extra fields."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


# --- what is asked -------------------------------------------------------------------------------------------


class Turn(Frozen):
    """One earlier question of the conversation and the answer that was given."""

    question: str
    answer: str


class DiagnosisContext(Frozen):
    """What a run is about."""

    question: str
    """The user's question, as typed."""
    history: tuple[Turn, ...] = ()
    """Earlier turns of the session, oldest first."""
    session_id: str
    run_id: str
    now: str
    """The run's clock, ISO 8601 in UTC."""


# --- planner -------------------------------------------------------------------------------------------------


class PlanStep(Frozen):
    """One step of a plan: a goal, and the tool call that should reach it."""

    step_id: str = ""
    goal: str = ""
    """What the step is to find out, in words."""
    tool: str | None = None
    """Name of an evidence tool."""
    arguments: JsonObject = Field(default_factory=dict)
    """Arguments of the tool call."""


class Plan(Frozen):
    """The planner's output."""

    intent: str = ""
    """What the user wants to know, in one sentence."""
    selected_skill: str | None = None
    """Name of a registered skill, or null."""
    steps: tuple[PlanStep, ...]

    @field_validator("steps")
    @classmethod
    def _one_step_has_a_goal(cls, steps: tuple[PlanStep, ...]) -> tuple[PlanStep, ...]:
        if not any(step.goal.strip() for step in steps):
            raise ValueError("a plan needs at least one step with a goal")
        return steps


# --- tools ---------------------------------------------------------------------------------------------------


class InvocationStatus(StrEnum):
    """How an executed tool call ended."""

    OK = "ok"
    EMPTY = "empty"
    ERROR = "error"
    BLOCKED = "blocked"


class Invocation(Frozen):
    """One executed tool call of a run, as recorded."""

    id: str
    """`inv-1`, `inv-2`, ... in the order of the run."""
    tool: str
    arguments: JsonObject = Field(default_factory=dict)
    status: InvocationStatus
    result: Any = None
    """The recorded result (secrets masked): a JSON value; null when there was none."""
    error: str | None = None
    duration_ms: int = 0
    round: int = 1
    """The evidence round in which it was made."""
    retrieval_details: JsonObject | None = None


class CompletedQuery(Frozen):
    """A tool call that already succeeded in this run, and need not be made again."""

    tool: str
    arguments: JsonObject


# --- executor evidence, and the gatekeeper's audit of it --------------------------------------------------------


class ClaimKind(StrEnum):
    """What a claim says. What is absent or unknown counts as `root_cause`, the strictest."""

    OBSERVATION = "observation"
    ROOT_CAUSE = "root_cause"
    NO_EVIDENCE = "no_evidence"


class ClaimFlag(StrEnum):
    """A mark on a verified claim that limits what may be said of it."""

    UNGROUNDED_NUMBER = "ungrounded_number"
    """A number of the claim's text stands in none of its matched texts: at most "as possible" (G5)."""
    GUIDANCE_ONLY = "guidance_only"
    """All passed bindings cite guidance (runbooks, skills): never a finding (G6)."""
    EMPTY_ONLY = "empty_only"
    """All passed bindings cite results without a match: it can say that nothing was found, and no more (G8)."""


class FailureCode(StrEnum):
    """Why a binding or a claim did not pass the gatekeeper."""

    INCOMPLETE_BINDING = "incomplete_binding"
    UNKNOWN_INVOCATION = "unknown_invocation"
    INVOCATION_FAILED = "invocation_failed"
    PATH_MISMATCH = "path_mismatch"
    EXCERPT_MISMATCH = "excerpt_mismatch"
    TRIVIAL_EXCERPT = "trivial_excerpt"
    UNBOUND_CLAIM = "unbound_claim"
    MALFORMED_CLAIM = "malformed_claim"
    DUPLICATE_CLAIM_ID = "duplicate_claim_id"


class Severity(StrEnum):
    """How bad a failed check is for the round; the worst one wins (G2)."""

    LOW_CONFID = "low_confid"
    REJECT = "reject"


class CheckedBinding(Frozen):
    """One binding, checked. Fields that the agent left out or mistyped are null."""

    claim_id: str | None
    source_invocation_id: str | None
    tool_name: str | None
    raw_path: str | None
    status: Literal["pass", "fail"]
    failure: FailureCode | None = None
    matched_text: str | None = None
    """Cut from the recorded result, never from the agent's output; at most 500 characters, the match within."""


class ClaimIssue(Frozen):
    """A fault of a claim as a whole."""

    claim_id: str | None
    failure: FailureCode


class GatekeeperAudit(Frozen):
    """The gatekeeper's result for one round."""

    status: Literal["pass", "fail"]
    severity: Severity | None = None
    checked_bindings: tuple[CheckedBinding, ...] = ()
    claim_issues: tuple[ClaimIssue, ...] = ()


class Binding(Frozen):
    """A passed binding, as it stands in the verified document."""

    source_invocation_id: str
    raw_path: str
    evidence_excerpt: str


class VerifiedClaim(Frozen):
    """A claim of which at least one binding passed, with nothing but its passed bindings."""

    claim_id: str
    claim: str
    kind: ClaimKind
    entity: str | None = None
    evidence_bindings: tuple[Binding, ...]
    flags: tuple[ClaimFlag, ...] = ()


class VerifiedDocument(Frozen):
    """The executor's document after the gate: passed bindings, and no free text besides the claims."""

    schema_: str = Field(default=EVIDENCE_SCHEMA, alias="schema")
    claims: tuple[VerifiedClaim, ...] = ()


class VerifiedEvidence(Frozen):
    """The matched text of one passed binding."""

    claim_id: str
    source_invocation_id: str
    tool_name: str
    raw_path: str
    matched_text: str


# --- verifier ------------------------------------------------------------------------------------------------


class Verification(StrEnum):
    """How the evidence stands to a fact."""

    DIRECT_SUPPORT = "direct_support"
    INDIRECT_SUPPORT = "indirect_support"
    NO_EVIDENCE = "no_evidence"
    CONTRADICTED = "contradicted"


class FactCheck(Frozen):
    """The verifier's judgement on one fact."""

    claim_id: str | None = None
    fact: str = ""
    verification: Verification
    reason: str = ""


class VerifierResult(Frozen):
    """The verifier's output. It plans nothing and names no tool."""

    verdict: Verdict
    facts_checked: tuple[FactCheck, ...] = ()
    missing_info: tuple[str, ...] = ()
    recommended_actions: tuple[str, ...] = ()


# --- the second round ----------------------------------------------------------------------------------------


class RetryConstraints(Frozen):
    """Limits of the evidence round."""

    max_retry: int = 1
    do_not_repeat_successful_queries: bool = True
    only_execute_incremental_queries: bool = True
    preserve_prior_verified_claims: bool = True


class RetryContext(Frozen):
    """What the second round is told: the gaps, and what is known already."""

    mode: PlannerMode = PlannerMode.EVIDENCE_GAP_ONLY
    prior_verified_output: VerifiedDocument
    prior_verified_evidence: tuple[VerifiedEvidence, ...] = ()
    evidence_gaps: tuple[FactCheck, ...]
    confirmed_facts: tuple[str, ...] = ()
    """Texts of the claims that the verifier confirmed, for the planner's orientation (E1)."""
    completed_queries: tuple[CompletedQuery, ...] = ()
    constraints: RetryConstraints = RetryConstraints()


# --- composer, and the answer ---------------------------------------------------------------------------------


class Standing(StrEnum):
    """How firmly an allowed claim may be said."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Citation(Frozen):
    """Where a statement's text stands in this run's recorded results."""

    invocation_id: str
    tool: str
    path: str
    """JSON Pointer (RFC 6901) into the recorded result."""
    matched_text: str


class AllowedClaim(Frozen):
    """A claim that the answer may state, and how firmly."""

    claim_id: str
    kind: ClaimKind
    standing: Standing
    entity: str | None = None
    text: str
    citations: tuple[Citation, ...]


class Advice(Frozen):
    """What guidance advises (G6): a next step of the answer in the words of the guidance itself, and no finding."""

    claim_id: str
    citations: tuple[Citation, ...]


class ComposedFinding(Frozen):
    """One statement of the answer and the allowed claims that it rests on."""

    claim_ids: tuple[str, ...]
    text: str


class ComposedAnswer(Frozen):
    """The composer's output. Code renders it; a model never writes a citation (C3)."""

    summary: str
    findings: tuple[ComposedFinding, ...] = ()
    limitations: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
