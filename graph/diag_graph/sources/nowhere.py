"""Evidence of a run that is given none: a question about runbooks alone needs no incident."""

from __future__ import annotations

from collections.abc import Sequence

from diag_graph.analysis.records import TimeRange
from diag_graph.sources.ports import Evidence, SourceEntry


class _EmptyInventory:
    """Nothing was looked at."""

    name = ""

    def entries(self) -> Sequence[SourceEntry]:
        return ()

    def span(self) -> TimeRange | None:
        return None


def nowhere() -> Evidence:
    """No source of any kind."""
    return Evidence(inventory=_EmptyInventory())
