"""What is said first where there is little to say, or where the words asked for something in particular."""

from __future__ import annotations

from pathlib import Path

import pytest

from diag_graph.run import diagnose
from diag_graph.sources.folder import open_folder


def test_without_evidence_nothing_is_said_to_be_looked_at() -> None:
    """The first line says that no evidence was named, and the next step how to name some."""
    document = diagnose("why is checkout slow?")
    answer = document.run.answer or ""
    assert answer.startswith("Nothing was looked at: no evidence was named.\n")
    assert "  - Name a folder of metrics, logs and traces: --incident DIR." in answer
    assert "was looked at;" not in answer
    assert "--since" not in answer


@pytest.mark.parametrize("question", ["why is checkout slow?", "what changed?", "show me the errors"])
@pytest.mark.parametrize("held", [b"", b"\x00\x01\x02PAR1" * 50])
def test_a_folder_of_which_nothing_can_be_read_is_said_to_be_one(tmp_path: Path, held: bytes, question: str) -> None:
    """Whatever was asked: an empty folder, or one with nothing but unreadable files."""
    folder = tmp_path / "incident"
    folder.mkdir()
    if held:
        (folder / "a.parquet").write_bytes(held)
    answer = diagnose(question, evidence=open_folder(folder)).run.answer or ""
    assert answer.startswith("incident holds nothing that could be read.\n")
    assert "was looked at;" not in answer
