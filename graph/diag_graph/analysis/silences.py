"""What is not recorded, or does not move: series that end, begin, pause or freeze about the onset.

Missing data is evidence where others go on: a process that is gone or too busy to be scraped sends nothing, and a
collector that hangs repeats its last value. Each rule is measured by what the series did before, so that a series with
gaps, or one that often rests, says nothing by having one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from diag_graph.analysis.change_kinds import ChangeKind, MetricChange
from diag_graph.analysis.records import FloatArray, Series
from diag_graph.analysis.series_groups import FEW_SAMPLES, MIN_BASELINE, Group

GAP_STEPS = 3.0
"""A silence is longer than so many steps between samples, and than any silence before it, twice over."""
PAUSE_STEPS = 4.0
"""The same of a silence that ended: three samples in a row are missing, which one slow scrape does not explain."""
LONGER_THAN_EVER = 2.0
NEAR_STEPS = 3.0
NEAR_SECONDS = 60.0
"""How long before the onset a silence may begin, in steps of so many seconds at least: an onset is never exact."""
RECORDER_SHARE = 0.5
"""When more than this share of all series pause, it is the recorder that paused."""
MIN_FROZEN = 10
"""Samples of one value, to the last one, that make a series frozen; a shorter run may be chance."""
RESTLESS = 0.9
"""Share of baseline samples that differ from the one before, from which a series counts as never resting."""
FROZEN_TIMES = 3
"""How many times as long as its longest rest before it must stay at one value."""
MOST_STEPS = 10.0
"""Steps of silence, or of rest, from which more says no more."""


@dataclass(frozen=True, slots=True)
class Presence:
    """What the mere presence of samples tells.

    Attributes:
        comparable: Series with samples on both sides of the onset, and whether each is a rate.
        changes: Series that ended, began or paused.
        lone: Series without a sample since the onset that did not end about it, and whether each is a rate.
        skipped: How many series had too few samples, those in `lone` among them.
    """

    comparable: list[tuple[Series, bool]]
    changes: list[MetricChange]
    lone: list[tuple[Series, bool]]
    skipped: int


@dataclass(frozen=True, slots=True)
class _Grid:
    """What series with the same sample times share.

    Attributes:
        step: Seconds between neighbouring samples, usually; 0 for too few.
        before: Number of samples before the onset.
        pause: Index of the last sample before a silence about the onset that ended; None without one.
    """

    step: float
    before: int
    pause: int | None


def presence_of(prepared: Sequence[tuple[Series, bool]], onset: float) -> Presence:
    """Part the series by where they have samples.

    Args:
        prepared: Series within the window, and whether each is a rate.
        onset: When the trouble began.
    """
    found = Presence([], [], [], 0)
    if not prepared:
        return found
    begin = min(one.times[0] for one, _ in prepared if one.times.size)
    last = max(one.times[-1] for one, _ in prepared if one.times.size)
    grids: dict[bytes, _Grid] = {}
    paused: list[tuple[Series, bool, _Grid]] = []
    skipped = 0
    for one, rate in prepared:
        key = one.times.tobytes()
        grid = grids.get(key) or grids.setdefault(key, _grid(one.times, onset))
        after = one.times.size - grid.before
        if grid.before >= MIN_BASELINE and grid.step and _stopped(one.times, grid, last, onset):
            silence = last - one.times[-1]
            found.changes.append(_presence_change(one, rate, grid.before, after, silence / grid.step))
        elif (
            grid.before == 0 and after > FEW_SAMPLES and onset - begin >= MIN_BASELINE * grid.step and one.values.any()
        ):
            found.changes.append(_presence_change(one, rate, grid.before, after, float(min(after, 10))))
        elif grid.before >= MIN_BASELINE and after >= 1:
            found.comparable.append((one, rate))
            if grid.pause is not None:
                paused.append((one, rate, grid))
        else:
            skipped += 1
            if after == 0:
                found.lone.append((one, rate))
    if len(paused) <= RECORDER_SHARE * len(prepared):
        # What goes on sending anything is alive: a latency without calls, for one, has no value.
        silent = {id(one) for one, _, _ in paused}
        alive = {one.service for one, _ in found.comparable if id(one) not in silent}
        found.changes.extend(_paused(*item) for item in paused if item[0].service not in alive)
    return Presence(found.comparable, found.changes, found.lone, skipped)


def frozen(group: Group) -> Iterable[MetricChange]:
    """The series that stay at one value from about the onset on, and never rested before; zero is a level.

    Args:
        group: Series with the same times.
    """
    still = np.diff(group.values, axis=1) == 0
    if still.shape[1] < MIN_FROZEN + MIN_BASELINE:
        return
    run = np.where(still.all(axis=1), still.shape[1], np.argmax(~still[:, ::-1], axis=1)) + 1
    rests = still[:, : group.split - 1]
    restless = rests.mean(axis=1) <= 1.0 - RESTLESS
    begins = group.times.size - run
    candidates = restless & (run >= MIN_FROZEN) & (begins >= group.split) & (group.values[:, -1] != 0)
    for row in np.flatnonzero(candidates).tolist():
        if run[row] >= FROZEN_TIMES * (_longest(rests[row]) + 1):
            yield _frozen(group, row, int(begins[row]))


def _longest(true: FloatArray) -> int:
    """The length of the longest run of true values."""
    ends = np.flatnonzero(np.diff(np.concatenate(([0], true.astype(np.int8), [0]))))
    return int((ends[1::2] - ends[::2]).max(initial=0))


def _frozen(group: Group, row: int, start: int) -> MetricChange:
    series = group.series[row]
    held = series.times.size - start
    z = min(float(held), MOST_STEPS)
    return MetricChange(
        series=series,
        kind=ChangeKind.FROZEN,
        direction="frozen",
        onset=float(series.times[start]),
        before=float(np.median(series.values[: group.split])),
        after=float(series.values[-1]),
        samples_before=group.split,
        samples_after=held,
        z=z,
        score=round(0.5 * float(np.log1p(z)), 3),
        rate=group.rates[row],
    )


def _grid(times: FloatArray, onset: float) -> _Grid:
    before = int(np.searchsorted(times, onset, side="left"))
    gaps = np.diff(times)
    step = float(np.median(gaps)) if times.size > FEW_SAMPLES else 0.0
    pause = None
    if before >= MIN_BASELINE and times.size - before > 1:
        # A silence that ends before the onset is over; one that begins before it may be the trouble's first sign.
        at = before - 1 + int(np.argmax(gaps[before - 1 :]))
        earlier = float(gaps[: before - 1].max())
        near = times[at] >= onset - NEAR_STEPS * max(step, NEAR_SECONDS)
        pause = at if near and gaps[at] >= max(PAUSE_STEPS * step, LONGER_THAN_EVER * earlier) else None
    return _Grid(step, before, pause)


def _stopped(times: FloatArray, grid: _Grid, last: float, onset: float) -> bool:
    """Whether a series ended about the onset: silent for longer than any gap that it had before, twice over."""
    near = times[-1] >= onset - NEAR_STEPS * max(grid.step, NEAR_SECONDS)
    if times.size - grid.before > FEW_SAMPLES or not near:
        return False
    gaps = np.diff(times[: grid.before])
    return bool(last - times[-1] > max(GAP_STEPS * grid.step, LONGER_THAN_EVER * float(gaps.max())))


def _presence_change(series: Series, rate: bool, before: int, after: int, weight: float) -> MetricChange:
    appeared = before == 0
    z = min(weight, MOST_STEPS)
    return MetricChange(
        series=series,
        kind=ChangeKind.APPEARED if appeared else ChangeKind.STOPPED,
        direction="appeared" if appeared else "stopped",
        onset=float(series.times[0] if appeared else series.times[-1]),
        before=float("nan") if appeared else float(np.median(series.values[:before])),
        after=float(np.median(series.values)) if appeared else float("nan"),
        samples_before=before,
        samples_after=after if appeared else 0,
        z=z,
        score=round(0.5 * float(np.log1p(z)), 3),
        rate=rate,
    )


def _paused(series: Series, rate: bool, grid: _Grid) -> MetricChange:
    at = grid.pause or 0
    silence = float(series.times[at + 1] - series.times[at])
    z = min(silence / grid.step, MOST_STEPS)
    return MetricChange(
        series=series,
        kind=ChangeKind.GAP,
        direction="stopped",
        onset=float(series.times[at]),
        before=float(np.median(series.values[: grid.before])),
        after=float("nan"),
        samples_before=grid.before,
        samples_after=0,
        z=round(z, 2),
        score=round(0.5 * float(np.log1p(z)), 3),
        rate=rate,
        ended=float(series.times[at + 1]),
    )
