"""The analyst's verifier: reads each claim against its matched texts, and against nothing else.

A statement is supported when its entity, its direction, its times and its numbers stand in its evidence. A cause is
supported when, besides, something of how it comes about is shown (not a symptom alone), when it does not come after
what it is said to cause, and when nothing that it calls is shown to have trouble of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from diag_graph.agents.analyst.advice import advice_for
from diag_graph.agents.analyst.guidance_judging import guidance_verdict, is_guidance, judge_guidance, of_evidence
from diag_graph.agents.analyst.judging import Case, Judgement, judge, read_case
from diag_graph.agents.analyst.kinds import (
    EvidenceKind,
    compared_something,
    evidence_kind,
    knows_no_onset,
    names_failure,
)
from diag_graph.agents.analyst.question_kinds import FACTUAL, QuestionKind, question_kind
from diag_graph.agents.analyst.reading import directions
from diag_graph.agents.analyst.writing import reply
from diag_graph.agents.ports import AgentReply
from diag_graph.analysis.failure_signatures import Signature
from diag_graph.contracts import ClaimKind, JsonObject, Verification, VerifiedClaim, VerifiedEvidence
from diag_graph.state import VerifierInput
from diag_graph.topology import Verdict

Judged = Sequence[tuple[VerifiedClaim, Judgement]]

_QUIET = frozenset(
    {
        EvidenceKind.ALERT,
        EvidenceKind.CHANGE,
        EvidenceKind.RELATION,
        EvidenceKind.NOTHING_FOUND,
        EvidenceKind.ENDED,
    }
)
_SURVEYS = {"find_metric_anomalies": "metrics", "find_span_anomalies": "traces", "find_log_patterns": "log messages"}
"""Tools whose silence says something, as far as they compared, and what they compare."""
_DOCUMENT_TOOLS = frozenset({"read_document", "find_failure_signatures"})
"""Tools whose lines are cited because they tell of a failure."""
_REFUTED = frozenset({Verification.CONTRADICTED, Verification.NO_EVIDENCE})


class AnalystVerifier:
    """Verifies by reading."""

    def __init__(self, signatures: Sequence[Signature] = ()) -> None:
        """Take the signatures of the user and of the incident: what they advise, and nothing else, is read of them."""
        self._signatures = tuple(signatures)

    def verify(self, request: VerifierInput) -> AgentReply:
        """A verifier result as JSON text."""
        claims = request.verified_output.claims
        case = read_case(of_evidence(request))
        judged: list[tuple[VerifiedClaim, Judgement]] = []
        for claim in claims:
            if is_guidance(claim):
                continue
            leading = not any(other.kind is ClaimKind.ROOT_CAUSE for other, _ in judged)
            judged.append((claim, judge(claim, case, leading=leading)))
        advised = judge_guidance(request)
        asked = question_kind(request.question)
        only_asked = asked is QuestionKind.RUNBOOK and not judged
        return reply(
            {
                "verdict": guidance_verdict(advised) if only_asked else _verdict(judged, case, asked),
                "facts_checked": [_fact(claim, judgement) for claim, judgement in (*judged, *advised)],
                "missing_info": _missing(judged, case),
                "recommended_actions": _actions(judged, case, self._signatures),
            }
        )


def _verdict(judged: Judged, case: Case, kind: QuestionKind) -> Verdict:
    """PASS: the first cause, or without one every statement, is supported. REJECT: every cause is refuted.

    Where no cause was asked for, trouble that is shown is an answer, and needs no explanation.
    """
    causes = [judgement.verification for claim, judgement in judged if claim.kind is ClaimKind.ROOT_CAUSE]
    if causes:
        if causes[0] is Verification.DIRECT_SUPPORT:
            return Verdict.PASS
        refuted = _REFUTED.issuperset(causes) and Verification.CONTRADICTED in causes
        return Verdict.REJECT if refuted else Verdict.LOW_CONFID
    supported = all(judgement.verification is Verification.DIRECT_SUPPORT for _, judgement in judged)
    if kind in FACTUAL:
        shown = any(claim.kind is ClaimKind.OBSERVATION for claim, _ in judged)
        return Verdict.PASS if supported and shown and not _unread(case) else Verdict.LOW_CONFID
    unexplained = any(_shows_trouble(claim, case) for claim, _ in judged)
    compared = [compared_something(text) for text in _empty_searches(case)]
    thorough = bool(compared) and all(compared) and not _unread(case) and not _undated(case)
    return Verdict.PASS if supported and thorough and not unexplained else Verdict.LOW_CONFID


def _empty_searches(case: Case) -> list[str]:
    """The searches without a match that are cited."""
    cited = {one.matched_text: one for texts in case.evidence.values() for one in texts}
    return [text for text, one in cited.items() if one.tool_name in _SURVEYS and _is_empty(one)]


def _undated(case: Case) -> bool:
    """Whether no search that found nothing knew when the trouble was: its silence is then no all-clear."""
    searches = _empty_searches(case)
    return bool(searches) and all(map(knows_no_onset, searches))


def _is_empty(one: VerifiedEvidence) -> bool:
    return evidence_kind(one.tool_name, one.matched_text, "") is EvidenceKind.NOTHING_FOUND


def _unread(case: Case) -> list[str]:
    """What the inventory says could not be read, or not wholly."""
    cited = {one.matched_text for texts in case.evidence.values() for one in texts if one.tool_name == "list_evidence"}
    return sorted(text for text in cited if "could not be read: " in text or "could be read: " in text)


def _shows_trouble(claim: VerifiedClaim, case: Case) -> bool:
    """Whether an observation is of something that went wrong, rather than of an alert or a change."""
    evidence = case.evidence[claim.claim_id]
    kinds = {evidence_kind(one.tool_name, one.matched_text, claim.entity or "") for one in evidence}
    documented = any(one.tool_name in _DOCUMENT_TOOLS for one in evidence)
    tells = documented or bool(directions(claim.claim)) or names_failure(claim.claim)
    return claim.kind is ClaimKind.OBSERVATION and tells and not kinds <= _QUIET


def _fact(claim: VerifiedClaim, judgement: Judgement) -> JsonObject:
    cause = claim.kind is ClaimKind.ROOT_CAUSE and claim.entity
    return {
        "claim_id": claim.claim_id,
        "fact": f"{claim.entity} is where the trouble starts" if cause else claim.claim,
        "verification": judgement.verification,
        "reason": judgement.reason,
    }


def _missing(judged: Judged, case: Case) -> list[str]:
    """What would have settled what stays open."""
    causes = [(claim, judgement) for claim, judgement in judged if claim.kind is ClaimKind.ROOT_CAUSE]
    missing = [
        f"Whether {claim.entity or 'this'} is the cause: {judgement.reason}."
        for claim, judgement in causes
        if judgement.verification not in {Verification.DIRECT_SUPPORT, Verification.CONTRADICTED}
    ]
    cited = {one.tool_name for texts in case.evidence.values() for one in texts}
    thin = [one for texts in case.evidence.values() for one in texts if one.tool_name in _SURVEYS and _is_empty(one)]
    kinds = dict.fromkeys(_SURVEYS[one.tool_name] for one in thin if not compared_something(one.matched_text))
    if kinds:
        missing.append(f"Whether something changed in {' and '.join(kinds)}: too little could be compared.")
    if _undated(case):
        missing.append("When the trouble was: no common change stands out, and no time was named.")
    if causes and "list_changes" not in cited:
        missing.append("Why it happened: no deploy, commit, flag or configuration change is cited.")
    return missing


def _actions(judged: Judged, case: Case, own: Sequence[Signature]) -> list[str]:
    """What to do about the cause that is shown; while none is, about each that is possible."""
    suspected = [
        (claim, judgement)
        for claim, judgement in judged
        if claim.kind is ClaimKind.ROOT_CAUSE and claim.entity and judgement.verification not in _REFUTED
    ]
    shown = [one for one in suspected if one[1].verification is Verification.DIRECT_SUPPORT]
    actions: list[str] = []
    for claim, judgement in shown or suspected:
        texts = [one.matched_text for one in case.evidence[claim.claim_id]]
        actions.extend(advice_for(claim.entity or "", judgement.kinds, texts, own))
    return list(dict.fromkeys(actions))
