"""Guards and reason codes, against the tables of contract sections 2 and 8 written out once more by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.contracts import CheckedBinding, FactCheck, GatekeeperAudit, Verification, VerifierResult
from diag_graph.routing import CONDITIONS, evidence_gaps, next_node, reason_code
from diag_graph.topology import (
    END,
    RETRY_KEY,
    ROUTES,
    STATUS_KEY,
    AgentStatus,
    Condition,
    ExecutorStatus,
    Node,
    Reason,
    Verdict,
)

STATUSES: dict[Node, list[str]] = {
    Node.PLANNER: [*AgentStatus],
    Node.EXECUTOR: [*ExecutorStatus],
    Node.GATEKEEPER: [*Verdict],
    Node.VERIFIER: [*AgentStatus],
    Node.COMPOSER: [*AgentStatus],
}
AGENTS = (Node.PLANNER, Node.VERIFIER, Node.COMPOSER)
ONE_PASSED = GatekeeperAudit(
    status="fail",
    checked_bindings=(
        CheckedBinding(claim_id="c", source_invocation_id="i", tool_name="t", raw_path="/a", status="pass"),
    ),
)
NONE_PASSED = GatekeeperAudit(
    status="fail",
    checked_bindings=(
        CheckedBinding(claim_id="c", source_invocation_id="i", tool_name="t", raw_path="/a", status="fail"),
    ),
)
GAP = VerifierResult(verdict="LOW_CONFID", facts_checked=(FactCheck(fact="x", verification="no_evidence"),))
NO_GAP = VerifierResult(verdict="LOW_CONFID", facts_checked=(FactCheck(fact="x", verification="contradicted"),))

LOW = {
    "verifier_status": "COMPLETED",
    "effective_verdict": "LOW_CONFID",
    "verifier_verdict_ceiling": "PASS",
    "verifier_output": GAP,
    "evidence_retry_count": 0,
}

ROWS: list[tuple[str, Node, dict[str, Any], str]] = [
    ("a plan goes to the executor", Node.PLANNER, {"planner_status": "COMPLETED"}, "executor"),
    *(
        (f"{node}: first {status} repeats", node, {f"{node}_status": status, f"{node}_retry_count": 0}, str(node))
        for node in AGENTS
        for status in ("INVALID_OUTPUT", "RETRYABLE_FAILED")
    ),
    *(
        (f"{node}: second {status} falls", node, {f"{node}_status": status, f"{node}_retry_count": 1}, "fallback")
        for node in AGENTS
        for status in ("INVALID_OUTPUT", "RETRYABLE_FAILED")
    ),
    *(
        (
            f"{node}: not retryable, {count} retries",
            node,
            {f"{node}_status": "NON_RETRYABLE_FAILED", f"{node}_retry_count": count},
            "fallback",
        )
        for node in AGENTS
        for count in (0, 1)
    ),
    ("a document goes to the gate", Node.EXECUTOR, {"executor_status": "COMPLETED"}, "gatekeeper"),
    *(
        (f"executor {status} falls", Node.EXECUTOR, {"executor_status": status}, "fallback")
        for status in ("INVALID_OUTPUT", "TOOL_BLOCKED", "FAILED")
    ),
    ("gate PASS", Node.GATEKEEPER, {"gatekeeper_status": "PASS"}, "verified_input"),
    (
        "gate LOW_CONFID with one passed",
        Node.GATEKEEPER,
        {"gatekeeper_status": "LOW_CONFID", "gatekeeper_result": ONE_PASSED},
        "verified_input",
    ),
    (
        "gate LOW_CONFID with none passed",
        Node.GATEKEEPER,
        {"gatekeeper_status": "LOW_CONFID", "gatekeeper_result": NONE_PASSED},
        "fallback",
    ),
    (
        "gate REJECT, whatever passed",
        Node.GATEKEEPER,
        {"gatekeeper_status": "REJECT", "gatekeeper_result": ONE_PASSED},
        "fallback",
    ),
    ("verified input goes to the verifier", Node.VERIFIED_INPUT, {}, "verifier"),
    ("verdict PASS", Node.VERIFIER, {"verifier_status": "COMPLETED", "effective_verdict": "PASS"}, "composer"),
    ("verdict REJECT", Node.VERIFIER, {"verifier_status": "COMPLETED", "effective_verdict": "REJECT"}, "composer"),
    ("LOW_CONFID with an open gap", Node.VERIFIER, LOW, "evidence_retry"),
    ("LOW_CONFID under a low ceiling", Node.VERIFIER, LOW | {"verifier_verdict_ceiling": "LOW_CONFID"}, "composer"),
    ("LOW_CONFID without a gap", Node.VERIFIER, LOW | {"verifier_output": NO_GAP}, "composer"),
    ("E4: LOW_CONFID after the second round", Node.VERIFIER, LOW | {"evidence_retry_count": 1}, "composer"),
    ("evidence retry goes to the planner", Node.EVIDENCE_RETRY, {}, "planner"),
    ("an answer ends the run", Node.COMPOSER, {"composer_status": "COMPLETED"}, END),
    ("fallback ends the run", Node.FALLBACK, {}, END),
]


class Strange:
    """A value that no type of the state foresees."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Agreeable(Strange):
    """A value that says it equals whatever it is compared with."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


class Touchy(Strange):
    """A value that cannot be compared."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth of this value is ambiguous")


ODD: list[Any] = [
    None,
    "",
    "completed",
    "NEVER_HEARD_OF",
    0,
    1,
    True,
    3.5,
    [],
    ["COMPLETED"],
    {},
    {"a": 1},
    Strange(),
    Agreeable(),
    Touchy(),
    b"PASS",
]


@pytest.mark.parametrize(("node", "state", "target"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_each_row_of_the_table(node: Node, state: dict[str, Any], target: str) -> None:
    """Section 2: this condition leads there, and reading it changes nothing (R1)."""
    before = copy.copy(state)
    assert next_node(node, state) == target
    assert state == before


def test_the_table_is_total_over_statuses() -> None:
    """Every status of every node stands in some row of the data, so that none is left to the safety net."""
    for node, statuses in STATUSES.items():
        listed = {status for route in ROUTES if route.source is node for status in route.statuses}
        assert listed == set(statuses)
    for node in set(Node) - set(STATUSES):
        assert [route.statuses for route in ROUTES if route.source is node] == [()]


def test_the_last_row_for_a_status_always_holds() -> None:
    """No status falls through its rows, but for a verdict that nobody knows."""
    for node, statuses in STATUSES.items():
        for status in statuses:
            last = [route for route in ROUTES if route.source is node and status in route.statuses][-1]
            verdicts = (Node.VERIFIER, AgentStatus.COMPLETED)
            assert last.condition is Condition.ALWAYS or (node, status) == verdicts


def test_every_condition_has_a_guard() -> None:
    """The vocabulary of conditions and the table of guards are one."""
    assert set(CONDITIONS) == set(Condition)


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("node", STATUSES)
def test_an_odd_status_goes_to_fallback(node: Node, odd: object) -> None:
    """R1: a status that is null, of the wrong type, unhashable or unknown goes to fallback, and has a reason code."""
    state = LOW | {STATUS_KEY[node]: odd, "gatekeeper_result": ONE_PASSED}
    assert next_node(node, state) == "fallback"
    assert reason_code(node, state) == f"{node}_unknown_status"


@pytest.mark.parametrize("node", STATUSES)
def test_an_absent_status_goes_to_fallback(node: Node) -> None:
    """R1: no status at all goes to fallback."""
    assert next_node(node, {}) == "fallback"
    assert reason_code(node, {}) == f"{node}_unknown_status"


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_odd_verdict_goes_to_fallback(odd: object) -> None:
    """R1: the verifier completed, but nobody knows its verdict."""
    state = LOW | {"effective_verdict": odd}
    assert next_node(Node.VERIFIER, state) == "fallback"
    assert reason_code(Node.VERIFIER, state) == "verifier_unknown_status"


@pytest.mark.parametrize("odd", [*ODD[:4], True, False, 0.0, 2, -1, [], {}, Strange(), Agreeable(), Touchy()], ids=repr)
@pytest.mark.parametrize("node", AGENTS)
def test_a_broken_counter_counts_as_spent(node: Node, odd: object) -> None:
    """R1, R4: a retry counter that is no plain zero opens no loop."""
    assert next_node(node, {STATUS_KEY[node]: "RETRYABLE_FAILED", RETRY_KEY[node]: odd}) == "fallback"
    assert next_node(node, {STATUS_KEY[node]: "RETRYABLE_FAILED"}) == "fallback"


@pytest.mark.parametrize("odd", [*ODD[:4], True, False, 0.0, 2, -1, [], {}, Strange(), Agreeable(), Touchy()], ids=repr)
def test_a_broken_evidence_counter_opens_no_round(odd: object) -> None:
    """R4: the same holds of the count of evidence rounds."""
    state = LOW | {"evidence_retry_count": odd}
    assert next_node(Node.VERIFIER, state) == "composer"
    assert reason_code(Node.VERIFIER, state) == "verifier_low_confid_retry_spent"


@pytest.mark.parametrize("key", ["verifier_verdict_ceiling", "verifier_output"])
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_odd_ceiling_or_result_opens_no_round(key: str, odd: object) -> None:
    """A second round needs a ceiling and gaps that can be read."""
    assert next_node(Node.VERIFIER, LOW | {key: odd}) == "composer"


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_odd_audit_verifies_nothing(odd: object) -> None:
    """LOW_CONFID with an audit that cannot be read goes to fallback."""
    state = {"gatekeeper_status": "LOW_CONFID", "gatekeeper_result": odd}
    assert next_node(Node.GATEKEEPER, state) == "fallback"
    assert reason_code(Node.GATEKEEPER, state) == "gatekeeper_no_verified_binding"


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([*AgentStatus, *ExecutorStatus, *Verdict, "x", ""]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
    st.sampled_from([ONE_PASSED, NONE_PASSED, GAP, NO_GAP]),
)
KEYS = [*STATUS_KEY.values(), *RETRY_KEY.values(), *LOW, "gatekeeper_result", "orchestration_events"]


@given(st.sampled_from([*Node]), st.dictionaries(st.sampled_from(KEYS), JUNK))
def test_guards_never_raise(node: Node, state: dict[str, Any]) -> None:
    """R1: whatever the state holds, there is a way and a reason, and only ways that the table knows."""
    legal = {route.target for route in ROUTES if route.source is node} | {Node.FALLBACK}
    assert next_node(node, state) in legal
    assert reason_code(node, state) in {*Reason}


@pytest.mark.parametrize("node", [*Node])
def test_an_error_event_leads_to_fallback_whatever_the_state_says(node: Node) -> None:
    """A node that raised goes to fallback, also when an earlier round left a status that would lead on."""
    event = {"node": str(node), "outcome": "ERROR", "reason_code": f"{node}_error", "attempt": 1}
    state = LOW | dict.fromkeys(STATUS_KEY.values(), "COMPLETED") | {"orchestration_events": [event]}
    assert next_node(node, state) == (END if node is Node.FALLBACK else "fallback")


REASONS: list[tuple[Node, dict[str, Any], str]] = [
    *(
        (node, {f"{node}_status": status}, f"{node}_{status.lower()}")
        for node in (Node.PLANNER, Node.COMPOSER)
        for status in ("COMPLETED", "INVALID_OUTPUT", "RETRYABLE_FAILED", "NON_RETRYABLE_FAILED")
    ),
    *(
        (Node.EXECUTOR, {"executor_status": status}, f"executor_{status.lower()}")
        for status in ("COMPLETED", "INVALID_OUTPUT", "TOOL_BLOCKED", "FAILED")
    ),
    *(
        (Node.VERIFIER, {"verifier_status": status}, f"verifier_{status.lower()}")
        for status in ("INVALID_OUTPUT", "RETRYABLE_FAILED", "NON_RETRYABLE_FAILED")
    ),
    (Node.GATEKEEPER, {"gatekeeper_status": "PASS"}, "gatekeeper_pass"),
    (Node.GATEKEEPER, {"gatekeeper_status": "REJECT"}, "gatekeeper_reject"),
    (Node.GATEKEEPER, {"gatekeeper_status": "LOW_CONFID", "gatekeeper_result": ONE_PASSED}, "gatekeeper_low_confid"),
    (
        Node.GATEKEEPER,
        {"gatekeeper_status": "LOW_CONFID", "gatekeeper_result": NONE_PASSED},
        "gatekeeper_no_verified_binding",
    ),
    (Node.VERIFIED_INPUT, {}, "verified_input_built"),
    (Node.EVIDENCE_RETRY, {}, "evidence_retry_prepared"),
    (Node.VERIFIER, {"verifier_status": "COMPLETED", "effective_verdict": "PASS"}, "verifier_pass"),
    (Node.VERIFIER, {"verifier_status": "COMPLETED", "effective_verdict": "REJECT"}, "verifier_reject"),
    (Node.FALLBACK, {"orchestration_events": [{"reason_code": "executor_failed"}]}, "executor_failed"),
]


@pytest.mark.parametrize(("node", "state", "reason"), REASONS, ids=[f"{row[0]}-{row[2]}" for row in REASONS])
def test_each_row_of_the_reason_codes(node: Node, state: dict[str, Any], reason: str) -> None:
    """Section 8: this outcome has that reason code."""
    assert reason_code(node, state) == reason


def test_every_reason_code_can_be_reached() -> None:
    """Section 8: the vocabulary holds just the codes of the table, one for unknown and error each included."""
    low = {
        "verifier_low_confid_ceiling",
        "verifier_low_confid_no_gap",
        "verifier_low_confid_retry_spent",
        "verifier_evidence_gap",
    }
    rows = {reason for node, _, reason in REASONS if node is not Node.FALLBACK}
    unknown = {f"{node}_unknown_status" for node in Node if node is not Node.FALLBACK}
    assert {*Reason} == rows | low | unknown | {f"{node}_error" for node in Node}


@pytest.mark.parametrize(
    ("ceiling", "result", "rounds", "reason"),
    [
        ("LOW_CONFID", NO_GAP, 1, "verifier_low_confid_ceiling"),
        ("LOW_CONFID", GAP, 0, "verifier_low_confid_ceiling"),
        ("PASS", NO_GAP, 1, "verifier_low_confid_no_gap"),
        ("PASS", NO_GAP, 0, "verifier_low_confid_no_gap"),
        ("PASS", GAP, 1, "verifier_low_confid_retry_spent"),
        ("PASS", GAP, 0, "verifier_evidence_gap"),
    ],
)
def test_of_the_low_confid_reasons_the_first_that_applies_is_given(
    ceiling: str, result: VerifierResult, rounds: int, reason: str
) -> None:
    """Section 8: ceiling before gap before spent round."""
    state = LOW | {"verifier_verdict_ceiling": ceiling, "verifier_output": result, "evidence_retry_count": rounds}
    assert reason_code(Node.VERIFIER, state) == reason
    assert (next_node(Node.VERIFIER, state) == "evidence_retry") == (reason == "verifier_evidence_gap")


@pytest.mark.parametrize(
    ("verification", "fact", "is_gap"),
    [
        ("no_evidence", "x", True),
        ("indirect_support", "x", True),
        ("direct_support", "x", False),
        ("contradicted", "x", False),
        ("no_evidence", " \n", False),
        ("indirect_support", "", False),
    ],
)
def test_what_counts_as_a_gap(verification: str, fact: str, is_gap: bool) -> None:
    """Section 6: a gap names a fact that has no evidence, or indirect evidence only."""
    checked = FactCheck(fact=fact, verification=Verification(verification))
    assert bool(evidence_gaps(VerifierResult(verdict=Verdict.LOW_CONFID, facts_checked=(checked,)))) is is_gap
