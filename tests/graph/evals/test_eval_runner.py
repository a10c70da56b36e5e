from __future__ import annotations

from pathlib import Path

import pytest
from eval_samples import write_set

from diag_graph.agents.models import ModelSettings
from diag_graph.evals.cases import find_sets
from diag_graph.evals.documents import CaseScore
from diag_graph.evals.runner import Setup, evaluate
from diag_graph.store import Store
from fake_model_server import says, serving

PLAN = {"intent": "find why", "steps": [{"step_id": "s-1", "goal": "look", "tool": "list_evidence", "arguments": {}}]}


def run(folder: Path, setup: Setup) -> dict[str, CaseScore]:
    """Evaluate the sets in a folder, one case at a time."""
    return {score.case: score for _, score in evaluate(find_sets(folder), setup, 1)}


def test_a_case_that_cannot_be_opened_is_a_crash_with_its_traceback_and_stops_nothing(tmp_path: Path) -> None:
    """Section 15: it counts as wrong, and the others are run."""
    scores = run(write_set(tmp_path / "set", {"broken": {"healthy": True}, "quiet": {"healthy": True}}), Setup())
    crash = scores["broken"].run.crash
    assert crash is not None
    assert crash.startswith("FolderError: ")
    assert "manifest.py" in crash
    assert scores["broken"].abstained is False
    assert scores["quiet"].run.crash is None
    assert scores["quiet"].abstained is True


def test_runs_are_kept_only_where_a_store_is_named(tmp_path: Path) -> None:
    """An evaluation leaves the user's own store alone."""
    folder = write_set(tmp_path / "set")
    run(folder, Setup())
    assert not list(tmp_path.rglob("*.db"))
    run(folder, Setup(db=tmp_path / "kept.db"))
    with Store.open(tmp_path / "kept.db") as store:
        assert [row.question for row in store.runs(10)] == ["What is wrong with the till?"] * 2


def test_what_a_model_is_asked_and_uses_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests and tokens of every agent; a run that ends in fallback says why, and has no verdict."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-test-0123456789")
    used = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    script = {"planner": [says(PLAN, usage=used)], "executor": [says("no document", usage=used)]}
    folder = write_set(tmp_path / "set", {"named": {"services": ["till"]}})
    with serving(script) as server:
        settings = ModelSettings("openai/fake", api_base=server.base, pause_seconds=0.0)
        score = run(folder, Setup(settings))["named"]
        asked = len(server.of("planner")) + len(server.of("executor"))
    assert score.run.crash is None
    assert score.run.model_calls == asked
    assert score.run.prompt_tokens == 100 * asked
    assert score.run.completion_tokens == 7 * asked
    assert (score.run.verdict, score.run.degraded, score.run.ended) == (None, True, "executor_invalid_output")
    assert score.rank is None
