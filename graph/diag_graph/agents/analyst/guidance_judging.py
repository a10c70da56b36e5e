"""Judging what runbooks advise: apart from the evidence, so that no word of theirs counts for what happened (G6)."""

from __future__ import annotations

from collections.abc import Sequence

from diag_graph.agents.analyst.claims import ADVISED, NEAREST
from diag_graph.agents.analyst.judging import Judgement
from diag_graph.agents.analyst.reading import says_just
from diag_graph.contracts import ClaimFlag, ClaimKind, Verification, VerifiedClaim
from diag_graph.state import VerifierInput
from diag_graph.tools.definition import GUIDANCE
from diag_graph.topology import Verdict


def is_guidance(claim: VerifiedClaim) -> bool:
    """Whether a claim rests on guidance alone."""
    return ClaimFlag.GUIDANCE_ONLY in claim.flags


def of_evidence(request: VerifierInput) -> VerifierInput:
    """What is verified of what happened: without claims of guidance, and without its texts in other claims."""
    claims = tuple(claim for claim in request.verified_output.claims if not is_guidance(claim))
    known = {claim.claim_id for claim in claims}
    evidence = tuple(one for one in request.evidence if one.claim_id in known and one.tool_name not in GUIDANCE)
    document = request.verified_output.model_copy(update={"claims": claims})
    return request.model_copy(update={"verified_output": document, "evidence": evidence})


def judge_guidance(request: VerifierInput) -> list[tuple[VerifiedClaim, Judgement]]:
    """Of each claim of guidance, whether the text itself advises it."""
    judged = []
    for claim in filter(is_guidance, request.verified_output.claims):
        texts = "\n".join(one.matched_text for one in request.evidence if one.claim_id == claim.claim_id)
        stands = says_just(claim.claim.removeprefix(ADVISED).removeprefix(NEAREST), texts)
        judgement = (
            Judgement(Verification.DIRECT_SUPPORT, "the guidance says so; it shows nothing of what happened")
            if stands
            else Judgement(Verification.INDIRECT_SUPPORT, "it is said in other words than the guidance says it")
        )
        judged.append((claim, judgement))
    return judged


def guidance_verdict(advised: Sequence[tuple[VerifiedClaim, Judgement]]) -> Verdict:
    """The verdict of an answer that was asked for guidance and for nothing else."""
    shown = [judgement for claim, judgement in advised if claim.kind is ClaimKind.OBSERVATION]
    supported = all(judgement.verification is Verification.DIRECT_SUPPORT for judgement in shown)
    nearest = any(claim.claim.startswith(NEAREST) for claim, _ in advised)
    return Verdict.PASS if shown and supported and not nearest else Verdict.LOW_CONFID
