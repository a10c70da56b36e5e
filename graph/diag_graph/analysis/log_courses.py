"""What services did in the course of a trace, from log lines that carry their trace's identifier."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.analysis.courses import Event
from diag_graph.analysis.log_masks import headline, masked_column
from diag_graph.analysis.log_patterns import FAILURES
from diag_graph.analysis.records import LogRecord

_SITE = re.compile(
    r"(?<![\w/])(?:[\w$\[\]]+\.)*[\w$]+(?:#|\.(?:java|kt|scala|go|py|rb|rs|cs|js|ts|cc|cpp|php):)\d{1,5}\b"
)
"""A place in the code, as loggers write it: `o.s.OrderServiceImpl#118`, `checkout.go:77`."""


def traced_events(records: Sequence[LogRecord]) -> list[Event]:
    """The lines of traces as events, alike where the same place in the code logged them, or in the same words.

    Args:
        records: Log lines; those without a trace or a time are left out.
    """
    traced = [record for record in records if record.trace_id and record.time is not None]
    said = [headline(record.message, record.attributes) for record in traced]
    return [
        Event(
            work=record.trace_id,
            service=record.service,
            kind=f"{record.level} {code_place(text) or masked}",
            time=record.time or 0.0,
            failed=record.level in FAILURES,
            text=text,
            level=record.level,
        )
        for record, text, masked in zip(traced, said, masked_column(said).to_list(), strict=True)
    ]


def code_place(text: str) -> str:
    """The place in the code that a message names as its origin; empty when it names none."""
    found = _SITE.search(text)
    return found.group() if found else ""
