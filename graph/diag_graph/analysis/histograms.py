"""What histograms and summaries measure: means and quantiles, from counters that each alone say little.

A bucket's counter rises with the traffic, so that a busier service looks like an anomaly in every bucket, and a slower
one in some. What a person reads is the mean of what was observed between two samples (increase of the sum by increase
of the count), and quantiles of it, estimated as Prometheus' `histogram_quantile` does: linearly within the bucket that
the quantile falls into (https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from diag_graph.analysis.records import FloatArray, Series
from diag_graph.analysis.series_groups import TYPE_LABEL, counts_up, increases

QUANTILES = {"p50": 0.5, "p95": 0.95}
ESTIMATED = "estimated"
"""Label of a series that is an estimate, and from what."""
_BUCKET, _SUM, _COUNT, _MEAN = "_bucket", "_sum", "_count", "_mean"
_BOUND = "le"
_ASIDE = frozenset({_BOUND, TYPE_LABEL, "unit"})
"""Labels in which the parts of one histogram may differ."""

_Key = tuple[object, ...]


def measured_by(series: Sequence[Series]) -> list[Series]:
    """Means and quantiles of the histograms and summaries among some series, each between neighbouring samples.

    Args:
        series: Any series. Parts of a histogram are known by their names and the label `le`, as Prometheus has them.

    Returns:
        New series, `..._mean`, `..._p50` and `..._p95`; a sample between which nothing was observed is missing.
    """
    parts: dict[str, dict[_Key, Series]] = {_SUM: {}, _COUNT: {}}
    buckets: dict[_Key, list[Series]] = defaultdict(list)
    for one in series:
        if one.metric.endswith(_BUCKET) and _BOUND in one.labels:
            buckets[_key(one, _BUCKET)].append(one)
        for suffix, found in parts.items():
            if one.metric.endswith(suffix):
                found[_key(one, suffix)] = one
    known = {(one.service, one.metric) for one in series}
    made = [
        *(_mean(parts[_SUM][key], parts[_COUNT][key]) for key in parts[_SUM] if key in parts[_COUNT]),
        *(one for some in buckets.values() for one in _quantiles(some)),
    ]
    return [one for one in made if one is not None and (one.service, one.metric) not in known]


def superseded(series: Iterable[Series]) -> frozenset[int]:
    """The sums whose means are there too, by `id`: a sum alone only says traffic and size once more."""
    sums: dict[_Key, int] = {}
    means: set[_Key] = set()
    for one in series:
        if one.metric.endswith(_SUM):
            sums[_key(one, _SUM)] = id(one)
        elif one.metric.endswith(_MEAN):
            means.add(_key(one, _MEAN))
    return frozenset(sums[key] for key in means & sums.keys())


def _key(one: Series, suffix: str) -> _Key:
    labels = sorted((key, value) for key, value in one.labels.items() if key not in _ASIDE)
    return (one.service, one.metric.removesuffix(suffix), *labels)


def _mean(total: Series, number: Series) -> Series | None:
    times, (sums, counts) = _aligned([total, number])
    if times.size < 2 or not (counts_up(sums) and counts_up(counts)):  # noqa: PLR2004 - an increase needs two
        return None
    observed, added = increases(counts), increases(sums)
    some = observed > 0
    if not some.any():
        return None
    metric = total.metric.removesuffix(_SUM) + _MEAN
    labels = {key: value for key, value in total.labels.items() if key != TYPE_LABEL}
    return Series(total.service, metric, times[1:][some], added[some] / observed[some], labels, total.source)


def _quantiles(buckets: Sequence[Series]) -> Iterator[Series]:
    bounds = [_bound(one.labels[_BOUND]) for one in buckets]
    ordered = [buckets[at] for at in np.argsort(bounds, kind="stable")]
    upper = np.sort(np.array(bounds))
    if len(ordered) < 2 or math.isnan(upper[-1]) or not math.isinf(upper[-1]):  # noqa: PLR2004 - see below
        return  # without a bucket for all, and one for some, nothing can be told
    times, rows = _aligned(ordered)
    if times.size < 2:  # noqa: PLR2004 - an increase needs two
        return
    observed = np.maximum.accumulate(np.stack([increases(row) for row in rows]), axis=0)
    some = observed[-1] > 0
    if not some.any():
        return
    first = ordered[0]
    labels = {key: value for key, value in first.labels.items() if key not in {_BOUND, TYPE_LABEL}}
    labels[ESTIMATED] = "from buckets"
    base = first.metric.removesuffix(_BUCKET)
    for name, share in QUANTILES.items():
        values = _quantile(upper, observed[:, some], share)
        yield Series(first.service, f"{base}_{name}", times[1:][some], values, labels, first.source)


def _quantile(upper: FloatArray, observed: FloatArray, share: float) -> FloatArray:
    """The quantile of each column of cumulative counts, one row a bucket; the last bucket has no upper bound."""
    rank = share * observed[-1]
    at = np.argmax(observed >= rank, axis=0)
    columns = np.arange(observed.shape[1])
    below = np.where(at > 0, observed[np.maximum(at - 1, 0), columns], 0.0)
    inside = observed[at, columns] - below
    low = np.where(at > 0, upper[np.maximum(at - 1, 0)], np.minimum(upper[0], 0.0))
    high = upper[np.minimum(at, upper.size - 2)]
    part = np.divide(rank - below, inside, out=np.ones_like(rank), where=inside > 0)
    # In the last bucket the largest bound is all that is known; one below zero has no width.
    return np.asarray(np.where((at == upper.size - 1) | (high <= low), high, low + (high - low) * part))


def _bound(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _aligned(series: Sequence[Series]) -> tuple[FloatArray, list[FloatArray]]:
    """The times that all series share, and their values then."""
    times = series[0].times
    if all(np.array_equal(times, one.times) for one in series[1:]):
        return times, [one.values for one in series]
    for one in series[1:]:
        times = np.intersect1d(times, one.times, assume_unique=True)
    return times, [one.values[np.isin(one.times, times, assume_unique=True)] for one in series]
