"""How long thousands of series take: finding what changed, with an onset and without.

    python benchmarks/metric_series.py                            # 5,000 series of a day, a sample a minute
    python benchmarks/metric_series.py --series 20000 --samples 240

Series are made here and held in memory: noise, one in a hundred of which rises to three times its level for the last
tenth. Seconds are CPU seconds of one process. They stand beside those of BARO's score of the same series (median and
interquartile range of the time before the onset, the largest deviation since), each computed with numpy, the least that
any method of this kind must do.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable

import numpy as np

from diag_graph.analysis.metric_changes import survey_metrics
from diag_graph.analysis.onset import common_onset
from diag_graph.analysis.records import Series, TimeRange

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
START, STEP = 1_796_040_000.0, 60.0


def made(count: int, samples: int) -> list[Series]:
    """So many series of two hundred services."""
    generator = np.random.default_rng(1)
    times = START + STEP * np.arange(samples, dtype=np.float64)
    found = []
    for number in range(count):
        row = np.abs(generator.normal(10.0, 1.0, samples))
        if number % 100 == 0:
            row[-samples // 10 :] += 20.0
        found.append(Series(f"service-{number % 200}", f"metric_{number // 200}", times.copy(), row))
    return found


def baro_scores(series: list[Series], onset: float) -> list[float]:
    """BARO's score of each series."""
    scores = []
    for one in series:
        before, since = np.split(one.values, [int(one.times.searchsorted(onset))])
        low, centre, high = np.percentile(before, (25, 50, 75))
        scores.append(float((since.max() - centre) / ((high - low) or 1.0)))
    return scores


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    """Print a line a task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=5_000)
    parser.add_argument("--samples", type=int, default=1_440)
    options = parser.parse_args()
    series = made(options.series, options.samples)
    window = TimeRange(START, START + STEP * (options.samples - 1))
    onset = START + STEP * (options.samples - options.samples // 10)
    tasks: dict[str, Callable[[], object]] = {
        "BARO's score of each": lambda: baro_scores(series, onset),
        "what changed at an onset": lambda: survey_metrics(series, window, onset),
        "finding the onset": lambda: common_onset(series, window),
    }
    survey_metrics(series[:10], window, onset)  # imports are not what is measured
    print(f"{options.series:,} series of {options.samples:,} samples")
    seconds = {name: cpu_seconds(work) for name, work in tasks.items()}
    base = seconds["BARO's score of each"]
    for name, spent in seconds.items():
        print(f"  {name:<26} {spent:>7.2f} s  {spent / base:>6.2f} times BARO's score")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB, the series included")


if __name__ == "__main__":
    main()
