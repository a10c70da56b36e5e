"""Files of log events: indexed once, small ones kept, large ones read again only where a window asks for it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diag_graph.analysis.records import LogRecord, TimeRange, utc
from diag_graph.sources.folder.reading import count
from diag_graph.sources.folder.text import TextFile

KEEP_BYTES = 16 << 20
"""Events of a file up to this size stay in memory; of a larger one only where each begins, and when it was."""
MAX_EVENT_LINES = 1_000
"""Lines of one event; a longer one goes on as the next."""

_LEVELS_SHOWN = ("FATAL", "ERROR", "WARN")


class LineReader(Protocol):
    """Knows a format of log files."""

    def starts(self, line: str) -> bool:
        """Whether an event begins with this line; asked for every line in turn."""

    def event(self, text: str, line: int, source: str) -> LogRecord:
        """The event of one or more lines, the first of which stands on line `line` of its file."""


class LogFile:
    """The events of one text file, in the order of their time."""

    def __init__(self, file: TextFile, reader: LineReader, *, inherit_times: bool = False) -> None:
        """Read the file once through.

        Args:
            file: The text.
            reader: Reads its events.
            inherit_times: Whether an event without a time happened when the one before it did.
        """
        self._file = file
        self._reader = reader
        self._inherit = inherit_times
        self._kept: list[LogRecord] | None = [] if file.size <= KEEP_BYTES else None
        self._starts = array("q")
        self._line_numbers = array("q")
        own_times = array("d")
        sort_times = array("d")
        self.summary = LogSummary()
        last = -np.inf
        for start, number, text in self._events():
            record = self._reader.event(text, number, f"{file.name}:{number}")
            if record.time is None and inherit_times and last > 0:
                record = replace(record, time=last)
            self._starts.append(start)
            self._line_numbers.append(number)
            if record.time is not None:
                last = record.time
            own_times.append(np.nan if record.time is None else record.time)
            sort_times.append(last)
            self.summary.add(record)
            if self._kept is not None:
                self._kept.append(record)
        self._times: NDArray[np.float64] = np.frombuffer(own_times) if own_times else np.empty(0)
        self._sort_times: NDArray[np.float64] = np.frombuffer(sort_times) if sort_times else np.empty(0)
        self._order = np.argsort(self._sort_times, kind="stable")

    def span(self) -> TimeRange | None:
        """From the first to the last time of an event."""
        return self.summary.span()

    def ordered(self, window: TimeRange | None) -> Iterator[tuple[float, LogRecord]]:
        """Events in the window and those without a time, each with the time to sort it by."""
        order = self._order
        if window is not None:
            times = self._times[order]
            order = order[np.isnan(times) | ((times >= window.start) & (times <= window.end))]
        chosen = zip(order.tolist(), self._sort_times[order].tolist(), strict=True)
        if self._kept is None:
            yield from self._read_again(chosen)
            return
        for index, sort_time in chosen:
            yield sort_time, self._kept[index]

    def _read_again(self, chosen: Iterable[tuple[int, float]]) -> Iterator[tuple[float, LogRecord]]:
        with self._file.open() as stream:
            for index, sort_time in chosen:
                start = self._starts[index]
                end = self._starts[index + 1] if index + 1 < len(self._starts) else self._file.size
                stream.seek(start)
                text = stream.read(end - start).decode(self._file.encoding, "replace").rstrip("\r\n")
                number = self._line_numbers[index]
                record = self._reader.event(text, number, f"{self._file.name}:{number}")
                if record.time is None and self._inherit and not np.isnan(self._times[index]):
                    record = replace(record, time=float(self._times[index]))
                yield sort_time, record

    def _events(self) -> Iterator[tuple[int, int, str]]:
        """Offset, line number and text of each event."""
        lines: list[str] = []
        start = first = 0
        for number, (offset, line) in enumerate(self._file.lines(), start=1):
            if not line or line.isspace():
                continue
            begins = self._reader.starts(line)  # asked of every line, for it remembers what went before
            if not lines or begins or len(lines) >= MAX_EVENT_LINES:
                if lines:
                    yield start, first, "\n".join(lines)
                lines, start, first = [line], offset, number
            else:
                lines.append(line)
        if lines:
            yield start, first, "\n".join(lines)


class LogList:
    """Events that are in memory already."""

    def __init__(self, records: Sequence[LogRecord]) -> None:
        """Sort the events by time; those without one stay behind the event before them."""
        self.summary = LogSummary()
        last = -np.inf
        entries = []
        for record in records:
            last = record.time if record.time is not None else last
            entries.append((float(last), record))
            self.summary.add(record)
        self._entries = sorted(entries, key=lambda entry: entry[0])

    def span(self) -> TimeRange | None:
        """From the first to the last time of an event."""
        return self.summary.span()

    def ordered(self, window: TimeRange | None) -> Iterator[tuple[float, LogRecord]]:
        """Events in the window and those without a time, each with the time to sort it by."""
        for entry in self._entries:
            if window is None or entry[1].time is None or entry[1].time in window:
                yield entry


class LogSummary:
    """What the inventory says about log events."""

    def __init__(self) -> None:
        """Begin with none."""
        self.events = 0
        self._without_time = 0
        self._services: Counter[str] = Counter()
        self._levels: Counter[str] = Counter()
        self._first = np.inf
        self._last = -np.inf

    def add(self, record: LogRecord) -> None:
        """Count an event."""
        self.events += 1
        self._services[record.service] += 1
        self._levels[record.level] += 1
        time = record.time
        if time is None:
            self._without_time += 1
            return
        self._first = min(self._first, time)
        self._last = max(self._last, time)

    def span(self) -> TimeRange | None:
        """From the first to the last time."""
        return TimeRange(float(self._first), float(self._last)) if self._first <= self._last else None

    def detail(self) -> str:
        """Counts, services, the levels that matter and the span, in words."""
        words = count(self.events, "log line")
        names = sorted(name for name in self._services if name)
        if names:
            words += f" of {names[0]}" if len(names) == 1 else f" of {count(len(names), 'service')}"
        levels = ", ".join(f"{self._levels[level]:,} {level}" for level in _LEVELS_SHOWN if self._levels[level])
        span = self.span()
        return (
            words
            + (f" ({levels})" if levels else "")
            + (f", {utc(span.start)} to {utc(span.end)}" if span else "")
            + (f", {self._without_time:,} without a time" if self._without_time else "")
        )
