"""Whether rows of numbers left their baseline: the arithmetic of change detection, vectorised over series.

The idea is the N-sigma rule with robust estimates, as in BARO's robust scorer (Pham et al., "BARO: Robust Root Cause
Analysis for Microservices via Multivariate Bayesian Online Change Point Detection", FSE 2024: median and interquartile
range of the time before, the largest deviation after) and RCAEval's N-sigma baseline, with three guards that these
lack. A deviation counts only while it lasts (`persistence` samples in a row), it is measured against what the same
series does on its own in equally long stretches of its baseline, and a scale never falls below floors that come from
the level and the resolution of the series, so that constant baselines and tiny units do not decide the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from diag_graph.analysis.records import FloatArray

IQR_TO_SIGMA = 1.349
"""Interquartile range of a normal distribution with standard deviation 1."""
RELATIVE_FLOOR = 0.02
"""No scale below this share of the series' level: a change of a per cent or two is no incident."""
CONSTANT_BASELINE_Z = 20.0
"""Deviation that is stated of a series that never moved before and then does: it has no scale to measure by."""
CONSTANT_BASELINE_STEP = 0.1
"""Share of its level by which a series that never moved must move to count."""
TREND_CORRELATION = 0.7
"""Correlation with time above which a baseline counts as trending, and is extrapolated."""
MIN_TREND_POINTS = 6
BLOCK = 1 << 16
"""Samples that are compared at once, so few that what the arithmetic holds meanwhile stays in the processor's cache."""
ON_THE_WAY = 0.03
"""Share of the way from the band to a level from which a sample belongs to the change, and is not noise before it."""


@dataclass(frozen=True, slots=True)
class Departures:
    """How far each row's later samples lie from its earlier ones. One entry a row, in the order of the rows.

    Attributes:
        centre: Median of the baseline.
        scale: Robust standard deviation of the baseline, not below its floors.
        level: The most extreme level that the later samples held for `persistence` samples, in the direction of `z`.
        z: Signed deviation of that level from the baseline, in scales; the smaller one of level and trend.
        swing: That deviation as a multiple of the largest one that the baseline itself held equally long, either way.
        constant: Whether the baseline never moved; `z` is then 0 or plus or minus `CONSTANT_BASELINE_Z`.
        low: Lower end of the band in which the baseline itself stayed.
        high: Upper end of that band.
    """

    centre: FloatArray
    scale: FloatArray
    level: FloatArray
    z: FloatArray
    swing: FloatArray
    constant: NDArray[np.bool_]
    low: FloatArray
    high: FloatArray


def departures(before: FloatArray, after: FloatArray, persistence: int) -> Departures:
    """Compare later samples with a baseline, row by row.

    Args:
        before: Baseline samples, one series a row, at least two columns, no NaN.
        after: Later samples of the same series, at least `persistence` columns.
        persistence: How many samples in a row must hold a level for it to count.
    """
    rows = max(1, BLOCK // (before.shape[1] + after.shape[1]))
    if before.shape[0] <= rows:
        return _departures(before, after, persistence)
    parts = [
        _departures(before[start : start + rows], after[start : start + rows], persistence)
        for start in range(0, before.shape[0], rows)
    ]
    return Departures(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Departures)))


def _departures(before: FloatArray, after: FloatArray, persistence: int) -> Departures:
    ordered = np.sort(before, axis=1)
    centre = _quantile(ordered, 0.5)
    scale = _scale(before, ordered, centre)
    base_high, base_low = _held(before, persistence)
    high, low = _held(after, persistence)
    up, down = high - centre, centre - low
    rising = up >= down
    own = np.maximum(np.maximum(base_high - centre, centre - base_low), scale)
    size = np.where(rising, up, down)
    swing = size / own
    z = np.where(rising, 1.0, -1.0) * np.minimum(
        size / scale, _trend_corrected(before, after, scale, rising, persistence)
    )
    constant = ordered[:, 0] == ordered[:, -1]
    moved = (size > CONSTANT_BASELINE_STEP * np.abs(centre)) & _mostly_elsewhere(after, centre)
    z = np.where(constant, np.where(moved, np.sign(z) * CONSTANT_BASELINE_Z, 0.0), z)
    band = np.where(constant, 0.0, 3.0 * scale)
    return Departures(
        centre=centre,
        scale=scale,
        level=np.where(rising, high, low),
        z=z,
        swing=swing,
        constant=constant,
        low=np.minimum(base_low, centre - band),
        high=np.maximum(base_high, centre + band),
    )


def excursion(values: FloatArray, edge: float, level: float, persistence: int) -> tuple[int, int]:
    """Where the stretch that reached a level begins and ends: an earlier blip that returned is not its beginning.

    The stretch is followed back from where half of the way to the level was first held, for as long as the samples
    stay beyond the edge (one sample within it is overlooked), so that a ramp is dated by where it starts.

    Args:
        values: Samples in the order of time; the level lies above the edge.
        edge: Upper end of the baseline's band.
        level: A level that `persistence` samples in a row held.
        persistence: How many samples in a row hold a level, and must lie within the band for the stretch to end.

    Returns:
        Index of its first sample, and of the first sample after it (the number of samples, when it goes on).
    """
    halfway = edge + 0.5 * (level - edge)
    start = _first_run(values >= min(halfway, level), persistence) or 0
    established = start
    beyond = values > edge + ON_THE_WAY * (level - edge)
    while start > 0 and (beyond[start - 1] or (start > 1 and beyond[start - 2])):
        start -= 1
    returned = _first_run(~beyond[established:], max(2, persistence))
    return start, values.size if returned is None else established + returned


def _first_run(true: NDArray[np.bool_], length: int) -> int | None:
    """Index at which the first `length` true values in a row begin."""
    if true.size < length:
        return None
    runs = sliding_window_view(true, length).all(axis=1)
    return int(np.argmax(runs)) if runs.any() else None


def _quantile(ordered: FloatArray, share: float) -> FloatArray:
    """A quantile of each row of sorted values, between neighbours in proportion (as `np.quantile` has it)."""
    low, rest = divmod(share * (ordered.shape[1] - 1), 1)
    first = ordered[:, int(low)]
    return first if rest == 0 else np.asarray(first + (ordered[:, int(low) + 1] - first) * rest)


def _scale(before: FloatArray, ordered: FloatArray, centre: FloatArray) -> FloatArray:
    deviations = np.abs(before - centre[:, None])
    # A series that mostly rests and sometimes jumps has quartiles of 0: its mean deviation still tells how it moves.
    mean_deviation = deviations.mean(axis=1) * 1.2533
    deviations.sort(axis=1)
    mad = _quantile(deviations, 0.5) * 1.4826
    spread = (_quantile(ordered, 0.75) - _quantile(ordered, 0.25)) / IQR_TO_SIGMA
    spread = np.maximum(np.maximum(spread, mad), 0.7 * mean_deviation)
    floor = np.maximum(RELATIVE_FLOOR * np.abs(centre), _resolution(ordered))
    return np.asarray(np.maximum(spread, floor))


def _resolution(ordered: FloatArray) -> FloatArray:
    """Half the smallest step between sorted values; a constant row has none, and gets a positive number for one."""
    steps = np.diff(ordered, axis=1)
    smallest = np.where(steps > 0, steps, np.inf).min(axis=1)
    return np.asarray(np.where(np.isfinite(smallest), 0.5 * smallest, 1.0))


def _mostly_elsewhere(after: FloatArray, centre: FloatArray) -> NDArray[np.bool_]:
    """Whether half of the samples since the first other value differ: a rare event in a count of zeros is no change."""
    differs = after != centre[:, None]
    first = np.argmax(differs, axis=1)
    return np.asarray(2 * differs.sum(axis=1) >= after.shape[1] - first)


def _held(values: FloatArray, persistence: int) -> tuple[FloatArray, FloatArray]:
    """The highest and the lowest level that each row held for `persistence` samples in a row."""
    if persistence == 1 or values.shape[1] <= 1:
        return values.max(axis=1), values.min(axis=1)
    length = min(persistence, values.shape[1])
    lowest = highest = values[:, : values.shape[1] - length + 1]
    for shift in range(1, length):
        neighbour = values[:, shift : values.shape[1] - length + 1 + shift]
        lowest, highest = np.minimum(lowest, neighbour), np.maximum(highest, neighbour)
    return lowest.max(axis=1), highest.min(axis=1)


def _trend_corrected(
    before: FloatArray, after: FloatArray, scale: FloatArray, rising: NDArray[np.bool_], persistence: int
) -> FloatArray:
    """Deviation from the baseline's extrapolated straight line where it has one; infinite where it has none.

    A series that warms up leaves the band of its past without any event. The line is fitted by least squares.
    """
    none = np.full(before.shape[0], np.inf)
    if before.shape[1] < MIN_TREND_POINTS:
        return none
    x = np.arange(before.shape[1], dtype=np.float64)
    x_centred = x - x.mean()
    mean = before.mean(axis=1)
    deviation = before - mean[:, None]
    slope = deviation @ x_centred / (x_centred @ x_centred)
    total = np.sqrt((deviation**2).sum(axis=1) * (x_centred @ x_centred))
    correlation = np.divide(deviation @ x_centred, total, out=np.zeros_like(total), where=total > 0)
    later = np.arange(before.shape[1], before.shape[1] + after.shape[1]) - x.mean()
    residual_after = after - (mean[:, None] + slope[:, None] * later)
    residual_before = deviation - slope[:, None] * x_centred
    high, low = _held(residual_after, persistence)
    noise = np.maximum(_quantile(np.sort(np.abs(residual_before), axis=1), 0.5) * 1.4826, 0.5 * scale)
    corrected = np.maximum(np.where(rising, high, -low), 0.0) / noise
    return np.asarray(np.where(np.abs(correlation) > TREND_CORRELATION, corrected, none))
