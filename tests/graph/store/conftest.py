"""A store of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from diag_graph.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store will be."""
    return tmp_path / "data" / "diag.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """An open, empty store."""
    with Store.open(path) as opened:
        yield opened
