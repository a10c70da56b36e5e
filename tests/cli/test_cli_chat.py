"""`diag` alone on a terminal: a prompt for a conversation, talked to through a pseudo-terminal."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest
from cli_samples import PROGRAM, Command, environment
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from pseudo_terminal import Dialogue

from diag_cli.chat import COMMANDS, Chat, looks_like_incident
from diag_cli.conversation import NEW
from diag_cli.prompt import HISTORY_FILE, Completions, MaskedHistory, history_in
from diag_cli.question import as_question, is_open

PASTED_SECRET = "xoxb-123456789012-abcdefghijklmnop"  # noqa: S105 - it is none
LABEL = "diag>"
ALERT = {
    "status": "firing",
    "alerts": [
        {"status": "resolved", "labels": {"alertname": "Old"}, "startsAt": "2026-07-16T04:00:00Z"},
        {
            "status": "firing",
            "labels": {"alertname": "OrdersDown", "service": "orders"},
            "annotations": {"summary": "Orders fail."},
            "startsAt": "2026-07-16T05:41:00Z",
        },
    ],
}
ASKED = "why does the alert OrdersDown fire for orders since 2026-07-16T05:41:00Z? Orders fail. Other alerts: Old."
PASTE = "\x1b[200~{}\x1b[201~"


@pytest.fixture
def incident(home: Path) -> Path:
    """A small evidence folder: a service that begins to fail just after a deploy."""
    folder = home / "incident"
    folder.mkdir()
    rows = [
        {"timestamp": f"2026-07-16T05:{m:02d}:30Z", "level": level, "service": "orders", "message": said}
        for m in range(60)
        for level, said in [("ERROR", "pool exhausted") if m >= 40 else ("INFO", "ok")]
    ]
    (folder / "logs.ndjson").write_text("\n".join(map(json.dumps, rows)) + "\n")
    deploy = {"kind": "deploy", "service": "orders", "version": "3.8.0", "timestamp": "2026-07-16T05:39:50Z"}
    (folder / "changes.json").write_text(json.dumps([deploy]))
    return folder


def runs(home: Path) -> list[tuple[str, str, str, int]]:
    """Question, status, session and number of earlier turns of each run."""
    query = "SELECT question, status, session_id, json_array_length(history) FROM diagnosis_run ORDER BY rowid"
    with sqlite3.connect(home / "diag.db") as connection:
        found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_a_conversation_is_held_at_the_prompt(home: Path, incident: Path) -> None:
    """Questions, a follow-up, a paste of several lines, commands, a mistake, and leaving by Ctrl-D."""
    with Dialogue(PROGRAM, environment(home, TERM="xterm-256color"), home) as talk:
        assert "the built-in analyst thinks; no folder is looked at yet: /incident DIR" in talk.until(LABEL)
        talk.type("/incident nowhere\r")
        talk.until("diag: ")
        talk.until(LABEL)
        talk.type("/incident incident\r")
        talk.until("It looks at incident.")
        talk.type("why do orders fail?\r")
        talk.until("\nEvidence\n")
        talk.until(LABEL)
        talk.type("and what changed before that?\r")
        assert "What was changed: Deploy 3.8.0 of orders" in talk.until("\nEvidence\n")
        talk.until(LABEL)
        talk.type(
            PASTE.format(f'is this alert about it?\n{{"alert": "OrdersDown",\n "token": "{PASTED_SECRET}"}}') + "\r"
        )
        talk.until("\nVerdict: ")
        talk.until(LABEL)
        talk.type("/nonsense\r")
        talk.until("there is no command /nonsense")
        talk.type("/new\r")
        talk.until("A new conversation begins.")
        talk.type("since when?\r")
        talk.until("\nVerdict: ")
        talk.until(LABEL)
        talk.type("\x04")
        assert talk.end() == 0
    first, second, pasted, anew = runs(home)
    assert [run[1] for run in (first, second, pasted, anew)] == ["SUCCESS"] * 4
    assert [run[3] for run in (first, second, pasted, anew)] == [0, 1, 2, 0]
    assert first[2] == second[2] == pasted[2] != anew[2]
    assert pasted[0].startswith('is this alert about it?\n{"alert"')
    kept = home / HISTORY_FILE
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "+why do orders fail?" in kept.read_text()
    assert PASTED_SECRET not in kept.read_text()


def test_ctrl_c_cancels_a_run_and_not_the_program(home: Path, incident: Path) -> None:
    """The run stands in the store as interrupted, and the prompt comes back; Ctrl-C twice leaves."""
    ready, told = os.pipe()
    waits, gate = os.pipe()
    program = [sys.executable, str(Path(__file__).with_name("waiting_program.py")), "tool", f"{told},{waits}"]
    variables = environment(home, TERM="xterm-256color")
    command = [*program, "chat", "--incident", str(incident)]
    with Dialogue(command, variables, home, (told, waits)) as talk:
        talk.until(LABEL)
        talk.type("why do orders fail?\r")
        assert os.read(ready, 1) == b"."
        talk.type("\x03")
        talk.until("diag: the run was cancelled; the conversation goes on")
        talk.until("diag trace ")
        talk.until(LABEL)
        talk.type("never asked\x03\x03")
        talk.until("Ctrl-D leaves, and so does another Ctrl-C.")
        talk.until(LABEL)
        talk.type("x\x03\x03")
        talk.until("Ctrl-D leaves, and so does another Ctrl-C.")
        talk.until(LABEL)
        talk.type("\x03")
        assert talk.end() == 0
    for descriptor in (ready, told, waits, gate):
        os.close(descriptor)
    ((question, status, _, _),) = runs(home)
    assert (question, status) == ("why do orders fail?", "FAILED")


def test_an_alert_that_is_pasted_line_by_line_is_one_question(home: Path, incident: Path) -> None:
    """Without bracketed paste each line arrives alone; JSON that never closes is given up at an empty line."""
    command = [*PROGRAM, "chat", "--incident", str(incident)]
    with Dialogue(command, environment(home, TERM="xterm-256color"), home) as talk:
        talk.until(LABEL)
        talk.type('{"status": "firing",\r\r')
        talk.until("the JSON does not close, and is not asked")
        talk.until(LABEL)
        for line in json.dumps(ALERT, indent=1).splitlines():
            talk.type(f"{line}\r")
        talk.until("\nVerdict: ")
        talk.until(LABEL)
        talk.type("/model openai/gpt-4.1\r")
        talk.until("there is no key for the model openai/gpt-4.1")
        talk.until(LABEL)
        talk.type("\x04")
        assert talk.end() == 0
    assert [run[0] for run in runs(home)] == [ASKED]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (json.dumps(ALERT), ASKED),
        (json.dumps(ALERT["alerts"]), ASKED),
        (json.dumps({"alerts": []}), '{"alerts": []}'),
        ("[why] is it slow?", "[why] is it slow?"),
        ("[" * 100_000, "[" * 100_000),
        ('{"labels": {"alertname": 7}, "status": 3, "annotations": []}', "why does the alert 7 fire?"),
    ],
)
def test_the_json_of_an_alert_becomes_a_question(text: str, question: str) -> None:
    """What is no alert is asked as it stands."""
    assert as_question(text) == question


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{", True), ('{"a": 1,', True), ('[{"a": "b', True), ('{"a": 1}', False), ("[why] so?", False), ("why {", False)],
)
def test_json_that_goes_on_is_told_from_what_is_broken(text: str, expected: bool) -> None:
    """Only what the next line can close is read on."""
    assert is_open(text) is expected


def test_a_folder_that_looks_like_an_incident_is_offered(home: Path, incident: Path) -> None:
    """Where a person stands in the folder already, Enter is enough; `--continue` says what it goes on with."""
    variables = environment(home, TERM="xterm-256color", NO_COLOR="1")
    with Dialogue(PROGRAM, variables, incident) as talk:
        talk.until("incident looks like a recorded incident. Look at it? [Y/n]")
        talk.type("\r")
        talk.until("it looks at .")
        talk.until(LABEL)
        talk.type("since when?\r")
        talk.until("\nVerdict: ")
        talk.until(LABEL)
        talk.type("/quit\r")
        assert talk.end() == 0
    with Dialogue([*PROGRAM, "chat", "-c"], variables, home) as talk:
        assert ': "since when?"' in talk.until(LABEL)
        talk.type("\x04")
        assert talk.end() == 0


def test_without_a_terminal_there_is_help_and_no_prompt(command: Command) -> None:
    """Section 10: a script is never asked anything."""
    assert command().out == command("--help").out
    refused = command("chat")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("diag: a conversation needs a terminal\n")


def completed(completions: Completions, text: str) -> list[str]:
    """What the text before the cursor can become."""
    found = completions.get_completions(Document(text), CompleteEvent(completion_requested=True))
    return [text[: len(text) + one.start_position] + one.text for one in found]


def test_commands_folders_names_and_earlier_questions_are_completed(home: Path) -> None:
    """What the Tab key offers."""
    completions = Completions(COMMANDS, {"/resume": lambda: ["night-1", "day-2"]})
    completions.names = {"ordering", "orders-db"}
    completions.earlier = ["why is ordering slow?"]
    (home / "inc-1").mkdir()
    (home / "inc.txt").write_text("")
    assert completed(completions, "/in") == ["/incident "]
    assert completed(completions, "/he") == ["/help"]
    assert completed(completions, "/incident in") == ["/incident inc-1"]
    assert completed(completions, "/resume n") == ["/resume night-1"]
    assert completed(completions, "what about ord") == ["what about ordering", "what about orders-db"]
    assert completed(completions, "why is") == ["why is ordering slow?"]
    assert completed(completions, "") == []


def test_every_command_that_is_shown_can_be_carried_out(home: Path) -> None:
    """/help lists what there is."""
    assert set(COMMANDS) <= set(Chat({}, NEW)._commands())


def test_the_history_is_private_masked_and_bounded(home: Path) -> None:
    """X3: a secret that was pasted is not written down; a file that cannot be used costs no question."""
    history = history_in(home / "data")
    assert isinstance(history, MaskedHistory)
    history.store_string(f"why does {PASTED_SECRET} fail? \ud800")
    assert PASTED_SECRET not in (home / "data" / HISTORY_FILE).read_text()
    assert len(list(history_in(home / "data").load_history_strings())) == 1
    (home / "data" / HISTORY_FILE).write_text("+x\n" * 1_000_000)
    assert list(history_in(home / "data").load_history_strings()) == []
    (home / "file").write_text("")
    assert list(history_in(home / "file").load_history_strings()) == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["incident.toml"], True),
        (["metrics.csv", "logs.ndjson"], True),
        (["alert.json", "spans.ndjson", "notes.md"], True),
        (["metrics.csv"], False),
        (["README.md", "logs"], False),
        ([], False),
    ],
)
def test_a_folder_looks_like_an_incident_by_two_kinds_of_evidence(home: Path, names: list[str], expected: bool) -> None:
    """One file of that name stands in many a folder."""
    for name in names:
        (home / name).write_text("")
    assert looks_like_incident(home) is expected
