"""From checked fields to the text that the user reads: code writes every citation (C3) and every fallback."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diag_graph.contracts import Advice, AllowedClaim, Citation, ClaimKind, ComposedAnswer, InvocationStatus, Standing
from diag_graph.gate.quoting import quotes
from diag_graph.topology import Node, Verdict

VERDICT_LINES: dict[Verdict, str] = {
    Verdict.PASS: "Verdict: PASS. What is stated below is supported by the evidence that it cites.",
    Verdict.LOW_CONFID: (
        "Verdict: LOW_CONFID. The evidence does not settle the cause: take what is called likely or possible as a lead."
    ),
    Verdict.REJECT: "Verdict: REJECT. The evidence does not support a cause; only what was observed is stated below.",
}

RUNBOOKS_QUOTED = "Verdict: PASS. The runbooks say what is quoted below; nothing was checked against evidence."
"""The verdict's line when nothing but guidance is stated."""

CAUSE_HEADINGS: dict[Standing, str] = {
    Standing.CONFIRMED: "Root cause",
    Standing.LIKELY: "Likely root cause",
    Standing.POSSIBLE: "Possible root cause",
}

OBSERVED, SEARCHED, UNSHOWN, NEXT, EVIDENCE = (
    "Observed",
    "Searched without a match",
    "What could not be shown",
    "Next steps",
    "Evidence",
)

ADVISERS: dict[str, str] = {"lookup_knowledge": "A runbook advises", "read_skill": "The skill advises"}
"""How guidance is introduced, by the tool that gave it."""

FAILED_CHECKS: dict[Node, str] = {
    Node.PLANNER: "no plan could be made (planner)",
    Node.EXECUTOR: "no evidence document could be made (executor)",
    Node.GATEKEEPER: "the citations did not pass the check against the recorded tool results (gatekeeper)",
    Node.VERIFIED_INPUT: "the verified evidence could not be put together (verified input)",
    Node.VERIFIER: "the evidence could not be verified (verifier)",
    Node.EVIDENCE_RETRY: "the second round could not be prepared (evidence retry)",
    Node.COMPOSER: "the answer could not be composed (composer)",
    Node.FALLBACK: "the run could not be ended in order (fallback)",
}
"""What an F1 answer says of its cause; every node has an entry."""

_WHITE = re.compile(r"\s+")
_OTHER_WHITE = re.compile(r"[^\S \t]")
"""White space that some programs take for the end of a line."""


@dataclass(slots=True)
class _Citations:
    """Numbers for citations, in the order of their first use; the same text at the same place keeps its number."""

    numbers: dict[Citation, int] = field(default_factory=dict)

    def mark(self, citations: Sequence[Citation]) -> str:
        marks = sorted({self.numbers.setdefault(citation, len(self.numbers) + 1) for citation in citations})
        return "".join(f"[{mark}]" for mark in marks)

    def lines(self) -> list[str]:
        width = len(str(len(self.numbers))) + 3
        out = []
        for citation, number in self.numbers.items():
            out.append(f"{f'[{number}]':<{width}}{citation.tool} {citation.invocation_id} {citation.path}".rstrip())
            if citation.tool in ADVISERS:
                out += quoted(citation.matched_text, " " * width)
            else:
                out.append(f'{" " * width}"{one_line(citation.matched_text)}"')
        return out


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str
    claims: tuple[AllowedClaim, ...]

    @property
    def cause(self) -> AllowedClaim | None:
        """The root cause among its claims, if any: the weakest, for a statement is as firm as its weakest part."""
        causes = [claim for claim in self.claims if claim.kind is ClaimKind.ROOT_CAUSE]
        return max(causes, key=lambda claim: list(Standing).index(claim.standing), default=None)


def render_answer(
    composed: ComposedAnswer, claims: Sequence[AllowedClaim], verdict: Verdict, advised: Sequence[Advice] = ()
) -> str:
    """The answer of a composed run.

    Args:
        composed: What the composer worded, checked.
        claims: The allowed claims; every finding cites some of them.
        verdict: The effective verdict.
        advised: What guidance advises; it is quoted among the next steps.

    Returns:
        Plain text: the summary, the verdict, headed sections with numbered citations, and what each number cites.
    """
    by_id = {claim.claim_id: claim for claim in claims}
    statements = [
        _Statement(one_line(finding.text), tuple(by_id[claim_id] for claim_id in finding.claim_ids))
        for finding in composed.findings
    ]
    quoted_alone = bool(advised) and not claims and verdict is Verdict.PASS
    head = [one_line(composed.summary), "", RUNBOOKS_QUOTED if quoted_alone else VERDICT_LINES[verdict]]
    return _render(head, statements, composed.limitations, composed.next_steps, advised)


def render_uncomposed(
    claims: Sequence[AllowedClaim],
    verdict: Verdict,
    *,
    missing_info: Sequence[str],
    recommended_actions: Sequence[str],
    advised: Sequence[Advice] = (),
) -> str:
    """The fallback after verification (F2): the allowed claims as they stand, with their citations."""
    head = [
        "The diagnosis was verified, but its answer could not be worded. What was verified stands below as it is.",
        "",
        VERDICT_LINES[verdict],
    ]
    if not claims:
        head.append("No statement passed verification: no root cause can be given.")
    statements = [_Statement(one_line(claim.text), (claim,)) for claim in claims]
    return _render(head, statements, missing_info, recommended_actions, advised)


def render_failed_check(cause: Node, reason: str, counts: Mapping[InvocationStatus, int]) -> str:
    """The fallback before verification (F1): what failed, and counts of tool calls; no word of any tool or agent."""
    return "\n".join(
        [
            f"The diagnosis did not pass its checks: {FAILED_CHECKS[cause]}; reason: {reason}.",
            "",
            (
                f"Tool calls: {counts[InvocationStatus.OK]} succeeded, {counts[InvocationStatus.EMPTY]} found nothing, "
                f"{counts[InvocationStatus.ERROR]} failed, {counts[InvocationStatus.BLOCKED]} were blocked."
            ),
            "No root cause can be given from this run.",
            "",
            NEXT,
            "  - Look at the run's trace: it shows each step, each tool call and which check failed.",
        ]
    )


def one_line(text: str) -> str:
    """The text with each run of white space, line breaks too, as one space."""
    return _WHITE.sub(" ", text).strip()


def quoted(text: str, indent: str) -> list[str]:
    """A text in quote marks, its lines kept; of several, the last mark has a line of its own, away from any command."""
    lines = [_OTHER_WHITE.sub(" ", line).rstrip() for line in text.strip().split("\n")]
    first, *more = lines
    if not more:
        return [f'{indent}"{one_line(first)}"']
    return [f'{indent}"{first}', *(f"{indent}  {line}".rstrip() for line in more), f'{indent}"']


def _render(
    head: Sequence[str],
    statements: Sequence[_Statement],
    unshown: Sequence[str],
    steps: Sequence[str],
    advised: Sequence[Advice],
) -> str:
    cites = _Citations()
    sections: list[tuple[str, list[str]]] = []
    for standing, heading in CAUSE_HEADINGS.items():
        causes = [item for item in statements if item.cause and item.cause.standing is standing]
        sections.append((heading, [_cited(item, cites) for item in causes]))
    others = [item for item in statements if not item.cause]
    empty = [item for item in others if all(claim.kind is ClaimKind.NO_EVIDENCE for claim in item.claims)]
    sections.append((OBSERVED, [_cited(item, cites) for item in others if item not in empty]))
    sections.append((SEARCHED, [_cited(item, cites) for item in empty]))
    sections.append((UNSHOWN, [one_line(text) for text in unshown if text.strip()]))
    own = [_step(one_line(text), advised, cites) for text in steps if text.strip()]
    sections.append((NEXT, own + [_advice(one, cites) for one in advised]))
    lines = list(head)
    for heading, entries in sections:
        if entries:
            lines += ["", heading, *(f"  - {entry}" for entry in entries)]
    if cites.numbers:
        lines += ["", EVIDENCE, *(f"  {line}" for line in cites.lines())]
    return "\n".join(lines)


def _cited(statement: _Statement, cites: _Citations) -> str:
    hedge = ""
    if not statement.cause and any(claim.standing is Standing.POSSIBLE for claim in statement.claims):
        hedge = "Possibly: "
    citations = [citation for claim in statement.claims for citation in claim.citations]
    return f"{hedge}{statement.text} {cites.mark(citations)}"


def _step(text: str, advised: Sequence[Advice], cites: _Citations) -> str:
    """A next step; one that quotes guidance is bound to it, whoever wrote it."""
    quoted = [citation for one in advised for citation in one.citations if quotes(text, citation.matched_text)]
    return f"{text} {cites.mark(quoted)}" if quoted else text


def _advice(one: Advice, cites: _Citations) -> str:
    """What guidance advises, in its own words and said to be that: nobody else's words of it reach an answer (G6)."""
    said = []
    for citation in one.citations:
        first, *more = quoted(citation.matched_text, "    ")
        said.append("\n".join([f"{ADVISERS.get(citation.tool, citation.tool)}: {first.lstrip()}", *more]))
    return f"{' '.join(said)} {cites.mark(one.citations)}"
