"""The second round (contract section 6)."""

from __future__ import annotations

import pytest
from watching import Watch

from recordings import (
    NOTHING,
    POOL,
    SLOW,
    answer_of,
    bind,
    call,
    claim,
    composer,
    executor,
    fact,
    path_of,
    plan,
    play,
    reasons_of,
    verifier,
)

GAP = fact("no_evidence", None, "why the pool filled up")
FIRST = (plan(), executor(), verifier("LOW_CONFID", fact(), GAP))
SLOW_CALL = call("inv-2", SLOW, tool="query_metrics", arguments={"metric": "latency"})


@pytest.mark.parametrize("verification", ["no_evidence", "indirect_support"])
def test_a_gap_opens_a_second_round(verification: str) -> None:
    """Section 6: a fact without evidence, or with indirect evidence only, is looked for once more."""
    gap = fact(verification, "claim-1", "the pool filled up")
    result = play(
        plan(), executor(), verifier("LOW_CONFID", gap), plan(), executor(calls=[SLOW_CALL]), verifier(), composer()
    )
    assert "evidence_retry_prepared" in reasons_of(result)
    assert (result.document.run.orchestration_trace or {})["evidence_retry_count"] == 1


def test_the_retry_context_is_as_the_contract_says() -> None:
    """Section 6: mode, prior verified output and evidence, gaps, completed queries, constraints."""
    failed = call("inv-3", status="error", error="timed out", tool="query_metrics", arguments={"metric": "cpu"})
    empty = call("inv-2", NOTHING, status="empty", tool="list_changes", arguments={})
    watch = Watch(
        [
            plan(),
            executor(calls=[call(), empty, failed]),
            verifier("LOW_CONFID", fact(), GAP),
            plan(),
            executor(calls=[]),
            verifier(),
            composer(),
        ]
    )
    watch.run()
    context = watch.executor[1].retry_context
    assert context is not None
    assert context.model_dump(mode="json", by_alias=True) == {
        "mode": "EVIDENCE_GAP_ONLY",
        "prior_verified_output": {
            "schema": "executor_evidence_v2",
            "claims": [claim() | {"flags": []}],
        },
        "prior_verified_evidence": [
            {
                "claim_id": "claim-1",
                "source_invocation_id": "inv-1",
                "tool_name": "search_logs",
                "raw_path": "/items/0/text",
                "matched_text": POOL,
            }
        ],
        "evidence_gaps": [GAP],
        "confirmed_facts": [],
        "completed_queries": [
            {"tool": "search_logs", "arguments": {"text": "ERROR"}},
            {"tool": "list_changes", "arguments": {}},
        ],
        "constraints": {
            "max_retry": 1,
            "do_not_repeat_successful_queries": True,
            "only_execute_incremental_queries": True,
            "preserve_prior_verified_claims": True,
        },
    }


def test_the_second_document_is_the_whole_of_what_counts() -> None:
    """E3: a prior claim that the second document leaves out is gone; code merges nothing."""
    again = executor(
        claim("claim-2", "checkout p95 latency rose from 210 ms to 1,840 ms", bind(SLOW, "inv-2")), calls=[SLOW_CALL]
    )
    result = play(
        *FIRST,
        plan(),
        again,
        verifier("PASS", fact(claim_id="claim-2")),
        composer("Checkout got slow.", ("It rose.", ["claim-2"])),
    )
    assert [entry.claim_id for entry in result.document.findings] == ["claim-2"]
    assert "pool" not in answer_of(result)


def test_the_second_document_may_cite_the_first_rounds_calls() -> None:
    """G4: the whole snapshot is checked again, against all invocations of the run."""
    again = executor(claim(), claim("claim-2", "It got slow", bind(SLOW, "inv-2")), calls=[SLOW_CALL])
    result = play(*FIRST, plan(), again, verifier("PASS", fact(), fact(claim_id="claim-2")), composer())
    assert result.document.run.verdict == "PASS"
    assert len(result.document.gatekeeper.checked_bindings if result.document.gatekeeper else ()) == 2
    assert [(entry.id, entry.round) for entry in result.document.invocations] == [("inv-1", 1), ("inv-2", 2)]


def test_nothing_passes_because_it_passed_before() -> None:
    """G4: a prior claim whose excerpt the second document spoils rejects the round."""
    spoilt = executor(claim("claim-1", "The pool was exhausted", bind("pool exhausted: 30 of 30")), calls=[])
    result = play(*FIRST, plan(), spoilt)
    assert path_of(result)[-2:] == ["gatekeeper", "fallback"]
    assert result.document.run.verdict is None


def test_a_second_low_confid_goes_to_the_composer() -> None:
    """E4: there is one evidence round, however many gaps are left."""
    result = play(*FIRST, plan(), executor(calls=[]), verifier("LOW_CONFID", fact(), GAP), composer())
    assert reasons_of(result)[-2:] == ["verifier_low_confid_retry_spent", "composer_completed"]
    assert result.document.run.verdict == "LOW_CONFID"
    assert "Likely root cause" in answer_of(result)


def test_a_round_without_new_calls_is_legal() -> None:
    """A second round that finds nothing to ask is not an error."""
    result = play(*FIRST, plan(), executor(calls=[]), verifier(), composer())
    assert result.document.run.status == "SUCCESS"
    assert len(result.document.invocations) == 1


def test_steps_and_invocations_know_their_round() -> None:
    """Section 9: what is recorded of the second round says so."""
    result = play(*FIRST, plan(), executor(calls=[SLOW_CALL]), verifier(), composer())
    rounds = [(step.agent, step.round) for step in result.document.steps]
    assert rounds == [
        ("planner", 1),
        ("executor", 1),
        ("verifier", 1),
        ("planner", 2),
        ("executor", 2),
        ("verifier", 2),
        ("composer", 2),
    ]
