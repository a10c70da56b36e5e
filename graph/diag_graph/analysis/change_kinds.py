"""What a change of a series is, and how it is told: the vocabulary that detectors, statements and onsets share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diag_graph.analysis.records import Series


class ChangeKind(StrEnum):
    """How a series changed."""

    LEVEL = "level"
    """It moved to another level and stayed there for several samples."""
    SPIKE = "spike"
    """One sample stands out, and there is no second one since the onset that could confirm it."""
    STOPPED = "stopped"
    """Its samples end at the onset though others go on."""
    APPEARED = "appeared"
    """Its samples begin at the onset."""
    GAP = "gap"
    """Its samples pause about the onset though others go on, and come again."""
    FROZEN = "frozen"
    """It stays at exactly one value from about the onset on, and never rested before."""
    DRIFT = "drift"
    """No sample lies after the onset, so that nothing can be compared, but a series ends far from where it began."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricChange:
    """One series that changed.

    Attributes:
        series: The series as it was compared: a counter as its rate.
        kind: How it changed.
        direction: `up`, `down`, `appeared`, `stopped` or `frozen`.
        onset: Time of the first sample of the new state (of the last sample, for a series that stopped or
            paused).
        before: Median before the onset of the run; NaN for a series that appeared.
        after: Median since `onset` while the change lasted (a spike: its value); NaN for a series that stopped or
            paused.
        samples_before: Number of baseline samples.
        samples_after: Number of samples since `onset`.
        z: Deviation in robust standard deviations of the baseline.
        score: Comparable over series: grows with `z` and with the relative change, and not with the unit.
        rate: The series is a counter, and values are its increase per second.
        ended: When it was back within its baseline, or its samples came again; None when that did not happen.
    """

    series: Series
    kind: ChangeKind
    direction: str
    onset: float
    before: float
    after: float
    samples_before: int
    samples_after: int
    z: float
    score: float
    rate: bool = False
    ended: float | None = None

    @property
    def step(self) -> float:
        """Seconds between neighbouring samples, usually: how exactly `onset` can be known."""
        times = self.series.times
        return round(float(np.median(np.diff(times))), 3) if times.size > 1 else 0.0
