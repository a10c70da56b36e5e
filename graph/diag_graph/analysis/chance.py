"""How large changes are that happen without any incident: measured on the baseline itself, by kind of metric.

A percentile of a rarely called service jumps a hundredfold and back now and then; a memory gauge does not. One series'
baseline is too short to show how often, but all series of one metric together are not: each is compared with its past
at onsets that were none, and a change counts for as much as it is rarer than what these comparisons gave. It is the
idea of a block permutation test (Kuensch 1989; Politis and Romano 1994: blocks keep the dependence of neighbouring
samples), with the number of series as the correction for multiple tests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diag_graph.analysis.departures import departures
from diag_graph.analysis.records import FloatArray
from diag_graph.analysis.series_groups import MIN_BASELINE, Group

SATURATION_Z = 60.0
"""Deviation from which more does not count as more: beyond it the size of the change tells, not the calm before it."""


@dataclass(frozen=True, slots=True)
class _Family:
    """All comparisons of one metric at onsets that were none.

    Attributes:
        deviations: Deviation of each comparison whose change would have been noticed, rising.
        samples: Samples that they looked at altogether.
        series: Number of series.
    """

    deviations: FloatArray
    samples: int
    series: int


@dataclass(frozen=True, slots=True)
class Chance:
    """What happens by chance.

    Attributes:
        largest: The largest deviation in any comparison.
        families: By metric.
    """

    largest: float
    families: dict[str, _Family]

    def expected(self, metric: str, deviation: float, samples: int) -> float:
        """How many changes at least this large are to be expected in all series of a metric without an incident.

        Args:
            metric: The metric.
            deviation: In scales.
            samples: Number of samples since the onset.
        """
        family = self.families.get(metric)
        if family is None:
            return 0.0
        larger = family.deviations.size - int(
            np.searchsorted(family.deviations, min(deviation, SATURATION_Z) * (1 - 1e-9), "left")
        )
        return larger / max(family.samples, 1) * samples * family.series


def chance_of(groups: Sequence[Group], min_swing: float) -> Chance:
    """Compare each group with its own past at onsets within its baseline, block by block.

    Args:
        groups: Series with equal times.
        min_swing: How many times as large as the baseline's own excursions a change must be to be noticed.
    """
    found: dict[str, list[float]] = defaultdict(list)
    samples: dict[str, int] = defaultdict(int)
    series: dict[str, int] = defaultdict(int)
    largest = 0.0
    for group in groups:
        metrics = [one.metric for one in group.series]
        length = max(min(group.times.size - group.split, group.split // 4), group.persistence)
        for metric in metrics:
            series[metric] += 1
        for split in range(group.split - length, max(MIN_BASELINE, group.split // 2) - 1, -length):
            result = departures(group.values[:, :split], group.values[:, split : split + length], group.persistence)
            noticed = np.where((result.swing >= min_swing) & ~result.constant, np.abs(result.z), 0.0)
            largest = max(largest, float(noticed.max()))
            for metric, deviation in zip(metrics, noticed.tolist(), strict=True):
                samples[metric] += length
                if deviation > 0:
                    found[metric].append(min(deviation, SATURATION_Z))
    families = {metric: _Family(np.sort(np.array(found[metric])), samples[metric], series[metric]) for metric in series}
    return Chance(largest, families)
