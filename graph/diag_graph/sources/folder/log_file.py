"""Files of log events: indexed once, and read again where somebody asks for lines; those of small files are kept."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from diag_graph.analysis.log_patterns import Example, LogForm, example_of
from diag_graph.analysis.records import LogRecord, TimeRange
from diag_graph.sources.folder.log_event import ReadEvent
from diag_graph.sources.folder.log_index import LogIndex
from diag_graph.sources.folder.text import TextFile

KEEP_BYTES = 16 << 20
"""Events of a file up to this size stay in memory once most are asked for; of a larger one only what is indexed."""
KEEP_TOTAL_BYTES = 48 << 20
"""What is kept of all files together: an event in memory takes about five times its text."""
MAX_EVENT_LINES = 1_000
"""Lines of one event; a longer one goes on as the next."""


class LineReader(Protocol):
    """Knows a format of log files."""

    def starts(self, line: str) -> bool:
        """Whether an event begins with this line; asked for every line in turn."""

    def event(self, text: str, line: int) -> ReadEvent:
        """The event of one or more lines, the first of which stands on line `line` of its file."""


class Keeping:
    """How much of a folder's events is in memory."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._kept = 0

    def take(self, size: int) -> bool:
        """Whether the events of a file of that many bytes are to be kept; if so, they count from now on."""
        if size > KEEP_BYTES or self._kept + size > KEEP_TOTAL_BYTES:
            return False
        self._kept += size
        return True


class LogFile:
    """The events of one text file, in the order of their time."""

    def __init__(self, file: TextFile, reader: LineReader, keeping: Keeping, *, inherit_times: bool = False) -> None:
        """Read the file once through.

        Args:
            file: The text.
            reader: Reads its events.
            keeping: Says whether they stay in memory once they are asked for.
            inherit_times: Whether an event without a time happened when the one before it did.
        """
        self._file = file
        self._reader = reader
        self._keeping = keeping
        self._kept: list[LogRecord] | None = None
        self._starts = array("q")
        self._line_numbers = array("i")
        self.index = LogIndex(inherit=inherit_times)
        for start, number, text in self._events():
            self.index.add(reader.event(text, number))
            self._starts.append(start)
            self._line_numbers.append(number)
        self.index.seal()

    def ordered(self, window: TimeRange | None) -> Iterator[tuple[float, LogRecord]]:
        """Events in the window and those without a time, each with the time to sort it by."""
        chosen = self.index.chosen(window)
        if self._kept is None and 2 * len(chosen) > len(self.index) and self._keeping.take(self._file.size):
            self._kept = list(self._again(range(len(self.index))))
        records = self._records(chosen.tolist())
        yield from zip(self.index.moments(chosen).tolist(), records, strict=True)

    def forms(self, window: TimeRange | None) -> Iterator[tuple[float, LogForm]]:
        """What kinds of lines there are in the window, each with the time to sort its first line by."""
        return self.index.forms(window, self._example)

    def _example(self, position: int) -> Example:
        return example_of(next(self._records([position])))

    def _records(self, positions: Iterable[int]) -> Iterator[LogRecord]:
        return self._again(positions) if self._kept is None else (self._kept[position] for position in positions)

    def _again(self, positions: Iterable[int]) -> Iterator[LogRecord]:
        times = self.index.times
        with self._file.open() as stream:
            for position in positions:
                start = self._starts[position]
                end = self._starts[position + 1] if position + 1 < len(self._starts) else self._file.size
                stream.seek(start)
                text = self._file.decoded(stream.read(end - start))
                if "\n" in text:
                    text = "\n".join(line for raw in text.split("\n") if (line := raw.rstrip("\r")).strip())
                number = self._line_numbers[position]
                event = self._reader.event(text, number)
                if event.time is None and not np.isnan(times[position]):
                    event = event._replace(time=float(times[position]))  # which it took from the event before it
                yield event.record(f"{self._file.name}:{number}")

    def _events(self) -> Iterator[tuple[int, int, str]]:
        """Offset, line number and text of each event."""
        lines: list[str] = []
        start = first = 0
        starts = self._reader.starts
        for number, (offset, line) in enumerate(self._file.lines(), start=1):
            if not line or line.isspace():
                continue
            begins = starts(line)  # asked of every line, for it remembers what went before
            if not lines or begins or len(lines) >= MAX_EVENT_LINES:
                if lines:
                    yield start, first, lines[0] if len(lines) == 1 else "\n".join(lines)
                lines, start, first = [line], offset, number
            else:
                lines.append(line)
        if lines:
            yield start, first, "\n".join(lines)


class LogList:
    """Events that are in memory already."""

    def __init__(self, records: Sequence[LogRecord]) -> None:
        """Sort the events by time; those without one stay behind the event before them."""
        self._records = records
        self.index = LogIndex()
        for one in records:
            self.index.add(ReadEvent(one.message, one.time, one.service, one.level, one.trace_id, one.attributes))
        self.index.seal()

    def ordered(self, window: TimeRange | None) -> Iterator[tuple[float, LogRecord]]:
        """Events in the window and those without a time, each with the time to sort it by."""
        chosen = self.index.chosen(window)
        for position, moment in zip(chosen.tolist(), self.index.moments(chosen).tolist(), strict=True):
            yield moment, self._records[position]

    def forms(self, window: TimeRange | None) -> Iterator[tuple[float, LogForm]]:
        """What kinds of lines there are in the window, each with the time to sort its first line by."""
        return self.index.forms(window, lambda position: example_of(self._records[position]))
