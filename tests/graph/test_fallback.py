"""Fallback (contract section 7): a fixed text by cause, and nothing in it that was not checked."""

from __future__ import annotations

import re

import pytest

from diag_graph.answer import FAILED_CHECKS, render_failed_check
from diag_graph.contracts import InvocationStatus
from diag_graph.runfile import FileStep
from diag_graph.topology import Node
from recordings import (
    FORGED,
    POOL,
    UNBOUND,
    answer_of,
    bind,
    call,
    claim,
    executor,
    fact,
    fails,
    no_facts,
    plan,
    play,
    says,
    verifier,
)

MARK = "PLANTED"
MARKED_CALLS = [
    call("inv-1", f"{MARK} line one", "pool exhausted"),
    call("inv-2", f"{MARK} nothing matched", status="empty"),
    call("inv-3", status="error", error=f"{MARK} timed out", tool=f"{MARK}.tool"),
    call("inv-4", status="error", error="again"),
    call("inv-5", status="blocked", error=f"{MARK} is not permitted"),
]
TRUE_CLAIM = claim("claim-1", f"{MARK} cause", bind(f"{MARK} line one"), entity=f"{MARK}-service")
MARKED = executor(TRUE_CLAIM, calls=MARKED_CALLS, missing_info=[f"{MARK} is missing"])
REJECTED = executor(TRUE_CLAIM, claim("claim-2", f"{MARK} lie", FORGED), calls=MARKED_CALLS)

EARLY: dict[str, tuple[Node, str, list[FileStep]]] = {
    "planner": (Node.PLANNER, "planner_non_retryable_failed", [fails("planner", "auth", f"{MARK} key refused")]),
    "executor": (
        Node.EXECUTOR,
        "executor_failed",
        [plan(), fails("executor", "timeout", f"{MARK} timed out", MARKED_CALLS)],
    ),
    "executor text": (
        Node.EXECUTOR,
        "executor_invalid_output",
        [plan(), says("executor", f"{MARK}: no document", MARKED_CALLS)],
    ),
    "gate rejects": (Node.GATEKEEPER, "gatekeeper_reject", [plan(), REJECTED]),
    "gate passes none": (
        Node.GATEKEEPER,
        "gatekeeper_no_verified_binding",
        [plan(), executor(UNBOUND | {"claim": f"{MARK} unbound"}, calls=MARKED_CALLS)],
    ),
    "verifier": (
        Node.VERIFIER,
        "verifier_non_retryable_failed",
        [plan(), MARKED, fails("verifier", "config", f"{MARK} is unset")],
    ),
    "verifier twice": (
        Node.VERIFIER,
        "verifier_invalid_output",
        [plan(), MARKED, fails("verifier"), says("verifier", f"{MARK} says nothing")],
    ),
}


@pytest.mark.parametrize("name", EARLY)
def test_before_verification_no_word_of_an_agent_or_a_tool_is_told(name: str) -> None:
    """F1: not a claim, an excerpt, a tool's text or an error's, though some bindings may have passed."""
    cause, reason, steps = EARLY[name]
    result = play(*steps)
    answer = answer_of(result)
    assert MARK not in answer
    assert FAILED_CHECKS[cause] in answer
    assert reason in answer
    assert "No root cause can be given" in answer
    assert "trace" in answer
    assert result.document.findings == ()
    assert result.document.run.verdict is None
    assert result.document.run.status == "SUCCESS"


@pytest.mark.parametrize("name", EARLY)
def test_the_answer_holds_no_run_id(name: str) -> None:
    """F1: the answer of a replay is the same, byte for byte, and a run id would not be."""
    _, _, steps = EARLY[name]
    first, second = play(*steps), play(*steps)
    assert answer_of(first) == answer_of(second)
    assert first.document.run.run_id not in answer_of(first)


def test_tool_calls_are_counted_by_how_they_ended() -> None:
    """F1: numbers only, and the right ones."""
    answer = answer_of(play(plan(), REJECTED))
    assert "1 succeeded, 1 found nothing, 2 failed, 1 were blocked" in answer
    none = answer_of(play(fails("planner", "auth")))
    assert "0 succeeded, 0 found nothing, 0 failed, 0 were blocked" in none


def test_an_early_round_does_not_soften_a_later_fallback() -> None:
    """F1: what round one verified is not told when round two ends before verification."""
    gap = fact("no_evidence", None, "why")
    steps = [plan(), MARKED, verifier("LOW_CONFID", fact(), gap), plan(), says("executor", None)]
    result = play(*steps)
    assert MARK not in answer_of(result)
    assert result.document.findings == ()


def test_the_template_tells_no_limit_with_a_number_that_nobody_stated() -> None:
    """C2, F2: what the verifier misses is told as it says it, unless a number in it stands nowhere."""
    missing = ["why all 20 connections were in use", "what the other 37 pods did"]
    answer = answer_of(play(plan(), executor(), verifier(missing_info=missing), fails("composer", "config")))
    assert "why all 20 connections" in answer
    assert "37" not in answer


@pytest.mark.parametrize("node", [*Node])
def test_every_node_has_words_for_its_failure(node: Node) -> None:
    """F1: whichever node fails, the text is whole and holds no number but the counts."""
    text = render_failed_check(node, "reason", dict.fromkeys(InvocationStatus, 0))
    assert FAILED_CHECKS[node] in text
    assert re.findall(r"\d", text) == ["0"] * 4


LATE = [
    plan(),
    executor(),
    verifier("PASS", fact(), missing_info=["when it began"], recommended_actions=["enlarge it"]),
]


@pytest.mark.parametrize(
    "failures",
    [
        [fails("composer", "auth", "PLANTED")],
        [fails("composer"), says("composer", "PLANTED")],
        [says("composer", {"summary": "PLANTED 77", "findings": []}), fails("composer", "other", "PLANTED")],
    ],
    ids=["auth", "timeout then text", "a stray number then other"],
)
def test_after_verification_the_allowed_claims_are_told_with_their_citations(failures: list[FileStep]) -> None:
    """F2: claims, citations, limits and recommended actions, by a template, and no word of the composer's."""
    result = play(*LATE, *failures)
    answer = answer_of(result)
    assert "Root cause\n  - The connection pool of payment was exhausted [1]" in answer
    assert f'[1] search_logs inv-1 /items/0/text\n      "{POOL}"' in answer
    assert "when it began" in answer
    assert "enlarge it" in answer
    assert "PLANTED" not in answer
    assert result.document.run.verdict == "PASS"
    assert [entry.claim_id for entry in result.document.findings] == ["claim-1"]
    assert (result.document.run.orchestration_trace or {})["degraded"] is True


def test_after_verification_with_nothing_allowed_it_says_so() -> None:
    """F2: no claim is allowed, and no root cause is given."""
    result = play(plan(), executor(), no_facts("REJECT"), fails("composer", "auth"))
    assert "No statement passed verification: no root cause can be given." in answer_of(result)
    assert "pool" not in answer_of(result)


def test_after_verification_the_claims_are_those_of_the_verdict() -> None:
    """F2: under LOW_CONFID a supported root cause is told as likely, under REJECT not at all."""
    observed = claim("claim-2", "Payment logged an error", bind(), kind="observation")
    both = executor(claim(), observed)
    facts = (fact(), fact(claim_id="claim-2"))
    low = answer_of(play(plan(), both, verifier("LOW_CONFID", *facts), fails("composer", "auth")))
    assert "Likely root cause\n  - The connection pool" in low
    reject = answer_of(play(plan(), both, verifier("REJECT", *facts), fails("composer", "auth")))
    assert "connection pool of payment" not in reject
    assert "Observed\n  - Payment logged an error [1]" in reject
