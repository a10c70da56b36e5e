"""The run file (contract section 11): what is read, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from diag_graph import runfile
from diag_graph.errors import RunFileError
from diag_graph.parsing import MAX_DEPTH
from diag_graph.playback import replay
from diag_graph.runfile import read_run_file
from recordings import (
    QUESTION,
    call,
    composer,
    executor,
    plan,
    reasons_of,
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
    "deep nesting": ('{"a":' * (MAX_DEPTH + 21) + "1" + "}" * (MAX_DEPTH + 21), "too deep"),
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
    """Section 11: format, question and steps; everything else is optional."""
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
    """Section 11: as text or as the object itself, the run is the same."""
    steps = [step | {"output": json.loads(step["output"])} for step in GOOD["steps"]]
    result = replay(read_run_file(written(path, GOOD | {"steps": steps})))
    assert result.document.run.answer == replay(read_run_file(written(path, GOOD))).document.run.answer


@pytest.mark.parametrize("step", [{"agent": "planner", "output": None}, {"agent": "planner"}])
def test_an_output_may_be_null(path: Path, step: dict[str, Any]) -> None:
    """Section 11: the agent answered with nothing, which is INVALID_OUTPUT."""
    result = replay(read_run_file(written(path, GOOD | {"steps": [step, *GOOD["steps"]]})))
    assert reasons_of(result)[:2] == ["planner_invalid_output", "planner_completed"]
