"""The analyst's verifier reads claims against their matched texts, and against nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from diag_graph.agents.analyst.verifier import AnalystVerifier
from diag_graph.contracts import (
    Binding,
    ClaimFlag,
    ClaimKind,
    GatekeeperAudit,
    VerifiedClaim,
    VerifiedDocument,
    VerifiedEvidence,
    VerifierResult,
)
from diag_graph.state import VerifierInput

POOL = "db_pool_in_use of orders rose from 2 (median before) to 10 (median since) at 2026-11-30T14:05:10Z."
LATENCY = (
    "latency_p95_seconds of shopfront rose from 0.12 s (median before) to 1.9 s (median since) at 2026-11-30T14:05:30Z."
)
CALLS = "shopfront calls orders (call graph)."
NOTHING = (
    "No series changed notably at the onset: 80 series compared from 2026-11-30T13:50:00Z to 2026-11-30T14:10:00Z."
)
ALERT = "Alert LatencyHigh (page, firing of shopfront) since 2026-11-30T14:07:00Z: p95 is above 1 s."


def claim(number: int, kind: ClaimKind, entity: str | None, text: str, *flags: ClaimFlag) -> VerifiedClaim:
    """A verified claim with one binding."""
    binding = Binding(source_invocation_id="inv-1", raw_path=f"/items/{number}/text", evidence_excerpt="x")
    return VerifiedClaim(
        claim_id=f"claim-{number}", claim=text, kind=kind, entity=entity, evidence_bindings=(binding,), flags=flags
    )


def evidence(number: int, tool: str, text: str) -> VerifiedEvidence:
    """A matched text of a claim."""
    return VerifiedEvidence(
        claim_id=f"claim-{number}",
        source_invocation_id="inv-1",
        tool_name=tool,
        raw_path=f"/items/{number}/text",
        matched_text=text,
    )


def verify(claims: list[VerifiedClaim], texts: list[VerifiedEvidence]) -> VerifierResult:
    """What the analyst says of them."""
    request = VerifierInput(
        question="why did latency of shopfront jump?",
        verified_output=VerifiedDocument(claims=tuple(claims)),
        audit=GatekeeperAudit(status="pass"),
        evidence=tuple(texts),
    )
    reply = AnalystVerifier().verify(request)
    return VerifierResult.model_validate(json.loads(reply.text or ""))


def judged(result: VerifierResult) -> dict[str | None, str]:
    """Its judgement by claim."""
    return {fact.claim_id: str(fact.verification) for fact in result.facts_checked}


CAUSE = claim(1, ClaimKind.ROOT_CAUSE, "orders", f"The trouble starts at orders. {POOL}")
SYMPTOM = claim(2, ClaimKind.OBSERVATION, "shopfront", LATENCY)


def test_a_cause_with_a_mechanism_before_its_symptom_is_directly_supported() -> None:
    """A resource that ran short before the symptom carries the claim, and the verdict is PASS."""
    result = verify(
        [CAUSE, SYMPTOM], [evidence(1, "find_metric_anomalies", POOL), evidence(2, "find_metric_anomalies", LATENCY)]
    )
    assert judged(result) == {"claim-1": "direct_support", "claim-2": "direct_support"}
    assert result.verdict == "PASS"


def test_a_cause_whose_evidence_is_a_symptom_is_at_best_indirect() -> None:
    """Latency at the blamed entity shows that it suffers, not that it is to blame; the gap names it."""
    blamed = claim(1, ClaimKind.ROOT_CAUSE, "shopfront", f"The trouble starts at shopfront. {LATENCY}")
    result = verify([blamed], [evidence(1, "find_metric_anomalies", LATENCY)])
    assert judged(result) == {"claim-1": "indirect_support"}
    assert result.verdict == "LOW_CONFID"
    assert result.facts_checked[0].fact.startswith("shopfront is ")


def test_a_cause_that_comes_after_its_symptom_is_contradicted() -> None:
    """What begins after the symptom did not cause it, and with no other cause the verdict is REJECT."""
    late = POOL.replace("14:05:10", "14:25:10")
    blamed = claim(1, ClaimKind.ROOT_CAUSE, "orders", f"The trouble starts at orders. {late}")
    result = verify(
        [blamed, SYMPTOM], [evidence(1, "find_metric_anomalies", late), evidence(2, "find_metric_anomalies", LATENCY)]
    )
    assert judged(result)["claim-1"] == "contradicted"
    assert result.verdict == "REJECT"


def test_a_change_without_an_effect_on_what_was_changed_is_indirect() -> None:
    """A deploy just before is a coincidence until something is shown to be wrong with what was deployed."""
    deploy = "Deploy 3.8.0 of orders at 2026-11-30T14:03:00Z (2 min 10 s before the onset): retry once more."
    blamed = claim(1, ClaimKind.ROOT_CAUSE, "orders", f"The trouble starts at orders. {deploy}")
    result = verify(
        [blamed, SYMPTOM], [evidence(1, "list_changes", deploy), evidence(2, "find_metric_anomalies", LATENCY)]
    )
    assert judged(result)["claim-1"] == "indirect_support"


def test_a_second_cause_is_at_best_indirect() -> None:
    """One cause leads; the others stay possible."""
    other = claim(3, ClaimKind.ROOT_CAUSE, "stock", f"The trouble starts at stock. {POOL.replace('orders', 'stock')}")
    texts = [
        evidence(1, "find_metric_anomalies", POOL),
        evidence(2, "find_metric_anomalies", LATENCY),
        evidence(3, "find_metric_anomalies", POOL.replace("orders", "stock")),
    ]
    result = verify([CAUSE, other, SYMPTOM], texts)
    assert judged(result)["claim-1"] == "direct_support"
    assert judged(result)["claim-3"] == "indirect_support"


@pytest.mark.parametrize(
    ("text", "entity", "expected"),
    [
        (LATENCY, "shopfront", "direct_support"),
        ("latency_p95_seconds of shopfront rose at 2026-11-30T14:05:30Z.", "shopfront", "indirect_support"),
        ("latency_p95_seconds of shopfront fell at 2026-11-30T14:05:30Z.", "shopfront", "contradicted"),
        ("latency_p95_seconds of shopfront rose at 2026-11-30T14:09:00Z.", "shopfront", "no_evidence"),
        ("latency_p95_seconds rose at 2026-11-30T14:05:30Z.", "stock", "no_evidence"),
    ],
    ids=["as shown", "in other words", "other direction", "other time", "other entity"],
)
def test_a_statement_stands_on_its_entity_direction_and_time(text: str, entity: str, expected: str) -> None:
    """What a claim says of whom, which way and when must stand in its evidence."""
    result = verify([claim(2, ClaimKind.OBSERVATION, entity, text)], [evidence(2, "find_metric_anomalies", LATENCY)])
    assert judged(result) == {"claim-2": expected}


def test_an_ungrounded_number_is_no_evidence() -> None:
    """G5's flag is believed."""
    flagged = claim(2, ClaimKind.OBSERVATION, "shopfront", LATENCY.replace("1.9", "2.9"), ClaimFlag.UNGROUNDED_NUMBER)
    result = verify([flagged], [evidence(2, "find_metric_anomalies", LATENCY)])
    assert judged(result) == {"claim-2": "no_evidence"}


def test_a_search_without_a_match_and_an_alert_are_a_quiet_pass() -> None:
    """A false alarm: the alert is stated, nothing abnormal was found, and no cause is claimed."""
    quiet = claim(1, ClaimKind.NO_EVIDENCE, None, NOTHING)
    fired = claim(2, ClaimKind.OBSERVATION, "shopfront", ALERT)
    result = verify([quiet, fired], [evidence(1, "find_metric_anomalies", NOTHING), evidence(2, "list_alerts", ALERT)])
    assert result.verdict == "PASS"


def test_an_unexplained_change_without_a_cause_is_low_confidence() -> None:
    """Something changed, and nobody can say why."""
    result = verify([SYMPTOM], [evidence(2, "find_metric_anomalies", LATENCY)])
    assert result.verdict == "LOW_CONFID"


def test_nothing_verified_is_low_confidence() -> None:
    """No claim, no confidence."""
    assert verify([], []).verdict == "LOW_CONFID"


def test_a_claim_that_nothing_was_found_needs_a_search_without_a_match() -> None:
    """A series that changed is no evidence that none did."""
    wrong = claim(1, ClaimKind.NO_EVIDENCE, None, "No error was logged.")
    result = verify([wrong], [evidence(1, "find_metric_anomalies", LATENCY)])
    assert judged(result) == {"claim-1": "contradicted"}


def test_advice_names_the_entity_and_states_no_number() -> None:
    """Next steps follow from the kind of evidence."""
    result: Any = verify(
        [CAUSE, SYMPTOM], [evidence(1, "find_metric_anomalies", POOL), evidence(2, "find_metric_anomalies", LATENCY)]
    )
    assert any("connections of orders" in step for step in result.recommended_actions)
    assert not any(character.isdigit() for step in result.recommended_actions for character in step)


def test_a_wait_for_a_service_of_others_is_advised_upon_with_its_name() -> None:
    """Who waits can do little: the advice names whom to ask, and does not send anybody into the waiter's own code."""
    wait = (
        "Operation call payer of orders got slower by self time, waiting for a call to payer, which records no spans: "
        "median 900 ms since 2026-11-30T10:30:00Z against 90 ms before (50 and 50 spans)."
    )
    blamed = claim(1, ClaimKind.ROOT_CAUSE, "orders", f"The trouble starts at orders. {wait}")
    result: Any = verify([blamed], [evidence(1, "find_span_anomalies", wait)])
    assert result.recommended_actions[0].startswith("Ask who runs payer, on which orders waits")
    assert len(result.recommended_actions) == 1


@pytest.mark.parametrize(
    "text",
    [
        "No series changed notably at the onset: 0 series compared; 4 series had too few samples to compare.",
        "No log pattern is new, gone or notably more frequent: 2 lines in 2 patterns.",
        "No log pattern is new, gone or notably more frequent: 1,000 lines in 10 patterns; reading stopped early.",
        "No operation got notably slower, fails or stopped since the onset: 0 spans before and 40 since, 3 operations.",
    ],
    ids=["no series", "few lines", "stopped early", "no span before"],
)
def test_a_search_that_compared_nothing_is_no_all_clear(text: str) -> None:
    """Silence after a look at nothing is LOW_CONFID, and the answer says what was missing."""
    tool = (
        "find_log_patterns" if "log" in text else "find_span_anomalies" if "span" in text else "find_metric_anomalies"
    )
    result = verify([claim(1, ClaimKind.NO_EVIDENCE, None, text)], [evidence(1, tool, text)])
    assert result.verdict == "LOW_CONFID"
    assert [missing for missing in result.missing_info if missing.endswith("too little could be compared.")]
