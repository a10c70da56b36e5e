"""The executor's document, read claim by claim without trusting its shape.

One reading serves the check and the building of what comes after it, so that the two cannot see different claims.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from diag_graph.contracts import ClaimKind, FailureCode
from diag_graph.gate.values import well_formed

UNTRUSTED_IDENTITY = frozenset({FailureCode.MALFORMED_CLAIM, FailureCode.DUPLICATE_CLAIM_ID})
"""Faults after which nobody can say what a claim says or which claim is meant: it goes no further than the audit."""


@dataclass(frozen=True, slots=True)
class ReadClaim:
    """One claim as far as it could be read.

    Attributes:
        claim_id: Its id; None when it has none.
        text: What it says; empty when it says nothing.
        kind: What it is; `root_cause` when that is absent or unknown.
        entity: What it is about; None when that is no non-empty string.
        bindings: Its bindings, of whatever shape.
        issues: Faults of the claim as a whole.
    """

    claim_id: str | None
    text: str
    kind: ClaimKind
    entity: str | None
    bindings: tuple[Any, ...]
    issues: tuple[FailureCode, ...]

    @property
    def is_sound(self) -> bool:
        """Whether the claim can be said and referred to, if a binding passes."""
        return UNTRUSTED_IDENTITY.isdisjoint(self.issues)


def read_claims(document: Any) -> tuple[ReadClaim, ...]:  # noqa: ANN401 - nobody has vouched for its shape
    """The claims of a document, in order.

    A claim that is no object, or lacks an id or a text, is malformed. An id belongs to the first claim that bears it;
    every later one is a duplicate. Bindings of such claims are read all the same, for a forged one counts wherever it
    stands.

    Raises:
        ValueError: the document is no object, or its `claims` is no array.
    """
    if not isinstance(document, dict) or not isinstance(document.get("claims"), list):
        raise ValueError(  # noqa: TRY004 - an agent's document has the wrong shape, no caller passed a wrong type
            "no executor document: the root must be an object and `claims` an array"
        )
    borne: Counter[str] = Counter()
    return tuple(_read_claim(entry, borne) for entry in document["claims"])


def _read_claim(entry: Any, borne: Counter[str]) -> ReadClaim:  # noqa: ANN401 - see read_claims
    fields = entry if isinstance(entry, dict) else {}
    claim_id, text = text_or_none(fields.get("claim_id")), text_or_none(fields.get("claim"))
    listed = fields.get("evidence_bindings")
    bindings = tuple(listed) if isinstance(listed, list) else ()
    issues: list[FailureCode] = []
    if claim_id is None or text is None:
        issues.append(FailureCode.MALFORMED_CLAIM)
    if claim_id is not None:
        borne[claim_id] += 1
        if borne[claim_id] > 1:
            issues.append(FailureCode.DUPLICATE_CLAIM_ID)
    if isinstance(entry, dict) and not bindings:
        issues.append(FailureCode.UNBOUND_CLAIM)
    return ReadClaim(
        claim_id=claim_id,
        text=text or "",
        kind=_kind(fields.get("kind")),
        entity=text_or_none(fields.get("entity")),
        bindings=bindings,
        issues=tuple(issues),
    )


def text_or_none(value: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """A string that says something, fit to be stored; None for a blank one and for anything else."""
    return well_formed(value) if isinstance(value, str) and value.strip() else None


def _kind(value: Any) -> ClaimKind:  # noqa: ANN401 - any JSON value
    return next((kind for kind in ClaimKind if kind == value), ClaimKind.ROOT_CAUSE)
