"""A user's own failure signatures: from the configuration folder, and from the incident's own `incident.toml`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_samples import Command

SIGNATURE = """
[[signature]]
id = "ledger-gap"
title = "ledger gap"
means = "bookings are missing between two numbers"
severity = "cause"
about = "ledger"
phrases = ["ledger sequence mismatch"]
patterns = ['''ledger sequence mismatch in (?P<entity>[\\w-]+)''']
examples = ["ledger sequence mismatch in till-ledger: 41 after 43"]
"""


@pytest.fixture
def incident(tmp_path: Path) -> Path:
    """A folder with one text, which names a failure that nobody else knows."""
    folder = tmp_path / "incident"
    folder.mkdir()
    lines = "ledger sequence mismatch in till-ledger: 41 after 43\nbye\n" * 2
    (folder / "notes.txt").write_text(f"What the console showed:\n{lines}", encoding="utf-8")
    return folder


@pytest.mark.parametrize("where", ["home", "incident"])
def test_an_own_signature_is_found_and_named(command: Command, home: Path, incident: Path, where: str) -> None:
    """Section 13: knowledge of failures is data, which a user adds for all incidents or for one."""
    question = "what is wrong with the bookings?"
    before = command("ask", question, "--incident", incident)
    assert "ledger gap" not in before.out
    file = home / "signatures.toml" if where == "home" else incident / "incident.toml"
    file.write_text(SIGNATURE, encoding="utf-8")
    outcome = command("ask", question, "--incident", incident)
    assert outcome.status == 0
    assert "ledger till-ledger: ledger gap (cause): bookings are missing between two numbers." in outcome.out


@pytest.mark.parametrize("where", ["home", "incident"])
def test_a_signature_that_is_wrong_is_said_before_anything_is_run(
    command: Command, home: Path, incident: Path, where: str
) -> None:
    """L1: a file that cannot be used is an error of the caller, named with the field."""
    file = home / "signatures.toml" if where == "home" else incident / "incident.toml"
    file.write_text(SIGNATURE.replace('severity = "cause"', 'severity = "grave"'), encoding="utf-8")
    outcome = command("ask", "what is wrong?", "--incident", incident)
    assert outcome.status == 2
    assert str(file) in outcome.err
    assert "signature ledger-gap, severity" in outcome.err
    assert not outcome.out


def test_an_own_signature_gives_its_advice_and_the_doctor_lists_it(
    command: Command, home: Path, incident: Path
) -> None:
    """What a user knows of a failure comes back as a next step, with braces that are no field left as they are."""
    assert str(home / "signatures.toml") in re.sub(r"\n +", "", command("doctor").out)
    advice = 'advice = "Book the missing {entity} entries by {hand}."\n'
    (home / "signatures.toml").write_text(SIGNATURE + advice, encoding="utf-8")
    outcome = command("ask", "what is wrong with the bookings?", "--incident", incident)
    assert "Book the missing till-ledger entries by {hand}." in outcome.out
    assert "ledger-gap" in command("doctor").out


def test_the_doctor_says_what_is_wrong_with_a_signature(command: Command, home: Path) -> None:
    """L1: a file that would stop the next question is at fault, with the field and what to do."""
    (home / "signatures.toml").write_text(SIGNATURE.replace("cause", "grave"), encoding="utf-8")
    outcome = command("doctor")
    assert outcome.status == 2
    assert "signature ledger-gap, severity" in outcome.out
    assert "docs/signatures.md" in outcome.out


def test_a_failure_is_named_by_any_exception_of_a_chain(command: Command, tmp_path: Path) -> None:
    """A stack trace is one event: what was thrown counts when something else caused it, and is what is quoted."""
    folder = tmp_path / "trace"
    folder.mkdir()
    (folder / "payments.log").write_text(
        "2026-11-30T10:00:00Z INFO payments started\n"
        "2026-11-30T10:05:00Z ERROR payments charge failed\n"
        "java.lang.OutOfMemoryError: Java heap space\n"
        "\tat a.B.c(B.java:1)\n"
        "Caused by: java.lang.IllegalStateException: cache without bound\n",
        encoding="utf-8",
    )
    answer = command("ask", "why do payments fail?", "--incident", folder).out
    assert 'It reads: "java.lang.OutOfMemoryError: Java heap space"' in answer
