"""Watching evidence being read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from diag_graph.sources.ports import Evidence, Progress


@contextmanager
def watched(evidence: Evidence | None, watcher: Callable[[Progress], None]) -> Iterator[None]:
    """While this lasts, somebody is told how far the reading of the evidence has come, if there is any."""
    if evidence is None:
        yield
        return
    evidence.watchers.append(watcher)
    try:
        yield
    finally:
        evidence.watchers.remove(watcher)
