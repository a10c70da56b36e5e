"""Going on with a conversation: `--continue`, `--session`, `diag sessions`."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from cli_samples import PASSING, PROGRAM, Command, environment, write_run
from pseudo_terminal import on_terminal, screen_of


@pytest.fixture
def incident(home: Path) -> Path:
    """A small evidence folder: a log of a service that begins to fail."""
    folder = home / "incident"
    folder.mkdir()
    rows = [
        {"timestamp": f"2026-07-16T05:{m:02d}:30Z", "level": level, "service": "orders", "message": said}
        for m in range(60)
        for level, said in [("ERROR", "pool exhausted") if m >= 40 else ("INFO", "ok")]
    ]
    (folder / "app.ndjson").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return folder


def told(db: Path) -> list[list[str]]:
    """The earlier questions that each run was told of."""
    with sqlite3.connect(db) as connection:
        rows = connection.execute("SELECT history FROM diagnosis_run ORDER BY rowid").fetchall()
    connection.close()
    return [[turn["question"] for turn in json.loads(history)] for (history,) in rows]


def test_a_follow_up_knows_the_questions_before_and_the_folder(command: Command, home: Path, incident: Path) -> None:
    """`--continue` goes on with the last conversation and looks at the same folder, and says so."""
    command("ask", "why do orders fail?", "--incident", "incident")
    (session,) = json.loads(command("sessions", "--json").out)
    assert session["incident"] == str(incident)
    follow_up = command("ask", "-c", "and since when?")
    assert follow_up.status == 0
    said = [line for line in follow_up.err.splitlines() if line.startswith("diag: ")]
    assert said == [
        f'diag: goes on with conversation {session["sessionId"]}: "why do orders fail?"',
        "diag: looks at incident again, as the conversation did; for another folder: --incident DIR",
    ]
    assert told(home / "diag.db") == [[], ["why do orders fail?"]]
    assert command("ask", "-q", "--continue", "and now?").err == ""
    assert [run["question"] for run in json.loads(command("runs", "--session", "last", "--json").out)] == [
        "and now?",
        "and since when?",
        "why do orders fail?",
    ]


def test_a_replay_in_between_is_no_part_of_the_conversation(command: Command, home: Path, incident: Path) -> None:
    """Also one of a file that does not say which run it was."""
    command("ask", "-q", "why do orders fail?", "--incident", incident)
    command("replay", "-q", write_run(home / "run.json", PASSING, runId=None))
    command("ask", "-q", "--session", "last", "and before?")
    assert told(home / "diag.db")[-1] == ["why do orders fail?"]
    assert len(json.loads(command("sessions", "--json").out)) == 1
    assert " replay: why is checkout slow?" in command("runs").out


def test_a_conversation_is_named_by_a_unique_beginning(command: Command, incident: Path) -> None:
    """As run ids are; which one it is, is said."""
    command("ask", "-q", "why do orders fail?", "--incident", incident, "--session", "night-shift")
    outcome = command("ask", "and since when?", "--session", "night")
    assert 'goes on with conversation night-shift: "why do orders fail?"' in outcome.err
    assert "goes on with" not in command("ask", "and now?", "--session", "night-shift").err
    assert len(json.loads(command("runs", "--session", "night", "--json").out)) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "--continue", "and before?"], "there is no conversation to go on with"),
        (["ask", "--session", "last", "and before?"], "there is no conversation to go on with"),
        (["ask", "--continue", "--session", "night", "and?"], "--continue goes on with the last conversation"),
        (["runs", "--session", "nobody"], 'there is no conversation "nobody"'),
    ],
)
@pytest.mark.parametrize("begun", [False, True])
def test_what_is_not_there_cannot_be_gone_on_with(
    command: Command, home: Path, arguments: list[str], said: str, begun: bool
) -> None:
    """Exit 2, one line of what went wrong and one of what to do, with a store or without one."""
    if begun:
        command("replay", "-q", write_run(home / "run.json", PASSING))
    outcome = command(*arguments)
    if arguments[0] == "runs" and not begun:
        assert "No runs yet." in outcome.err
        return
    assert (outcome.status, outcome.out) == (2, "")
    first, second = outcome.err.splitlines()
    assert first.startswith(f"diag: {said}")
    assert second.strip()


def test_a_folder_that_is_gone_is_named(command: Command, incident: Path) -> None:
    """One clear line, before anything is asked; naming another folder helps."""
    command("ask", "-q", "why do orders fail?", "--incident", incident)
    moved = incident.rename(incident.with_name("moved"))
    outcome = command("ask", "-c", "and since when?")
    assert outcome.status == 2
    assert outcome.err.splitlines()[-2:] == [
        "diag: the conversation is about incident, and there is no such folder any more",
        "      Name where it is now with --incident DIR.",
    ]
    assert len(json.loads(command("runs", "--json").out)) == 1
    assert command("ask", "-q", "-c", "and since when?", "--incident", moved).status == 0
    assert json.loads(command("sessions", "--json").out)[0]["incident"] == str(moved)


def test_a_store_that_cannot_be_read_costs_the_conversation_and_not_the_answer(
    command: Command, home: Path, incident: Path
) -> None:
    """D3: the question is asked alone, and why is said once."""
    (home / "diag.db").write_text("this is no database, and long enough to be taken for one by nobody " * 20)
    outcome = command("ask", "-c", "why do orders fail?", "--incident", incident)
    assert outcome.status == 0
    assert "Verdict: " in outcome.out
    assert "diag: the conversation cannot be read, and the question is asked alone\n" in outcome.err
    assert outcome.err.count("is not a diag store") == 1


def test_conversations_are_listed_for_people_and_as_json(command: Command, home: Path, incident: Path) -> None:
    """`diag sessions`: id, first question, runs, last asked, last verdict; a hostile title stays on its line."""
    assert "No conversations yet." in command("sessions").err
    assert json.loads(command("sessions", "--json").out) == []
    command("ask", "-q", "why \x1b[31mdo\norders fail?", "--incident", incident)
    command("ask", "-q", "-c", "and since when?")
    shutil.rmtree(incident)
    head, row = command("sessions").out.splitlines()
    assert head.split() == ["CONVERSATION", "LAST", "ASKED", "RUNS", "VERDICT", "BEGAN", "WITH"]
    (listed,) = json.loads(command("sessions", "--json").out)
    assert (listed["runs"], listed["sessionId"] in row, "\x1b" in row) == (2, True, False)
    assert set(listed) == {"sessionId", "title", "runs", "createdAt", "lastAsked", "lastVerdict", "incident"}
    narrow = screen_of(on_terminal(home, "sessions")).splitlines()
    assert max(map(len, narrow)) <= 80
    assert listed["sessionId"][:8] in narrow[1]


def test_nothing_of_an_earlier_run_but_question_and_answer_is_told(
    command: Command, home: Path, incident: Path
) -> None:
    """S1, R5: words planted in an earlier run's steps, results and findings are nowhere in the next run."""
    command("ask", "-q", "why do orders fail?", "--incident", incident)
    (before,) = json.loads(command("runs", "--json").out)
    with sqlite3.connect(home / "diag.db") as connection:
        connection.execute("UPDATE agent_step SET output = 'PLANTED-step', error = 'PLANTED-error'")
        connection.execute(
            'UPDATE tool_invocation SET result = \'"PLANTED-result"\', arguments = \'{"a": "PLANTED-a"}\''
        )
        connection.execute('UPDATE self_evaluation SET verifier_evaluation = \'{"verdict": "PLANTED-verdict"}\'')
        connection.execute("UPDATE diagnosis_run SET findings = '[]', model = 'PLANTED-model'")
        connection.execute(
            "UPDATE diagnosis_run SET answer = ?",
            [f"ANSWERED\n{before['answer']}\nEvidence\n  [1] search_logs inv-1 /items/0/text\n  PLANTED-citation"],
        )
    connection.close()
    assert command("ask", "-q", "-c", "and since when?").status == 0
    shown = command("trace", "last", "--json").out
    assert "PLANTED" not in shown
    with sqlite3.connect(home / "diag.db") as connection:
        told_of = connection.execute("SELECT history FROM diagnosis_run ORDER BY rowid DESC").fetchone()[0]
    connection.close()
    assert "ANSWERED" in told_of
    assert "PLANTED" not in told_of


def test_two_processes_may_ask_in_one_conversation_at_once(command: Command, home: Path, incident: Path) -> None:
    """D4: both are answered, and both are part of it."""
    arguments = ["ask", "-q", "--session", "night", "--incident", str(incident)]
    asked = [
        subprocess.Popen([*PROGRAM, *arguments, question], env=environment(home), stdout=subprocess.PIPE)
        for question in ("why do orders fail?", "since when?")
    ]
    assert [process.wait(timeout=60) for process in asked if process.communicate()] == [0, 0]
    (session,) = json.loads(command("sessions", "--json").out)
    assert (session["sessionId"], session["runs"]) == ("night", 2)
