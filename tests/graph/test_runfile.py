"""The run file (SPEC section 11): what is read, what is refused, and that a run saved plays again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from diag_graph import runfile
from diag_graph.errors import RunFileError
from diag_graph.parsing import MAX_DEPTH
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


# --- what is refused (P3) --------------------------------------------------------------------------------------------

ODD_DOCUMENTS: dict[str, tuple[object, str]] = {
    "empty": ("", "broken JSON"),
    "truncated": (json.dumps(GOOD)[:200], "broken JSON"),
    "two documents": (json.dumps(GOOD) * 2, "something follows"),
    "not JSON": ("format: diag-run/1", "broken JSON"),
    "NaN": ('{"format": "diag-run/1", "question": NaN}', "NaN"),
    "a name twice": ('{"format": "diag-run/1", "format": "diag-run/1"}', "twice"),
    "an array": ([GOOD], 'no "format"'),
    "a string": ('"diag-run/1"', 'no "format"'),
    "no format": ({"question": "x", "steps": []}, 'no "format"'),
    "another format": (GOOD | {"format": "diag-run/2"}, "diag-run/2"),
    "a format of another type": (GOOD | {"format": ["diag-run/1"]}, "format"),
    "no question": ({"format": "diag-run/1", "steps": []}, "/question"),
    "an empty question": (GOOD | {"question": ""}, "/question"),
    "a blank question": (GOOD | {"question": " \n"}, "/question"),
    "no steps": ({"format": "diag-run/1", "question": "x"}, "/steps"),
    "steps that are no array": (GOOD | {"steps": {}}, "/steps"),
    "a step that is no object": (GOOD | {"steps": [3]}, "/steps/0"),
    "a step without an agent": (GOOD | {"steps": [{"output": "x"}]}, "/steps/0/agent"),
    "an unknown agent": (GOOD | {"steps": [{"agent": "oracle"}]}, "oracle"),
    "an agent of another type": (GOOD | {"steps": [{"agent": 3}]}, "/steps/0/agent"),
    "an output of another type": (GOOD | {"steps": [{"agent": "planner", "output": 3}]}, "/steps/0/output"),
    "an output that is an array": (GOOD | {"steps": [{"agent": "planner", "output": []}]}, "/steps/0/output"),
    "an unknown kind of failure": (
        GOOD | {"steps": [{"agent": "planner", "error": {"kind": "bored"}}]},
        "/steps/0/error/kind",
    ),
    "output and error": (
        GOOD | {"steps": [{"agent": "planner", "output": "x", "error": {"kind": "timeout"}}]},
        "not both",
    ),
    "a planner that was blocked": (
        GOOD | {"steps": [{"agent": "planner", "error": {"kind": "tool_blocked"}}]},
        "tool_blocked",
    ),
    "a planner with invocations": (GOOD | {"steps": [{"agent": "planner", "invocations": [call()]}]}, "invocations"),
    "an id twice": (GOOD | {"steps": [{"agent": "executor", "invocations": [call(), call()]}]}, "inv-1"),
    "an id twice, in two rounds": (
        GOOD
        | {"steps": [{"agent": "executor", "invocations": [call()]}, {"agent": "executor", "invocations": [call()]}]},
        "inv-1",
    ),
    "an unknown status": (
        GOOD | {"steps": [{"agent": "executor", "invocations": [call() | {"status": "fine"}]}]},
        "/steps/0/invocations/0/status",
    ),
    "an invocation without an id": (
        GOOD | {"steps": [{"agent": "executor", "invocations": [{"tool": "t", "status": "ok"}]}]},
        "/steps/0/invocations/0/id",
    ),
    "arguments that are no object": (
        GOOD | {"steps": [{"agent": "executor", "invocations": [call() | {"arguments": []}]}]},
        "/steps/0/invocations/0/arguments",
    ),
    "a trace that is no object": (GOOD | {"orchestrationTrace": []}, "/orchestrationTrace"),
    "a history of another shape": (GOOD | {"history": [{"question": "x"}]}, "/history/0/answer"),
    "deep nesting": ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "too deep"),
    "very deep nesting": ("[" * 1_000_000, "too deep"),
}


@pytest.mark.parametrize("name", ODD_DOCUMENTS)
def test_a_file_that_is_no_run_file_is_refused_with_where_and_why(path: Path, name: str) -> None:
    """P3: one line that names the file and the place, and one of what to do."""
    document, said = ODD_DOCUMENTS[name]
    with pytest.raises(RunFileError) as caught:
        read_run_file(written(path, document))
    assert said in caught.value.message
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.advice


def test_a_file_that_is_no_text_is_refused(path: Path) -> None:
    """P3: not UTF-8, with the place."""
    path.write_bytes(b'{"format": "diag-run/1", "question": "\xff"}')
    with pytest.raises(RunFileError, match=r"no UTF-8 text: byte 38"):
        read_run_file(path)


def test_a_huge_file_is_refused_unread(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P3: what is too large is not read."""
    monkeypatch.setattr(runfile, "MAX_FILE_BYTES", 100)
    with pytest.raises(RunFileError, match="too large"):
        read_run_file(written(path, GOOD))


def test_a_file_that_grows_is_not_read_beyond_the_limit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P3: some files say that they are empty, and are not."""
    written(path, GOOD)
    size = path.stat()
    monkeypatch.setattr(runfile, "MAX_FILE_BYTES", 100)
    monkeypatch.setattr(Path, "stat", lambda self: os.stat_result((*size[:6], 0, *size[7:])))
    with pytest.raises(RunFileError, match="too large"):
        read_run_file(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """P3: a folder, nothing at all, a name that cannot be one."""
    for odd in (tmp_path, tmp_path / "none.json", tmp_path / ("n" * 5000), Path("nul\0")):
        with pytest.raises(RunFileError):
            read_run_file(odd)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """P3: nobody writes to it, and reading it would never end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RunFileError, match="no regular file"):
        read_run_file(pipe)


def test_nothing_in_a_file_reaches_another_file(path: Path, tmp_path: Path) -> None:
    """P3: paths and code within it are texts like any other."""
    bait = tmp_path / "bait"
    step = executor(calls=[call("inv-1", f"file://{bait}", "__import__('os').system('touch bait')")])
    written(
        path,
        GOOD
        | {
            "runId": str(bait),
            "steps": [{"agent": "planner", "output": str(bait)}, json.loads(step.model_dump_json())],
        },
    )
    replay(read_run_file(path))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["run.json"]


# --- what is read ----------------------------------------------------------------------------------------------------


def test_the_least_that_a_file_needs(path: Path) -> None:
    """SPEC section 11: format, question and steps; everything else is optional."""
    read = read_run_file(written(path, {"format": "diag-run/1", "question": "x", "steps": []}))
    assert (read.run_id, read.history, read.now, read.orchestration_trace) == (None, (), None, None)


def test_unknown_fields_are_passed_over(path: Path) -> None:
    """A file of a later version with more in it is still read."""
    steps = [GOOD["steps"][0] | {"mood": 1}, *GOOD["steps"][1:]]
    assert replay(read_run_file(written(path, GOOD | {"comment": "x", "steps": steps}))).matches


def test_a_mark_in_front_of_the_text_is_passed_over(path: Path) -> None:
    """Some editors write a byte order mark."""
    path.write_text(json.dumps(GOOD), encoding="utf-8-sig")
    assert read_run_file(path).question == QUESTION


def test_an_output_may_be_an_object(path: Path) -> None:
    """SPEC section 11: as text or as the object itself, the run is the same."""
    steps = [step | {"output": json.loads(step["output"])} for step in GOOD["steps"]]
    result = replay(read_run_file(written(path, GOOD | {"steps": steps})))
    assert result.document.run.answer == replay(read_run_file(written(path, GOOD))).document.run.answer


@pytest.mark.parametrize("step", [{"agent": "planner", "output": None}, {"agent": "planner"}])
def test_an_output_may_be_null(path: Path, step: dict[str, Any]) -> None:
    """SPEC section 11: the agent answered with nothing, which is INVALID_OUTPUT."""
    result = replay(read_run_file(written(path, GOOD | {"steps": [step, *GOOD["steps"]]})))
    assert reasons_of(result)[:2] == ["planner_invalid_output", "planner_completed"]


# --- divergence (P1) -------------------------------------------------------------------------------------------------


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
    """SPEC section 10: a replay that matches."""
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
    """SPEC section 10: where the file's trace and this run's part, and what stands on each side."""
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
    """SPEC section 11: a new run id and a time of its own, though its clock is the file's; and whose replay it is."""
    result: ReplayResult = replay(read_run_file(written(path, GOOD | {"runId": "run-of-old", "now": NOW})))
    run = result.document.run
    assert run.replay_of == "run-of-old"
    assert run.run_id != "run-of-old"
    assert run.model == "recorded"
    assert run.finished_at is not None
    assert NOW != run.started_at <= run.finished_at
    assert [entry.id for entry in result.document.invocations] == ["inv-1"]
