from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli_samples import PROGRAM, Command, environment


@pytest.fixture
def incident(home: Path) -> Path:
    """A small evidence folder: a service whose errors rise, a change just before, and its log."""
    folder = home / "incident"
    folder.mkdir()
    rows = ["timestamp,service,metric,value"]
    for minute in range(60):
        value = 0.9 if minute >= 40 else 0.01
        rows += [f"2026-07-16T05:{minute:02d}:00Z,orders,error_rate,{value + minute % 3 / 1000:.4f}"]
        rows += [f"2026-07-16T05:{minute:02d}:00Z,catalog,error_rate,{0.01 + minute % 3 / 1000:.4f}"]
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    logs = [
        {"timestamp": f"2026-07-16T05:{m:02d}:30Z", "level": "INFO", "service": "orders", "message": "ok"}
        for m in range(60)
    ]
    logs += [
        {"timestamp": f"2026-07-16T05:{m:02d}:40Z", "level": "ERROR", "service": "orders", "message": "pool exhausted"}
        for m in range(40, 60)
    ]
    (folder / "app.ndjson").write_text(
        "\n".join(map(json.dumps, sorted(logs, key=lambda line: line["timestamp"]))) + "\n"
    )
    return folder


def test_a_question_is_answered_from_a_folder_and_kept(command: Command, incident: Path) -> None:
    """The way through: ask, answer with citations, run in the store, conversation named."""
    outcome = command("ask", "why do orders fail?", "--incident", incident)
    assert outcome.status == 0
    assert "Verdict: " in outcome.out
    assert "[1]" in outcome.out
    (run,) = json.loads(command("runs", "--json").out)
    assert (run["question"], run["status"], run["model"]) == ("why do orders fail?", "SUCCESS", "built-in analyst")
    assert outcome.err.endswith(f"diag trace {run['runId']}\n")


def test_a_question_needs_no_quotes(command: Command, incident: Path) -> None:
    """Words without quotes around them are one question; at three in the morning they get forgotten."""
    assert command("ask", "why", "do", "orders", "fail?", "--incident", incident, "-q").status == 0
    assert json.loads(command("runs", "--json").out)[0]["question"] == "why do orders fail?"


def test_a_question_may_come_from_stdin(home: Path, incident: Path) -> None:
    """Section 10: `-` reads the question from stdin; bytes that are no UTF-8 do not stop it."""
    done = subprocess.run(
        [*PROGRAM, "ask", "-", "--incident", str(incident), "--json"],
        env=environment(home),
        input=b"why do orders fail? \xff\n",
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["run"]["question"] == "why do orders fail? \ufffd"


def test_a_conversation_goes_on(command: Command, incident: Path) -> None:
    """Section 10: `--session ID` goes on with a conversation; `last` is the latest, an unknown id begins a new one."""
    first = command("ask", "why do orders fail?", "--incident", incident, "--session", "night")
    assert "a new conversation begins: night" in first.err
    second = command("ask", "and before that?", "--incident", incident, "--session", "last", "--save", "second.json")
    assert "new conversation" not in second.err
    assert {run["sessionId"] for run in json.loads(command("runs", "--session", "night", "--json").out)} == {"night"}
    saved = json.loads(Path("second.json").read_text())
    assert [turn["question"] for turn in saved["history"]] == ["why do orders fail?"]


def test_a_name_that_begins_a_conversation_is_said_also_when_quiet_and_an_id_begins_none(
    command: Command, incident: Path
) -> None:
    """Section 10: a typing error must not lose the conversation unseen."""
    named = command("ask", "-q", "why do orders fail?", "--incident", incident, "--session", "night")
    assert named.err == "diag: a new conversation begins: night\n      `diag sessions` shows those that there are.\n"
    mistyped = command("ask", "-q", "and before that?", "--session", "4f1c99e0")
    assert (mistyped.status, mistyped.out) == (2, "")
    assert "`diag sessions` lists them." in mistyped.err


@pytest.mark.parametrize(("given", "status"), [(b"why do orders fail?\n", 2), (b"", 0), (b" \n", 0)])
def test_a_question_that_is_piped_to_no_command_is_not_lost(home: Path, given: bytes, status: int) -> None:
    """Section 10: exit 2 and what to type; with nothing in the pipe there is help, as ever."""
    done = subprocess.run(PROGRAM, env=environment(home), input=given, capture_output=True, check=False)
    assert done.returncode == status
    assert (b"Ask it: diag ask -" in done.stderr, b"Usage: diag" in done.stdout) == (status == 2, status == 0)


def test_a_folder_that_cannot_be_looked_at_is_said_with_what_to_do(command: Command, home: Path) -> None:
    """Section 10: one line of what is wrong, and one of what to do."""
    (home / "README.md").write_text("no folder")
    missing = command("ask", "why?", "--incident", "/nope")
    assert missing.err == "diag: there is no folder /nope\n      Check the path that names it.\n"
    file = command("ask", "why?", "--incident", "README.md")
    assert file.err == "diag: README.md is a file, not a folder\n      Give the folder that holds it.\n"


def test_a_saved_run_replays_to_the_same_answer(command: Command, incident: Path) -> None:
    """P2: `ask --save`, then `replay`: same transitions, verdict and answer, byte for byte."""
    asked = command("ask", "why do orders fail?", "--incident", incident, "--save", "run.json", "-q")
    replayed = command("replay", "run.json", "-q")
    assert replayed.status == 0
    assert replayed.out == asked.out


def test_strict_turns_doubt_into_exit_4(command: Command, home: Path) -> None:
    """Section 10: without evidence there is a safe answer, exit 0; with --strict it is exit 4, and says why."""
    lenient = command("ask", "why do orders fail?")
    assert (lenient.status, bool(lenient.out)) == (0, True)
    assert lenient.err.startswith("diag: there is nothing to look at\n")
    strict = command("ask", "why do orders fail?", "--strict")
    assert strict.status == 4
    assert "diag: --strict: " in strict.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask"], "there is no question"),
        (["ask", "  "], "the question is empty"),
        (["ask", "why?", "--incident", "nowhere"], "nowhere"),
        (["ask", "why?", "--save", "nowhere/run.json"], "there is no folder nowhere"),
        (["ask", "why?", "--save", "."], "it is a folder"),
        (["ask", "why?", "--display", "loud"], "loud"),
        (["ask", "why?", "--display", "foo"], "'--display': 'foo' is not one of"),
        (["ask", "why?", "--session", "4f1c99e0"], 'there is no conversation "4f1c99e0"'),
        (["knowledge", "search", " "], "there is nothing to search for"),
        (["trace", "nothing"], "there is no store"),
        (["runs", "--limit", "0"], "--limit"),
        (["replay", "nowhere.json"], "nowhere.json"),
    ],
)
def test_what_cannot_be_done_is_said_in_two_lines(command: Command, arguments: list[str], said: str) -> None:
    """Section 10: exit 2; one line of what went wrong, one of what to do; nothing on stdout, no traceback."""
    outcome = command(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    errors = [
        line for line in outcome.err.splitlines() if "nothing to look at" not in line and "Name a folder" not in line
    ]
    assert 1 <= len(errors) <= 2, outcome.err
    assert errors[0].startswith("diag: ")
    assert said in errors[0]


def test_files_that_could_not_be_read_are_told_once(command: Command, incident: Path) -> None:
    """Whoever reads the answer knows that a part of the evidence was not seen; --quiet leaves it out."""
    whole = command("ask", "why do orders fail?", "--incident", incident)
    assert "could not be read" not in whole.err
    (incident / "core.bin").write_bytes(bytes(range(256)) * 64)
    torn = command("ask", "why do orders fail?", "--incident", incident)
    assert torn.status == 0
    (told,) = [line for line in torn.err.splitlines() if line.startswith("diag: ")]
    assert told == f"diag: 1 of 3 files could not be read; why: diag doctor --incident {incident}"
    assert "core.bin" in command("doctor", "--incident", incident).out
    assert command("ask", "why do orders fail?", "--incident", incident, "-q").err == ""


def test_debug_shows_the_traceback(command: Command) -> None:
    """Section 10: a traceback only with --debug, before or after the command."""
    assert "Traceback" in command("replay", "nowhere.json", "--debug").err
    assert "Traceback" in command("--debug", "replay", "nowhere.json").err
    assert "Traceback" not in command("replay", "nowhere.json").err
