"""Judging one claim by its matched texts: does what it says stand there, and does what stands there carry a cause."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from diag_graph.agents.analyst.grown_load import grew_with_requests
from diag_graph.agents.analyst.kinds import CAUSAL, SIGNS, EvidenceKind, evidence_kind
from diag_graph.agents.analyst.reading import began, calls, directions, names_entity, says_just, times
from diag_graph.analysis.failure_links import is_pod_of
from diag_graph.contracts import ClaimFlag, ClaimKind, Verification, VerifiedClaim, VerifiedEvidence
from diag_graph.state import VerifierInput

CLOCKS = 5.0
"""Seconds by which a change may be recorded after its first effect: two machines' clocks agree no better."""
SIMULTANEOUS = 90.0
"""Seconds by which a cause's first sign may come after the symptom's, at least: detection is no finer than this."""
RECENT = 2_700.0
"""Seconds before the symptom within which a first sign, or a change before the first sign, is worth a look."""
SAMPLING_STEPS = (600.0, 300.0, 120.0)
"""Steps in which metrics are often kept, longest first; a cause may be seen a whole step after its symptom."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How the evidence stands to a claim, why, and of what kinds it is."""

    verification: Verification
    reason: str
    kinds: frozenset[EvidenceKind] = frozenset()


@dataclass(frozen=True, slots=True)
class Case:
    """All that is verified, read once.

    Attributes:
        evidence: Matched texts by claim id.
        symptom: When the symptom began; None when no cited text says.
        subjects: What the question and the alerts are about, as far as cited texts name it.
        calls: Pairs of caller and callee that a cited text states.
        troubled: Entities that are shown to have trouble of their own, and since when.
        leading: The entity of the first root cause; empty when there is none.
        felt: Whether anything that is cited was slower or failed, rather than short of a resource.
        tolerance: Seconds within which two times are as good as equal, by the step of the cited metrics.
    """

    evidence: Mapping[str, Sequence[VerifiedEvidence]]
    symptom: float | None
    subjects: frozenset[str]
    calls: frozenset[tuple[str, str]]
    troubled: Mapping[str, float]
    leading: str
    tolerance: float
    felt: bool


def read_case(request: VerifierInput) -> Case:
    """Read what a verifier is given."""
    evidence: dict[str, list[VerifiedEvidence]] = defaultdict(list)
    for one in request.evidence:
        evidence[one.claim_id].append(one)
    claims = request.verified_output.claims
    alerted = _alerted(claims, evidence)
    named = {claim.entity for claim in claims if claim.entity and names_entity(request.question, claim.entity)}
    subjects = frozenset(alerted) | named
    return Case(
        evidence=evidence,
        symptom=_symptom_time(subjects, alerted, claims, evidence),
        subjects=subjects,
        calls=frozenset(pair for one in request.evidence if (pair := calls(one.tool_name, one.matched_text))),
        troubled=_troubled(claims, evidence),
        leading=next((claim.entity or "" for claim in claims if claim.kind is ClaimKind.ROOT_CAUSE), ""),
        tolerance=_tolerance(request.evidence),
        felt=any(_kinds(claim, evidence[claim.claim_id]) & (SIGNS - {EvidenceKind.SATURATION}) for claim in claims),
    )


def _tolerance(evidence: Sequence[VerifiedEvidence]) -> float:
    """How far apart two times may lie and still be as good as equal.

    Two steps of a coarse series, where a text says how far its samples lie apart; else the longest step that all cited
    times of metrics and alerts lie apart by, or `SIMULTANEOUS`.
    """
    coarse = [60.0 * float(step) for one in evidence for step in _EVERY.findall(one.matched_text)]
    if coarse:
        return max(SIMULTANEOUS, 2 * max(coarse))
    stated = sorted({moment for one in evidence if one.tool_name in _SAMPLED for moment in times(one.matched_text)})
    gaps = [later - earlier for earlier, later in pairwise(stated)]
    return next((step for step in SAMPLING_STEPS if gaps and all(gap % step == 0 for gap in gaps)), SIMULTANEOUS)


_EVERY = re.compile(r"; one sample every (\d+) min\b")
_SAMPLED = frozenset({"find_metric_anomalies", "query_metrics", "list_alerts"})


def _alerted(
    claims: Sequence[VerifiedClaim], evidence: Mapping[str, Sequence[VerifiedEvidence]]
) -> Mapping[str, float | None]:
    """What fired alerts are about, and since when."""
    return {
        claim.entity: began(one.matched_text)
        for claim in claims
        if claim.entity
        for one in evidence[claim.claim_id]
        if evidence_kind(one.tool_name, one.matched_text, claim.entity) is EvidenceKind.ALERT
    }


def _symptom_time(
    subjects: frozenset[str],
    alerted: Mapping[str, float | None],
    claims: Sequence[VerifiedClaim],
    evidence: Mapping[str, Sequence[VerifiedEvidence]],
) -> float | None:
    """When what was alerted on or asked about first showed; else when the alert fired."""
    showed = [
        began(one.matched_text)
        for claim in claims
        if claim.kind is ClaimKind.OBSERVATION and claim.entity in subjects
        for one in evidence[claim.claim_id]
        if evidence_kind(one.tool_name, one.matched_text, claim.entity or "") in SIGNS
    ]
    known = [time for time in showed if time is not None] or [time for time in alerted.values() if time is not None]
    return min(known, default=None)


def _troubled(
    claims: Sequence[VerifiedClaim], evidence: Mapping[str, Sequence[VerifiedEvidence]]
) -> Mapping[str, float]:
    since: dict[str, float] = {}
    for claim in claims:
        for one in evidence[claim.claim_id] if claim.entity else ():
            entity, start = claim.entity or "", began(one.matched_text)
            kind = evidence_kind(one.tool_name, one.matched_text, entity)
            if start is not None and kind in CAUSAL and kind is not EvidenceKind.CHANGE:
                since[entity] = min(start, since.get(entity, start))
    return since


def judge(claim: VerifiedClaim, case: Case, *, leading: bool) -> Judgement:
    """Judge a claim.

    Args:
        claim: The claim.
        case: What is verified.
        leading: Whether it is the first root cause; another one is at best indirectly supported.
    """
    said = _judge_statement(claim, case.evidence[claim.claim_id])
    if claim.kind is not ClaimKind.ROOT_CAUSE or said.verification is not Verification.DIRECT_SUPPORT:
        return said
    return _judge_cause(claim, case, leading=leading)


def _judge_statement(claim: VerifiedClaim, evidence: Sequence[VerifiedEvidence]) -> Judgement:
    """Whether what the claim says stands in its evidence: whom, how much, which way, when."""
    together = "\n".join(one.matched_text for one in evidence)
    said = directions(claim.claim)
    shown = frozenset(way for one in evidence for way in directions(one.matched_text))  # quotes end with their text
    went = ", ".join(sorted(said - shown))
    no_search = claim.kind is ClaimKind.NO_EVIDENCE and EvidenceKind.NOTHING_FOUND not in _kinds(claim, evidence)
    faults = (
        (
            bool(claim.entity) and not names_entity(together, claim.entity or ""),
            Judgement(Verification.NO_EVIDENCE, f"its evidence does not name {claim.entity}"),
        ),
        (
            ClaimFlag.UNGROUNDED_NUMBER in claim.flags,
            Judgement(Verification.NO_EVIDENCE, "a number in it stands in none of its evidence"),
        ),
        (bool(went and shown), Judgement(Verification.CONTRADICTED, f"its evidence does not say {went}")),
        (bool(went), Judgement(Verification.NO_EVIDENCE, f"its evidence does not say {went}")),
        (
            bool(set(times(claim.claim)) - set(times(together))),
            Judgement(Verification.NO_EVIDENCE, "a time in it stands in none of its evidence"),
        ),
        (no_search, Judgement(Verification.CONTRADICTED, "its evidence is no search without a match")),
    )
    faulty = next((judgement for holds, judgement in faults if holds), None)
    if faulty is not None:
        return faulty
    if not says_just(claim.claim, together):
        return Judgement(Verification.INDIRECT_SUPPORT, "it is said in other words than its evidence says it")
    return Judgement(Verification.DIRECT_SUPPORT, "entity, direction, times and numbers stand in its evidence")


def _kinds(claim: VerifiedClaim, evidence: Sequence[VerifiedEvidence]) -> frozenset[EvidenceKind]:
    return frozenset(evidence_kind(one.tool_name, one.matched_text, claim.entity or "") for one in evidence)


def _judge_cause(claim: VerifiedClaim, case: Case, *, leading: bool) -> Judgement:
    """Whether the evidence carries the claim that this is where the trouble starts."""
    entity, cited = claim.entity or "", case.evidence[claim.claim_id]
    first = _first_sign(entity, cited, case)
    kinds = _kinds(claim, [one for one in cited if _counts(one, cited, first, case)])
    causal = kinds & CAUSAL
    behind = _behind(entity, first, case)
    if first is not None and case.symptom is not None and first > case.symptom + case.tolerance:
        return Judgement(Verification.CONTRADICTED, "its first sign comes after the symptom", kinds)
    if behind and not leading and behind == case.leading:
        return Judgement(Verification.CONTRADICTED, f"it calls {behind}, which explains its trouble", kinds)
    weaknesses = (
        (not causal, "its evidence shows a symptom, not how it comes about"),
        (
            causal == {EvidenceKind.CHANGE} and EvidenceKind.SYMPTOM not in kinds,
            "a change is shown, but no effect on what was changed",
        ),
        (
            kinds & CAUSAL == {EvidenceKind.SATURATION} and not case.felt and _is_over(entity, cited),
            "its resource was back by itself, and nothing that is cited was slower or failed",
        ),
        (
            kinds & CAUSAL == {EvidenceKind.SATURATION} and _is_asked_for_more(entity, cited, case),
            "what it uses grew as its requests did: whoever sends more of them comes before it",
        ),
        (bool(behind), f"it calls {behind}, which has trouble of its own"),
        (
            not _linked(entity, first, cited, case),
            f"nothing that is cited connects it with {_listed(case.subjects)}",
        ),
        (not leading, "the evidence for another cause is stronger"),
    )
    for holds, reason in weaknesses:
        if holds:
            return Judgement(Verification.INDIRECT_SUPPORT, reason, kinds)
    shown = "; ".join(sorted(str(kind) for kind in causal))
    return Judgement(Verification.DIRECT_SUPPORT, f"its evidence shows {shown}", kinds)


def _is_over(entity: str, cited: Sequence[VerifiedEvidence]) -> bool:
    """Whether all that is shown to be wrong with the entity is said to be as before again."""
    signs = [one for one in cited if evidence_kind(one.tool_name, one.matched_text, entity) in SIGNS]
    return bool(signs) and all(", when it was back)" in one.matched_text for one in signs)


def _is_asked_for_more(entity: str, cited: Sequence[VerifiedEvidence], case: Case) -> bool:
    short = [
        one.matched_text
        for one in cited
        if evidence_kind(one.tool_name, one.matched_text, entity) is EvidenceKind.SATURATION
    ]
    return grew_with_requests(entity, (one.matched_text for all_ in case.evidence.values() for one in all_), short)


def _first_sign(entity: str, cited: Sequence[VerifiedEvidence], case: Case) -> float | None:
    """The first time that something is shown to be wrong with the entity; what was changed before does not count."""
    signs = [
        start
        for one in cited
        if evidence_kind(one.tool_name, one.matched_text, entity) in SIGNS
        and _counts(one, cited, None, case)
        and (start := began(one.matched_text)) is not None
    ]
    return min(signs, default=None)


def _counts(one: VerifiedEvidence, cited: Sequence[VerifiedEvidence], first: float | None, case: Case) -> bool:
    """Whether a text may count at all: a change not made too late, a logged line that is of this trouble."""
    start = began(one.matched_text)
    if one.tool_name == "list_changes":
        return start is None or first is None or start <= first + CLOCKS
    if one.tool_name == "search_logs":
        new = any(
            other.source_invocation_id == one.source_invocation_id and _NONE_BEFORE.search(other.matched_text)
            for other in cited
        )
        since = case.symptom
        return new and None not in {start, since} and -RECENT <= (start or 0) - (since or 0) <= case.tolerance
    return True


_NONE_BEFORE = re.compile(r"; 0 before the onset ")


def _linked(entity: str, first: float | None, evidence: Sequence[VerifiedEvidence], case: Case) -> bool:
    """Whether the entity is what was asked about or a pod of it, or is shown to touch it.

    It touches it when cited calls reach it, when a named failure of it is seen at what was asked about, or when it
    broke just before.
    """
    if not case.subjects or any(is_pod_of(entity, subject) for subject in case.subjects):
        return True
    seen_at = [one.matched_text.lower() for one in evidence if one.tool_name == "find_failure_signatures"]
    if any(names_entity(text, entity) and subject.lower() in text for text in seen_at for subject in case.subjects):
        return True
    if case.symptom is None:
        return False
    reached, frontier = set(case.subjects), list(case.subjects)
    while frontier:
        caller = frontier.pop()
        new = {callee for one, callee in case.calls if one == caller} - reached
        reached |= new
        frontier.extend(new)
    in_time = first is not None and -RECENT <= first - case.symptom <= case.tolerance
    return entity in reached or in_time


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


def _behind(entity: str, first: float | None, case: Case) -> str:
    """A service that the entity calls and that had trouble of its own no later; empty when none is cited."""
    found = [
        callee
        for caller, callee in case.calls
        if caller == entity and callee in case.troubled and (callee, caller) not in case.calls
    ]
    in_time = [name for name in found if first is None or case.troubled[name] <= first + case.tolerance]
    return min(in_time, default="")
