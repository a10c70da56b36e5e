"""`diag trace` and `diag runs`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_samples import CLAIM, COMPOSER, PASSING, PLAN, REJECTED, VERIFIER, Command, executor, write_run


def section(text: str, title: str) -> str:
    """One section of a trace, up to the next heading."""
    return re.split(r"\n\n(?=\S)", text.split(f"\n{title}\n", 1)[1])[0]


def test_a_trace_shows_the_path_with_its_reasons(command: Command, home: Path) -> None:
    """Section 10: the path, each technical attempt on a line of its own, and where it ended and why."""
    failed = {"agent": "verifier", "error": {"kind": "timeout", "message": "no answer within 60 s"}}
    command("replay", "-q", write_run(home / "run.json", [PLAN, executor(CLAIM), failed, VERIFIER, COMPOSER]))
    path = section(command("trace", "last").out, "Path")
    codes = re.findall(r"[┌├└] .+? ([a-z_]+_[a-z_]+)\b", path)
    assert codes == [
        "planner_completed",
        "executor_completed",
        "gatekeeper_pass",
        "verified_input_built",
        "verifier_retryable_failed",
        "verifier_pass",
        "composer_completed",
    ]
    assert "verifier_pass  attempt 2" in path
    assert "Ended in composer, in one evidence round" in path


def test_a_trace_shows_what_the_gatekeeper_found_and_why(command: Command, home: Path) -> None:
    """Section 10: the failed binding with its claim, its place and its reason; how many bindings cite each call."""
    command("replay", "-q", write_run(home / "run.json", REJECTED))
    shown = command("trace", "last").out
    audit = " ".join(section(shown, "Gatekeeper").split())
    assert "fail, reject" in audit
    assert (
        "claim claim-1, citing inv-2 /items/0/text: the text does not stand in that result (excerpt_mismatch)" in audit
    )
    calls = section(shown, "Tool calls")
    assert re.search(r"inv-1 +ok +find_metric_anomalies  cited by 1 binding\b", calls)
    assert re.search(r"inv-2 +ok +search_logs  cited by 1 binding, 1 failed", calls)
    assert "the trace file is cut off" in calls
    assert "Ended in fallback: a citation does not stand in what the tools returned (gatekeeper_reject)." in shown


def test_a_trace_shows_the_three_verdicts(command: Command, home: Path) -> None:
    """Section 10: the effective verdict, the verifier's own and the ceiling."""
    command("replay", "-q", write_run(home / "run.json", PASSING))
    assert "PASS  the verifier said PASS, the ceiling was PASS" in section(command("trace", "last").out, "Verdict")


def test_a_unique_beginning_of_an_id_will_do(command: Command, home: Path) -> None:
    """Section 10; a beginning that fits several names them, and one that fits none says so."""
    for name in ("a", "b"):
        command("replay", "-q", write_run(home / f"{name}.json", PASSING, question=f"question {name}?"))
    newest, oldest = (run["runId"] for run in json.loads(command("runs", "--json").out))
    common = len([1 for one, other in zip(newest, oldest, strict=True) if one == other and newest[0] == oldest[0]])
    assert "question a?" in command("trace", oldest[: common + 4]).out
    assert "question b?" in command("trace", "last").out
    missing = command("trace", "zzzz")
    assert (missing.status, missing.out) == (2, "")
    assert 'there is no run "zzzz"' in missing.err


def test_runs_are_a_line_each_latest_first(command: Command, home: Path) -> None:
    """In a pipe: whole ids, one line a run whatever the question holds."""
    questions = ["why is\n\x1b[31mcheckout\x1b[0m slow?", "[red]what[/red] now? " + "long " * 100]
    for number, question in enumerate(questions):
        command("replay", "-q", write_run(home / f"{number}.json", PASSING, question=question))
    shown = command("runs").out.splitlines()
    assert shown[0].split() == ["RUN", "STARTED", "STATUS", "VERDICT", "TOOK", "QUESTION"]
    assert len(shown) == 3
    assert "[red]what[/red] now? long" in shown[1]
    assert "why is checkout slow?" in shown[2]
    assert command("trace", shown[2].split()[0]).status == 0
    assert len(command("runs", "--limit", "1").out.splitlines()) == 2


@pytest.mark.parametrize("arguments", [["runs"], ["runs", "--json"]])
def test_a_new_machine_has_no_runs_and_gets_no_store(command: Command, home: Path, arguments: list[str]) -> None:
    """Looking creates nothing."""
    outcome = command(*arguments)
    assert outcome.status == 0
    assert outcome.out in {"", "[]\n"}
    assert list(home.iterdir()) == []
