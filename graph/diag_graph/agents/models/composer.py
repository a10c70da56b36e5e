"""The composer that is a language model."""

from __future__ import annotations

from diag_graph.agents.models.asking import Asker, section
from diag_graph.agents.models.prompts import DataBlocks
from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import AllowedClaim, ComposedAnswer
from diag_graph.state import ComposerInput


class ModelComposer:
    """Composes by asking a model."""

    def __init__(self, asker: Asker) -> None:
        """Ask this model."""
        self._asker = asker

    def compose(self, request: ComposerInput) -> AgentReply:
        """A composed answer as JSON text. Raises AgentFailure when none comes."""
        choices = {"claim_ids": [claim.claim_id for claim in request.allowed_claims]}
        task = task_of(request, self._asker.new_blocks())
        return self._asker.ask_once(ComposedAnswer, task, request.format_reminder, choices)


def task_of(request: ComposerInput, blocks: DataBlocks) -> str:
    """All that a composer may know, as a message."""
    claims = "\n\n".join(map(_claim, request.allowed_claims))
    parts = [
        section("Question", request.question),
        section("Verdict", request.verdict),
        section("Allowed claims", blocks.block(claims) if claims else "(none: nothing could be shown)"),
        section("Not settled", blocks.block(_listed(request.missing_info)) if request.missing_info else ""),
        section(
            "Recommended actions",
            blocks.block(_listed(request.recommended_actions)) if request.recommended_actions else "",
        ),
    ]
    return "".join(parts).strip()


def _claim(claim: AllowedClaim) -> str:
    about = f", about {claim.entity}" if claim.entity else ""
    texts = dict.fromkeys(f"  evidence: {' '.join(citation.matched_text.split())}" for citation in claim.citations)
    head = f"claim_id {claim.claim_id} ({claim.kind}, {claim.standing}{about}): {' '.join(claim.text.split())}"
    return "\n".join([head, *texts])


def _listed(texts: tuple[str, ...]) -> str:
    return "\n".join(f"- {text}" for text in texts)
