"""Small evidence folders, written where a test needs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diag_graph.sources.folder import open_folder
from diag_graph.sources.ports import Evidence, SourceEntry

Written = str | bytes | list[Any] | dict[str, Any]
OpenFiles = Callable[..., Evidence]


@pytest.fixture
def opened(tmp_path: Path) -> OpenFiles:
    """Writes files (text, bytes, or a value as JSON) into a folder, and opens it."""

    def write(files: dict[str, Written], zone: str | None = None) -> Evidence:
        folder = tmp_path / "evidence"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return open_folder(folder, zone=zone)

    return write


@pytest.fixture
def entry() -> Callable[[Evidence, str], SourceEntry]:
    """Finds the inventory's entry of a file."""

    def find(evidence: Evidence, name: str) -> SourceEntry:
        found = [one for one in evidence.inventory.entries() if one.name == name]
        assert len(found) == 1
        return found[0]

    return find
