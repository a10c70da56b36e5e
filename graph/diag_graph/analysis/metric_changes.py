"""Series that changed at the onset: which, how, from what to what, since when, and how sure that is.

Works on a folder's or a server's series in groups that share their sample times, so that thousands of series cost
milliseconds each hundred. How much is too much is learned from the evidence itself: the same comparison is made at
pseudo-onsets within the baseline, and what moved there without an incident sets the threshold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from diag_graph.analysis.chance import SATURATION_Z, chance_of
from diag_graph.analysis.change_kinds import ChangeKind, MetricChange
from diag_graph.analysis.departures import RELATIVE_FLOOR, Departures, departures, excursion
from diag_graph.analysis.histograms import superseded
from diag_graph.analysis.records import FloatArray, Series, TimeRange
from diag_graph.analysis.series_groups import Group, group_by_times, prepare
from diag_graph.analysis.silences import frozen, presence_of

MIN_CONSTANT = 10
"""Samples before the onset from which "it never moved" means something."""
MAX_EXPECTED = 0.5
"""A change is told only where fewer of its size are to be expected by chance, over all series of its metric."""
MIN_SWING = 1.6
"""A change must be this many times as large as the baseline's own largest equally long excursion."""
BRIEF = 3.0
"""Samples after which a change that was over again counts for half."""
DRIFT_Z = 8.0
DRIFT_RATIO = 2.0
DRIFT_FIRST = 3
DRIFT_APART = 0.9
MIN_DRIFT_SAMPLES = 10
"""A drift leads from the median of the first three of at least ten samples to twice or half of it in the last half."""
SPIKE_Z = 14.0
SPIKE_SWING = 4.0
"""Thresholds for one sample alone, which persistence cannot vouch for."""
BASE_THRESHOLD = 5.0
"""Deviation in scales below which nothing is reported, however quiet the rest is."""
THRESHOLD_CAP = 15.0
"""The learned threshold never exceeds this: a baseline that holds an earlier incident must not hide the present one."""


@dataclass(frozen=True, slots=True)
class MetricSurvey:
    """All that was found, and how it was looked for.

    Attributes:
        changes: Strongest first.
        compared: Number of series that could be compared.
        skipped: Number of series that could not: too few samples before or since the onset.
        threshold: Deviation in scales above which a change was reported.
    """

    changes: tuple[MetricChange, ...]
    compared: int
    skipped: int
    threshold: float


def survey_metrics(series: Iterable[Series], window: TimeRange, onset: float) -> MetricSurvey:
    """Find the series that changed at the onset.

    Args:
        series: Series to look at; samples outside the window are ignored.
        window: What to look at; what lies before the onset is the baseline.
        onset: When the trouble began.
    """
    series = list(series)
    known_by_mean = superseded(series)
    prepared = [item for one in series if id(one) not in known_by_mean and (item := prepare(one, window)) is not None]
    presence = presence_of(prepared, onset)
    changes = [*presence.changes, *(change for one, rate in presence.lone for change in _drift(one, rate))]
    groups = group_by_times(presence.comparable, onset)
    results = [(group, departures(*_halves(group, group.split), group.persistence)) for group in groups]
    chance = chance_of(groups, MIN_SWING)
    threshold = float(np.clip(chance.largest, BASE_THRESHOLD, THRESHOLD_CAP))
    compared = sum(len(group.series) for group in groups)
    for group, result in results:
        later = group.times.size - group.split
        told = [
            one
            for one in _level_changes(group, result, threshold)
            if chance.expected(one.series.metric, one.z, later) < MAX_EXPECTED
        ]
        moved = {id(one.series) for one in told}
        changes += [*told, *(one for one in frozen(group) if id(one.series) not in moved)]
    changes.sort(key=lambda change: (-change.score, change.onset, change.series.service, change.series.metric))
    return MetricSurvey(tuple(changes), compared, presence.skipped, threshold)


def _drift(series: Series, rate: bool) -> Iterable[MetricChange]:
    """The change from a series' first samples to its last half, where it is large and no noise.

    An alert often comes with just the minutes that led to it: trouble has no onset in them, but it has a direction.
    """
    values, half = series.values, series.values.size // 2
    if values.size < MIN_DRIFT_SAMPLES:
        return
    begin, end = float(np.median(values[:DRIFT_FIRST])), float(np.median(values[half:]))
    noise = float(np.mean(np.abs(np.diff(values[half:]))))
    z = abs(end - begin) / max(noise, RELATIVE_FLOOR * max(abs(begin), abs(end)), 1e-12)
    low, high = sorted((abs(begin), abs(end)))
    sign = 1.0 if end > begin else -1.0
    apart = bool((sign * values[half:] > sign * 0.5 * (begin + end)).mean() >= DRIFT_APART)
    if z < DRIFT_Z or not apart or low * DRIFT_RATIO > high or begin * end < 0:
        return
    left = sign * (values - begin) > 0.1 * abs(end - begin)
    start = int(np.argmax(left))
    yield MetricChange(
        series=series,
        kind=ChangeKind.DRIFT,
        direction="up" if end > begin else "down",
        onset=float(series.times[start]),
        before=begin,
        after=end,
        samples_before=DRIFT_FIRST,
        samples_after=values.size - half,
        z=round(z, 2),
        score=_score(z, begin, end, ChangeKind.DRIFT),
        rate=rate,
    )


def _halves(group: Group, split: int, end: int | None = None) -> tuple[FloatArray, FloatArray]:
    return group.values[:, :split], group.values[:, split:end]


def _level_changes(group: Group, result: Departures, threshold: float) -> Iterable[MetricChange]:
    alone = group.persistence == 1
    needed_z, needed_swing = (max(threshold, SPIKE_Z), SPIKE_SWING) if alone else (threshold, MIN_SWING)
    strong = (np.abs(result.z) >= needed_z) & (result.swing >= needed_swing)
    # What never moved needs no comparison with how it moves, but enough samples to say "never".
    strong |= result.constant & (result.z != 0) & (group.split >= MIN_CONSTANT) & (not alone)
    for row in np.flatnonzero(strong):
        yield _described(group, int(row), result, ChangeKind.SPIKE if alone else ChangeKind.LEVEL)


def _described(group: Group, row: int, result: Departures, kind: ChangeKind) -> MetricChange:
    series, values = group.series[row], group.values[row, group.split :]
    times = group.times[group.split :]
    up = result.z[row] > 0
    sign = 1.0 if up else -1.0
    edge = float(result.high[row] if up else -result.low[row])
    persistence = 1 if kind is ChangeKind.SPIKE else group.persistence
    start, stop = excursion(sign * values, edge, sign * float(result.level[row]), persistence)
    centre = float(result.centre[row])
    after = float(values[start] if kind is ChangeKind.SPIKE else np.median(values[start:stop]))
    bound = float(group.bounds[row])
    return MetricChange(
        series=series,
        kind=kind,
        direction="up" if up != (bound > 0) else "down",
        onset=float(times[start]),
        before=bound - centre if bound else centre,
        after=bound - after if bound else after,
        samples_before=group.split,
        samples_after=stop - start,
        z=round(abs(float(result.z[row])), 2),
        score=round(_score(float(result.z[row]), centre, after, kind) * _lasting(stop - start, stop < values.size), 3),
        rate=group.rates[row],
        ended=float(times[stop]) if stop < values.size else None,
    )


def _lasting(samples: int, ended: bool) -> float:
    """What a change is worth that was over again: little after two samples, nearly all after many."""
    return samples / (samples + BRIEF) if ended else 1.0


def _score(z: float, before: float, after: float, kind: ChangeKind) -> float:
    """Logarithm of the deviation, weighed by the relative change: 30 scales of 3 % are less than 15 scales of 300 %."""
    size = max(abs(before), abs(after))
    relative = abs(after - before) / size if size else 0.0
    weight = 0.6 if kind in (ChangeKind.SPIKE, ChangeKind.DRIFT) else 1.0
    return round(weight * float(np.log1p(min(abs(z), SATURATION_Z))) * (0.3 + 0.7 * relative), 3)
