"""`diag trace` and `diag runs`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_samples import (
    CLAIM,
    COMPOSER,
    INVOCATIONS,
    PASSING,
    PLAN,
    REJECTED,
    VERIFIER,
    Command,
    executor,
    write_run,
)

from diag_cli.citations import Cited, parts_of
from diag_cli.render.invocation import json_lines
from diag_graph.contracts import CheckedBinding, Invocation


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


GAP = {
    "claim_id": "claim-1",
    "fact": "who holds the connections is not shown",
    "verification": "no_evidence",
    "reason": "no log was read",
}
MORE = [
    {
        "id": "inv-4",
        "tool": "search_logs",
        "arguments": {"text": "held"},
        "status": "ok",
        "result": {"items": [{"text": "report-job held a connection for 75 s"}], "summary": "1 line matches"},
        "error": None,
    },
    {"id": "inv-5", "tool": "list_changes", "arguments": {}, "status": "error", "result": None, "error": "cut off"},
]
HELD = {
    "claim_id": "claim-2",
    "claim": "report-job held a connection",
    "kind": "observation",
    "entity": "report-job",
    "evidence_bindings": [
        {"source_invocation_id": "inv-4", "raw_path": "/items/0/text", "evidence_excerpt": "held a connection"}
    ],
}


def two_rounds(path: Path, *claims: dict[str, Any], calls: list[dict[str, Any]]) -> Path:
    """A run whose verifier misses something, with what the second round brings."""
    doubt = {"verdict": "LOW_CONFID", "facts_checked": [GAP], "missing_info": [], "recommended_actions": []}
    steps = [PLAN, executor(CLAIM), {"agent": "verifier", "output": doubt}]
    return write_run(path, [*steps, PLAN, executor(CLAIM, *claims, invocations=calls), VERIFIER, COMPOSER])


def test_a_trace_shows_what_the_second_round_added(command: Command, home: Path) -> None:
    """What was missing, what was called, what of it is cited, and what became of the verdict."""
    command("replay", "-q", two_rounds(home / "run.json", HELD, calls=MORE))
    shown = command("trace", "last").out
    assert [line.strip() for line in section(shown, "Second round").splitlines()] == [
        "asked for who holds the connections is not shown",
        "called    inv-4 search_logs ok, inv-5 list_changes error",
        "added     1 binding that passed, for claim-2",
        "verdict   LOW_CONFID before, PASS after",
    ]
    assert re.search(r"inv-4 +ok +search_logs  cited by 1 binding  round 2", section(shown, "Tool calls"))


def test_a_trace_says_when_the_second_round_added_nothing(command: Command, home: Path) -> None:
    """A round that called nothing and cites nothing new is told as one; a run of one round has no such section."""
    command("replay", "-q", two_rounds(home / "run.json", calls=[]))
    second = section(command("trace", "last").out, "Second round")
    assert "no tool that had not been called before" in second
    assert "nothing that is cited" in second
    command("replay", "-q", write_run(home / "one.json", PASSING))
    assert "Second round" not in command("trace", "last").out


def test_a_recorded_result_is_shown_with_its_cited_parts_marked(command: Command, home: Path) -> None:
    """X1, and what is cited to the character: the margin marks the line, for a result could hold any mark itself."""
    command("replay", "-q", write_run(home / "run.json", PASSING))
    shown = command("trace", "last", "--invocation", "inv-2")
    lines = shown.out.splitlines()
    assert lines[0].startswith("inv-2  search_logs  ok")
    assert "Cited by 1 binding" in lines
    (marked,) = [line for line in lines if line.startswith(">")]
    assert marked == (
        '>       "text": "06:02:11 ERROR orders \\u001b[31mpool exhausted\\u001b[0m, '
        '[bold]«50 of 50 in use»[/bold] \\u202e"'
    )
    body = "\n".join(line[2:] for line in lines[lines.index("  {") :])
    assert json.loads(body.replace("«", "").replace("»", "")) == INVOCATIONS[1]["result"]
    failed = command("trace", "last", "--invocation", "inv-3")
    assert "No binding cites it" in failed.out
    assert "the trace file is cut off" in failed.out


def test_a_forged_citation_marks_nothing_and_says_why(command: Command, home: Path) -> None:
    """What did not pass is named with what it quotes, and no line is marked."""
    command("replay", "-q", write_run(home / "run.json", REJECTED))
    shown = command("trace", "last", "--invocation", "inv-2").out
    assert "Cited by 1 binding, 1 failed" in shown
    assert '"FORGED-EXCERPT"  the text does not stand in that result (excerpt_mismatch)' in shown
    assert not [line for line in shown.splitlines() if line.startswith(">")]
    assert 'it quotes: "FORGED-EXCERPT"' in command("trace", "last").out


def test_a_recorded_result_is_given_to_programs(command: Command, home: Path) -> None:
    """`--invocation ID --json`: the call and its citations."""
    command("replay", "-q", write_run(home / "run.json", PASSING))
    shown = json.loads(command("trace", "last", "--invocation", "inv-1", "--json").out)
    assert list(shown) == ["runId", "invocation", "citations"]
    assert shown["invocation"]["result"] == INVOCATIONS[0]["result"]
    (citation,) = shown["citations"]
    assert (citation["claimId"], citation["path"], citation["status"]) == ("claim-1", "/items/0/text", "pass")
    assert citation["excerpt"] == "rose from 12 to 50"


def test_a_call_that_is_not_there_is_a_usage_error(command: Command, home: Path) -> None:
    """Exit 2, with the calls that there are."""
    command("replay", "-q", write_run(home / "run.json", PASSING))
    outcome = command("trace", "last", "--invocation", "inv-9")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.endswith("It has: inv-1, inv-2, inv-3.\n")


@pytest.mark.parametrize(
    ("value", "path", "excerpt", "lines"),
    [
        ({"a/b": {"~": "x «y» z y"}}, "/a~1b/~0", "y» z", ['      "~": "x «[y» z] y"']),
        ([1, 23], "/1", "23", ["    [23]"]),
        ({"a": [True, None]}, "/a", "[true,null]", ['    "a": [[]', "      [true],", "      [null]", "    []]"]),
        ({"a": "tab\there\tagain"}, "/a", "here again", ['    "a": "tab\\t[here\\tagain]"']),
    ],
)
def test_cited_parts_are_found_in_any_value(value: object, path: str, excerpt: str, lines: list[str]) -> None:
    """Escaped pointers, numbers, whole arrays, white space of another kind: found as the gatekeeper finds them."""
    checked = {"claim_id": "c", "source_invocation_id": "inv-1", "tool_name": "t", "raw_path": path, "status": "pass"}
    call = Invocation.model_validate({"id": "inv-1", "tool": "t", "status": "ok", "result": value})
    parts = parts_of(call, [Cited(CheckedBinding.model_validate(checked), excerpt)])
    shown = [
        "  " * (depth + 1) + "".join(f"[{piece.text}]" if piece.is_cited else piece.text for piece in pieces)
        for depth, pieces in json_lines(value, parts)
        if any(piece.is_cited for piece in pieces)
    ]
    assert shown == lines


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


def test_a_fallback_from_before_verification_is_told_from_a_verdict(command: Command, home: Path) -> None:
    """D1: the status is the run's life cycle; the list says beside it that nothing could be verified."""
    forged = Path(__file__).parents[2] / "fixtures" / "runs" / "forged-citation.json"
    command("replay", "-q", forged)
    assert command("runs").out.splitlines()[1].split()[3:5] == ["SUCCESS", "FALLBACK"]


@pytest.mark.parametrize("arguments", [["runs"], ["runs", "--json"]])
def test_a_new_machine_has_no_runs_and_gets_no_store(command: Command, home: Path, arguments: list[str]) -> None:
    """Looking creates nothing."""
    outcome = command(*arguments)
    assert outcome.status == 0
    assert outcome.out in {"", "[]\n"}
    assert list(home.iterdir()) == []
