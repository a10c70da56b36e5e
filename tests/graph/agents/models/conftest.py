"""Models of these tests are servers on loopback; the key is one that no provider knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_runs import KEY, incident


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small incident."""
    return incident(tmp_path_factory.mktemp("models") / "incident")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
