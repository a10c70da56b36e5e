"""Replay (contract section 11): divergence, comparison with the file's trace, and that a run saved plays again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diag_graph.errors import RunFileError
from diag_graph.playback import ReplayResult, first_difference, replay
from diag_graph.runfile import FileStep, read_run_file, run_file_of, save_run_file
from recordings import (
    NOW,
    QUESTION,
    UNBOUND,
    call,
    claim,
    composer,
    executor,
    fact,
    fails,
    plan,
    play,
    reasons_of,
    says,
    verifier,
)

GOOD: dict[str, Any] = {
    "format": "diag-run/1",
    "question": QUESTION,
    "steps": [json.loads(step.model_dump_json()) for step in (plan(), executor(), verifier(), composer())],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is."""
    return tmp_path / "run.json"


def written(path: Path, document: object) -> Path:
    """The path, with this document in it."""
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_a_step_of_another_agent_diverges() -> None:
    """P1: it says which was due and which was asked for; the run is FAILED, with its trace so far."""
    result = play(plan(), verifier())
    assert result.divergence == (
        "step 2 of the file (/steps/1) is verifier's, but the graph asked for a step of executor"
    )
    assert not result.matches
    assert (result.document.run.status, result.document.run.failure_reason) == ("FAILED", "replay_diverged")
    assert reasons_of(result) == ["planner_completed"]


def test_steps_that_run_out_diverge() -> None:
    """P1: the graph asks for more than there is."""
    result = play(plan(), executor())
    assert result.divergence == "the graph asked for a step of verifier, but all 2 recorded steps have been played"
    assert play().divergence == "the graph asked for a step of planner, but all 0 recorded steps have been played"


def test_steps_that_are_left_over_diverge() -> None:
    """P1: the run ended well, and the file goes on."""
    result = play(plan(), executor(), verifier(), composer(), composer())
    assert result.divergence == (
        "the run ended, but 1 of 5 recorded steps are left; next was step 5 (/steps/4), composer's"
    )
    assert result.document.run.status == "SUCCESS"
    assert not result.matches


# --- comparison ------------------------------------------------------------------------------------------------------

TRACE = play(plan(), executor(), verifier(), composer()).document.run.orchestration_trace or {}


def test_a_trace_that_agrees_is_compared_and_matches() -> None:
    """Section 10: a replay that matches."""
    result = play(plan(), executor(), verifier(), composer(), orchestrationTrace=TRACE)
    assert (result.compared, result.matches, result.difference) == (True, True, None)
    without = play(plan(), executor(), verifier(), composer())
    assert (without.compared, without.matches) == (False, True)


def changed(**fields: object) -> dict[str, Any]:
    """The trace, with other fields."""
    return json.loads(json.dumps(TRACE)) | fields


@pytest.mark.parametrize(
    ("trace", "where"),
    [
        (changed(transitions=TRACE["transitions"][:3]), "/transitions/3"),
        (changed(transitions=[*TRACE["transitions"], TRACE["transitions"][0]]), "/transitions/5"),
        (changed(transitions=[]), "/transitions/0"),
        (changed(transitions=None), "/transitions/0"),
        (changed(transitions=[TRACE["transitions"][0] | {"attempt": 2}, *TRACE["transitions"][1:]]), "/transitions/0"),
        (
            changed(transitions=[TRACE["transitions"][0] | {"reason_code": "x"}, *TRACE["transitions"][1:]]),
            "/transitions/0",
        ),
        (changed(version="stategraph-v0"), "/version"),
        (changed(final_node="fallback"), "/final_node"),
        (changed(termination_reason="composer_error"), "/termination_reason"),
        (changed(degraded=True), "/degraded"),
        (changed(evidence_retry_count=1), "/evidence_retry_count"),
    ],
)
def test_the_first_difference_is_shown(trace: dict[str, Any], where: str) -> None:
    """Section 10: where the file's trace and this run's part, and what stands on each side."""
    result = play(plan(), executor(), verifier(), composer(), orchestrationTrace=trace)
    assert result.difference is not None
    assert result.difference.where == where
    assert not result.matches


def test_fields_that_a_hand_written_trace_leaves_out_are_not_compared() -> None:
    """A person may state only what matters to them."""
    assert first_difference({"final_node": "composer"}, TRACE) is None
    assert first_difference({}, TRACE) is None


# --- save and replay (P2) --------------------------------------------------------------------------------------------

GAP = fact("no_evidence", None, "why")
SECRET = "password=hunter2 refused"  # noqa: S105 - a made-up one
RUNS: dict[str, list[FileStep]] = {
    "straight": [plan(), executor(), verifier(), composer()],
    "two rounds with retries": [
        fails("planner", "rate_limit", "429"),
        plan(),
        executor(),
        says("verifier", '{"verdict": '),
        verifier("LOW_CONFID", fact(), GAP),
        plan(),
        executor(calls=[call("inv-2", "ümlaut — “quoted”"), call("inv-3", status="error", error="no")]),
        verifier(),
        says("composer", None),
        composer(),
    ],
    "fallback": [plan(), executor(UNBOUND)],
    "a failed executor": [plan(), fails("executor", "context_length", "too long", [call()])],
    "a blocked executor": [plan(), fails("executor", "tool_blocked", "", [call(status="blocked", error="no")])],
    "a cut-off reply": [FileStep(agent="planner", output=plan().output, truncated=True), plan(), says("executor", "x")],
    "a secret in a result and in its citation": [
        plan(),
        executor(
            claim(
                "claim-1",
                f"Payment said {SECRET}",
                {"source_invocation_id": "inv-1", "raw_path": "/items/0/text", "evidence_excerpt": SECRET},
            ),
            calls=[call("inv-1", f"2026-07-16T14:05:12Z {SECRET}")],
        ),
        verifier(),
        composer("Payment could not log in.", ("Payment was refused.", ["claim-1"])),
    ],
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_saved_plays_again(path: Path, name: str) -> None:
    """P2: same transitions, verdict and answer, byte for byte; and saved once more it differs in id and time alone."""
    first = play(*RUNS[name], history=[{"question": "before?", "answer": "ja — “so”"}])
    save_run_file(first.document, path)
    second = replay(read_run_file(path))
    assert second.compared
    assert second.matches
    assert second.document.run.answer == first.document.run.answer
    assert second.document.run.verdict == first.document.run.verdict
    assert second.document.run.orchestration_trace == first.document.run.orchestration_trace
    assert second.document.findings == first.document.findings
    assert second.document.gatekeeper == first.document.gatekeeper
    assert second.document.history == first.document.history
    assert second.document.run.replay_of == first.document.run.run_id
    again = run_file_of(second.document)
    own = {"runId": None, "now": None}
    assert again | own == run_file_of(first.document) | own


def test_half_characters_of_an_agent_do_not_spoil_the_file(path: Path) -> None:
    """P2: a model can write what no encoding has room for; the run saves, reads back and plays again all the same."""
    steps = [
        fails("planner", "timeout", "half \udcff"),
        plan(),
        executor(),
        verifier(),
        says("composer", "half \ud800"),
    ]
    played = play(*steps, composer())
    save_run_file(played.document, path)
    again = replay(read_run_file(path))
    assert (again.divergence, again.document.run.answer) == (None, played.document.run.answer)
    assert "half \ufffd" in path.read_text(encoding="utf-8")


def test_a_secret_is_masked_in_the_file_and_its_citation_still_matches(path: Path) -> None:
    """X3: the mask is stable, in the result, in the agent's document and in the answer alike."""
    first = play(*RUNS["a secret in a result and in its citation"])
    save_run_file(first.document, path)
    assert first.document.run.verdict == "PASS"
    assert "password=[masked] refused" in (first.document.run.answer or "")
    for text in (path.read_text(encoding="utf-8"), first.document.model_dump_json()):
        assert "hunter2" not in text


def test_a_saved_file_is_readable_and_whole(path: Path) -> None:
    """A person reads it: text as it is, one thing a line; and no half-written file is left anywhere."""
    result = play(*RUNS["two rounds with retries"])
    save_run_file(result.document, path)
    text = path.read_text(encoding="utf-8")
    assert "ümlaut — “quoted”" in text
    assert text.endswith("\n")
    assert list(json.loads(text)) == ["format", "runId", "question", "history", "now", "steps", "orchestrationTrace"]
    assert [entry.name for entry in path.parent.iterdir()] == ["run.json"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """One clear line, and nothing left behind."""
    with pytest.raises(RunFileError, match="cannot be written"):
        save_run_file(document(), tmp_path / "none" / "run.json")
    with pytest.raises(RunFileError, match="cannot be written"):
        save_run_file(document(), tmp_path)


def document() -> Any:  # noqa: ANN401 - short
    """Some run."""
    return play(plan(), executor(), verifier(), composer()).document


def test_a_file_that_was_there_is_replaced_whole(path: Path) -> None:
    """Saving over an older file leaves the new one alone."""
    path.write_text("x" * 100_000, encoding="utf-8")
    save_run_file(document(), path)
    assert read_run_file(path).question == QUESTION


def test_a_replay_is_a_run_of_its_own(path: Path) -> None:
    """Section 11: a new run id and a time of its own, though its clock is the file's; and whose replay it is."""
    result: ReplayResult = replay(read_run_file(written(path, GOOD | {"runId": "run-of-old", "now": NOW})))
    run = result.document.run
    assert run.replay_of == "run-of-old"
    assert run.run_id != "run-of-old"
    assert run.model == "recorded"
    assert run.finished_at is not None
    assert NOW != run.started_at <= run.finished_at
    assert [entry.id for entry in result.document.invocations] == ["inv-1"]
