"""Verdicts that code reaches, and what may be said under them."""

from __future__ import annotations

import itertools

import pytest

from diag_graph.contracts import (
    Binding,
    Citation,
    ClaimFlag,
    ClaimKind,
    FactCheck,
    GatekeeperAudit,
    Severity,
    Standing,
    Verification,
    VerifiedClaim,
    VerifiedDocument,
    VerifiedEvidence,
)
from diag_graph.gate.verdicts import advice, allowed_claims, ceiling, effective, gate_status
from diag_graph.topology import Verdict

PASS, LOW, REJECT = Verdict.PASS, Verdict.LOW_CONFID, Verdict.REJECT
PASSED = GatekeeperAudit(status="pass")
DOUBTED = GatekeeperAudit(status="fail", severity=Severity.LOW_CONFID)
REJECTED = GatekeeperAudit(status="fail", severity=Severity.REJECT)


@pytest.mark.parametrize(
    ("audit", "status"),
    [
        (PASSED, PASS),
        (DOUBTED, LOW),
        (REJECTED, REJECT),
        (None, REJECT),
        (GatekeeperAudit(status="fail"), REJECT),
        (GatekeeperAudit(status="pass", severity=Severity.REJECT), REJECT),
        (GatekeeperAudit(status="pass", severity=Severity.LOW_CONFID), REJECT),
    ],
)
def test_the_gates_status(audit: GatekeeperAudit | None, status: Verdict) -> None:
    """G1: an audit that is missing or contradicts itself is a rejection."""
    assert gate_status(audit) is status


@pytest.mark.parametrize(
    ("audit", "count", "highest"),
    [(PASSED, 1, PASS), (PASSED, 0, LOW), (DOUBTED, 3, LOW), (DOUBTED, 0, LOW), (REJECTED, 3, LOW)],
)
def test_nothing_verified_is_never_a_pass(audit: GatekeeperAudit, count: int, highest: Verdict) -> None:
    """Section 5: the ceiling is PASS on a gate's PASS with at least one verified binding, else LOW_CONFID."""
    assert ceiling(audit, count) is highest


@pytest.mark.parametrize(
    ("said", "highest", "counts"),
    [
        (PASS, PASS, PASS),
        (LOW, PASS, LOW),
        (REJECT, PASS, REJECT),
        (PASS, LOW, LOW),
        (LOW, LOW, LOW),
        (REJECT, LOW, REJECT),
    ],
)
def test_the_lower_verdict_counts(said: Verdict, highest: Verdict, counts: Verdict) -> None:
    """Section 5: `effective_verdict` is the lower of the model's verdict and the ceiling."""
    assert effective(said, highest) is counts


def claims(*kinds: ClaimKind, flags: tuple[ClaimFlag, ...] = ()) -> VerifiedDocument:
    """A verified document with a claim of each kind, `claim-0`, `claim-1`, ..."""
    bound = (Binding(source_invocation_id="inv-1", raw_path="/a", evidence_excerpt="text"),)
    return VerifiedDocument(
        claims=tuple(
            VerifiedClaim(
                claim_id=f"claim-{n}", claim=f"text {n}", kind=kind, entity="db", evidence_bindings=bound, flags=flags
            )
            for n, kind in enumerate(kinds)
        )
    )


EVIDENCE = [
    VerifiedEvidence(
        claim_id=f"claim-{n}", source_invocation_id="inv-1", tool_name="t", raw_path=f"/{n}", matched_text="text"
    )
    for n in range(6)
]


def fact(verification: Verification, number: int | None = 0) -> FactCheck:
    """A judgement on `claim-<number>`."""
    return FactCheck(claim_id=None if number is None else f"claim-{number}", fact="f", verification=verification)


def standing(
    kind: ClaimKind, verdict: Verdict, *facts: FactCheck, flags: tuple[ClaimFlag, ...] = ()
) -> Standing | None:
    """How the only claim may be said."""
    allowed = allowed_claims(claims(kind, flags=flags), EVIDENCE, facts, verdict)
    return allowed[0].standing if allowed else None


DIRECT, INDIRECT = Verification.DIRECT_SUPPORT, Verification.INDIRECT_SUPPORT
CONFIRMED, LIKELY, POSSIBLE = Standing.CONFIRMED, Standing.LIKELY, Standing.POSSIBLE
TABLE = {
    (DIRECT, PASS): (CONFIRMED, CONFIRMED, CONFIRMED),
    (DIRECT, LOW): (LIKELY, CONFIRMED, CONFIRMED),
    (DIRECT, REJECT): (None, CONFIRMED, CONFIRMED),
    (INDIRECT, PASS): (POSSIBLE, POSSIBLE, POSSIBLE),
    (INDIRECT, LOW): (POSSIBLE, POSSIBLE, POSSIBLE),
    (INDIRECT, REJECT): (None, None, None),
    **{
        (verification, verdict): (None, None, None)
        for verification in (Verification.NO_EVIDENCE, Verification.CONTRADICTED)
        for verdict in Verdict
    },
}
"""Section 5, allowed claims: for a root cause, an observation, a no-evidence claim."""
EMPTY = ClaimFlag.EMPTY_ONLY
KINDS = (ClaimKind.ROOT_CAUSE, ClaimKind.OBSERVATION, ClaimKind.NO_EVIDENCE)


@pytest.mark.parametrize(("verification", "verdict"), list(itertools.product(Verification, Verdict)))
def test_the_table_of_allowed_claims(verification: Verification, verdict: Verdict) -> None:
    """Section 5: each verification under each verdict, for each kind of claim."""
    assert tuple(standing(kind, verdict, fact(verification)) for kind in KINDS) == TABLE[verification, verdict]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_claim_that_was_not_checked_is_not_allowed(verdict: Verdict) -> None:
    """Section 5: silence supports nothing, nor does a fact that names no claim or another one."""
    for facts in ([], [fact(DIRECT, None)], [fact(DIRECT, 1)]):
        assert standing(ClaimKind.OBSERVATION, verdict, *facts) is None


def test_the_weakest_of_several_facts_counts() -> None:
    """A claim is no firmer than the weakest fact that was checked of it, in whatever order."""
    for weaker, counts in ((INDIRECT, POSSIBLE), (Verification.NO_EVIDENCE, None), (Verification.CONTRADICTED, None)):
        assert standing(ClaimKind.OBSERVATION, PASS, fact(DIRECT), fact(weaker)) is counts
        assert standing(ClaimKind.OBSERVATION, PASS, fact(weaker), fact(DIRECT)) is counts


@pytest.mark.parametrize(("verification", "verdict"), list(itertools.product(Verification, Verdict)))
def test_an_ungrounded_number_is_at_most_possible(verification: Verification, verdict: Verdict) -> None:
    """G5: what would be allowed is possible, and what would not be stays out."""
    flags = (ClaimFlag.UNGROUNDED_NUMBER,)
    expected = tuple(entry and POSSIBLE for entry in TABLE[verification, verdict])
    assert tuple(standing(kind, verdict, fact(verification), flags=flags) for kind in KINDS) == expected


@pytest.mark.parametrize(("verification", "verdict"), list(itertools.product(Verification, Verdict)))
def test_guidance_is_never_a_finding(verification: Verification, verdict: Verdict) -> None:
    """G6: a runbook shows what is advised, never what happened."""
    for flags in ((ClaimFlag.GUIDANCE_ONLY,), (ClaimFlag.UNGROUNDED_NUMBER, ClaimFlag.GUIDANCE_ONLY)):
        assert all(standing(kind, verdict, fact(verification), flags=flags) is None for kind in KINDS)


@pytest.mark.parametrize(("verification", "verdict"), list(itertools.product(Verification, Verdict)))
def test_guidance_that_is_found_in_its_text_is_passed_on_as_advice(
    verification: Verification, verdict: Verdict
) -> None:
    """G6: an observation of what guidance says, and nothing that blames, and nothing that rests on evidence."""
    for kind, flags in itertools.product(KINDS, [(ClaimFlag.GUIDANCE_ONLY,), (), (ClaimFlag.GUIDANCE_ONLY, EMPTY)]):
        advised = advice(claims(kind, flags=flags), EVIDENCE, [fact(verification)], verdict)
        expected = verification is DIRECT and kind is ClaimKind.OBSERVATION and flags == (ClaimFlag.GUIDANCE_ONLY,)
        assert [one.claim_id for one in advised] == (["claim-0"] if expected else [])


def test_advice_is_given_once_and_only_when_it_was_judged() -> None:
    """G6: claims that cite the same texts are one piece of advice; a claim that nobody judged is none."""
    document = claims(ClaimKind.OBSERVATION, ClaimKind.OBSERVATION, flags=(ClaimFlag.GUIDANCE_ONLY,))
    same = [one.model_copy(update={"raw_path": "/items/0/text"}) for one in EVIDENCE]
    assert len(advice(document, same, [fact(DIRECT, 0), fact(DIRECT, 1)], PASS)) == 1
    assert len(advice(document, EVIDENCE, [fact(DIRECT, 0), fact(DIRECT, 1)], PASS)) == 2
    assert advice(document, EVIDENCE, [], PASS) == ()


def test_root_causes_come_first_in_their_order() -> None:
    """Section 10: findings are the allowed claims, root causes first, each in the document's order."""
    cause, seen, nothing = KINDS
    document = claims(seen, cause, nothing, cause, seen)
    allowed = allowed_claims(document, EVIDENCE, [fact(DIRECT, n) for n in range(5)], PASS)
    assert [entry.claim_id for entry in allowed] == ["claim-1", "claim-3", "claim-0", "claim-2", "claim-4"]


def test_an_allowed_claim_carries_its_citations() -> None:
    """C3: where each of its bindings stands, and no other claim's; a claim without any is not said."""
    extra = EVIDENCE[0].model_copy(update={"raw_path": "/more"})
    (allowed,) = allowed_claims(claims(ClaimKind.ROOT_CAUSE), [*EVIDENCE, extra], [fact(DIRECT)], PASS)
    assert (allowed.text, allowed.entity, allowed.kind) == ("text 0", "db", ClaimKind.ROOT_CAUSE)
    assert allowed.citations == tuple(
        Citation(invocation_id="inv-1", tool="t", path=path, matched_text="text") for path in ("/0", "/more")
    )
    assert allowed_claims(claims(ClaimKind.ROOT_CAUSE), [], [fact(DIRECT)], PASS) == ()


@pytest.mark.parametrize(("verification", "verdict"), list(itertools.product(Verification, Verdict)))
def test_a_result_without_a_match_shows_only_that_nothing_was_found(
    verification: Verification, verdict: Verdict
) -> None:
    """G8: a cause or an observation that cites nothing but empty results is not allowed."""
    flags = (ClaimFlag.EMPTY_ONLY,)
    for kind in (ClaimKind.ROOT_CAUSE, ClaimKind.OBSERVATION):
        assert standing(kind, verdict, fact(verification), flags=flags) is None
    found_nothing = standing(ClaimKind.NO_EVIDENCE, verdict, fact(verification), flags=flags)
    assert found_nothing == standing(ClaimKind.NO_EVIDENCE, verdict, fact(verification))
