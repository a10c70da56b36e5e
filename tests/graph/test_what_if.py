"""Live agents over recorded results: what would others have said about the same evidence?"""

from __future__ import annotations

from pathlib import Path

import pytest

from diag_graph import diagnose, open_folder, what_if
from diag_graph.outcome import RunDocument
from diag_graph.runfile import RunFile, run_file_of
from diag_graph.tools.recorded import NOT_RECORDED
from skill_samples import SHIPPED, guided_by

INCIDENT = Path(__file__).parents[2] / "fixtures" / "incidents" / "checkout-latency"


@pytest.fixture(scope="module")
def asked() -> RunDocument:
    """A run of the analyst on a recorded incident."""
    return diagnose((INCIDENT / "question.txt").read_text(), evidence=open_folder(INCIDENT))


def saved(document: RunDocument, *, without: str = "") -> RunFile:
    """The run's file; without the calls of one tool."""
    raw = run_file_of(document)
    for step in raw["steps"]:
        step["invocations"] = [call for call in step.get("invocations", []) if call["tool"] != without]
    return RunFile.model_validate(raw)


def test_the_same_agents_over_the_same_results_say_the_same(asked: RunDocument) -> None:
    """Every call is answered from the record, and the run says whose results it was given."""
    again = what_if(saved(asked))
    assert again.run.answer == asked.run.answer
    assert again.run.orchestration_trace == asked.run.orchestration_trace
    assert again.invocations == tuple(call.model_copy(update={"duration_ms": 0}) for call in asked.invocations)
    assert (again.run.what_if, again.run.replay_of, again.run.model) == (True, asked.run.run_id, "built-in analyst")
    assert again.now == asked.now
    assert not asked.run.what_if


def test_what_the_record_lacks_costs_its_evidence_and_calls_no_tool(asked: RunDocument) -> None:
    """The evidence folder is not at hand: what is missing is missing, and what is said is cited from the record."""
    again = what_if(saved(asked, without="find_span_anomalies"))
    assert {call.tool for call in again.invocations} < {call.tool for call in asked.invocations}
    recorded = {call.id: call.result for call in asked.invocations}
    assert all(call.error == NOT_RECORDED or recorded[call.id] == call.result for call in again.invocations)
    assert again.run.status == "SUCCESS"
    assert again.run.answer != asked.run.answer


def test_a_what_if_run_can_be_saved_and_replayed(asked: RunDocument) -> None:
    """P2 holds of it as of any run: the file that it leaves is its own."""
    from diag_graph import replay

    again = what_if(saved(asked))
    result = replay(saved(again))
    assert result.matches
    assert result.document.run.answer == again.run.answer
    assert not result.document.run.what_if


def test_a_run_that_a_skill_guided_can_be_asked_again_without_it() -> None:
    """No skill is registered there; the survey's calls are in the record, and the cause is the same."""
    guided = diagnose("why is checkout slow?", evidence=open_folder(INCIDENT), guidance=guided_by(SHIPPED))
    assert guided.invocations[0].tool == "read_skill"
    again = what_if(saved(guided))
    assert again.findings[0].text == guided.findings[0].text
    assert all(call.error is None for call in again.invocations)
