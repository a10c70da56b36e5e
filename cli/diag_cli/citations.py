"""What a run's bindings cite, and where exactly it stands: for people who want to see with their own eyes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from diag_graph.contracts import CheckedBinding, Invocation
    from diag_graph.outcome import AgentStep, RunDocument


class Cited(NamedTuple):
    """A binding as the gatekeeper checked it, and what the executor had quoted; empty when that is not known."""

    binding: CheckedBinding
    excerpt: str


class Part(NamedTuple):
    """A part of the text at a path of a result, in characters of that text."""

    path: str
    start: int
    end: int


def cited(document: RunDocument) -> list[Cited]:
    """The bindings of a run's audit, in its order, each with its excerpt."""
    if document.gatekeeper is None:
        return []
    checked = document.gatekeeper.checked_bindings
    for step in reversed(document.steps):
        excerpts = _excerpts(step, checked) if step.agent == "executor" else None
        if excerpts is not None:
            return [Cited(binding, excerpt) for binding, excerpt in zip(checked, excerpts, strict=True)]
    return [Cited(binding, "") for binding in checked]


def _excerpts(step: AgentStep, checked: Sequence[CheckedBinding]) -> list[str] | None:
    """What an executor's document quotes, binding for binding; None when it is not the one that was checked."""
    from diag_graph.gate.claims import read_claims
    from diag_graph.parsing import InvalidReplyError, parse_object

    try:
        claims = read_claims(parse_object(step.output))
    except (InvalidReplyError, ValueError):
        return None
    bindings = [binding for claim in claims for binding in claim.bindings]
    ids = [claim.claim_id for claim in claims for _ in claim.bindings]
    if ids != [binding.claim_id for binding in checked]:
        return None
    return [_quoted(binding) for binding in bindings]


def _quoted(binding: Any) -> str:  # noqa: ANN401 - an agent wrote it
    excerpt = binding.get("evidence_excerpt") if isinstance(binding, dict) else None
    return excerpt if isinstance(excerpt, str) else ""


def parts_of(invocation: Invocation, bindings: Sequence[Cited]) -> list[Part]:
    """Which parts of an invocation's result are cited by bindings that passed."""
    parts = (
        _part(invocation.result, one)
        for one in bindings
        if one.binding.source_invocation_id == invocation.id and one.binding.status == "pass"
    )
    return [part for part in parts if part is not None]


def _part(result: Any, one: Cited) -> Part | None:  # noqa: ANN401 - any JSON value
    """Where the excerpt stands, found as the gatekeeper finds it; without an excerpt, where its surroundings stand."""
    from diag_graph.gate.borders import find_excerpt
    from diag_graph.gate.normalise import normalise, normalised
    from diag_graph.gate.pointer import resolve
    from diag_graph.gate.values import text_of

    path = one.binding.raw_path or ""
    found = resolve(result, path)
    if found is None:
        return None
    text = normalised(text_of(found.value))
    excerpt = normalise(one.excerpt or one.binding.matched_text or "")
    start = find_excerpt(text.text, excerpt) if excerpt else None
    if start is None:
        return Part(path, 0, len(text.original))
    return Part(path, text.original_offset(start), text.original_offset(start + len(excerpt)))
