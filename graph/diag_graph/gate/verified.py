"""What goes on from the gate: passed bindings, the claims that have one, and nothing else that an agent wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from diag_graph.contracts import (
    Binding,
    CheckedBinding,
    ClaimFlag,
    GatekeeperAudit,
    JsonObject,
    VerifiedClaim,
    VerifiedDocument,
    VerifiedEvidence,
)
from diag_graph.gate.claims import ReadClaim, read_claims
from diag_graph.gate.numbers import ungrounded_numbers
from diag_graph.gate.values import well_formed


class _Passed(NamedTuple):
    binding: Binding
    evidence: VerifiedEvidence


def build_verified(
    document: JsonObject,
    audit: GatekeeperAudit,
    guidance_tools: AbstractSet[str],
    empty_invocations: AbstractSet[str] = frozenset(),
) -> VerifiedDocument:
    """The executor's document with passed bindings alone.

    Claims left with none are dropped, and so are claims without an id or a text and later bearers of an id that is
    taken: nobody could say what their bindings support. Everything else that the executor wrote stays behind.

    Args:
        document: The document that the audit is of.
        audit: The gatekeeper's audit of it.
        guidance_tools: Names of tools that return advice, never evidence of what happened (G6).
        empty_invocations: Ids of invocations that found nothing (G8).

    Raises:
        ValueError: the audit is not of this document.
    """
    return VerifiedDocument(
        claims=tuple(
            VerifiedClaim(
                claim_id=passed[0].evidence.claim_id,
                claim=claim.text,
                kind=claim.kind,
                entity=claim.entity,
                evidence_bindings=tuple(entry.binding for entry in passed),
                flags=_flags(claim, [entry.evidence for entry in passed], guidance_tools, empty_invocations),
            )
            for claim, passed in _verified_claims(document, audit)
        )
    )


def verified_evidence(document: JsonObject, audit: GatekeeperAudit) -> tuple[VerifiedEvidence, ...]:
    """The matched texts of all bindings in the verified document, in its order; as many as bindings were verified.

    Raises:
        ValueError: the audit is not of this document.
    """
    return tuple(entry.evidence for _, passed in _verified_claims(document, audit) for entry in passed)


def _verified_claims(document: JsonObject, audit: GatekeeperAudit) -> Iterator[tuple[ReadClaim, list[_Passed]]]:
    """Claims that go on, each with its passed bindings.

    Document and audit are walked side by side: bindings have no names by which to look one up in the other.
    """
    claims = read_claims(document)
    if sum(len(claim.bindings) for claim in claims) != len(audit.checked_bindings):
        raise ValueError("the audit is of another document: it checked another number of bindings")
    checks = iter(audit.checked_bindings)
    for claim in claims:
        pairs = list(zip(claim.bindings, islice(checks, len(claim.bindings)), strict=True))
        if claim.is_sound:
            passed = [_passed(binding, check) for binding, check in pairs if check.status == "pass"]
            if passed:
                yield claim, passed


def _passed(binding: JsonObject, check: CheckedBinding) -> _Passed:
    evidence = VerifiedEvidence.model_validate(check, from_attributes=True)
    return _Passed(
        Binding(
            source_invocation_id=evidence.source_invocation_id,
            raw_path=evidence.raw_path,
            evidence_excerpt=well_formed(binding["evidence_excerpt"]),
        ),
        evidence,
    )


def _flags(
    claim: ReadClaim,
    evidence: Sequence[VerifiedEvidence],
    guidance_tools: AbstractSet[str],
    empty_invocations: AbstractSet[str],
) -> tuple[ClaimFlag, ...]:
    flags: list[ClaimFlag] = []
    # What a runbook says grounds no number of a claim that cites evidence too: it shows nothing of what happened (G6).
    shown = [entry for entry in evidence if entry.tool_name not in guidance_tools] or evidence
    if ungrounded_numbers(claim.text, (entry.matched_text for entry in shown)):
        flags.append(ClaimFlag.UNGROUNDED_NUMBER)
    if all(entry.tool_name in guidance_tools for entry in evidence):
        flags.append(ClaimFlag.GUIDANCE_ONLY)
    if all(entry.source_invocation_id in empty_invocations for entry in evidence):
        flags.append(ClaimFlag.EMPTY_ONLY)
    return tuple(flags)
