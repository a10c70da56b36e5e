"""What is kept of every event of one file, column by column: when it was, and what kind of line it is.

An event costs about thirty bytes, whatever its text: millions of them fit into memory, and what is asked of all of
them (how many, when, of which kinds) is answered without reading any of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from diag_graph.analysis.log_masks import MAX_MESSAGE, headline
from diag_graph.analysis.log_patterns import BATCH, Example, FormCodes, LogForm, Mark, forms_by_code
from diag_graph.analysis.records import FloatArray, TimeRange, utc
from diag_graph.sources.folder.log_event import ReadEvent
from diag_graph.sources.folder.reading import count

_LEVELS_SHOWN = ("FATAL", "ERROR", "WARN")
Positions = NDArray[np.int64]
"""Numbers of events, counted from 0 in the order of the file."""


class LogIndex:
    """Times and forms of the events of one file."""

    def __init__(self, *, inherit: bool = False) -> None:
        """Begin with no event; `seal` ends the adding.

        Args:
            inherit: Whether an event without a time happened when the one before it did.
        """
        self._forms = FormCodes()
        self._pending: tuple[list[float | None], list[str], list[str], list[str]] = ([], [], [], [])
        self._times: list[FloatArray] = []
        self._sort_times: list[FloatArray] = []
        self._batches: list[NDArray[np.int32]] = []
        self._last = -np.inf
        self._inherit = inherit

    def add(self, event: ReadEvent) -> None:
        """Note the next event of the file."""
        message, time, service, level, _, attributes = event
        # What is kept until there are enough are texts and numbers, which the garbage collector need not look at.
        times, services, levels, lines = self._pending
        times.append(time)
        services.append(service)
        levels.append(level)
        lines.append(headline(message, attributes) if attributes or "\n" in message else message[:MAX_MESSAGE])
        if len(times) >= BATCH:
            self._take()

    def _take(self) -> None:
        times, services, levels, lines = self._pending
        own = np.array(times, np.float64)  # None becomes NaN
        known = np.concatenate(([self._last], own))
        latest = np.maximum.accumulate(np.where(np.isnan(known), 0, np.arange(len(known))))
        sort_times = known[latest][1:]
        if self._inherit:
            own = np.where(np.isnan(own) & (sort_times > 0), sort_times, own)
        self._last = float(sort_times[-1])
        self._times.append(own)
        self._sort_times.append(sort_times)
        self._batches.append(self._forms.of(services, levels, lines))
        for column in self._pending:
            column.clear()

    def seal(self) -> None:
        """Make what was added ready to be asked for; nothing is added after it."""
        if self._pending[0]:
            self._take()
        self.times: FloatArray = np.concatenate([np.empty(0), *self._times])
        sort_times = np.concatenate([np.empty(0), *self._sort_times])
        self._codes = np.concatenate([np.empty(0, np.int32), *self._batches])
        for parts in (self._times, self._sort_times, self._batches):
            parts.clear()
        self._moments = self.times if np.array_equal(self.times, sort_times) else sort_times
        rising = bool((sort_times[1:] >= sort_times[:-1]).all())
        self._order: Positions | None = None if rising else np.argsort(sort_times, kind="stable")
        self._dated = not np.isnan(self.times).any()

    def __len__(self) -> int:
        """How many events there are."""
        return len(self.times)

    def chosen(self, window: TimeRange | None) -> Positions:
        """The events in a window and those without a time, in the order of time."""
        if window is not None and self._dated and self._order is None:
            return np.arange(
                np.searchsorted(self.times, window.start, "left"), np.searchsorted(self.times, window.end, "right")
            )
        order = np.arange(len(self.times)) if self._order is None else self._order
        if window is None:
            return order
        times = self.times[order]
        return order[np.isnan(times) | ((times >= window.start) & (times <= window.end))]

    def moments(self, chosen: Positions) -> FloatArray:
        """The times to sort events by: their own, or that of the event before them."""
        return self._moments[chosen]

    def forms(self, window: TimeRange | None, read: Callable[[int], Example]) -> Iterator[tuple[float, LogForm]]:
        """The forms of the events in a window, each with the time to sort its first event by.

        Args:
            window: From when to when; None for all.
            read: Gives an event by its number.
        """
        chosen = self.chosen(window)

        def mark(row: int) -> Mark:
            position = int(chosen[row])
            time = float(self.times[position])
            return Mark(None if np.isnan(time) else time, lambda: read(position))

        found = forms_by_code(
            self._forms.keys, self._codes[chosen], self.times[chosen], lambda _, first, last: (mark(first), mark(last))
        )
        for row, form in sorted(found, key=lambda pair: pair[0]):
            yield float(self._moments[chosen[row]]), form

    def span(self) -> TimeRange | None:
        """From the first to the last time of an event."""
        if np.isnan(self.times).all():
            return None
        return TimeRange(float(np.nanmin(self.times)), float(np.nanmax(self.times)))

    def detail(self) -> str:
        """Counts, services, the levels that matter and the span, in words, for the inventory."""
        words = count(len(self), "log line")
        counts = np.bincount(self._codes, minlength=len(self._forms.keys)).tolist()
        names = sorted({service for service, _, _ in self._forms.keys if service})
        if names:
            words += f" of {names[0]}" if len(names) == 1 else f" of {count(len(names), 'service')}"
        by_level = dict.fromkeys(_LEVELS_SHOWN, 0)
        for (_, level, _), lines in zip(self._forms.keys, counts, strict=True):
            by_level[level] = by_level.get(level, 0) + lines
        levels = ", ".join(f"{by_level[level]:,} {level}" for level in _LEVELS_SHOWN if by_level[level])
        span, undated = self.span(), int(np.isnan(self.times).sum())
        return (
            words
            + (f" ({levels})" if levels else "")
            + (f", {utc(span.start)} to {utc(span.end)}" if span else "")
            + (f", {undated:,} without a time" if undated else "")
        )
