"""A small library of runbooks, and an index beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from diag_graph.knowledge import KnowledgeIndex

FILES = {
    "db/pool.md": "# Pool exhausted\n\n## Mitigation\n\nEnd idle sessions that hold a connection of the pool.\n",
    "db/disk.md": "# Disk of a database is full\n\nDelete old write-ahead logs, then grow the volume.\n",
    "net/dns.md": "# Name resolution fails\n\nRestart the resolver pods and look at their queries.\n",
    "cjk.md": "# 数据库\n\n连接池耗尽时先结束空闲会话。\n\nディスクの空き容量を確認する。\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder of runbooks."""
    for name, text in FILES.items():
        path = tmp_path / "runbooks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "runbooks"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[KnowledgeIndex]:
    """An index with nothing in it."""
    with KnowledgeIndex.open(tmp_path / "data" / "knowledge.db", create=True) as opened:
        yield opened
