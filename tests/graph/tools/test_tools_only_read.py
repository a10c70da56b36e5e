"""Built-in tools look, and change nothing: neither in the evidence nor anywhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from diag_graph.analysis.records import Window
from diag_graph.contracts import InvocationStatus
from diag_graph.knowledge import KnowledgeIndex
from diag_graph.sources.folder import open_folder
from diag_graph.sources.ports import Guidance
from diag_graph.sources.skills import open_skills
from diag_graph.tools.catalogue import ALL_TOOLS
from diag_graph.tools.definition import AnyTool, ToolContext
from diag_graph.tools.ledger import Ledger
from skill_samples import SHIPPED

FOLDER = Path(__file__).parents[3] / "fixtures" / "incidents" / "checkout-latency"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ARGUMENTS = {"read_document": {"name": "ordering-settings.txt"}, "query_metrics": {"metric": "db_pool_in_use"}}
ARGUMENTS |= {"lookup_knowledge": {"query": "idle sessions"}, "read_skill": {"name": "latency"}}
CHANGES = {
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.truncate", "os.link", "os.symlink"),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.sendto"),
}
_heard: list[list[str]] = []
"""Where events go while somebody listens; a hook cannot be taken away again."""


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if not _heard:
        return
    if event in CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
        _heard[-1].append(f"{event} {arguments[0]}")


sys.addaudithook(_listen)


@contextmanager
def changes() -> Iterator[list[str]]:
    """What this process changes, starts or sends meanwhile; Python's own cache of compiled modules aside."""
    kept: list[str] = []
    cached = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    _heard.append(kept)
    try:
        yield kept
    finally:
        _heard.pop()
        sys.dont_write_bytecode = cached


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)
def test_a_built_in_tool_changes_nothing(tool: AnyTool, tmp_path: Path) -> None:
    """X2: no file is written, made or removed, no program is started, and nothing is sent."""
    (tmp_path / "pool.md").write_text("# Pool\n\nEnd idle sessions.\n")
    index = KnowledgeIndex.open(tmp_path / "knowledge.db", create=True)
    index.add(tmp_path / "pool.md")
    evidence = open_folder(FOLDER)
    span = evidence.inventory.span()
    assert span is not None
    window, guidance = Window(span.start, span.end, None, "a test"), Guidance(index, open_skills(SHIPPED))
    context = ToolContext(evidence, window, "2026-07-16T14:20:00Z", guidance=guidance, selected_skill="latency")
    before = {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*")}
    with changes() as made:
        called = Ledger((tool,), context, lambda event: None).call(tool.name, ARGUMENTS.get(tool.name, {}))
    assert called.status in {InvocationStatus.OK, InvocationStatus.EMPTY}
    index.close()
    assert made == []
    assert {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*")} == before


def test_a_change_would_be_noticed(tmp_path: Path) -> None:
    """The test above can fail."""
    with changes() as made:
        (tmp_path / "x").write_text("x")
        (tmp_path / "x").read_text()
        (tmp_path / "x").unlink()
    assert [event.split()[0] for event in made] == ["open", "os.remove"]
