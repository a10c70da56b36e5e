"""A home of its own for each test, and the command line within this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_samples import Command, Outcome

from diag_cli.app import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is diag's home and the working directory; no setting comes from outside."""
    for name in list(os.environ):
        if name.startswith(("DIAG_", "LANGSMITH_", "LANGCHAIN_")) or name in {"NO_COLOR", "FORCE_COLOR"}:
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("DIAG_HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def command(home: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    """Carry out a command line and give its status and what it wrote."""

    def carry_out(*arguments: object) -> Outcome:
        capfd.readouterr()
        status = run([str(argument) for argument in arguments])
        return Outcome(status, *capfd.readouterr())

    return carry_out
