"""The analyst's verifier: reads each claim against its matched texts, and against nothing else.

A statement is supported when its entity, its direction, its times and its numbers stand in its evidence. A cause is
supported when, besides, something of how it comes about is shown (not a symptom alone), when it does not come after what
it is said to cause, and when it is connected with the symptom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diag_graph.agents.analyst.advice import advice_for
from diag_graph.agents.analyst.reading import (
    CAUSAL,
    EvidenceKind,
    directions,
    evidence_kind,
    names_entity,
    squeezed,
    times,
)
from diag_graph.agents.analyst.writing import reply
from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import ClaimFlag, ClaimKind, JsonObject, VerifiedClaim, VerifiedEvidence, Verification
from diag_graph.state import VerifierInput
from diag_graph.topology import Verdict

SIMULTANEOUS = 90.0
"""Seconds by which a cause's first sign may come after the symptom's: clocks and sampling are no finer than this."""


@dataclass(frozen=True, slots=True)
class _Judgement:
    verification: Verification
    reason: str
    kinds: frozenset[EvidenceKind] = frozenset()


class AnalystVerifier:
    """Verifies by reading."""

    def verify(self, request: VerifierInput) -> AgentReply:
        """A verifier result as JSON text."""
        evidence = _by_claim(request.evidence)
        claims = request.verified_output.claims
        symptom = _symptom_time(claims, evidence)
        judged: list[tuple[VerifiedClaim, _Judgement]] = []
        for claim in claims:
            leading = not any(other.kind is ClaimKind.ROOT_CAUSE for other, _ in judged)
            judged.append((claim, _judge(claim, evidence[claim.claim_id], symptom, leading=leading)))
        return reply(
            {
                "verdict": _verdict(judged),
                "facts_checked": [_fact(claim, judgement) for claim, judgement in judged],
                "missing_info": _missing(judged, request.evidence),
                "recommended_actions": _actions(judged, evidence),
            }
        )


def _by_claim(evidence: Sequence[VerifiedEvidence]) -> Mapping[str, list[VerifiedEvidence]]:
    out: dict[str, list[VerifiedEvidence]] = defaultdict(list)
    for one in evidence:
        out[one.claim_id].append(one)
    return out


def _symptom_time(claims: Sequence[VerifiedClaim], evidence: Mapping[str, Sequence[VerifiedEvidence]]) -> float | None:
    """When the first alert or, without one, the first observed change began; None when no time is cited.

    A change of its own accord (a deploy) is no symptom, nor is what a root cause alone is bound to.
    """
    alerts: list[float] = []
    changes: list[float] = []
    for claim in claims:
        if claim.kind is not ClaimKind.OBSERVATION:
            continue
        for one in evidence[claim.claim_id]:
            kind = evidence_kind(one.tool_name, one.matched_text, claim.entity or "")
            stated = times(one.matched_text)[:1]
            if kind is EvidenceKind.ALERT:
                alerts.extend(stated)
            elif kind is EvidenceKind.SYMPTOM:
                changes.extend(stated)
    return min(changes, default=min(alerts, default=None))


def _judge(
    claim: VerifiedClaim, evidence: Sequence[VerifiedEvidence], symptom: float | None, *, leading: bool
) -> _Judgement:
    said = _judge_statement(claim, evidence)
    if claim.kind is not ClaimKind.ROOT_CAUSE or said.verification is not Verification.DIRECT_SUPPORT:
        return said
    return _judge_cause(claim, evidence, symptom, leading=leading)


def _judge_statement(claim: VerifiedClaim, evidence: Sequence[VerifiedEvidence]) -> _Judgement:
    """Whether what the claim says stands in its evidence."""
    together = "\n".join(one.matched_text for one in evidence)
    if claim.entity and not names_entity(together, claim.entity):
        return _Judgement(Verification.NO_EVIDENCE, f"its evidence does not name {claim.entity}")
    if ClaimFlag.UNGROUNDED_NUMBER in claim.flags:
        return _Judgement(Verification.NO_EVIDENCE, "a number in it stands in none of its evidence")
    if squeezed(claim.claim) in squeezed(together):
        return _Judgement(Verification.DIRECT_SUPPORT, "its evidence says just this")
    said, shown = directions(claim.claim), directions(together)
    if said - shown:
        against = bool(shown)
        went = ", ".join(sorted(said - shown))
        verification = Verification.CONTRADICTED if against else Verification.NO_EVIDENCE
        return _Judgement(verification, f"its evidence does not say {went}")
    strays = set(times(claim.claim)) - set(times(together))
    if strays:
        return _Judgement(Verification.NO_EVIDENCE, "a time in it stands in none of its evidence")
    if claim.kind is ClaimKind.NO_EVIDENCE and not any(_found_nothing(one, claim) for one in evidence):
        return _Judgement(Verification.CONTRADICTED, "its evidence is no search without a match")
    return _Judgement(Verification.DIRECT_SUPPORT, "entity, direction, times and numbers stand in its evidence")


def _found_nothing(one: VerifiedEvidence, claim: VerifiedClaim) -> bool:
    return evidence_kind(one.tool_name, one.matched_text, claim.entity or "") is EvidenceKind.NOTHING_FOUND


def _judge_cause(
    claim: VerifiedClaim, evidence: Sequence[VerifiedEvidence], symptom: float | None, *, leading: bool
) -> _Judgement:
    """Whether the evidence carries the claim that this is where the trouble starts."""
    entity = claim.entity or ""
    kinds = frozenset(evidence_kind(one.tool_name, one.matched_text, entity) for one in evidence)
    causal = kinds & CAUSAL
    first = _first_sign(entity, evidence)
    if first is not None and symptom is not None and first > symptom + SIMULTANEOUS:
        return _Judgement(Verification.CONTRADICTED, "its first sign comes after the symptom", kinds)
    if not causal:
        return _Judgement(Verification.INDIRECT_SUPPORT, "its evidence shows a symptom, not how it comes about", kinds)
    if causal == {EvidenceKind.CHANGE} and EvidenceKind.SYMPTOM not in kinds:
        return _Judgement(Verification.INDIRECT_SUPPORT, "a change is shown, but no effect on what was changed", kinds)
    if not leading:
        return _Judgement(Verification.INDIRECT_SUPPORT, "the evidence for another cause is stronger", kinds)
    shown = ", ".join(sorted(str(kind) for kind in causal))
    return _Judgement(Verification.DIRECT_SUPPORT, f"its evidence shows {shown}", kinds)


def _first_sign(entity: str, evidence: Sequence[VerifiedEvidence]) -> float | None:
    """The first time that something is shown to be wrong with the entity; what was changed before does not count."""
    stated = [
        moment
        for one in evidence
        if names_entity(one.matched_text, entity)
        and evidence_kind(one.tool_name, one.matched_text, entity) not in {EvidenceKind.CHANGE, EvidenceKind.RELATION}
        for moment in times(one.matched_text)[:1]
    ]
    return min(stated, default=None)


def _verdict(judged: Sequence[tuple[VerifiedClaim, _Judgement]]) -> Verdict:
    """PASS: the first cause, or without one every statement, is supported. REJECT: every cause is contradicted."""
    causes = [judgement.verification for claim, judgement in judged if claim.kind is ClaimKind.ROOT_CAUSE]
    if not judged:
        return Verdict.LOW_CONFID
    if not causes:
        supported = all(judgement.verification is Verification.DIRECT_SUPPORT for _, judgement in judged)
        unexplained = any(_shows_trouble(claim) for claim, _ in judged)
        return Verdict.PASS if supported and not unexplained else Verdict.LOW_CONFID
    if causes[0] is Verification.DIRECT_SUPPORT:
        return Verdict.PASS
    refuted = {Verification.CONTRADICTED, Verification.NO_EVIDENCE}
    return Verdict.REJECT if all(cause in refuted for cause in causes) else Verdict.LOW_CONFID


def _shows_trouble(claim: VerifiedClaim) -> bool:
    return claim.kind is ClaimKind.OBSERVATION and bool(directions(claim.claim))


def _fact(claim: VerifiedClaim, judgement: _Judgement) -> JsonObject:
    cause = claim.kind is ClaimKind.ROOT_CAUSE and claim.entity
    return {
        "claim_id": claim.claim_id,
        "fact": f"{claim.entity} is where the trouble starts" if cause else claim.claim,
        "verification": judgement.verification,
        "reason": judgement.reason,
    }


def _missing(judged: Sequence[tuple[VerifiedClaim, _Judgement]], evidence: Sequence[VerifiedEvidence]) -> list[str]:
    """What would have settled what stays open."""
    missing = []
    for claim, judgement in judged:
        if claim.kind is ClaimKind.ROOT_CAUSE and judgement.verification is not Verification.DIRECT_SUPPORT:
            missing.append(f"Whether {claim.entity or 'this'} is the cause: {judgement.reason}.")
    tools = {one.tool_name for one in evidence}
    causes = [claim for claim, _ in judged if claim.kind is ClaimKind.ROOT_CAUSE]
    if causes and "list_changes" not in tools:
        missing.append("Why it happened: no deploy, commit, flag or configuration change is cited.")
    return missing


def _actions(
    judged: Sequence[tuple[VerifiedClaim, _Judgement]], evidence: Mapping[str, Sequence[VerifiedEvidence]]
) -> list[str]:
    actions: list[str] = []
    for claim, judgement in judged:
        if (
            claim.kind is ClaimKind.ROOT_CAUSE
            and claim.entity
            and judgement.verification is not Verification.CONTRADICTED
        ):
            texts = [one.matched_text for one in evidence[claim.claim_id]]
            actions.extend(advice_for(claim.entity, judgement.kinds, texts))
    return list(dict.fromkeys(actions))
