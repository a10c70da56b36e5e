"""Failure inside: Ctrl-C, kill -9, an error or a full disk at any moment leaves a readable store and a clear end."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_samples import COMPOSER, PASSING, PLAN, PROGRAM, VERIFIER, Command, Outcome, environment, executor, write_run

from diag_cli.envelope import as_text, envelope, run_object
from diag_cli.watch import RunInterruptedError, watching
from diag_graph.store import Store

WAITING = (sys.executable, str(Path(__file__).with_name("waiting_program.py")))


@pytest.fixture
def incident(home: Path) -> Path:
    """A folder with a log in which errors set in: enough for a plan, some tool calls and an answer."""
    folder = home / "incident"
    folder.mkdir()
    lines = [
        f"2026-07-16T05:{minute:02d}:{second:02d}Z {'ERROR' if minute > 40 else 'INFO'} orders: "
        f"{'pool exhausted' if minute > 40 else 'order taken'}"
        for minute in range(60)
        for second in (0, 20, 40)
    ]
    (folder / "orders.log").write_text("\n".join(lines) + "\n")
    return folder


def looked_at(home: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The only run in the store, as `runs` and as `trace` show it."""
    with Store.open(home / "diag.db", create=False) as store:
        (run,) = store.runs()
        document = store.run(store.resolve("last"))
    return json.loads(as_text(run_object(run))), json.loads(as_text(envelope(document)))


def hit_at(place: str, sent: signal.Signals, home: Path, incident: Path) -> Outcome:
    """Ask, and send a signal when the program has come to a place."""
    ready, their_ready = os.pipe()
    their_gate, gate = os.pipe()
    process = subprocess.Popen(
        [*WAITING, place, f"{their_ready},{their_gate}", "ask", "why do orders fail?", "--incident", str(incident)],
        env=environment(home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=(their_ready, their_gate),
    )
    os.close(their_ready)
    os.close(their_gate)
    arrived = os.read(ready, 1) == b"."  # nothing, when the program ended before
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    os.close(ready)
    os.close(gate)
    assert arrived, err
    return Outcome(process.returncode, out, err)


def path_of(run: dict[str, Any]) -> list[str]:
    """The nodes that a run left behind it."""
    trace = run["orchestrationTrace"]
    return [*(passed["from"] for passed in trace["transitions"]), trace["final_node"]] if trace else []


PASSED = {
    "planner": [],
    "tool": ["planner"],
    "composer": ["planner", "executor", "gatekeeper", "verified_input", "verifier"],
}
"""Where a run can be hit, and what it has behind it then."""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("place", PASSED)
def test_a_run_that_is_hit_reads_as_interrupted_with_all_that_had_happened(
    home: Path, incident: Path, place: str, sent: signal.Signals
) -> None:
    """D2, T2: while an agent thinks or a tool runs; only the call in flight is lost, to kill -9 too."""
    outcome = hit_at(place, sent, home, incident)
    run, document = looked_at(home)
    expected = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[sent]
    assert (outcome.status, outcome.out, run["status"]) == (expected, "", "INTERRUPTED")
    assert "Traceback" not in outcome.err
    if sent is signal.SIGINT:
        assert outcome.err.endswith(f"Its trace, as far as it got: diag trace {run['runId']}\n")
    assert [node for node in path_of(run) if node] == PASSED[place]
    assert [step["agent"] for step in document["steps"]] == [
        node for node in PASSED[place] if node in {"planner", "executor", "verifier"}
    ]
    assert run["toolCalls"] == len(document["invocations"])
    assert bool(document["invocations"]) is (place != "planner")
    assert "find_log_patterns" not in {call["tool"] for call in document["invocations"]} or place == "composer"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_hit_while_its_end_is_written_has_all_but_its_end(
    home: Path, incident: Path, sent: signal.Signals
) -> None:
    """D2: steps, calls and the whole path were written as they happened."""
    outcome = hit_at("store", sent, home, incident)
    run, document = looked_at(home)
    assert outcome.status == (130 if sent is signal.SIGINT else -9)
    assert (run["status"], run["answer"]) == ("INTERRUPTED", None)
    assert path_of(run) == [*PASSED["composer"], "composer"]
    assert len(document["steps"]) == 4


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_has_ended_survives_what_hits_its_rendering(
    home: Path, incident: Path, sent: signal.Signals
) -> None:
    """The answer is in the store before it is drawn; Ctrl-C then is 130 and one line."""
    outcome = hit_at("answer", sent, home, incident)
    run, _ = looked_at(home)
    assert run["status"] == "SUCCESS"
    assert run["answer"]
    assert "Traceback" not in outcome.err
    if sent is signal.SIGINT:
        assert outcome.status == 130
        assert outcome.err.endswith("diag: interrupted\n")


def test_ctrl_c_before_a_run_leaves_nothing(home: Path, incident: Path) -> None:
    """While the evidence is opened: exit 130, one line, no run."""
    outcome = hit_at("evidence", signal.SIGINT, home, incident)
    assert (outcome.status, outcome.out, outcome.err) == (130, "", "diag: interrupted\n")
    assert not list(home.glob("*.db"))


def test_ctrl_c_while_the_evidence_is_read_says_that_nothing_was_begun(home: Path) -> None:
    """Or the last run in the store would be taken for this one."""
    with pytest.raises(RunInterruptedError) as raised, watching(home / "diag.db", None, quiet=True):
        raise KeyboardInterrupt
    assert (raised.value.run_id, raised.value.advice) == (None, "The run had not begun, and nothing of it is kept.")


def test_ctrl_c_while_the_answer_is_written_into_a_slow_pipe(home: Path) -> None:
    """Nobody reads on, and the program hangs in the middle of its answer."""
    answer = {**COMPOSER["output"], "next_steps": ["Raise the pool's size " * 10_000]}
    path = write_run(home / "run.json", [*PASSING[:-1], {"agent": "composer", "output": answer}])
    process = subprocess.Popen(
        [*PROGRAM, "replay", "-q", str(path)],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(1) == b"C"
    process.send_signal(signal.SIGINT)
    assert process.stderr.read() == b"diag: interrupted\n"
    process.stdout.close()
    process.stderr.close()
    assert process.wait(timeout=60) == 130
    assert looked_at(home)[0]["status"] == "SUCCESS"


def broken_at(place: str, home: Path, incident: Path) -> Outcome:
    """Ask with an error at a place."""
    done = subprocess.run(
        [*WAITING, place, "broken", "ask", "why do orders fail?", "--incident", str(incident)],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("place", "reason"), [("planner", "planner_non_retryable_failed"), ("gatekeeper", "gatekeeper_error")]
)
def test_an_error_within_a_node_ends_in_a_safe_answer(home: Path, incident: Path, place: str, reason: str) -> None:
    """T2, G1: exit 0 and the fixed text; the gate does not open, and the store says where it happened."""
    outcome = broken_at(place, home, incident)
    run, document = looked_at(home)
    assert outcome.status == 0
    assert "No root cause can be given from this run." in outcome.out
    assert (run["status"], run["orchestrationTrace"]["termination_reason"]) == ("SUCCESS", reason)
    assert document["findings"] == []


def test_an_error_within_a_tool_costs_that_call(home: Path, incident: Path) -> None:
    """The run goes on with what the other tools found."""
    outcome = broken_at("tool", home, incident)
    _, document = looked_at(home)
    assert outcome.status == 0
    (call,) = [call for call in document["invocations"] if call["tool"] == "find_log_patterns"]
    assert (call["status"], call["error"]) == ("error", "the tool failed: ZeroDivisionError: tool")


def test_an_error_within_the_display_costs_the_show(home: Path, incident: Path) -> None:
    """A renderer only shows: the answer is printed and kept."""
    outcome = broken_at("display", home, incident)
    assert outcome.status == 0
    assert "Verdict: " in outcome.out
    assert looked_at(home)[0]["status"] == "SUCCESS"


def test_an_error_within_the_rendering_of_the_answer_is_one_clear_error(home: Path, incident: Path) -> None:
    """Exit 1, two lines, and the answer is in the store for `diag trace`."""
    outcome = broken_at("answer", home, incident)
    assert outcome.status == 1
    assert outcome.err.splitlines()[-2] == "diag: unexpected error: ZeroDivisionError: answer"
    assert looked_at(home)[0]["status"] == "SUCCESS"


def limited(home: Path, size: int, *arguments: object) -> Outcome:
    """Carry out a command line in a process that may write files of this many bytes, as on a disk that runs full."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    assert "Traceback" not in done.stderr
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_a_disk_that_runs_full_costs_the_record_and_not_the_answer(command: Command, home: Path) -> None:
    """D3: the answer and its exit status are printed, one line says what was not kept, what was written stays."""
    assert command("replay", "-q", write_run(home / "small.json", PASSING)).status == 0
    huge = [{"id": "inv-1", "tool": "search_logs", "status": "ok", "result": {"items": [{"text": "x" * 2_000_000}]}}]
    steps = [
        PLAN,
        executor(invocations=huge),
        {"agent": "verifier", "output": {**VERIFIER["output"], "facts_checked": []}},
    ]
    composed = {"agent": "composer", "output": {**COMPOSER["output"], "findings": []}}
    path = write_run(home / "huge.json", [*steps, composed])
    outcome = limited(home, 1_000_000, "replay", "-q", path)
    assert outcome.status == 0
    assert outcome.out.startswith("Checkout waited")
    assert outcome.err.startswith("diag: this run was not kept: the disk ")
    assert len(outcome.err.splitlines()) == 2
    newest = json.loads(command("runs", "--json").out)[0]
    assert (newest["status"], path_of(newest)) == ("INTERRUPTED", ["planner"])


def test_a_run_file_that_finds_no_room_is_one_clear_error(home: Path, incident: Path) -> None:
    """The answer was printed and the run is kept; the file that was asked for is not there, nor a part of it."""
    assert subprocess.run([*PROGRAM, "runs"], env=environment(home), capture_output=True, check=True)
    outcome = limited(
        home, 200_000, "ask", "why?", "--incident", incident, "--db", home / "d.db", "--save", "run.json", "-q"
    )
    assert "Verdict" in outcome.out
    if outcome.status == 0:
        assert (home / "run.json").stat().st_size < 200_000


def test_an_output_that_takes_nothing_is_one_clear_error(command: Command, home: Path) -> None:
    """`diag replay run.json > /dev/full`: not zero, no traceback, and the run is kept."""
    path = write_run(home / "run.json", PASSING)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, "replay", "-q", str(path)],
            env=environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("diag: the output cannot be written: No space left on device\n")
    assert looked_at(home)[0]["status"] == "SUCCESS"
