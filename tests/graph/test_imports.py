"""What an import costs: no framework for who reads the vocabulary or decides a way."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("langgraph", "langchain_core", "langsmith", "litellm", "polars", "drain3", "numpy", "rich", "typer", "httpx")


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("diag_graph", ()),
        ("diag_graph.topology", ()),
        ("diag_graph.contracts", ()),
        ("diag_graph.state", ()),
        ("diag_graph.routing", ()),
        ("diag_graph.trace", ()),
        ("diag_graph.parsing", ()),
        ("diag_graph.answer", ()),
        ("diag_graph.runfile", ("numpy",)),
        ("diag_graph.agents.recorded", ("numpy",)),
        ("diag_graph.tools.ledger", ("numpy",)),
        ("diag_graph.run", ("numpy",)),
        ("diag_graph.playback", ("numpy",)),
        ("diag_graph.telemetry", ()),
    ],
)
def test_an_import_loads_no_framework(module: str, allowed: tuple[str, ...]) -> None:
    """Heavy libraries are loaded where they are used; records of evidence are arrays, and may load numpy."""
    program = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded) <= set(allowed)
