"""Which log patterns changed at the onset, and how sure that is.

Counts are compared as rates. A burst is judged against what the pattern did by itself: its busiest equally long
stretch before the onset, which takes the place of a distribution that log lines do not follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diag_graph.analysis.log_patterns import FAILURES, PatternCount, PatternSurvey, joined_pattern
from diag_graph.analysis.records import FloatArray, TimeRange

MIN_RATIO = 3.0
"""How many times as frequent a known pattern must be."""
MIN_EVIDENCE = 8.0
"""Log-likelihood ratio of two Poisson rates against one, above which a difference is no chance (about 1 in 16,000)."""
MIN_COMMON = 20
"""Lines that report no failure below which their growth says nothing."""
MAX_STRETCHES = 50
MIN_BASELINE_SHARE = 0.1
"""Time before the onset, as a share of the time since, without which "none before" says nothing."""

_LEVEL_WEIGHT = {"FATAL": 1.3, "ERROR": 1.2, "WARN": 0.8, "": 0.6, "INFO": 0.45, "DEBUG": 0.3}
_MIN_NEW = {"FATAL": 1, "ERROR": 2, "WARN": 3}
_MIN_NEW_OTHERWISE = 4


class PatternKind(StrEnum):
    """How a pattern changed."""

    NEW = "new"
    GONE = "gone"
    MORE = "more frequent"
    LESS = "less frequent"
    VOLUME_MORE = "volume more"
    """All lines of a service and level together."""
    VOLUME_GONE = "volume gone"


@dataclass(frozen=True, slots=True)
class PatternChange:
    """One pattern that changed at the onset.

    Attributes:
        pattern: The pattern and its lines (for a volume: all lines of a service and level).
        kind: How it changed.
        before: Lines before the onset.
        after: Lines since.
        seconds_before: Time that was recorded before the onset.
        seconds_after: Time that was recorded since.
        onset: Time of the first line since the run's onset (of the last line, for one that is gone).
        score: Comparable over patterns: grows with level, count and surprise.
    """

    pattern: PatternCount
    kind: PatternKind
    before: int
    after: int
    seconds_before: float
    seconds_after: float
    onset: float
    score: float


def changed_patterns(survey: PatternSurvey, window: TimeRange, onset: float) -> list[PatternChange]:
    """The patterns that are new, gone, or far more or less frequent since the onset; most telling first.

    Args:
        survey: Counted patterns.
        window: What was looked at.
        onset: When the trouble began.
    """
    compared = recorded_about(survey, window, onset)
    if compared is None:
        return []
    begin, seconds_before, seconds_after = compared
    growth = _common_growth(survey, onset, (seconds_before, seconds_after))
    changes = [
        change
        for pattern in (*survey.patterns, *_volumes(survey.patterns))
        if (change := _compared(pattern, begin, onset, (seconds_before, seconds_after), growth)) is not None
    ]
    changes = list(_without_redundant_volumes(changes))
    changes.sort(key=lambda change: (-change.score, change.onset, change.pattern.service, change.pattern.template))
    return changes


def recorded_about(survey: PatternSurvey, window: TimeRange, onset: float) -> tuple[float, float, float] | None:
    """Since when there are lines, and the seconds of them before and since the onset; None: no baseline to compare."""
    recorded = survey.recorded
    if recorded is None:
        return None
    begin, end = max(window.start, recorded.start), min(window.end, recorded.end)
    before, since = onset - begin, max(end - onset, 1.0)
    return None if before < MIN_BASELINE_SHARE * since else (begin, before, since)


def _common_growth(survey: PatternSurvey, onset: float, seconds: tuple[float, float]) -> float:
    """How many times as many lines that report no failure are logged since the onset, by all services together.

    More requests, or a recorder that keeps more, give more lines of every kind: only what grew beyond that changed.
    At least 1, and 1 where there are too few lines to tell.
    """
    ordinary = [pattern.times for pattern in survey.patterns if pattern.level not in FAILURES]
    before = sum(int(np.searchsorted(times, onset, "left")) for times in ordinary)
    since = sum(int(times.size) for times in ordinary) - before
    if since < MIN_COMMON:
        return 1.0
    return max(1.0, (since / seconds[1]) / ((before + 1) / seconds[0]))


def _volumes(patterns: Iterable[PatternCount]) -> Iterable[PatternCount]:
    """All lines of each service and level as if they were one pattern, under an empty template."""
    by_level: dict[tuple[str, str], list[PatternCount]] = {}
    for pattern in patterns:
        by_level.setdefault((pattern.service, pattern.level), []).append(pattern)
    for (service, level), members in by_level.items():
        yield joined_pattern((service, level, ""), members)


def _without_redundant_volumes(changes: list[PatternChange]) -> Iterable[PatternChange]:
    """Drop the volume of a service and level of which a single pattern makes up most: it would say the same twice."""
    largest: dict[tuple[str, str], int] = {}
    for change in changes:
        if change.pattern.template:
            key = (change.pattern.service, change.pattern.level)
            largest[key] = max(largest.get(key, 0), change.before + change.after)
    for change in changes:
        key = (change.pattern.service, change.pattern.level)
        if change.pattern.template or 2 * largest.get(key, 0) < change.before + change.after:
            yield change


def _compared(
    pattern: PatternCount, begin: float, onset: float, seconds: tuple[float, float], growth: float
) -> PatternChange | None:
    times = pattern.times
    split = int(np.searchsorted(times, onset, side="left"))
    before, after = split, int(times.size) - split
    exposure = (seconds[0], seconds[1] * growth)
    kind = _kind(pattern, times[:split], after, (begin, onset, seconds[1]), exposure)
    if kind is None:
        return None
    evidence = rate_evidence(before, after, *exposure)
    moment = float(times[split] if after else times[-1])
    return PatternChange(pattern, kind, before, after, *seconds, onset=moment, score=_score(pattern, kind, evidence))


def _kind(
    pattern: PatternCount,
    earlier: FloatArray,
    after: int,
    stretch: tuple[float, float, float],
    exposure: tuple[float, float],
) -> PatternKind | None:
    """How a pattern changed, if it did.

    Args:
        pattern: The pattern.
        earlier: Times of its lines before the onset.
        after: Number of its lines since.
        stretch: Where the log begins, the onset, and the seconds since.
        exposure: Seconds before and since, the latter times the growth that is common to all lines.
    """
    before, volume = int(earlier.size), not pattern.template
    if before == 0:
        return None if volume or after < _MIN_NEW.get(pattern.level, _MIN_NEW_OTHERWISE) else PatternKind.NEW
    if rate_evidence(before, after, *exposure) < MIN_EVIDENCE:
        return None
    busiest, calmest = _extremes(earlier, *stretch)
    rate_before, rate_after = before / exposure[0], after / exposure[1]
    if rate_after >= MIN_RATIO * rate_before and after >= 2 * busiest + 1:
        return PatternKind.VOLUME_MORE if volume else PatternKind.MORE
    if after == 0 and calmest > 0:
        return PatternKind.VOLUME_GONE if volume else PatternKind.GONE
    if not volume and rate_before >= MIN_RATIO * rate_after and 2 * after + 1 <= calmest:
        return PatternKind.LESS
    return None


def _extremes(earlier: FloatArray, begin: float, onset: float, length: float) -> tuple[float, float]:
    """Most and fewest lines in any of the equally long stretches before the onset; scaled, where not one fits."""
    stretches = int((onset - begin) / length)
    if stretches < 1:
        scaled = earlier.size * length / max(onset - begin, 1.0)
        return scaled, scaled
    stretches = min(stretches, MAX_STRETCHES)
    edges = onset - length * np.arange(stretches, -1, -1)
    counts, _ = np.histogram(earlier, bins=edges)
    return float(counts.max()), float(counts.min())


def rate_evidence(before: int, after: int, seconds_before: float, seconds_after: float) -> float:
    """Log-likelihood ratio of two Poisson rates against a common one.

    Args:
        before: Events before.
        after: Events since.
        seconds_before: Time before, positive.
        seconds_after: Time since, positive.
    """
    total, seconds = before + after, seconds_before + seconds_after
    if total == 0:
        return 0.0
    ratio = 0.0
    for count, length in ((before, seconds_before), (after, seconds_after)):
        if count:
            ratio += count * float(np.log(count / (total * length / seconds)))
    return ratio


def _score(pattern: PatternCount, kind: PatternKind, evidence: float) -> float:
    weight = _LEVEL_WEIGHT.get(pattern.level, 0.5)
    if kind in (PatternKind.GONE, PatternKind.LESS, PatternKind.VOLUME_GONE):
        weight = 0.4
    elif kind is not PatternKind.NEW:
        weight *= 0.8
    return round(weight * float(np.log1p(evidence)), 3)
