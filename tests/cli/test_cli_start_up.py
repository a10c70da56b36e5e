"""Commands load what they use. `diag --help` must feel instant; `trace` and `runs` must not wait for a framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_samples import PASSING, Command, environment, write_run

HEAVY = (
    "litellm",
    "langgraph",
    "polars",
    "numpy",
    "drain3",
    "httpx",
    "sqlite_utils",
    "diag_graph.contracts",
    "rich.console",
    "prompt_toolkit",
)

LOADED = """
import sys
from diag_cli.app import run
status = run(sys.argv[2:])
print(*(name for name in sys.argv[1].split() if name in sys.modules), file=sys.stderr)
sys.exit(status)
"""


def loaded_by(home: Path, *arguments: str) -> set[str]:
    """Which heavy modules are loaded after a command, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, " ".join(HEAVY), *arguments],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(home: Path, arguments: list[str]) -> None:
    """No framework, no model client, no contracts, no drawing (Typer itself reads options through pydantic)."""
    assert loaded_by(home, *arguments) == set()


@pytest.mark.parametrize("arguments", [["trace", "last"], ["trace", "last", "--json"], ["runs"], ["runs", "--json"]])
def test_looking_at_the_store_loads_neither_graph_nor_client_nor_arrays(
    command: Command, home: Path, arguments: list[str]
) -> None:
    """`trace` and `runs` load neither langgraph nor litellm nor arrays."""
    assert command("replay", write_run(home / "run.json", PASSING)).status == 0
    assert loaded_by(home, *arguments) <= {"sqlite_utils", "diag_graph.contracts", "rich.console"}


def test_a_replay_loads_no_model_client(home: Path) -> None:
    """A replay never calls a model: litellm is not even imported."""
    loaded = loaded_by(home, "replay", str(write_run(home / "run.json", PASSING)))
    assert "langgraph" in loaded
    assert "litellm" not in loaded
