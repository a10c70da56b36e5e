"""Message templates of log lines, and when each was logged.

Templates are mined with Drain (He et al., "Drain: An Online Log Parsing Approach with Fixed Depth Tree", ICWS 2017),
after numbers, identifiers and addresses were masked. Lines are masked and counted by the batch, and those that are
equal once masked reach the miner once, so that its cost follows the variety of messages and not their number. A line
costs eight bytes: its time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from diag_graph.analysis.log_masks import headline, masked_column
from diag_graph.analysis.records import FloatArray, LogRecord, TimeRange

MAX_VARIETY = 20_000
"""Distinct masked lines that are mined, and as many again of errors; later ones count as `OTHER`."""
OTHER = "(other messages)"
BATCH = 50_000
FAILURES = frozenset({"ERROR", "FATAL"})

Key = tuple[str, str, str]
"""Service, level, template."""


@dataclass(frozen=True, slots=True)
class Example:
    """One line as it was logged: its first line, and what was thrown."""

    text: str
    source: str
    time: float | None


@dataclass(frozen=True, slots=True, eq=False)
class PatternCount:
    """How often one template of one service and level was logged.

    Attributes:
        service: What logged it; empty when unknown.
        level: As recorded; empty when unknown.
        template: The message with variable parts as `<*>`; empty for all lines of a service and level together.
        times: Times of its lines, rising.
        first: Its first line.
        latest: Its last line.
        undated: Lines without a time.
    """

    service: str
    level: str
    template: str
    times: FloatArray
    first: Example
    latest: Example
    undated: int = 0

    @property
    def lines(self) -> int:
        """All its lines."""
        return int(self.times.size) + self.undated

    def example(self, onset: float | None) -> Example:
        """A line since the onset where one is kept, else the first."""
        if onset is None or (self.first.time is not None and self.first.time >= onset):
            return self.first
        return self.latest if self.latest.time is not None and self.latest.time >= onset else self.first


@dataclass(frozen=True, slots=True, eq=False)
class PatternSurvey:
    """Counts of all templates.

    Attributes:
        patterns: One entry a service, level and template.
        recorded: From the first to the last time of any line, of other patterns too; None when none has a time.
        cut: From when to when was read, when not all of it was; None when it was.
    """

    patterns: tuple[PatternCount, ...]
    recorded: TimeRange | None = None
    cut: TimeRange | None = None

    @property
    def lines(self) -> int:
        """Lines that were read."""
        return sum(pattern.lines for pattern in self.patterns)

    def within(self, window: TimeRange) -> PatternSurvey:
        """The same of a part of the time; lines without a time stay."""
        kept = []
        for pattern in self.patterns:
            low, high = (
                np.searchsorted(pattern.times, window.start, "left"),
                np.searchsorted(pattern.times, window.end, "right"),
            )
            if low == 0 and high == pattern.times.size:
                kept.append(pattern)
            elif low < high or pattern.undated:
                kept.append(replace(pattern, times=pattern.times[low:high]))
        return PatternSurvey(tuple(kept), _recorded(kept), self.cut)


@dataclass(slots=True)
class _Form:
    """One masked line of one service and level, while lines are read."""

    first: Example
    latest: Example
    times: array[float] = field(default_factory=lambda: array("d"))
    undated: int = 0


def count_patterns(records: Iterable[LogRecord]) -> PatternSurvey:
    """Mine templates, and count each by service and level.

    Args:
        records: Log lines, in the order of time where they have one.
    """
    forms: dict[Key, _Form] = {}
    varieties = {True: 0, False: 0}
    stream = iter(records)
    while batch := list(islice(stream, BATCH)):
        for service, level, text, times, undated, first, latest in _grouped(batch):
            key, failure = (service, level, text), level in FAILURES
            if key not in forms:
                if varieties[failure] >= MAX_VARIETY:
                    key = (service, level, OTHER)
                varieties[failure] += key not in forms
            form = forms.get(key)
            if form is None:
                form = forms[key] = _Form(_example(batch[first]), _example(batch[latest]))
            form.first = min(form.first, _example(batch[first]), key=_earliness)
            form.latest = max(form.latest, _example(batch[latest]), key=_earliness)
            form.times.extend(times)
            form.undated += undated
    patterns = tuple(_merged(forms))
    return PatternSurvey(patterns, _recorded(patterns))


def _recorded(patterns: Iterable[PatternCount]) -> TimeRange | None:
    dated = [pattern.times for pattern in patterns if pattern.times.size]
    if not dated:
        return None
    return TimeRange(float(min(times[0] for times in dated)), float(max(times[-1] for times in dated)))


def _grouped(batch: Sequence[LogRecord]) -> Iterator[tuple[str, str, str, list[float], int, int, int]]:
    """Service, level, masked text, times, number of lines without a time, rows of the first and the last line."""
    import polars as pl

    lines = pl.DataFrame(
        {
            "service": [record.service for record in batch],
            "level": [record.level for record in batch],
            "text": masked_column([headline(record.message, record.attributes) for record in batch]),
            "time": pl.Series([record.time for record in batch], dtype=pl.Float64),
        }
    ).with_row_index("row")
    time, row = pl.col("time"), pl.col("row")
    groups = lines.group_by("service", "level", "text", maintain_order=True).agg(
        time.drop_nulls(), time.null_count().alias("undated"), row.first().alias("first"), row.last().alias("latest")
    )
    yield from groups.iter_rows()


def _example(record: LogRecord) -> Example:
    return Example(headline(record.message, record.attributes), record.source, record.time)


def _merged(forms: dict[Key, _Form]) -> Iterator[PatternCount]:
    """Join masked lines that Drain puts under one template."""
    from drain3.drain import Drain

    miner = Drain(depth=5, sim_th=0.5, max_children=100, max_clusters=2 * MAX_VARIETY, parametrize_numeric_tokens=True)
    clusters: dict[str, int] = {}
    for _, _, text in forms:
        if text not in clusters and text != OTHER:
            clusters[text] = miner.add_log_message(text)[0].cluster_id
    templates = {cluster.cluster_id: cluster.get_template() for cluster in miner.clusters}
    joined: dict[Key, list[_Form]] = {}
    for (service, level, text), form in forms.items():
        template = templates.get(clusters.get(text, 0), text)
        joined.setdefault((service, level, template), []).append(form)
    for (service, level, template), members in joined.items():
        yield joined_pattern(
            (service, level, template),
            [
                PatternCount(service, level, template, np.array(one.times), one.first, one.latest, one.undated)
                for one in members
            ],
        )


def joined_pattern(key: Key, parts: Sequence[PatternCount]) -> PatternCount:
    """Several patterns as one, under a key."""
    return PatternCount(
        *key,
        times=np.sort(np.concatenate([part.times for part in parts])) if len(parts) > 1 else np.sort(parts[0].times),
        first=min((part.first for part in parts), key=_earliness),
        latest=max((part.latest for part in parts), key=_earliness),
        undated=sum(part.undated for part in parts),
    )


def _earliness(example: Example) -> float:
    return float("-inf") if example.time is None else example.time
