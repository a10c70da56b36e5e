"""What one file gave, and the words in which the inventory says so."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from diag_graph.analysis.log_patterns import LogForm
from diag_graph.analysis.records import Alert, Change, Edge, LogRecord, Series, Span, TimeRange, utc
from diag_graph.sources.folder.text import clean

_DECODER = json.JSONDecoder(strict=False)
"""One for all: `json.loads` would make a decoder a call."""


class Kind(StrEnum):
    """The kinds of `SourceEntry`, in the order in which a file of several kinds is called by the first."""

    METRICS = "metrics"
    LOGS = "logs"
    SPANS = "spans"
    ALERTS = "alerts"
    CHANGES = "changes"
    TOPOLOGY = "topology"
    DOCUMENT = "document"
    UNREADABLE = "unreadable"


class LogSpan(Protocol):
    """What is known of the log events of one file."""

    def span(self) -> TimeRange | None:
        """From the first to the last time of an event."""

    def __len__(self) -> int:
        """How many there are."""


class LogEvents(Protocol):
    """The log events of one file."""

    def ordered(self, window: TimeRange | None) -> Iterator[tuple[float, LogRecord]]:
        """Events in the window, each with the time to sort it by (its own, or that of the event before it)."""

    def forms(self, window: TimeRange | None) -> Iterator[tuple[float, LogForm]]:
        """What kinds of lines there are in the window, each with the time to sort its first line by."""

    @property
    def index(self) -> LogSpan:
        """What is known of all of them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file gave. Any part may be empty; a file may give several.

    Attributes:
        details: What was found, in words with counts.
        problems: What was not read, in words.
        assumptions: What was assumed in reading it, in words.
        lines: The file as a document; None when it is none.
        zone_assumed: Whether times without a zone were read.
    """

    series: Sequence[Series] = ()
    logs: LogEvents | None = None
    spans: Sequence[Span] = ()
    alerts: Sequence[Alert] = ()
    changes: Sequence[Change] = ()
    edges: Sequence[Edge] = ()
    lines: Sequence[str] | None = None
    details: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    zone_assumed: bool = False

    def kinds(self) -> frozenset[Kind]:
        """The kinds of evidence in it."""
        parts: dict[Kind, object] = {
            Kind.METRICS: self.series,
            Kind.LOGS: self.logs,
            Kind.SPANS: self.spans,
            Kind.ALERTS: self.alerts,
            Kind.CHANGES: self.changes,
            Kind.TOPOLOGY: self.edges,
        }
        found = {kind for kind, part in parts.items() if part}
        return frozenset(found | {Kind.DOCUMENT} if self.lines is not None else found)

    def span(self) -> TimeRange | None:
        """From the first to the last time in it."""
        events = [
            *(alert.starts_at for alert in self.alerts if alert.starts_at is not None),
            *(change.time for change in self.changes if change.time is not None),
        ]
        logged = self.logs.index.span() if self.logs else None
        return hull([self.measured(), logged, _range(events)])

    def measured(self) -> TimeRange | None:
        """From the first to the last sample or span."""
        ends = (float(one.times[end]) for one in self.series if len(one.times) for end in (0, -1))
        return _range([*ends, *(span.start for span in self.spans)])


def hull(ranges: Iterable[TimeRange | None]) -> TimeRange | None:
    """The range that holds all of these; None when there is none."""
    known = [one for one in ranges if one is not None]
    return TimeRange(min(one.start for one in known), max(one.end for one in known)) if known else None


def _range(moments: Sequence[float]) -> TimeRange | None:
    return TimeRange(min(moments), max(moments)) if moments else None


def series_detail(found: Sequence[Series]) -> str:
    """What the inventory says about series."""
    words = f"{count(sum(len(one.times) for one in found), 'sample')}, {count(len(found), 'series', 'series')}"
    services = {one.service for one in found if one.service}
    if services:
        words += f" of {count(len(services), 'service')}"
    filled = [one for one in found if len(one.times)]
    if filled:
        begin, end = min(float(one.times[0]) for one in filled), max(float(one.times[-1]) for one in filled)
        words += f", {utc(begin)} to {utc(end)}"
    return words


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 line`, `1,204 lines`, `2 series`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


@dataclass
class Tally:
    """Counts what could not be read, by reason, and where it first occurred."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)

    def miss(self, reason: str, line: int) -> None:
        """Note one line (counted from 1) that is wrong for this reason."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first.setdefault(reason, line)

    def sentences(self, total: int, noun: str = "line") -> tuple[str, ...]:
        """`3 of 1,204 lines are not JSON: first at line 17`, one a reason. A reason is worded for the plural."""
        return tuple(
            f"{number:,} of {count(total, noun)} {reason}: first at line {self.first[reason]:,}"
            for reason, number in self.counts.items()
        )

    def items(self) -> tuple[str, ...]:
        """`3 spans lack an id: first in item 17`, one a reason. A reason is worded for the plural."""
        return tuple(
            f"{number:,} {reason}: first in item {self.first[reason]:,}" for reason, number in self.counts.items()
        )


def parse_json(text: str) -> Any:  # noqa: ANN401 (foreign JSON)
    """Parse JSON of a stranger's; texts in it come without control characters.

    Raises:
        ValueError: it is not JSON, is nested too deeply, or holds an absurd number.
    """
    try:
        value = _DECODER.decode(text)
        # Only an escape, or a control character as such, can bring one into a text.
        return cleaned(value) if "\\" in text or not text.isprintable() else value
    except RecursionError:
        raise ValueError("nested too deeply") from None


def cleaned(value: Any) -> Any:  # noqa: ANN401 (foreign JSON)
    """The value with every text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return value
