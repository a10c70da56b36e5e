"""Skills on the command line: where they come from, what is said of them, and how a run shows that one was used."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from cli_samples import Command

from skill_samples import SHIPPED, skill_text, write_skill

ROOT = Path(__file__).parents[2]
INCIDENT = ROOT / "fixtures" / "incidents" / "slow-checkout"
QUESTION = "why is checkout slow?"


def read_skills(command: Command, *options: object) -> list[str]:
    """Which skills a run read, in order."""
    outcome = command("ask", QUESTION, "--incident", INCIDENT, "--json", *options)
    assert outcome.status == 0, outcome.err
    calls = json.loads(outcome.out)["invocations"]
    return [call["arguments"]["name"] for call in calls if call["tool"] == "read_skill"]


def listed(command: Command, *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    """What `diag skills --json` says."""
    outcome = command("skills", "--json", *arguments)
    return outcome.status, json.loads(outcome.out)


def test_skills_are_listed_with_what_they_call(command: Command) -> None:
    """The five that ship are good."""
    status, found = listed(command, SHIPPED)
    assert status == 0
    assert [(one["name"], one["state"]) for one in found] == [
        (name, "ok") for name in ("bad-deploy", "database", "error-rate", "latency", "saturation")
    ]
    assert all(one["description"] and one["tools"] and not one["notes"] for one in found)
    shown = command("skills", SHIPPED)
    assert "7 calls: list_evidence, find_span_anomalies" in re.sub(r"\s+", " ", shown.out)


def test_a_skill_that_cannot_be_used_is_exit_2_with_why_and_what_to_do(command: Command, tmp_path: Path) -> None:
    """One clear line each; an oddity is a note, and no fault."""
    write_skill(tmp_path / "skills", "odd", skill_text("odd", body="1. `list_evidence`: look\n2. `nosuch`: it"))
    assert listed(command, tmp_path / "skills")[0] == 0
    write_skill(tmp_path / "skills", "broken", "# no front matter")
    status, found = listed(command, tmp_path / "skills")
    assert status == 2
    (odd, broken) = found
    assert (odd["state"], odd["notes"]) == (
        "note",
        ["line 7: nosuch: it is no tool of diag, so that the step is not made"],
    )
    assert (broken["state"], broken["notes"]) == ("fault", ["it does not begin with front matter"])
    assert broken["advice"]
    assert broken["path"].endswith("broken/SKILL.md")


def test_without_skills_it_says_where_they_would_be(command: Command, home: Path) -> None:
    """A newcomer has none."""
    outcome = command("skills")
    assert (outcome.status, outcome.out) == (0, "")
    assert str(home / "skills") in outcome.err
    assert listed(command) == (0, [])


@pytest.mark.parametrize("where", ["flag", "variable", "project", "user", "default"])
def test_skills_come_from_where_settings_come_from(
    command: Command, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Section 10: flags, environment, project file, user file, and a folder beside the user file."""
    folder = home / "skills" if where == "default" else tmp_path / "mine"
    write_skill(folder, "slow", skill_text("slow", "Slow things."))
    options: list[object] = []
    if where == "flag":
        options = ["--skills", folder]
    elif where == "variable":
        monkeypatch.setenv("DIAG_SKILLS", str(folder))
    elif where in {"project", "user"}:
        (home / ("diag.toml" if where == "project" else "config.toml")).write_text(f'skills = "{folder}"')
    assert read_skills(command, *options) == ["slow"]


def test_broken_skills_are_counted_in_one_line_and_stops_nothing(command: Command, tmp_path: Path) -> None:
    """It is not offered, and the question is answered."""
    write_skill(tmp_path, "broken", "no front matter \x1b[31m")
    write_skill(tmp_path, "evil\x1b[2J", "none")
    write_skill(tmp_path, "slow", skill_text("slow", "Slow things."))
    outcome = command("ask", QUESTION, "--incident", INCIDENT, "--skills", tmp_path)
    assert outcome.status == 0
    assert outcome.err.count(f"diag: 3 of 4 skills are not used: diag skills {tmp_path} says why\n") == 1
    assert "\x1b" not in outcome.err + outcome.out
    assert "card-gateway" in outcome.out
    quiet = command("ask", QUESTION, "--incident", INCIDENT, "--skills", tmp_path, "-q")
    assert quiet.err == ""


def test_a_skill_of_which_no_step_can_be_made_is_not_offered(command: Command, tmp_path: Path) -> None:
    """It would be chosen, and would guide to nothing."""
    write_skill(
        tmp_path / "skills", "lost", skill_text("lost", "Slow things.", "1. `no_such_tool {}`\n2. `nor_this_one`\n")
    )
    write_skill(tmp_path / "skills", "slow", skill_text("slow", "Slow things."))
    status, found = listed(command, tmp_path / "skills")
    assert (status, {one["name"]: one["state"] for one in found}) == (2, {"lost": "fault", "slow": "ok"})
    assert read_skills(command, "--skills", tmp_path / "skills") == ["slow"]


def test_a_folder_that_is_named_must_be_there_and_one_that_was_set_need_not(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A typing error is said at once; a diagnosis does not wait for a folder that is gone."""
    outcome = command("ask", QUESTION, "--incident", INCIDENT, "--skills", tmp_path / "nowhere")
    assert outcome.status == 2
    assert "there is no folder of skills" in outcome.err
    assert not outcome.out
    assert command("skills", tmp_path / "nowhere").status == 2
    inside = command("skills", write_skill(tmp_path, "slow") / "slow")
    assert inside.status == 2
    assert f"Name the folder above it: {tmp_path}" in inside.err
    monkeypatch.setenv("DIAG_SKILLS", str(tmp_path / "nowhere"))
    outcome = command("ask", QUESTION, "--incident", INCIDENT)
    assert outcome.status == 0
    assert "no skills are used: there is no folder of skills" in outcome.err


def test_the_trace_shows_that_a_skill_was_selected_and_read(command: Command) -> None:
    """Section 13: visibly."""
    command("ask", QUESTION, "--incident", INCIDENT, "--skills", SHIPPED)
    shown = command("trace", "last").out
    assert re.search(r"planner +COMPLETED  skill latency", shown)
    assert re.search(r"inv-1 +ok +read_skill[^\n]*\n +name=latency\n", shown)


def test_a_run_with_a_skill_is_saved_and_replays(command: Command, home: Path) -> None:
    """P2, from outside: where no skill is registered."""
    asked = command("ask", QUESTION, "--incident", INCIDENT, "--skills", SHIPPED, "--json", "--save", home / "run.json")
    replayed = command("replay", home / "run.json", "--json")
    assert replayed.status == 0, replayed.err
    before, after = json.loads(asked.out), json.loads(replayed.out)
    for field in ("answer", "verdict", "modelVerdict", "orchestrationTrace"):
        assert before["run"][field] == after["run"][field]
    assert [step["error"] for step in before["steps"]] == [step["error"] for step in after["steps"]]


def test_the_doctor_says_which_skills_there_are(command: Command, home: Path) -> None:
    """And what is wrong with one: a note, for it stops nothing."""
    write_skill(home / "skills", "slow")
    write_skill(home / "skills", "broken", "")
    outcome = command("doctor", "--json")
    assert outcome.status == 0
    said = [(one["state"], one["said"]) for one in json.loads(outcome.out) if one["topic"] == "skills"]
    assert said == [("ok", f"{home / 'skills'}: slow"), ("note", "broken: it does not begin with front matter")]


def test_the_example_of_the_manual_is_a_good_skill(command: Command, tmp_path: Path) -> None:
    """What a newcomer copies works."""
    manual = (ROOT / "docs" / "skills.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"(?ms)^    ---\n.*?(?=^\S)", manual)
    folder = write_skill(tmp_path / "skills", "queue-backlog", textwrap.dedent(example))
    status, (found,) = listed(command, folder)
    assert (status, found["state"]) == (0, "ok")
    assert len(found["tools"]) == 4
