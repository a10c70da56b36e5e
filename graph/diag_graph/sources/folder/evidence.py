"""The sources of a folder: each gathers, from the files of its kind, what the ports promise."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from diag_graph.analysis.histograms import measured_by
from diag_graph.analysis.log_patterns import LogForm
from diag_graph.analysis.records import Alert, Change, Edge, LogRecord, Series, Span, TimeRange
from diag_graph.sources.folder.calls import edges_of_spans
from diag_graph.sources.folder.joining import joined
from diag_graph.sources.folder.reading import Kind, hull
from diag_graph.sources.folder.sniff import FolderFile
from diag_graph.sources.ports import SourceEntry

Files = Sequence[FolderFile]

STRAY = 6 * 3_600.0
"""Seconds around what was measured within which log lines always belong to it."""


class FolderInventory:
    """What is in the folder."""

    def __init__(self, name: str, files: Files) -> None:
        """List these files under the folder's name."""
        self.name = name
        self._files = files

    def entries(self) -> Sequence[SourceEntry]:
        """Every file, by path. This reads files that were not read yet, for only that tells what is in them."""
        return [_entry(file) for file in self._files]

    def span(self) -> TimeRange | None:
        """From when to when things were recorded.

        Samples and spans say so; log lines stretch it by its own length at most on either side (or `STRAY`), for one
        stray line of last month must not make a month of it. Alerts and changes, which may be of any age, count when
        there is nothing else.
        """
        return self._span

    @cached_property
    def _span(self) -> TimeRange | None:
        readings = [file.reading for file in self._files]
        measured = hull(reading.measured() for reading in readings)
        logged = hull(reading.logs.index.span() for reading in readings if reading.logs)
        if measured is None or logged is None:
            return measured or logged or hull(reading.span() for reading in readings)
        length = max(measured.end - measured.start, STRAY)
        return TimeRange(
            min(measured.start, max(logged.start, measured.start - length)),
            max(measured.end, min(logged.end, measured.end + length)),
        )


def _entry(file: FolderFile) -> SourceEntry:
    reading = file.reading
    kinds = reading.kinds() or file.kinds
    kind = next(kind for kind in Kind if kind in kinds)
    return SourceEntry(
        name=file.name,
        kind=kind,
        detail="; ".join(reading.details),
        problem="; ".join(reading.problems) or None,
        assumption="; ".join(reading.assumptions) or None,
    )


class FolderMetrics:
    """The series of all files, and what the histograms among them measure."""

    def __init__(self, files: Files) -> None:
        """Read from these files."""
        self._files = files

    def series(
        self, *, services: Sequence[str] = (), metrics: Sequence[str] = (), window: TimeRange | None = None
    ) -> Sequence[Series]:
        """Series by service, metric and labels; those without a sample in the window are left out."""
        wanted_services, wanted_metrics = frozenset(services), frozenset(metrics)
        chosen = [
            one
            for one in self._all
            if (not wanted_services or one.service in wanted_services)
            and (not wanted_metrics or one.metric in wanted_metrics)
        ]
        if window is None:
            return chosen
        cut = [_cut(one, window) for one in chosen]
        return [one for one in cut if len(one.times)]

    @cached_property
    def _all(self) -> Sequence[Series]:
        recorded = joined(one for file in self._files for one in file.reading.series)
        found = [*recorded, *measured_by(recorded)]
        return sorted(found, key=lambda one: (one.service, one.metric, sorted(one.labels.items()), one.source))


def _cut(series: Series, window: TimeRange) -> Series:
    begin = int(series.times.searchsorted(window.start, "left"))
    end = int(series.times.searchsorted(window.end, "right"))
    if begin == 0 and end == len(series.times):
        return series
    return Series(
        series.service, series.metric, series.times[begin:end], series.values[begin:end], series.labels, series.source
    )


class FolderLogs:
    """The log events of all files, merged by time."""

    def __init__(self, files: Files) -> None:
        """Read from these files."""
        self._files = files

    def records(self, window: TimeRange | None = None) -> Iterator[LogRecord]:
        """Events in the window, by time; one without a time comes after the event before it in its file."""
        streams = [file.reading.logs.ordered(window) for file in self._files if file.reading.logs]
        merged = heapq.merge(*streams, key=lambda entry: entry[0]) if len(streams) > 1 else chain(*streams)
        for _, record in merged:
            yield record

    def forms(self, window: TimeRange | None = None) -> Iterator[LogForm]:
        """The kinds of lines in the window, in the order of their first lines; one kind may come from several files."""
        found = [one for file in self._files if file.reading.logs for one in file.reading.logs.forms(window)]
        return (form for _, form in sorted(found, key=lambda entry: entry[0]))


class FolderSpans:
    """The spans of all files."""

    def __init__(self, files: Files) -> None:
        """Read from these files."""
        self._files = files

    def spans(self, window: TimeRange | None = None) -> Sequence[Span]:
        """Spans that start in the window, by start."""
        return self._all if window is None else [span for span in self._all if span.start in window]

    @cached_property
    def _all(self) -> Sequence[Span]:
        return sorted((span for file in self._files for span in file.reading.spans), key=lambda span: span.start)


class FolderAlerts:
    """The alerts of all files."""

    def __init__(self, files: Files) -> None:
        """Read from these files."""
        self._files = files

    def alerts(self) -> Sequence[Alert]:
        """All alerts, firing first, then by start."""
        found = [alert for file in self._files for alert in file.reading.alerts]
        return sorted(found, key=lambda alert: (alert.status != "firing", alert.starts_at or 0.0))


class FolderChanges:
    """The changes of all files."""

    def __init__(self, files: Files) -> None:
        """Read from these files."""
        self._files = files

    def changes(self, window: TimeRange | None = None) -> Sequence[Change]:
        """Changes in the window, oldest first; those without a time last, and always."""
        found = [change for file in self._files for change in file.reading.changes]
        if window is not None:
            found = [change for change in found if change.time is None or change.time in window]
        return sorted(found, key=lambda change: (change.time is None, change.time or 0.0))


class FolderTopology:
    """Who calls whom: what files say, and what spans show."""

    def __init__(self, files: Files) -> None:
        """Read from these files."""
        self._files = files

    def edges(self) -> Sequence[Edge]:
        """Calls between services, each once: those that files state in their order, then those of spans."""
        return self._edges

    @cached_property
    def _edges(self) -> Sequence[Edge]:
        stated = [edge for file in self._files for edge in file.reading.edges]
        seen = edges_of_spans(span for file in self._files for span in file.reading.spans)
        return tuple(dict.fromkeys((*stated, *seen)))


class FolderDocuments:
    """The texts in the folder that are nothing else."""

    def __init__(self, files: Files) -> None:
        """Serve these files, by the names that the walk gave them: no name is ever opened as a path."""
        self._files = {file.name: file for file in files}

    def names(self) -> Sequence[str]:
        """Names of all documents."""
        return tuple(self._files)

    def lines(self, name: str) -> Sequence[str]:
        """A document's lines.

        Raises:
            KeyError: there is no document of that name.
        """
        return self._files[name].reading.lines or ()


def of_kind(files: Iterable[FolderFile], *kinds: Kind) -> Files:
    """The files that hold one of these kinds."""
    return [file for file in files if file.kinds & set(kinds)]
