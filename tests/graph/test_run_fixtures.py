"""The replays that are shipped: each goes as its own trace says, and the generated ones are current."""

from __future__ import annotations

from pathlib import Path

import make_run_fixtures as generator
import pytest
from gate_run_fixtures import LOWERING, cases

from diag_graph.playback import ReplayResult, replay
from diag_graph.runfile import read_run_file
from diag_graph.topology import END, ROUTES, Node, Reason
from hostile import check_honest

FOLDER = generator.FOLDER.parent
FILES = sorted(FOLDER.rglob("*.json"))
CASES = cases()


def played(name: str) -> ReplayResult:
    """A shipped replay, played."""
    return replay(read_run_file(FOLDER / f"{name}.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_each_replay_goes_as_its_trace_says(path: Path) -> None:
    """Section 11: no divergence and no difference, and always a safe answer."""
    result = replay(read_run_file(path))
    assert result.compared
    assert (result.divergence, result.difference) == (None, None)
    assert result.document.run.replay_of == path.stem
    check_honest(result.document)


@pytest.mark.parametrize("name", CASES)
def test_the_gate_decides_as_the_name_says(name: str) -> None:
    """Section 5: failures of bindings and claims, the gate's status, the verdict, how firm each finding is."""
    case = CASES[name]
    document = played(f"graph/{name}").document
    audit = document.gatekeeper
    assert audit is not None
    assert tuple(row.failure for row in audit.checked_bindings) == case.bindings
    assert tuple(row.failure for row in audit.claim_issues) == case.issues
    failures = {failure for failure in (*case.bindings, *case.issues) if failure is not None}
    severity = ("low_confid" if failures <= LOWERING else "reject") if failures else None
    assert (audit.status, audit.severity) == ("fail" if failures else "pass", severity)
    assert document.run.verdict == case.verdict
    assert tuple(finding.standing for finding in document.findings) == case.standings


@pytest.mark.parametrize(
    "name", [name for name in generator.runs() if "-fails-" in name or name.startswith("second-round-")]
)
def test_a_verdict_is_there_just_when_the_answer_rests_on_one(name: str) -> None:
    """F1, F2: null after a fallback from before verification, also in round two; kept when wording failed."""
    document = played(f"graph/{name}").document
    trace = document.run.orchestration_trace or {}
    rests = trace["final_node"] == "composer" or trace["termination_reason"].startswith("composer_")
    assert (document.run.verdict is not None) == rests
    if not rests:
        assert document.findings == ()
        assert "connection pool" not in (document.run.answer or "")


def test_a_second_round_ends_in_every_way() -> None:
    """Section 6: each reason code with which a first round can end ends a second one too."""
    ends: dict[int, set[str]] = {0: set(), 1: set()}
    for path in FILES:
        trace = read_run_file(path).orchestration_trace or {}
        ends[trace["evidence_retry_count"]].add(trace["termination_reason"])
    assert ends[0] - {"verifier_evidence_gap"} <= ends[1]


def test_generated_replays_are_current() -> None:
    """What the generator writes is what stands there; run `tests/graph/make_run_fixtures.py` if it does not."""
    stored = {path.stem: path.read_text(encoding="utf-8") for path in generator.FOLDER.glob("*.json")}
    assert stored == {name: generator.text_of(document) for name, document in generator.documents().items()}


def test_the_replays_take_every_way_of_the_table() -> None:
    """Section 2: each way from one node to another is taken by some replay."""
    taken = set()
    for path in FILES:
        trace = read_run_file(path).orchestration_trace or {}
        taken |= {(row["from"], row["to"]) for row in trace["transitions"]}
        taken.add((trace["final_node"], END))
    assert {(str(route.source), str(route.target)) for route in ROUTES} <= taken


def test_the_replays_have_every_reason_code_of_an_orderly_node() -> None:
    """Section 8: each code but those for broken nodes ends some attempt."""
    seen = set()
    for path in FILES:
        trace = read_run_file(path).orchestration_trace or {}
        seen |= {row["reason_code"] for row in trace["transitions"]} | {trace["termination_reason"]}
    broken = {str(reason) for reason in Reason if reason.endswith(("_error", "_unknown_status"))}
    assert seen == {str(reason) for reason in Reason} - broken


def test_the_passed_run_names_the_cause_with_citations() -> None:
    """What a person sees first: a cause, confirmed, and the texts that it rests on."""
    run = played("passed-with-root-cause").document
    assert (run.run.verdict, run.findings[0].entity, run.findings[0].standing) == ("PASS", "billing", "confirmed")
    assert '"2026-07-16T14:03:40Z deploy of billing v2.8.0' in (run.run.answer or "")


def test_the_forged_citation_is_caught_and_not_told() -> None:
    """One made-up quotation rejects the run, and no word of it is shown (G2, F1)."""
    result = played("forged-citation")
    failures = (
        [row.failure for row in result.document.gatekeeper.checked_bindings] if result.document.gatekeeper else []
    )
    assert "excerpt_mismatch" in failures
    assert "Out of memory" not in (result.document.run.answer or "")
    assert (result.document.run.orchestration_trace or {})["termination_reason"] == "gatekeeper_reject"


def test_the_evidence_round_ends_in_a_pass() -> None:
    """Round one finds that a deploy was not looked at; round two looks at it."""
    run = played("evidence-round").document
    assert (run.run.verdict, (run.run.orchestration_trace or {})["evidence_retry_count"]) == ("PASS", 1)
    assert [made.round for made in run.invocations] == [1, 1, 2]


def test_the_verifier_that_timed_out_is_asked_again() -> None:
    """The run goes on as if it had answered at once."""
    run = played("verifier-timeout").document
    assert [step.status for step in run.steps if step.agent == Node.VERIFIER] == ["RETRYABLE_FAILED", "COMPLETED"]
    assert run.run.answer == played("passed-with-root-cause").document.run.answer


def test_the_composer_that_fails_costs_the_wording_alone() -> None:
    """F2: a number that stands nowhere, then no answer: the verified claims are told by a template."""
    run = played("composer-fails").document
    assert run.run.verdict == "PASS"
    assert "4,200" not in (run.run.answer or "")
    assert "Searched without a match" in (run.run.answer or "")
