"""Series made comparable: counters as rates, shares of successes as shares of failures, equal times as one matrix."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diag_graph.analysis.records import FloatArray, Series, TimeRange

_COUNTER = re.compile(r"(_total|_count|_sum|_bucket)$")
TYPE_LABEL, COUNTER_TYPE = "__type__", "counter"
"""The label by which a source says that a series counts up, where its name does not (Prometheus 3 has this label)."""
_SUCCESS_SHARE = re.compile(r"availab|success|apdex", re.IGNORECASE)
PERCENT = 100.0
MOSTLY = 0.8
"""Share of its bound from which a share of successes counts as mostly successful."""
_SKIPPED = re.compile(r"(_bucket|_created|uptime(_seconds)?)$", re.IGNORECASE)
"""Buckets of histograms, and ages, which only ever grow."""
GUARD_SHARE = 12
MAX_GUARD = 3
"""One sample in twelve before the onset, at most three, is no baseline: an onset is never exactly known."""
MANY_SAMPLES = 12
"""Samples since the onset from which a change must last for three of them."""
FEW_SAMPLES = 2
"""Samples that do not make a state: a series that gave so few since the onset may have stopped, or just appeared."""
MIN_BASELINE = 5
"""Samples before the onset below which nothing is said about a series' normal state."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Series with the same sample times, as a matrix."""

    series: list[Series]
    rates: list[bool]
    times: FloatArray
    values: FloatArray
    split: int
    """Index of the first sample that is no baseline: at or after the onset, or in the guard before it."""
    since: int
    """Number of samples at or after the onset."""
    bounds: FloatArray
    """What a row's values were subtracted from, or 0: see `_bound`."""

    @property
    def persistence(self) -> int:
        """Samples that a change must last: two, three where there are many, one where there is no second."""
        later = self.times.size - self.split
        return 1 if self.since < FEW_SAMPLES else 2 if later < MANY_SAMPLES else 3


def prepare(series: Series, window: TimeRange) -> tuple[Series, bool] | None:
    """The finite samples in the window, a counter as its rate; None for what cannot be compared."""
    if _SKIPPED.search(series.metric):
        return None
    keep = (series.times >= window.start) & (series.times <= window.end) & np.isfinite(series.values)
    times, values = (series.times, series.values) if keep.all() else (series.times[keep], series.values[keep])
    if times.size == 0:
        return None
    if (counts_by_name(series.metric) or series.labels.get(TYPE_LABEL) == COUNTER_TYPE) and _never_falls(values):
        rates = counter_rate(times, values)
        return Series(series.service, series.metric, times[1:], rates, series.labels, series.source), True
    return Series(series.service, series.metric, times, values, series.labels, series.source), False


def counts_by_name(metric: str) -> bool:
    """Whether a metric's name says that it counts up."""
    return _COUNTER.search(metric) is not None


def _never_falls(values: FloatArray) -> bool:
    return values.size >= MIN_BASELINE and counts_up(values)


def counts_up(values: FloatArray) -> bool:
    """Whether values count up, resets aside. A gauge that happens to end in `_total` falls more often.

    Args:
        values: At least one.
    """
    steps = np.diff(values)
    return bool((steps < 0).sum() <= max(1, 0.02 * steps.size) and (steps > 0).any() and values.min() >= 0)


def increases(values: FloatArray) -> FloatArray:
    """How much a counter rose between neighbouring samples; after a reset it has counted from zero.

    Args:
        values: The counter's values, in the order of time.
    """
    steps = np.diff(values)
    return np.asarray(np.where(steps < 0, values[1:], steps), dtype=np.float64)


def counter_rate(times: FloatArray, values: FloatArray) -> FloatArray:
    """Increase per second of a counter between neighbouring samples; after a reset it has counted from zero.

    Args:
        times: Sample times in seconds, rising.
        values: The counter's values.
    """
    return np.asarray(increases(values) / np.maximum(np.diff(times), 1e-9), dtype=np.float64)


def group_by_times(comparable: Sequence[tuple[Series, bool]], onset: float) -> list[Group]:
    """Series with equal sample times together, so that their arithmetic is one matrix operation."""
    by_grid: dict[bytes, list[tuple[Series, bool]]] = defaultdict(list)
    for one in comparable:
        by_grid[one[0].times.tobytes()].append(one)
    groups = []
    for members in by_grid.values():
        times = members[0][0].times
        bounds = np.array([_bound(one) for one, _ in members])
        matrix = np.stack([one.values for one, _ in members], dtype=np.float64)
        bounded = bounds > 0
        matrix[bounded] = bounds[bounded, None] - matrix[bounded]
        before = int(np.searchsorted(times, onset, side="left"))
        split, since = before - _guard(times, before, onset), times.size - before
        rates = [rate for _, rate in members]
        groups.append(Group([one for one, _ in members], rates, times, matrix, split, since, bounds))
    return groups


def _guard(times: FloatArray, before: int, onset: float) -> int:
    """How many of the samples before the onset are no baseline.

    Where nearly none come after it, one of them alone may be the change: it must not be parted from the onset by a gap.
    """
    guard = min(before // GUARD_SHARE, MAX_GUARD)
    if times.size - before >= FEW_SAMPLES or times.size < FEW_SAMPLES:
        return guard
    usual = float(np.median(np.diff(times)))
    return min(guard, before - int(np.searchsorted(times, onset - (MAX_GUARD + 1) * usual, side="left")))


def _bound(series: Series) -> float:
    """The most that a share of successes can be, 1 or 100, for a series that is one and mostly near it; else 0.

    Such a series is compared as its complement: from 99.9 % to 99 % is ten times as many failures, not 1 % less.
    """
    if not _SUCCESS_SHARE.search(series.metric) or series.values.min() < 0:
        return 0.0
    bound = 1.0 if series.values.max() <= 1 else PERCENT
    return bound if series.values.max() <= bound and float(np.median(series.values)) >= MOSTLY * bound else 0.0
