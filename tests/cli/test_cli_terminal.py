"""The program on a real terminal: a pseudo-terminal of 80 or 120 columns."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from cli_samples import CLAIM, COMPOSER, PASSING, PLAN, PROGRAM, VERIFIER, environment, executor, write_run
from pseudo_terminal import on_terminal, screen_of, visible

from diag_cli.render.live import LiveDisplay
from diag_graph import read_run_file, replay


@pytest.fixture
def path(home: Path) -> Path:
    """A run that passes after a technical retry of the verifier."""
    failed = {"agent": "verifier", "error": {"kind": "timeout", "message": "no answer within 60 s"}}
    return write_run(home / "run.json", [PLAN, executor(CLAIM), failed, VERIFIER, COMPOSER])


@pytest.mark.parametrize("columns", [80, 120])
def test_the_finished_show_stays_on_screen_above_the_answer(home: Path, path: Path, columns: int) -> None:
    """Each node attempt has outcome, reason, attempt and time, in order, within the width; the cursor comes back."""
    sent = on_terminal(home, "replay", path, columns=columns)
    final = [line.split("\r")[-1].rstrip() for line in visible(sent).splitlines()]
    order = [
        r"✓ planner +COMPLETED +planner_completed .*attempt 1 +[\d.]+ m?s",
        r"✓ executor +COMPLETED +executor_completed .*round 1 +[\d.]+ m?s",
        r"inv-1 +find_metric_anomalies +ok +1 of 16 series changed +[\d.]+ m?s",
        r"inv-2 +search_logs +ok",
        r"inv-3 +find_span_anomalies +error +the trace file is cut off",
        r"✓ gatekeeper +PASS +gatekeeper_pass .*round 1 +[\d.]+ m?s",
        r"✓ verified input +COMPLETED +verified_input_built .*round 1 +[\d.]+ m?s",
        r"✗ verifier +RETRYABLE_FAILED +verifier_retryable_failed .*attempt 1 +[\d.]+ m?s",
        r"no answer within 60 s",
        r"✓ verifier +COMPLETED +verifier_pass .*attempt 2 +[\d.]+ m?s",
        r"✓ composer +COMPLETED +composer_completed .*attempt 1 +[\d.]+ m?s",
        r"Verdict: PASS",
        r"How it came to this",
    ]
    rest = iter(final)  # frames of what still ran stand in between
    for wanted in order:
        assert any(re.search(wanted, line) for line in rest), wanted
    starts = {line.index("COMPLETED") for line in final if line.startswith("✓") and "COMPLETED" in line}
    assert len(starts) == 1, "outcomes stand below each other"
    assert ("made a plan" in visible(sent)) is (columns == 120), "words stand where there is room"
    assert max(map(len, final)) <= columns
    assert sent.rindex("\x1b[?25h") > sent.rindex("\x1b[?25l")
    # X1: of what the log line held, the bidi control is spelled out and the colour is gone; markup is text.
    assert "\u202e" not in sent
    assert "\x1b[31mpool" not in sent
    assert "[bold]50 of 50 in use[/bold] \\u202e" in " ".join(visible(sent).split())


@pytest.mark.parametrize("display", [[], ["--display", "live"], ["--display", "plain"]])
def test_no_color_means_plain_lines(home: Path, path: Path, display: list[str]) -> None:
    """Section 10: with NO_COLOR a terminal is sent no control code at all, whatever view was asked for."""
    sent = on_terminal(home, "replay", path, *display, NO_COLOR="1")
    assert "\x1b" not in sent
    assert "verifier RETRYABLE_FAILED verifier_retryable_failed, attempt 1, " in sent


@pytest.mark.parametrize(
    ("options", "more"),
    [([], {}), (["--display", "live"], {}), (["--json"], {}), (["--debug"], {"FORCE_COLOR": "1"})],
)
def test_quiet_sends_no_control_code_and_no_event(
    home: Path, path: Path, options: list[str], more: dict[str, str]
) -> None:
    """Section 10: --quiet means plain lines, on a terminal too; the answer is wrapped, and nothing else is said."""
    sent = on_terminal(home, "replay", "--quiet", path, *options, **more)
    assert "\x1b" not in sent
    assert sent.startswith(
        "{" if options == ["--json"] else "Checkout waited for connections of payment-db.\n\nVerdict"
    )
    if options != ["--json"]:
        assert max(map(len, sent.splitlines())) <= 80


@pytest.mark.parametrize("arguments", [["replay", "-q", "nowhere.json"], ["ask", "-q", "why?"], ["ask", "-q"]])
def test_a_quiet_error_is_plain_too(home: Path, arguments: list[str]) -> None:
    """Section 10: neither an error nor an answer without evidence brings a control code."""
    assert "\x1b" not in on_terminal(home, *arguments)


def test_an_error_is_wrapped_at_words_and_paths_stay_whole(home: Path) -> None:
    """A terminal's own wrapping cuts words in two; a path must stay whole, to be copied."""
    path = write_run(home / "run.json", [PLAN, executor(CLAIM), COMPOSER])
    lines = on_terminal(home, "replay", "-q", path).splitlines()
    assert lines[0] == "diag: the replay left its recording: step 3 of the file (/steps/2) is"
    assert all(line.startswith("      ") for line in lines[1:])
    gone = home / ("deep/" * 30) / "run.json"
    assert f"diag: {gone}" in on_terminal(home, "replay", "-q", gone).splitlines()


def test_force_color_styles_a_pipe(home: Path) -> None:
    """FORCE_COLOR: styles where there is no terminal, for a pager that shows them."""
    command = [*PROGRAM, "replay", "--display", "none", str(write_run(home / "run.json", PASSING))]
    done = subprocess.run(command, env=environment(home, FORCE_COLOR="1"), capture_output=True, text=True, check=True)
    assert "\x1b[1" in done.stdout
    assert "Verdict: PASS" in visible(done.stdout)


def test_cited_parts_of_a_result_are_marked_by_style(home: Path) -> None:
    """On a terminal the cited part has a style of its own, and what the result holds cannot end it."""
    subprocess.run(
        [*PROGRAM, "replay", "-q", str(write_run(home / "run.json", PASSING))],
        env=environment(home),
        capture_output=True,
        check=True,
    )
    sent = on_terminal(home, "trace", "last", "--invocation", "inv-2")
    assert re.search(r"\x1b\[[0-9;]+m50 of 50 in use\x1b\[0m", sent)
    assert "«" not in sent
    assert max(map(len, visible(sent).splitlines())) <= 80


def test_what_is_wrapped_stands_under_its_own_text(home: Path) -> None:
    """An answer's long lines hang below their text, not below the dash."""
    long = {"summary": "Short.", "findings": [{"claim_ids": ["claim-1"], "text": "The pool ran out " * 12}]}
    steps = [PLAN, executor(CLAIM), VERIFIER, {"agent": "composer", "output": long}]
    sent = visible(on_terminal(home, "replay", "--display", "none", write_run(home / "run.json", steps)))
    lines = sent.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  - The pool"))
    assert lines[first + 1].startswith("    ")
    assert lines[first + 1][4] != " "


def test_what_is_left_on_the_screen_is_the_finished_show(home: Path, path: Path) -> None:
    """No frame of what still ran is left behind, and nothing of what was printed is drawn over."""
    shown = screen_of(on_terminal(home, "replay", path)).splitlines()
    marked = [line for line in shown if re.match(r"[✓✗!] |    inv-", line)]
    assert [line.split()[1] for line in marked if not line.startswith(" ")] == [
        "planner",
        "executor",
        "gatekeeper",
        "verified",
        "verifier",
        "verifier",
        "composer",
    ]
    assert [line.split()[0] for line in marked if line.startswith(" ")] == ["inv-1", "inv-2", "inv-3"]
    assert not [line for line in shown if re.match(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", line)]
    assert shown.count("Checkout waited for connections of payment-db.") == 1


def test_the_live_view_prints_nothing_while_it_holds_its_lock(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich draws from a thread of its own, holding its own lock and asking for ours: the other order would deadlock."""
    display = LiveDisplay()
    held: list[bool] = []
    monkeypatch.setattr(display, "_print", lambda lasting: held.append(display._lock.locked()))
    replay(read_run_file(write_run(home / "run.json", PASSING)), listeners=[display])
    assert len(held) > 10
    assert not any(held)
