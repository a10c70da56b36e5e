"""The gatekeeper: every binding of every claim, against what this run's tools really returned (contract section 5).

`check_document` is the door that must not fall. What it guards, `audit_document`, is a pure function of the document
and the recorded invocations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from diag_graph.contracts import (
    CheckedBinding,
    ClaimIssue,
    FailureCode,
    GatekeeperAudit,
    Invocation,
    InvocationStatus,
    JsonObject,
    Severity,
)
from diag_graph.gate.borders import find_excerpt
from diag_graph.gate.claims import read_claims
from diag_graph.gate.matched import matched_text
from diag_graph.gate.normalise import normalise
from diag_graph.gate.recorded import RecordedResults
from diag_graph.gate.values import well_formed

SEVERITY: dict[FailureCode, Severity] = {
    FailureCode.INCOMPLETE_BINDING: Severity.LOW_CONFID,
    FailureCode.UNKNOWN_INVOCATION: Severity.REJECT,
    FailureCode.INVOCATION_FAILED: Severity.LOW_CONFID,
    FailureCode.PATH_MISMATCH: Severity.REJECT,
    FailureCode.EXCERPT_MISMATCH: Severity.REJECT,
    FailureCode.TRIVIAL_EXCERPT: Severity.LOW_CONFID,
    FailureCode.UNBOUND_CLAIM: Severity.LOW_CONFID,
    FailureCode.MALFORMED_CLAIM: Severity.LOW_CONFID,
    FailureCode.DUPLICATE_CLAIM_ID: Severity.LOW_CONFID,
}
"""What each failure means for the round."""

RETURNED_A_RESULT = frozenset({InvocationStatus.OK, InvocationStatus.EMPTY})

MIN_EXCERPT = 4
"""Characters other than white space that an excerpt needs, unless it is the whole value."""

UNREADABLE = GatekeeperAudit(status="fail", severity=Severity.REJECT)
"""The audit of what could not be audited (G1)."""


def check_document(document: JsonObject | None, invocations: Sequence[Invocation]) -> GatekeeperAudit:
    """Check a round's document against the run's recorded invocations. Never raises.

    Args:
        document: The executor's `executor_evidence_v2` document; None when there is none.
        invocations: All tool invocations of this run so far, and of no other.

    Returns:
        The audit; a document that is missing or unreadable, or an error in here, is a rejection.
    """
    try:
        return audit_document(document, invocations)
    except Exception:  # noqa: BLE001 - the gate fails closed: whatever went wrong, nothing has been verified (G1)
        return UNREADABLE


def audit_document(document: JsonObject | None, invocations: Sequence[Invocation]) -> GatekeeperAudit:
    """Check every claim and binding of a document.

    Raises:
        ValueError: the document cannot be read, or two invocations bear the same id.
    """
    claims = read_claims(document)
    recorded = RecordedResults(invocations)
    bindings = tuple(_checked(claim.claim_id, binding, recorded) for claim in claims for binding in claim.bindings)
    issues = tuple(ClaimIssue(claim_id=claim.claim_id, failure=failure) for claim in claims for failure in claim.issues)
    severity = worst([*(binding.failure for binding in bindings), *(issue.failure for issue in issues)])
    return GatekeeperAudit(
        status="pass" if severity is None else "fail",
        severity=severity,
        checked_bindings=bindings,
        claim_issues=issues,
    )


def worst(failures: Iterable[FailureCode | None]) -> Severity | None:
    """The severity of a round with these failures: the worst wins (G2); None when nothing failed."""
    severities = {SEVERITY[failure] for failure in failures if failure is not None}
    return next((severity for severity in (Severity.REJECT, Severity.LOW_CONFID) if severity in severities), None)


class _Outcome(NamedTuple):
    failure: FailureCode | None
    matched_text: str | None = None


def _checked(claim_id: str | None, binding: Any, recorded: RecordedResults) -> CheckedBinding:  # noqa: ANN401 - any JSON value
    fields = binding if isinstance(binding, dict) else {}
    invocation_id = _string(fields.get("source_invocation_id"))
    path = _string(fields.get("raw_path"))
    excerpt = _string(fields.get("evidence_excerpt"))
    invocation = recorded.invocation(invocation_id) if invocation_id else None
    if not (invocation_id and path and excerpt):
        outcome = _Outcome(FailureCode.INCOMPLETE_BINDING)
    elif invocation is None:
        outcome = _Outcome(FailureCode.UNKNOWN_INVOCATION)
    elif invocation.status not in RETURNED_A_RESULT:
        outcome = _Outcome(FailureCode.INVOCATION_FAILED)
    else:
        outcome = _compared(invocation_id, path, normalise(excerpt), recorded)
    return CheckedBinding(
        claim_id=claim_id,
        source_invocation_id=_storable(invocation_id),
        tool_name=invocation.tool if invocation else None,
        raw_path=_storable(path),
        status="pass" if outcome.failure is None else "fail",
        failure=outcome.failure,
        matched_text=outcome.matched_text,
    )


def _compared(invocation_id: str, path: str, excerpt: str, recorded: RecordedResults) -> _Outcome:
    """The checks that look into the result."""
    value = recorded.text_at(invocation_id, path)
    if value is None:
        return _Outcome(FailureCode.PATH_MISMATCH)
    start = find_excerpt(value.text, excerpt)
    if start is None:
        elsewhere = recorded.stands_anywhere(invocation_id, excerpt)
        return _Outcome(FailureCode.PATH_MISMATCH if elsewhere else FailureCode.EXCERPT_MISMATCH)
    if not _says_something(excerpt, value.text):
        return _Outcome(FailureCode.TRIVIAL_EXCERPT)
    return _Outcome(None, matched_text(value, start, start + len(excerpt)))


def _says_something(excerpt: str, whole: str) -> bool:
    """Whether an excerpt is long enough, or the whole value. One of nothing but white space says nothing at all."""
    spoken = excerpt.replace(" ", "")
    return len(spoken) >= MIN_EXCERPT or (spoken != "" and excerpt.strip(" ") == whole.strip(" "))


def _string(value: Any) -> str | None:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, str) else None


def _storable(value: str | None) -> str | None:
    return None if value is None else well_formed(value)
