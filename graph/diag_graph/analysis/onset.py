"""When the trouble began, found from the data: the change that most series share, and that lasts.

Two questions. With an alert or a time given, trouble began then or some minutes before it (an alert fires late):
`earlier_onset`. With nothing given, any time of the window may be it: `common_onset`, by a CUSUM scan (Page 1954;
Hinkley 1970) a series and a vote over series. Both answer None rather than guess.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from diag_graph.analysis.change_kinds import ChangeKind, MetricChange
from diag_graph.analysis.departures import BLOCK
from diag_graph.analysis.metric_changes import MetricSurvey, survey_metrics
from diag_graph.analysis.records import FloatArray, Series, TimeRange
from diag_graph.analysis.series_groups import MIN_BASELINE

LOOK_BACK = 2_700.0
"""Seconds before a stated time in which the trouble may really have begun."""
UNCONFIRMED_LOOK_BACK = 900.0
"""The same, where no series of the alert's own subject says so."""
LEAD = 600.0
"""Seconds by which a cause may show before its symptom does."""
MIN_LEAD_SAMPLES = 2
"""Samples before the stated time that must show a change: one may be chance, or the clock of the source."""
FIRST_SHARE = 0.1
SHARE_OF_STRONGEST = 0.5
"""A change at least this strong, compared with the strongest one, may date the onset."""
TRIED_CANDIDATES = 3
MIN_CUSUM = 2.2
"""Height of the normalised CUSUM (a Brownian bridge's maximum; 1.63 is its 1 % point) from which a series votes."""
MIN_DATING = 2 * MIN_BASELINE
"""Samples below which a series is not searched for an onset."""
COUNTED = "counted"
"""Label of series that were made by counting events."""
_PRESENCE = frozenset({ChangeKind.APPEARED, ChangeKind.STOPPED})
_UNDATED = frozenset({ChangeKind.DRIFT, ChangeKind.GAP, ChangeKind.FROZEN})
BUCKETS = 60
"""Into how many equal parts a window is cut to count events or votes."""


def earlier_onset(
    series: Sequence[Series], window: TimeRange, stated: float, focus: frozenset[str] = frozenset()
) -> float | None:
    """The first lasting change shortly before a stated time; None when the trouble does not reach further back.

    The series of what the alert is about date the trouble. Where none of them changed, it reaches back only when more
    has changed, by weight, shortly before the stated time than from it on. Where nobody says what it is about, the
    stated time stands: something always changes somewhere.

    Args:
        series: Series to look at, counts of error lines or failed spans among them.
        window: Where the evidence begins and ends.
        stated: Start of the alert, or the time that the question names.
        focus: Services that the alert or the question names.
    """
    recorded = [one.times[0] for one in series if one.times.size]
    if not recorded or not focus:
        return None
    back = min(LOOK_BACK, 0.5 * (stated - max(window.start, float(np.median(recorded)))))
    if back <= 0:
        return None
    survey = survey_metrics(series, window, stated - back)
    changes = _datable(survey)
    weighty = _weighty(changes)
    lasting = [one for one in weighty if _lasts_until(one, stated)]
    own = _weighty([change for change in changes if change.series.service in focus])
    if own:
        first = min(change.onset if _lasts_until(change, stated) else stated for change in own)
    else:
        since = sum(change.score for change in changes if change.onset >= stated)
        recent = [change for change in lasting if change.onset >= stated - UNCONFIRMED_LOOK_BACK]
        first = min((change.onset for change in recent), default=stated)
        if sum(change.score for change in recent) <= since:
            return None
    if first >= stated:
        return None
    # A cause shows before the symptom that was alerted on; what single series do then is chance.
    return _dated([one for one in lasting if one.onset >= first - LEAD]) or first


def _lasts_until(change: MetricChange, stated: float) -> bool:
    """Whether a change began at least two samples before a stated time, and had not ended by then."""
    seen = int(((change.series.times >= change.onset) & (change.series.times < stated)).sum())
    return seen >= MIN_LEAD_SAMPLES and (change.ended is None or change.ended > stated)


def _datable(survey: MetricSurvey) -> list[MetricChange]:
    """The changes that have a time of their own.

    A drift is everywhere in its window, a pause or a series that froze may be its recorder's, and counted events begin
    and end with theirs.
    """
    return [
        change
        for change in survey.changes
        if change.kind not in _UNDATED
        and not (change.kind in _PRESENCE and change.series.labels.get(COUNTED) is not None)
    ]


def _weighty(changes: Sequence[MetricChange]) -> list[MetricChange]:
    """The changes that are strong enough, compared with the strongest one, to date something."""
    strongest = max((change.score for change in changes), default=0.0)
    return [change for change in changes if change.score >= SHARE_OF_STRONGEST * strongest]


def common_onset(series: Sequence[Series], window: TimeRange) -> float | None:
    """The time at which most series changed, weighed by how clearly; None when no change stands out.

    Args:
        series: Series to look at, counts of error lines or failed spans among them.
        window: Where the evidence begins and ends.
    """
    votes: dict[int, float] = defaultdict(float)
    width = max((window.end - window.start) / BUCKETS, 1e-9)
    for time, weight in _votes(series, window):
        bucket = int((time - window.start) / width)
        votes[bucket] += weight
        votes[bucket - 1] += 0.5 * weight
    for bucket in sorted(votes, key=lambda one: -votes[one])[:TRIED_CANDIDATES]:
        candidate = window.start + bucket * width
        survey = survey_metrics(series, window, candidate)
        if (dated := _dated(_weighty(_datable(survey)))) is not None:
            return dated
    return None


def event_counts(times: Iterable[float], window: TimeRange, service: str, metric: str) -> Series:
    """Events as a series: how many fell into each of up to `BUCKETS` equal parts of the window, at least 10 s each.

    Args:
        times: When the events happened.
        window: From when to when they were recorded.
        service: What they belong to.
        metric: What is counted.
    """
    width = max((window.end - window.start) / BUCKETS, 10.0)
    edges = np.arange(window.start, window.end + width, width)
    if edges.size == 1:
        edges = np.array([window.start, window.start + width])
    counts, _ = np.histogram(np.fromiter(times, dtype=np.float64), bins=edges)
    return Series(service, metric, edges[:-1], counts.astype(np.float64), {COUNTED: "events"})


def _dated(changes: Sequence[MetricChange]) -> float | None:
    """When the first tenth of the changes, by weight, had begun."""
    total, reached = sum(change.score for change in changes), 0.0
    for change in sorted(changes, key=lambda one: one.onset):
        reached += change.score
        if reached >= FIRST_SHARE * total:
            return change.onset
    return None


def can_date(series: Series) -> bool:
    """Whether a series has enough samples for a search of its strongest change."""
    return int(np.isfinite(series.values).sum()) >= MIN_DATING


def _votes(series: Sequence[Series], window: TimeRange) -> Iterable[tuple[float, float]]:
    by_grid: dict[bytes, list[FloatArray]] = defaultdict(list)
    grids: dict[bytes, FloatArray] = {}
    for one in series:
        keep = (one.times >= window.start) & (one.times <= window.end) & np.isfinite(one.values)
        times = one.times[keep]
        if times.size >= MIN_DATING:
            key = times.tobytes()
            grids[key] = times
            by_grid[key].append(one.values[keep])
    for key, rows in by_grid.items():
        heights, indices = cusum_peaks(np.stack(rows).astype(np.float64))
        times = grids[key]
        for height, index in zip(heights, indices, strict=True):
            if height >= MIN_CUSUM:
                yield float(times[index]), float(height)


def cusum_peaks(values: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Where each row changes its level most clearly.

    Values are replaced by their ranks first, so that a spike counts for no more than any other largest value.

    Args:
        values: One series a row, no NaN.

    Returns:
        The height of the normalised CUSUM of each row, and the index of the first value of the new level.
    """
    rows = max(1, BLOCK // values.shape[1])
    parts = [_cusum_peaks(values[start : start + rows]) for start in range(0, values.shape[0], rows)]
    return np.concatenate([height for height, _ in parts]), np.concatenate([index for _, index in parts])


def _cusum_peaks(values: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    ranks = _average_ranks(values)
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    deviation = centred.std(axis=1, keepdims=True)
    n = values.shape[1]
    sums = np.abs(np.cumsum(centred, axis=1)) / (np.where(deviation > 0, deviation, np.inf) * np.sqrt(n))
    peak = np.argmax(sums[:, :-1], axis=1)
    return sums[np.arange(values.shape[0]), peak], peak + 1


def _average_ranks(values: FloatArray) -> FloatArray:
    """Ranks along each row, equal values sharing the mean of theirs."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    place = np.arange(values.shape[1])
    new = np.ones(values.shape, np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    last = np.ones(values.shape, np.bool_)
    last[:, :-1] = new[:, 1:]
    first_equal = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    last_equal = np.minimum.accumulate(np.where(last, place, values.shape[1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape, np.float64)
    np.put_along_axis(ranks, order, (first_equal + last_equal) / 2, axis=1)
    return ranks
