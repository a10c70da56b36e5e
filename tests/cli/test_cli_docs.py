"""The documents show what the program says; `DIAG_UPDATE_DOCS=1 pytest tests/cli/test_cli_docs.py` writes it anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import typer
from documented import ROOT, TABLES, Block, blocks, comparable, seen_of, updated, written_by

from diag_cli.app import app
from diag_cli.exits import MEANINGS, Exit
from diag_cli.settings import OTHER_VARIABLES, SETTINGS

CLI_PAGE = ROOT / "docs" / "cli.md"
CONVERSATION = ROOT / "docs" / "conversation.md"
DOCUMENTS = [ROOT / "README.md", CLI_PAGE]

_CASES = [
    pytest.param(block, id=f"{document.name}: {block.what[:40]}")
    for document in DOCUMENTS
    for block in blocks(document.read_text(encoding="utf-8"))
]


@pytest.mark.skipif(os.environ.get("DIAG_UPDATE_DOCS") != "1", reason="writes the documents, on demand")
@pytest.mark.parametrize("document", [*DOCUMENTS, CONVERSATION], ids=lambda path: path.name)
def test_the_documents_are_written(document: Path, tmp_path: Path) -> None:
    """On demand; what they are compared with is the same."""
    document.write_text(updated(document.read_text(encoding="utf-8"), tmp_path), encoding="utf-8")


@pytest.mark.skipif(os.environ.get("DIAG_UPDATE_DOCS") == "1", reason="they are being written")
@pytest.mark.parametrize("block", _CASES)
def test_a_document_shows_what_the_program_says(block: Block, tmp_path: Path) -> None:
    """Help texts, tables and samples of output cannot lie."""
    assert comparable(block.shown) == comparable(block.current(tmp_path))


@pytest.mark.skipif(os.environ.get("DIAG_UPDATE_DOCS") == "1", reason="it is being written")
def test_the_conversation_goes_as_it_is_shown(tmp_path: Path) -> None:
    """Its commands are run in their order, in one home: each follow-up leans on what was answered before."""
    shown = blocks(CONVERSATION.read_text(encoding="utf-8"))
    assert len(shown) >= 5
    for block in shown:
        assert comparable(block.shown) == comparable(block.current(tmp_path))


def test_the_page_has_each_command_and_each_table() -> None:
    """A new command shows up here, and in its help."""
    shown = {block.what for block in blocks(CLI_PAGE.read_text(encoding="utf-8"))}
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert {"diag --help", *(f"diag {name} --help" for name in commands), *TABLES} <= shown


def test_every_exit_status_and_every_variable_has_its_row() -> None:
    """The tables are total over what there is."""
    assert set(MEANINGS) == set(Exit)
    settings = TABLES["settings"]()
    assert all(f"`{setting.variable}`" in settings for setting in SETTINGS.values())
    assert all(f"`{name}`" in settings for name in OTHER_VARIABLES)


def test_what_differs_from_run_to_run_is_not_compared(tmp_path: Path) -> None:
    """Ids, times and durations of the run; a duration that the evidence states is compared."""
    command = "diag replay fixtures/runs/passed-with-root-cause.json"
    first, second = written_by(command, tmp_path), written_by(command, tmp_path)
    assert first != second
    assert comparable(first) == comparable(second)
    assert comparable("rose to 30 ms [1]") != comparable("rose to 31 ms [1]")
    shown = comparable(seen_of(command, tmp_path))
    assert re.search(r"(?m)^✓ planner +COMPLETED +planner_completed +attempt 1 TIME$", shown)


def test_a_document_that_is_current_is_left_as_it_is(tmp_path: Path) -> None:
    """Writing anew changes what has changed, and nothing else."""
    text = "a\n<!-- output: diag --version -->\nold\n<!-- end -->\nb\n"
    once = updated(text, tmp_path)
    assert "```text\ndiag " in once
    assert updated(once, tmp_path) == once
    assert (once[:2], once[-3:]) == ("a\n", "\nb\n")
