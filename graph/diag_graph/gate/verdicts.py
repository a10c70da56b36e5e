"""Verdicts that code reaches: the gate's status, the ceiling, the effective verdict, and what may be said under it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from diag_graph.contracts import (
    Advice,
    AllowedClaim,
    Citation,
    ClaimFlag,
    ClaimKind,
    FactCheck,
    GatekeeperAudit,
    Severity,
    Standing,
    Verification,
    VerifiedClaim,
    VerifiedDocument,
    VerifiedEvidence,
)
from diag_graph.topology import Verdict

_FROM_LOWEST = (Verdict.REJECT, Verdict.LOW_CONFID, Verdict.PASS)
_FROM_WEAKEST = (
    Verification.CONTRADICTED,
    Verification.NO_EVIDENCE,
    Verification.INDIRECT_SUPPORT,
    Verification.DIRECT_SUPPORT,
)

_AUDIT_STATUS: dict[tuple[str, Severity | None], Verdict] = {
    ("pass", None): Verdict.PASS,
    ("fail", Severity.LOW_CONFID): Verdict.LOW_CONFID,
}

_STANDINGS: dict[tuple[Verification, Verdict], dict[ClaimKind, Standing]] = {
    (Verification.DIRECT_SUPPORT, Verdict.PASS): dict.fromkeys(ClaimKind, Standing.CONFIRMED),
    (Verification.DIRECT_SUPPORT, Verdict.LOW_CONFID): {
        ClaimKind.ROOT_CAUSE: Standing.LIKELY,
        ClaimKind.OBSERVATION: Standing.CONFIRMED,
        ClaimKind.NO_EVIDENCE: Standing.CONFIRMED,
    },
    (Verification.DIRECT_SUPPORT, Verdict.REJECT): {
        ClaimKind.OBSERVATION: Standing.CONFIRMED,
        ClaimKind.NO_EVIDENCE: Standing.CONFIRMED,
    },
    (Verification.INDIRECT_SUPPORT, Verdict.PASS): dict.fromkeys(ClaimKind, Standing.POSSIBLE),
    (Verification.INDIRECT_SUPPORT, Verdict.LOW_CONFID): dict.fromkeys(ClaimKind, Standing.POSSIBLE),
}
"""How firmly a claim may be said (contract section 5, "Allowed claims"). What stands in no row is not allowed."""


def gate_status(audit: GatekeeperAudit | None) -> Verdict:
    """The gate's status for an audit (G1); an audit that is missing or contradicts itself is a rejection."""
    return Verdict.REJECT if audit is None else _AUDIT_STATUS.get((audit.status, audit.severity), Verdict.REJECT)


def ceiling(audit: GatekeeperAudit, verified_binding_count: int) -> Verdict:
    """The highest verdict that a round may reach: nothing verified is never a PASS.

    Args:
        audit: The gatekeeper's audit.
        verified_binding_count: Bindings that reached the verified document.
    """
    passed = gate_status(audit) is Verdict.PASS and verified_binding_count > 0
    return Verdict.PASS if passed else Verdict.LOW_CONFID


def effective(model_verdict: Verdict, highest: Verdict) -> Verdict:
    """The verdict that counts: the lower of the verifier's own and the ceiling."""
    return min(model_verdict, highest, key=_FROM_LOWEST.index)


def allowed_claims(
    verified: VerifiedDocument,
    evidence: Sequence[VerifiedEvidence],
    facts_checked: Iterable[FactCheck],
    verdict: Verdict,
) -> tuple[AllowedClaim, ...]:
    """The claims that an answer may state, and how firmly.

    When the verifier judged several facts of one claim, the weakest judgement counts: a claim is no firmer than its
    weakest part. Facts that name no claim support none.

    Args:
        verified: The document after the gate.
        evidence: The matched texts of its bindings.
        facts_checked: The verifier's judgements.
        verdict: The effective verdict.

    Returns:
        Root causes first, then the rest, each in the document's order.
    """
    judged = _weakest(facts_checked)
    ranked = sorted(verified.claims, key=lambda claim: claim.kind is not ClaimKind.ROOT_CAUSE)
    cited: dict[str, list[VerifiedEvidence]] = defaultdict(list)
    for entry in evidence:
        cited[entry.claim_id].append(entry)
    allowed: list[AllowedClaim] = []
    for claim in ranked:
        standing = _standing(claim, judged.get(claim.claim_id), verdict)
        citations = tuple(_citation(entry) for entry in cited[claim.claim_id])
        if standing is not None and citations:
            allowed.append(
                AllowedClaim(
                    claim_id=claim.claim_id,
                    kind=claim.kind,
                    standing=standing,
                    entity=claim.entity,
                    text=claim.claim,
                    citations=citations,
                )
            )
    return tuple(allowed)


def advice(
    verified: VerifiedDocument,
    evidence: Sequence[VerifiedEvidence],
    facts_checked: Iterable[FactCheck],
    verdict: Verdict,
) -> tuple[Advice, ...]:
    """What may be passed on of guidance (G6): only that it is advised, and only in its own words.

    A claim that rests on guidance alone says what a runbook recommends or it says nothing: one that blames somebody, or
    that something was not found, is left out, and so is one that its verifier did not find in the text.

    Args:
        verified: The document after the gate.
        evidence: The matched texts of its bindings.
        facts_checked: The verifier's judgements.
        verdict: The effective verdict.

    Returns:
        In the document's order; claims that cite the same texts as an earlier one are left out.
    """
    judged = _weakest(facts_checked)
    found: dict[tuple[Citation, ...], Advice] = {}
    for claim in verified.claims:
        said = _STANDINGS.get((judged.get(claim.claim_id, Verification.NO_EVIDENCE), verdict), {}).get(claim.kind)
        advises = ClaimFlag.GUIDANCE_ONLY in claim.flags and ClaimFlag.EMPTY_ONLY not in claim.flags
        if advises and claim.kind is ClaimKind.OBSERVATION and said is Standing.CONFIRMED:
            citations = tuple(_citation(entry) for entry in evidence if entry.claim_id == claim.claim_id)
            found.setdefault(citations, Advice(claim_id=claim.claim_id, citations=citations))
    return tuple(found.values())


def _weakest(facts: Iterable[FactCheck]) -> Mapping[str, Verification]:
    judged: dict[str, Verification] = {}
    for fact in facts:
        if fact.claim_id is not None:
            earlier = judged.get(fact.claim_id, fact.verification)
            judged[fact.claim_id] = min(earlier, fact.verification, key=_FROM_WEAKEST.index)
    return judged


def _standing(claim: VerifiedClaim, verification: Verification | None, verdict: Verdict) -> Standing | None:
    empty_only = ClaimFlag.EMPTY_ONLY in claim.flags and claim.kind is not ClaimKind.NO_EVIDENCE
    if verification is None or ClaimFlag.GUIDANCE_ONLY in claim.flags or empty_only:
        return None
    standing = _STANDINGS.get((verification, verdict), {}).get(claim.kind)
    if standing is not None and ClaimFlag.UNGROUNDED_NUMBER in claim.flags:
        return Standing.POSSIBLE
    return standing


def _citation(entry: VerifiedEvidence) -> Citation:
    return Citation(
        invocation_id=entry.source_invocation_id,
        tool=entry.tool_name,
        path=entry.raw_path,
        matched_text=entry.matched_text,
    )
