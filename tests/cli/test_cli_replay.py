from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_samples import (
    CLAIM,
    COMPOSER,
    PASSING,
    PLAN,
    PROGRAM,
    REJECTED,
    VERIFIER,
    Command,
    environment,
    executor,
    write_run,
)

RUN_KEYS = [
    "runId",
    "sessionId",
    "agentFlow",
    "status",
    "question",
    "answer",
    "verdict",
    "modelVerdict",
    "model",
    "promptTokens",
    "completionTokens",
    "costUsd",
    "toolCalls",
    "durationMs",
    "failureReason",
    "startedAt",
    "finishedAt",
    "replayOf",
    "whatIf",
    "orchestrationTrace",
]


def keys_named(value: Any, name: str) -> int:  # noqa: ANN401 - any JSON value
    """How often a key of this name stands anywhere in a JSON value."""
    if isinstance(value, dict):
        return sum((key == name) + keys_named(inner, name) for key, inner in value.items())
    return sum(keys_named(inner, name) for inner in value) if isinstance(value, list) else 0


def test_the_answer_goes_to_stdout_and_the_show_to_stderr(command: Command, home: Path) -> None:
    """Section 10: stdout is the answer alone; stderr has a line an event, the run's id and the next command."""
    outcome = command("replay", write_run(home / "run.json", PASSING))
    assert outcome.status == 0
    assert outcome.out.startswith("Checkout waited for connections of payment-db.\n\nVerdict: PASS")
    lines = outcome.err.splitlines()
    assert lines[0].startswith("run ")
    assert "gatekeeper PASS gatekeeper_pass, round 1, " in outcome.err
    assert "  inv-2 search_logs ok in" in outcome.err
    run_id = lines[0].split()[1]
    assert lines[-1] == f"How it came to this: diag trace {run_id}"


def test_what_is_piped_holds_no_control_code(command: Command, home: Path) -> None:
    """X1: neither of diag's own making nor out of a tool's result, though both run and result hold some."""
    outcome = command("replay", write_run(home / "run.json", PASSING))
    traced = command("trace", "last")
    shown = command("trace", "last", "--json")
    for text in (outcome.out, outcome.err, traced.out, shown.out):
        assert not [c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) <= 0x9F or c == "\u202e"]
    assert "[bold]50 of 50 in use[/bold] \\u202e" in outcome.out, "markup stands as it is, a bidi control as an escape"


def test_quiet_leaves_the_answer_alone(command: Command, home: Path) -> None:
    """--quiet: nothing on stderr when all is well."""
    outcome = command("replay", "--quiet", write_run(home / "run.json", PASSING))
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out


def test_the_envelope_has_the_keys_of_the_specification(command: Command, home: Path) -> None:
    """Section 10: names are camelCase at this boundary, documents within keep theirs; J1: the trace stands once."""
    outcome = command("replay", "--json", write_run(home / "run.json", PASSING))
    shown = json.loads(outcome.out)
    assert list(shown) == ["run", "findings", "selfEvaluation", "steps", "invocations"]
    assert list(shown["run"]) == RUN_KEYS
    assert list(shown["findings"][0]) == ["claimId", "kind", "standing", "entity", "text", "citations"]
    assert list(shown["findings"][0]["citations"][0]) == ["invocationId", "tool", "path", "matchedText"]
    assert list(shown["selfEvaluation"]) == ["gatekeeper", "verifier"]
    assert list(shown["selfEvaluation"]["gatekeeper"]) == ["status", "severity", "checked_bindings", "claim_issues"]
    assert shown["selfEvaluation"]["verifier"]["model_verdict"] == "PASS"
    assert {"agent", "attempt", "round", "status", "output", "error", "errorKind", "durationMs"} <= set(
        shown["steps"][0]
    )
    assert {"id", "tool", "arguments", "status", "result", "error", "durationMs"} <= set(shown["invocations"][0])
    assert shown["run"]["replayOf"] == "feedc0de"
    assert shown["run"]["orchestrationTrace"]["version"] == "stategraph-v1"
    assert keys_named(shown, "orchestrationTrace") == 1
    assert keys_named(shown, "transitions") == 1


def test_trace_prints_the_envelope_that_the_run_printed(command: Command, home: Path) -> None:
    """What the store gives back is what the run said."""
    first = command("replay", "--json", write_run(home / "run.json", PASSING))
    assert json.loads(command("trace", "last", "--json").out) == json.loads(first.out)


def test_a_forged_citation_is_a_safe_answer_and_no_success_to_the_strict(command: Command, home: Path) -> None:
    """D1: fallback is exit 0; F1: what was forged stands nowhere in the answer."""
    outcome = command("replay", write_run(home / "run.json", REJECTED))
    assert outcome.status == 0
    assert "did not pass its checks" in outcome.out
    assert "FORGED-EXCERPT" not in outcome.out + outcome.err


def test_a_replay_that_asks_for_another_step_exits_3(command: Command, home: Path) -> None:
    """P1: it says which step was due, which was asked for, where in the file, and how the graph had come there."""
    outcome = command("replay", "-q", write_run(home / "run.json", [PLAN, executor(CLAIM), COMPOSER]))
    assert (outcome.status, outcome.out) == (3, "")
    left, before = outcome.err.splitlines()
    assert left == (
        "diag: the replay left its recording: step 3 of the file (/steps/2) is composer's, but the graph asked for "
        "a step of verifier"
    )
    assert before == "      Before that, verified input had ended with verified_input_built."


def test_a_file_whose_first_step_is_another_agents_exits_3(command: Command, home: Path) -> None:
    """P1: nothing had happened before."""
    outcome = command("replay", "-q", write_run(home / "run.json", [COMPOSER]))
    assert outcome.status == 3
    assert "(/steps/0)" in outcome.err
    assert outcome.err.endswith("      The run had only begun.\n")


def test_steps_left_over_exit_3(command: Command, home: Path) -> None:
    """P1: a file that goes on after the run has ended."""
    outcome = command("replay", "-q", write_run(home / "run.json", [*PASSING, COMPOSER]))
    assert outcome.status == 3


def test_the_first_difference_from_the_recorded_trace_is_shown(command: Command, home: Path) -> None:
    """Section 10: `diag replay` compares with the trace that the file carries; exit 3, and the answer is printed."""
    plain = command("replay", "--json", write_run(home / "run.json", PASSING))
    trace = json.loads(plain.out)["run"]["orchestrationTrace"]
    same = command("replay", write_run(home / "same.json", PASSING, orchestrationTrace=trace))
    assert same.status == 0
    assert same.err.endswith("The replay went as recorded.\n")
    trace["transitions"][2]["reason_code"] = "gatekeeper_low_confid"
    other = command("replay", write_run(home / "other.json", PASSING, orchestrationTrace=trace))
    assert other.status == 3
    assert other.out.startswith("Checkout waited")
    shown = other.err.splitlines()
    head = shown.index(
        "diag: the replay differs from the recorded trace, first at transition 3 (/orchestrationTrace/transitions/2):"
    )
    assert [line.split() for line in shown[head + 1 :]] == [
        ["due", "(the", "file)", "got", "(this", "run)"],
        ["from", "gatekeeper", "gatekeeper"],
        ["to", "verified_input", "verified_input"],
        ["!", "reason_code", "gatekeeper_low_confid", "gatekeeper_pass"],
        ["attempt", "1", "1"],
    ]
    assert max(map(len, shown[head + 1 :])) <= 80


@pytest.mark.parametrize(
    ("trace", "place", "line"),
    [
        ({"final_node": "fallback"}, "final_node (/orchestrationTrace/final_node)", ["!", "fallback", "composer"]),
        ({"transitions": []}, "transition 1 (/orchestrationTrace/transitions/0)", ["!", "from", "-", "planner"]),
        (
            {"degraded": "\x1b[31m" + "x" * 99},
            "degraded (/orchestrationTrace/degraded)",
            ["!", "x" * 28 + "…", "false"],
        ),
    ],
)
def test_any_difference_is_shown_in_80_columns(
    command: Command, home: Path, trace: dict[str, Any], place: str, line: list[str]
) -> None:
    """Ends that differ, transitions that one side lacks, and values that only a hand could have written (X1)."""
    outcome = command("replay", "-q", write_run(home / "run.json", PASSING, orchestrationTrace=trace))
    assert outcome.status == 3
    assert place in outcome.err
    shown = outcome.err.splitlines()[1:]
    assert line in [row.split() for row in shown]
    assert max(map(len, shown)) <= 80
    assert "\x1b" not in outcome.err


def test_live_agents_answer_over_the_recorded_results(command: Command, home: Path) -> None:
    """A what-if run: it says so in the answer and the envelope, and which calls the record could not answer."""
    path = write_run(home / "run.json", PASSING)
    outcome = command("replay", path, "--agents", "live")
    assert outcome.status == 0
    assert re.match(
        r"What if: built-in analyst, given the recorded tool results of run feedc0de\. No tool was c", outcome.out
    )
    assert "inv-4 find_metric_anomalies error" in outcome.err, "asked with other arguments than were recorded"
    assert "got no result" in outcome.out
    (run,) = json.loads(command("runs", "--json").out)
    assert (run["whatIf"], run["replayOf"], run["model"]) == (True, "feedc0de", "built-in analyst")
    assert "what if, on feedc0de" in " ".join(command("trace", "last").out.split())


def test_a_what_if_run_is_held_against_the_recorded_way(command: Command, home: Path) -> None:
    """That it went elsewhere is what was asked, and no failure: exit 0, with the first difference."""
    trace = json.loads(command("replay", "--json", write_run(home / "a.json", REJECTED)).out)["run"][
        "orchestrationTrace"
    ]
    outcome = command("replay", write_run(home / "b.json", REJECTED, orchestrationTrace=trace), "--agents", "live")
    assert outcome.status == 0
    assert "It left the recorded run's way at transition 3 (/orchestrationTrace/transitions/2):\n" in outcome.err
    quiet = command("replay", "-q", home / "b.json", "--agents", "live")
    assert (quiet.status, quiet.err) == (0, "")


def test_recorded_agents_take_no_model(command: Command, home: Path) -> None:
    """A model that would not be asked is a misunderstanding, and no silence."""
    outcome = command("replay", write_run(home / "run.json", PASSING), "--model", "openai/some-model")
    assert (outcome.status, outcome.out) == (2, "")
    assert "--agents live" in outcome.err


@pytest.mark.parametrize("content", ["", "{", '{"format": "diag-run/2"}', "[1]", '{"format": "diag-run/1"}'])
def test_a_file_that_is_no_run_exits_2_in_two_lines(command: Command, home: Path, content: str) -> None:
    """P3: where and why, and what to do; nothing is run."""
    (home / "bad.json").write_text(content)
    outcome = command("replay", home / "bad.json")
    assert (outcome.status, outcome.out) == (2, "")
    assert str(home / "bad.json") in outcome.err
    assert len(outcome.err.splitlines()) == 2


def test_a_run_is_exported_and_replays_to_the_same_end(command: Command, home: Path) -> None:
    """P2 through the store: `trace --export`, then `replay`: same transitions, verdict and answer."""
    first = json.loads(command("replay", "--json", write_run(home / "run.json", PASSING)).out)["run"]
    exported = command("trace", "last", "--export", home / "again.json")
    assert exported.status == 0
    second = command("replay", "--json", home / "again.json")
    assert second.status == 0
    again = json.loads(second.out)["run"]
    for key in ("verdict", "answer", "orchestrationTrace"):
        assert again[key] == first[key]
    assert again["replayOf"] == first["runId"]


def test_a_replay_is_listed_at_the_time_it_was_played_and_keeps_the_clock_of_its_file(
    command: Command, home: Path
) -> None:
    """Section 11: `now` is the run's clock, and goes from file to file; `startedAt` is when it was run."""
    path = write_run(home / "run.json", PASSING)
    run = json.loads(command("replay", "--json", path).out)["run"]
    clock = json.loads(path.read_text())["now"]
    assert clock < "2026-07-16T06:06" < run["startedAt"] <= run["finishedAt"]
    assert command("trace", "last", "--export", home / "again.json").status == 0
    assert json.loads((home / "again.json").read_text())["now"] == clock


@pytest.mark.parametrize("make", ["folder", "noise"])
def test_a_store_that_cannot_be_used_costs_a_line_and_not_the_answer(command: Command, home: Path, make: str) -> None:
    """D3: the answer is printed, the exit status is the answer's, and one line says what is wrong with the store."""
    path = home / "broken.db"
    if make == "folder":
        path.mkdir()
    else:
        path.write_text("this is no database\n" * 300)
    outcome = command("replay", "-q", "--db", path, write_run(home / "run.json", PASSING))
    assert outcome.status == 0
    assert outcome.out.startswith("Checkout waited")
    assert outcome.err.startswith("diag: this run was not kept: ")
    assert len(outcome.err.splitlines()) == 2


def start(home: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the program and leave it running, its output in pipes."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        env=environment(home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_exits_130_and_can_be_looked_at(home: Path, sent: signal.Signals, status: int) -> None:
    """Section 10: Ctrl-C is 130, with the run's id and the next command; the store has it as far as it got (T2).

    More lines than a pipe holds go to a stderr that nobody reads: the run cannot end before the signal comes.
    """
    call = {"tool": "search_logs", "arguments": {"text": "x" * 100}, "status": "ok", "result": {"summary": "y" * 100}}
    many = [{"id": f"inv-{number}", **call} for number in range(1, 2000)]
    process = start(
        home, "replay", write_run(home / "run.json", [PLAN, executor(invocations=many), VERIFIER, COMPOSER])
    )
    assert process.stderr is not None
    run_id = process.stderr.readline().split()[1]
    while process.stderr.readline() != "executor started\n":
        pass
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (status, "")
    assert "Traceback" not in err
    if sent is signal.SIGINT:
        assert f"run {run_id} ended: INTERRUPTED in " in err
        assert err.endswith(f"diag: interrupted\n      Its trace, as far as it got: diag trace {run_id}\n")
    listed = subprocess.run([*PROGRAM, "runs", "--json"], env=environment(home), capture_output=True, check=True)
    (run,) = json.loads(listed.stdout)
    assert run["runId"] == run_id
    assert (run["status"], run["failureReason"]) == ("INTERRUPTED", "interrupted")
    assert run["orchestrationTrace"]["termination_reason"] == "planner_completed"


def test_a_reader_that_goes_away_is_no_error(command: Command, home: Path) -> None:
    """`diag trace last --json | head -1`: no traceback, no complaint, what a shell reports for SIGPIPE."""
    path = write_run(home / "run.json", PASSING)
    assert subprocess.run(
        [*PROGRAM, "replay", "-q", str(path)], env=environment(home), check=True, stdout=subprocess.PIPE
    )
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*PROGRAM, "trace", "last", "--json"],
            env=environment(home),
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
