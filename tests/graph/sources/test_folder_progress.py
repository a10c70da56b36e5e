"""Whoever waits for a large folder is told how far its reading has come."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from diag_graph import diagnose
from diag_graph.events import Event, EvidenceRead, RunStarted
from diag_graph.sources.folder import text
from diag_graph.sources.ports import Evidence, Progress
from diag_graph.sources.watching import watched

OpenFiles = Callable[..., Evidence]
LINES = "".join(f"2026-11-30 12:{n // 60:02d}:{n % 60:02d} ERROR [a] it broke {n}\n" for n in range(600))
FILES = {
    "a.log": LINES,
    "b.jsonl": '{"ts": "2026-11-30T12:00:00Z", "service": "b", "msg": "slow"}\n' * 300,
    "c.md": "text\n",
}


def test_reading_is_told_over_all_files_while_it_lasts(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of the whole folder, rising, with the name of the file that is being read."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 1_000)
    evidence, told = opened(FILES), list[Progress]()
    with watched(evidence, told.append):
        evidence.inventory.entries()
    size = sum(len(content) for content in FILES.values())
    assert {one.total for one in told} == {size}
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert 0 < told[0].done < 0.1 * size
    assert 0.9 * size < told[-1].done <= size
    assert list(dict.fromkeys(one.source for one in told)) == ["a.log", "b.jsonl"]


def test_lines_that_are_read_again_are_no_progress(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is anything told to somebody who no longer watches."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 1_000)
    evidence, told = opened(FILES), list[Progress]()
    with watched(evidence, told.append):
        evidence.inventory.entries()
        read = len(told)
        assert evidence.logs is not None
        assert sum(1 for _ in evidence.logs.records()) == 900
        assert len(told) == read
    other = opened(FILES)
    with watched(other, told.append):
        pass
    other.inventory.entries()
    assert len(told) == read


def test_of_small_files_nothing_is_told(opened: OpenFiles) -> None:
    """What takes a moment needs no words."""
    evidence, told = opened(FILES), list[Progress]()
    with watched(evidence, told.append):
        evidence.inventory.entries()
    assert told == []


def test_a_run_tells_its_listeners(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading comes before the run begins; its events are the run's, and nobody watches after it."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 1_000)
    evidence, heard = opened(FILES), list[Event]()
    diagnose("why does a fail?", evidence=evidence, listeners=[heard.append])
    reading = [place for place, event in enumerate(heard) if isinstance(event, EvidenceRead)]
    assert reading
    begun = next(place for place, event in enumerate(heard) if isinstance(event, RunStarted))
    assert reading[-1] < begun
    assert evidence.watchers == []
