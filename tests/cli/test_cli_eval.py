from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cli_samples import PROGRAM, Command, environment

INCIDENTS = Path(__file__).parents[2] / "fixtures" / "incidents"

LOG = """\
2026-07-16T14:00:01Z orders INFO order placed
2026-07-16T14:05:12Z payment ERROR connection pool exhausted: 20 of 20 in use
"""


def write_set(folder: Path, labels: dict[str, Any]) -> Path:
    """A set whose cases hold a log of two lines; the evidence of `broken` cannot be opened."""
    for case in labels:
        place = folder / "cases" / case
        place.mkdir(parents=True)
        (place / "shop.log").write_text(LOG)
        (place / "question.txt").write_text("why does checkout fail since 14:05?\n")
        if case == "broken":
            (place / "incident.toml").write_text("[window\n")
    (folder / "labels.json").write_text(json.dumps(labels))
    return folder


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """Two cases, one of which is healthy by its label."""
    return write_set(tmp_path / "toys", {"pay": {"services": ["payment"], "candidates": 2}, "calm": {"healthy": True}})


def report_of(command: Command, *arguments: object) -> dict[str, Any]:
    """The report that `--json` prints."""
    outcome = command("eval", *arguments, "--json", "--quiet", "--jobs", 1)
    assert outcome.status == 0, outcome.err
    report: dict[str, Any] = json.loads(outcome.out)
    return report


def test_recorded_incidents_are_scored_in_one_table(command: Command, home: Path) -> None:
    """Section 15, on two incidents: figures, baselines, citations; within 100 columns, and nothing is kept."""
    outcome = command("eval", INCIDENTS, "--cases", "stock-restarts,stock-latency-warning", "--jobs", 2)
    assert outcome.status == 0, outcome.err
    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= 110
    header = next(line for line in lines if line.startswith("SET"))
    assert header.split() == [
        *("SET", "CASES", "AC@1", "AC@3", "Avg@5", "WORDS", "ALL", "COMMIT", "HEALTHY", "FALSE", "VERDICTS", "CITED")
    ]
    row = lines[lines.index(header) + 1].split()
    assert row[:5] == ["incidents", "2", "1.000", "1.000", "1.000"]
    assert row[-1] == "100%"
    assert re.search(r"^  always the commonest +1\.000", outcome.out, re.MULTILINE)
    assert re.search(r"^  random order +0\.167", outcome.out, re.MULTILINE)
    assert re.search(r"^\[2/2\] incidents/stock-\S+: ", outcome.err, re.MULTILINE)
    assert not list(home.rglob("*.db"))


def test_the_reports_keys_are_stable(command: Command, toys: Path) -> None:
    """Scripts and saved baselines rely on them."""
    report = report_of(command, toys)
    assert list(report) == [
        *("format", "version", "model", "startedAt", "seconds", "jobs", "interrupted", "sets", "comparison")
    ]
    (one,) = report["sets"]
    assert list(one) == ["name", "figures", "baselines", "cases"]
    assert set(one["figures"]) == {
        *("ac1", "ac3", "ac5", "avg5", "cases", "crashed", "causeCases", "keywords", "keywordCases", "forbidden"),
        *("abstention", "commit", "noCommit", "falseConfidence", "verdicts", "degraded", "cited", "modelCalls"),
        *("promptTokens", "completionTokens", "costUsd", "secondsMedian", "secondsMax"),
    }
    assert set(one["figures"]["cited"]) == {"n", "of", "share"}
    assert set(one["figures"]["verdicts"]) == {"PASS", "LOW_CONFID", "REJECT", "none"}
    assert set(one["baselines"]) == {"constant", "random"}
    assert set(one["cases"][0]) == {
        *("case", "hasCause", "rank", "keywords", "missingKeywords", "forbidden", "abstained", "commitRight"),
        *("noneRight", "falseConfidence", "run"),
    }
    assert set(one["cases"][0]["run"]) == {
        *("case", "ranked", "verdict", "degraded", "ended", "commit", "statements", "cited", "modelCalls"),
        *("promptTokens", "completionTokens", "costUsd", "seconds", "crash"),
    }
    assert report["format"] == "diag-eval/1"
    assert report["model"] == "built-in analyst"


def test_a_saved_report_is_held_against_a_later_one(command: Command, toys: Path, tmp_path: Path) -> None:
    """Exit 0 when nothing got worse; exit 1, with which figure and by how much, when something did."""
    saved = tmp_path / "before.json"
    first = report_of(command, toys, "--save", saved)
    assert json.loads(saved.read_text())["sets"] == first["sets"]
    assert report_of(command, toys, "--compare", saved)["comparison"]["differences"] == []
    better = json.loads(saved.read_text())
    for case in better["sets"][0]["cases"]:
        case["run"]["statements"] = case["run"]["cited"] = 0
        if case["hasCause"]:
            case["rank"] = 1
        else:
            case["abstained"] = True
    saved.write_text(json.dumps(better))
    (toys / "labels.json").write_text(json.dumps({"pay": {"services": ["nobody"]}, "calm": {"healthy": True}}))
    outcome = command("eval", toys, "--compare", saved, "--jobs", 1)
    assert outcome.status == 1
    assert "toys ac1 1.000 -> 0.000 (-1.000)  REGRESSION" in outcome.out
    assert "toys/pay: true cause rank 1 -> not named" in outcome.out
    assert "got worse than in the baseline" in outcome.err
    assert command("eval", toys, "--compare", saved, "--tolerance", 1, "--jobs", 1).status == 0


def test_a_case_that_crashes_is_listed_and_ends_in_1(command: Command, tmp_path: Path) -> None:
    """The others are done, and the traceback is there for who asks."""
    folder = write_set(tmp_path / "set", {"broken": {"services": ["payment"]}, "calm": {"healthy": True}})
    outcome = command("eval", folder, "--jobs", 1, "--debug")
    assert outcome.status == 1
    assert "diag: set/broken crashed: FolderError: " in outcome.err
    assert "manifest.py" in outcome.err
    assert re.search(r"^set +2 0\.000", outcome.out, re.MULTILINE)
    assert "manifest.py" not in command("eval", folder, "--jobs", 1).err


def test_predictions_are_lines_that_other_scorers_read(command: Command, tmp_path: Path) -> None:
    """A case that crashed predicted nothing: a scorer that counts missing cases as wrong agrees."""
    folder = write_set(tmp_path / "set", {"broken": {"healthy": True}, "calm": {"healthy": True}})
    file = tmp_path / "predictions.jsonl"
    command("eval", folder, "--jobs", 1, "--predictions", file)
    (line,) = file.read_text().splitlines()
    prediction = json.loads(line)
    assert list(prediction) == ["set", "case", "ranked", "text", "verdict", "degraded", "commit", "seconds"]
    assert (prediction["set"], prediction["case"], prediction["commit"]) == ("set", "calm", "none")
    assert "Verdict: " in prediction["text"]


def test_each_case_is_shown_on_request(command: Command, toys: Path) -> None:
    """Which case, how long, how it went."""
    shown = command("eval", toys, "--per-case", "--jobs", 1, "--quiet")
    assert re.search(r"^CASE +SECONDS HOW IT WENT", shown.out, re.MULTILINE)
    assert re.search(r"^toys/pay +\d+\.\d\d \w+", shown.out, re.MULTILINE)
    assert (shown.err, "AC@k" in shown.out) == ("", False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere is no folder"),
        (["empty"], "holds labels.json"),
        (["toys", "--cases", "pya"], 'Did you mean "pay"?'),
        (["toys", "--compare", "toys/labels.json"], "is no report of diag eval"),
        (["toys", "--save", "nowhere/report.json"], "there is no folder nowhere"),
        (["toys", "--predictions", "toys"], "it is a folder"),
        (["toys", "--db", "toys/labels.json"], "labels.json"),
        (["toys", "--jobs", "0"], "--jobs"),
    ],
)
def test_what_cannot_be_used_is_found_out_before_anything_runs(
    command: Command, home: Path, arguments: list[str], words: str
) -> None:
    """Exit 2, a line of what is wrong, and no case is run."""
    write_set(home / "toys", {"pay": {"services": ["payment"]}})
    (home / "empty").mkdir()
    outcome = command("eval", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert words in outcome.err
    assert "[1/" not in outcome.err


def test_ctrl_c_stops_all_workers_and_shows_what_is_done(home: Path) -> None:
    """Exit 130, from a process group as a terminal signals it; the report is of the cases that were done."""
    folder = write_set(home / "many", {f"case-{number:02}": {"healthy": True} for number in range(80)})
    with subprocess.Popen(
        [*PROGRAM, "eval", str(folder), "--jobs", "2", "--save", "part.json"],
        env=environment(home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("[1/80] many/case-")
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "diag: interrupted" in err
    assert "Traceback" not in err
    part = json.loads((home / "part.json").read_text())
    done = part["sets"][0]["figures"]["cases"]
    assert part["interrupted"] is True
    assert 1 <= done < 80
    assert re.search(rf"^many +{done} ", out, re.MULTILINE)
    assert workers_of(process.pid) == []


def workers_of(group: int) -> list[str]:
    """Worker processes of a process group that are alive; those that are dead have no command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(state[2]) == group and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
    return found
