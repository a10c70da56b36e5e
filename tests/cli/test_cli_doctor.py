from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_samples import PASSING, Command, write_run


def findings(command: Command, *arguments: object) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """What the doctor says, by topic."""
    outcome = command("doctor", "--json", *arguments)
    topics: dict[str, list[dict[str, str]]] = {}
    for finding in json.loads(outcome.out):
        topics.setdefault(finding["topic"], []).append(finding)
    return outcome.status, topics


def test_a_new_machine_is_well_and_told_what_it_can_do(command: Command, home: Path) -> None:
    """Nothing needs to be set up: no model, no store, and the doctor says so; it creates nothing."""
    status, topics = findings(command)
    assert status == 0
    assert "built-in analyst" in topics["model"][0]["said"]
    assert "will be created" in topics["store"][0]["said"]
    assert topics["evidence"][0] == {
        "state": "note",
        "topic": "evidence",
        "said": "no source is named",
        "advice": "Name a folder to look at: --incident DIR",
    }
    assert list(home.iterdir()) == []


def test_a_broken_store_is_a_fault_with_advice(command: Command, home: Path) -> None:
    """Exit 2, and what to do."""
    status, topics = findings(command, "--db", home)
    assert status == 2
    assert topics["store"][0]["state"] == "fault"
    assert topics["store"][0]["advice"]


def test_a_store_in_use_is_counted(command: Command, home: Path) -> None:
    """What is there, and that it can be written."""
    command("replay", "-q", write_run(home / "run.json", PASSING))
    assert findings(command)[1]["store"][0]["said"].endswith("writable, 1 run")


def test_an_evidence_folder_is_listed_file_by_file(command: Command, home: Path) -> None:
    """A file that cannot be read is listed with why; a folder that is not there is a fault."""
    folder = home / "incident"
    folder.mkdir()
    (folder / "metrics.csv").write_text("timestamp,service,metric,value\n2026-07-16T05:00:00Z,orders,rps,1\n")
    (folder / "core.bin").write_bytes(bytes(range(8)))
    status, topics = findings(command, "--incident", folder)
    assert status == 0
    said = {finding["said"].split(":")[0]: finding["state"] for finding in topics["evidence"]}
    assert said == {"metrics.csv": "ok", "core.bin": "note"}
    assert findings(command, "--incident", home / "nowhere")[0] == 2


def test_variables_of_langsmith_are_reported_as_ignored(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """X6: they may be set for another program; nothing is sent. The key itself is not shown."""
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_secret")
    outcome = command("doctor")
    assert "LANGSMITH_TRACING, LANGSMITH_API_KEY are set, and are ignored" in outcome.out
    assert "lsv2_secret" not in outcome.out


def test_settings_say_where_they_come_from(command: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that surprises can be traced to the file or variable that sets it."""
    monkeypatch.setenv("DIAG_ZONE", "Europe/Rome")
    (home / "diag.toml").write_text('display = "plain"')
    said = [finding["said"] for finding in findings(command)[1]["settings"]]
    assert "zone is Europe/Rome, by DIAG_ZONE (environment)" in said
    assert f"display is plain, by {home / 'diag.toml'} (project file)" in said
