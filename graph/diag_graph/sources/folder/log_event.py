"""What one log event says, before it is a record: readers make millions of these, and few of them become records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from diag_graph.analysis.records import LogRecord

NOTHING: Mapping[str, Any] = {}
"""The attributes of an event that has none."""


class ReadEvent(NamedTuple):
    """One event; the fields are those of `LogRecord`, in its order."""

    message: str
    time: float | None = None
    service: str = ""
    level: str = ""
    trace_id: str = ""
    attributes: Mapping[str, Any] = NOTHING

    def record(self, source: str) -> LogRecord:
        """The event as a record that says where it stands."""
        return LogRecord(*self, source=source)
