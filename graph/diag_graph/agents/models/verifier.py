"""The verifier that is a language model."""

from __future__ import annotations

from diag_graph.agents.models.asking import Asker
from diag_graph.agents.models.prompts import DataBlocks
from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import VerifiedClaim, VerifierResult
from diag_graph.state import VerifierInput


class ModelVerifier:
    """Verifies by asking a model."""

    def __init__(self, asker: Asker) -> None:
        """Ask this model."""
        self._asker = asker

    def verify(self, request: VerifierInput) -> AgentReply:
        """A verifier result as JSON text. Raises AgentFailure when none comes."""
        choices = {"claim_id": [claim.claim_id for claim in request.verified_output.claims]}
        task = task_of(request, self._asker.new_blocks())
        return self._asker.ask_once(VerifierResult, task, request.format_reminder, choices)


def task_of(request: VerifierInput, blocks: DataBlocks) -> str:
    """All that a verifier may know, as a message."""
    claims = request.verified_output.claims
    failed = sum(binding.status == "fail" for binding in request.audit.checked_bindings)
    issues = failed + len(request.audit.claim_issues)
    material = "\n\n".join(_claim(claim, request) for claim in claims) or "(no claim has a checked citation)"
    left_out = f"\n\nLeft out before you, for citations that could not be checked: {issues}." if issues else ""
    return f"Question:\n{request.question}\n\nClaims and the texts that they cite:\n{blocks.block(material)}{left_out}"


def _claim(claim: VerifiedClaim, request: VerifierInput) -> str:
    cited = [
        f"  cites {one.tool_name}: {' '.join(one.matched_text.split())}"
        for one in request.evidence
        if one.claim_id == claim.claim_id
    ]
    flags = f", {', '.join(claim.flags)}" if claim.flags else ""
    about = f", about {claim.entity}" if claim.entity else ""
    head = f"claim_id {claim.claim_id} ({claim.kind}{about}{flags}): {' '.join(claim.claim.split())}"
    return "\n".join([head, *dict.fromkeys(cited)])
