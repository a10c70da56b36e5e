"""Which verdict a run has: the one that its answer rests on, and no other (contract section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from diag_graph.runfile import FileStep
from recordings import (
    FORGED,
    UNBOUND,
    answer_of,
    call,
    claim,
    composer,
    executor,
    fact,
    fails,
    no_facts,
    plan,
    play,
    says,
    speechless,
    verifier,
)

GAP = fact("no_evidence", None, "why")
LOW_ROUND = (plan(), executor(), verifier("LOW_CONFID", fact(), GAP))


@pytest.mark.parametrize("verdict", ["PASS", "LOW_CONFID", "REJECT"])
def test_under_a_high_ceiling_the_verifiers_verdict_counts(verdict: str) -> None:
    """The effective verdict is the model's own when the gate passed whole."""
    run = play(plan(), executor(), verifier(verdict, fact("contradicted")), speechless()).document.run
    assert (run.verdict, run.model_verdict) == (verdict, verdict)


@pytest.mark.parametrize(
    ("said", "counts"), [("PASS", "LOW_CONFID"), ("LOW_CONFID", "LOW_CONFID"), ("REJECT", "REJECT")]
)
@pytest.mark.parametrize("document", ["a failed claim", "no claims"])
def test_under_a_low_ceiling_the_verdict_is_lowered(document: str, said: str, counts: str) -> None:
    """The lower of the two counts; the model's own is kept for audit. Nothing verified is never a PASS (G3)."""
    made = executor(claim(), UNBOUND) if document == "a failed claim" else executor(claims=[])
    result = play(plan(), made, no_facts(said), speechless())
    assert (result.document.run.verdict, result.document.run.model_verdict) == (counts, said)
    assert f"Verdict: {counts}" in answer_of(result)
    evaluation: dict[str, Any] = result.document.verifier or {}
    assert (evaluation["verdict"], evaluation["model_verdict"], evaluation["ceiling"]) == (counts, said, "LOW_CONFID")


EARLY: dict[str, list[FileStep]] = {
    "planner": [fails("planner", "auth")],
    "executor": [plan(), says("executor", "no")],
    "gate": [plan(), executor(claim("claim-1", "x", FORGED))],
    "verifier": [plan(), executor(), fails("verifier", "auth")],
}


@pytest.mark.parametrize("cause", EARLY)
def test_before_verification_there_is_no_verdict(cause: str) -> None:
    """F1: no failure is ever a verdict."""
    run = play(*EARLY[cause]).document.run
    assert run.verdict is None
    assert run.status == "SUCCESS"


@pytest.mark.parametrize("cause", EARLY)
def test_a_second_round_that_falls_early_leaves_no_verdict_of_the_first(cause: str) -> None:
    """Section 5: null after F1, also when round one had reached a verdict; and its findings are not told."""
    result = play(*LOW_ROUND, *[renumbered(step) for step in EARLY[cause]])
    assert result.divergence is None
    assert result.document.run.verdict is None
    assert result.document.findings == ()
    assert "pool" not in answer_of(result)
    assert (result.document.verifier or {"verdict": None})["verdict"] is None


def renumbered(step: FileStep) -> FileStep:
    """The step with call ids of a second round."""
    calls = tuple(entry.model_copy(update={"id": "inv-2"}) for entry in step.invocations)
    return step.model_copy(update={"invocations": calls})


def test_after_verification_the_verdict_stays() -> None:
    """F2: the composer failed, and the answer still rests on the verdict."""
    run = play(plan(), executor(), verifier(), fails("composer", "auth")).document.run
    assert (run.verdict, run.status) == ("PASS", "SUCCESS")


def test_the_second_rounds_verdict_is_the_runs() -> None:
    """The answer rests on the last verification."""
    result = play(
        *LOW_ROUND, plan(), executor(calls=[call("inv-2")]), verifier("REJECT", fact("contradicted")), speechless()
    )
    assert (result.document.run.verdict, result.document.run.model_verdict) == ("REJECT", "REJECT")


def test_a_verdict_is_no_run_status() -> None:
    """D1: SUCCESS whenever a safe answer was given, whatever the verdict."""
    runs = [
        play(plan(), executor(), verifier("REJECT", fact("contradicted")), speechless()).document.run,
        play(plan(), executor(claim("claim-1", "x", FORGED))).document.run,
        play(plan(), executor(), verifier(), composer()).document.run,
    ]
    assert {run.status for run in runs} == {"SUCCESS"}
