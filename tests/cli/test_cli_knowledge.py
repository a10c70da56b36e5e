"""`diag knowledge`, and what doctor and trace say of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_samples import Command


@pytest.fixture
def library(home: Path) -> Path:
    """Two runbooks, one of which cannot be read."""
    folder = home / "runbooks"
    (folder / "db").mkdir(parents=True)
    (folder / "db" / "pool.md").write_text(
        "# Pool exhausted\n\nEnd idle sessions; see \x1b[31mred\x1b[0m [bold]x[/bold].\n"
    )
    (folder / "bad.md").write_bytes(b"\xff\xfe\x00")
    return folder


def test_adding_says_what_was_done(command: Command, library: Path) -> None:
    """Section 13: what is new, what could not be read and why; the second time that nothing changed."""
    first = command("knowledge", "add", library)
    assert (first.status, first.out) == (0, f"{library}: 1 added; 1 file, 1 passage\n")
    assert first.err == "diag: not read: bad.md: binary, not text\n"
    assert command("knowledge", "add", library).out == f"{library}: nothing changed; 1 file, 1 passage\n"
    (library / "db" / "pool.md").rename(library / "pools.md")
    (library / "more.md").write_text("# More\n\ntext\n")
    changed = command("knowledge", "add", "-q", library).out.splitlines()
    assert changed == [f"{library}: 1 added, 1 renamed; 2 files, 2 passages"]
    (library / "more.md").unlink()
    assert command("knowledge", "add", "-q", library).out.splitlines()[1:] == ["  removed: more.md"]


def test_searching_shows_what_an_agent_would_get(command: Command, library: Path) -> None:
    """Section 13: passages with their relevance, how they were found; harmless on a terminal (X1)."""
    command("knowledge", "add", library)
    shown = command("knowledge", "search", "pool", "exhausted").out
    assert "runbooks/db/pool.md:3-3  high (100% of the query)" in shown
    assert "runbooks/db/pool.md, 'Pool exhausted': End idle sessions; see red [bold]x[/bold]." in shown
    assert "searched for: pool, exhausted" in shown
    found = json.loads(command("knowledge", "search", "pool", "--json").out)
    assert found["result"]["items"][0]["source"] == "runbooks/db/pool.md"
    assert found["retrievalDetails"]["layer"] == "L1"


def test_listing_and_removing(command: Command, library: Path) -> None:
    """What was added can be seen and taken out; the files stay."""
    nothing = command("knowledge", "list")
    assert (nothing.status, nothing.out) == (0, "")
    assert "diag knowledge add DIR" in nothing.err
    command("knowledge", "add", library)
    shown = command("knowledge", "list").out
    assert "not read: bad.md: binary, not text" in shown
    assert "  db: Pool exhausted" in shown
    assert json.loads(command("knowledge", "list", "--json").out)["roots"][0]["path"] == str(library)
    assert command("knowledge", "remove", library).out == f"{library}: 1 file taken out of the index\n"
    again = command("knowledge", "remove", library)
    assert (again.status, "is not in the runbook index" in again.err) == (2, True)
    assert (library / "db" / "pool.md").exists()


@pytest.mark.parametrize("arguments", [("search", "x"), ("remove", "x")])
def test_without_an_index_the_next_step_is_said(command: Command, arguments: tuple[str, ...]) -> None:
    """Section 10: one line of what went wrong and one of what to do, exit status 2."""
    outcome = command("knowledge", *arguments)
    assert outcome.status == 2
    assert outcome.err.splitlines()[0].startswith("diag: there is no runbook index at ")
    assert "diag knowledge add PATH" in outcome.err


def test_doctor_says_what_is_indexed(command: Command, library: Path) -> None:
    """Section 10: what is there, what was not read, and what is not there any more."""
    assert "none are indexed: diag knowledge add DIR" in " ".join(command("doctor").out.split())
    command("knowledge", "add", library)
    said = [one for one in json.loads(command("doctor", "--json").out) if one["topic"] == "runbooks"]
    assert [(one["state"], "1 file not read" in one["said"]) for one in said] == [("note", True)]
    library.rename(library.with_name("elsewhere"))
    said = [one for one in json.loads(command("doctor", "--json").out) if one["topic"] == "runbooks"]
    assert "not there any more" in said[0]["said"]


def test_an_answer_quotes_the_runbooks_and_its_trace_says_how_they_were_found(command: Command, library: Path) -> None:
    """Section 13, G6: `ask` uses the index when there is one, without evidence too; --no-knowledge leaves it out."""
    command("knowledge", "add", library)
    asked = command("ask", "what does the runbook say about an exhausted pool?")
    assert "  - A runbook advises: \"runbooks/db/pool.md, 'Pool exhausted': End idle sessions; see red" in asked.out
    assert "nothing to look at" not in asked.err
    shown = command("trace", "last", "--invocation", "inv-1").out
    assert "How it was found\n  searched for: exhausted, pool\n  layer L1, engine bm25, relevance high\n" in shown
    assert "A runbook advises" not in command("ask", "--no-knowledge", "what does the runbook say about a pool?").out


def test_an_index_that_cannot_be_used_costs_its_advice_alone(command: Command, home: Path) -> None:
    """D3: one clear line, and `ask` still prints its answer."""
    (home / "knowledge.db").write_text("no database " * 400)
    outcome = command("ask", "why?")
    assert (outcome.status, "Nothing was looked at" in outcome.out) == (0, True)
    assert "no runbooks are looked into: " in outcome.err
    assert "no runbooks" not in command("ask", "why?", "--no-knowledge").err
