"""Message templates of log lines, and when each was logged.

Templates are mined with Drain (He et al., "Drain: An Online Log Parsing Approach with Fixed Depth Tree", ICWS 2017),
after numbers, identifiers and addresses were masked. Lines are masked by the batch, and those of one service and level
that are equal once masked are one form. Each form reaches the miner once, so that its cost follows the variety of
messages and not their number. A line costs eight bytes: its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from diag_graph.analysis.log_masks import causes, headline, masked_column
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
    """One line as it was logged.

    Attributes:
        text: Its first line, and what was thrown.
        source: Where it stands.
        time: When it was logged, if that is known.
        causes: What was thrown and what caused it, outermost first; empty unless there are several.
    """

    text: str
    source: str
    time: float | None
    causes: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Mark:
    """One line of a form: when it was logged, and how to get it as it was."""

    time: float | None
    read: Callable[[], Example]


@dataclass(frozen=True, slots=True, eq=False)
class LogForm:
    """The lines of one service and level that are equal once masked.

    Attributes:
        service: What logged them; empty when unknown.
        level: As recorded; empty when unknown.
        text: The masked line.
        times: Times of its lines, in any order.
        first: Its first line.
        latest: Its last line.
        undated: Lines without a time.
    """

    service: str
    level: str
    text: str
    times: FloatArray
    first: Mark
    latest: Mark
    undated: int = 0


class FormCodes:
    """Gives each form of lines that come in by the batch a number, from 0 on.

    Attributes:
        keys: Service, level and masked text of each number.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.keys: list[Key] = []
        self._codes: dict[Key, int] = {}
        self._varieties = {True: 0, False: 0}

    def of(self, services: Sequence[str], levels: Sequence[str], headlines: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of these lines' forms; beyond `MAX_VARIETY` forms, the number of `OTHER`.

        Args:
            services: Of each line.
            levels: Of each line.
            headlines: Of each line, as `headline` gives them.
        """
        import polars as pl

        lines = pl.DataFrame({"service": services, "level": levels, "text": masked_column(headlines)})
        kinds = lines.unique(maintain_order=True)
        codes = pl.Series("code", [self._code(key) for key in kinds.iter_rows()], dtype=pl.Int32)
        coded = lines.join(kinds.with_columns(codes), on=lines.columns, how="left", maintain_order="left")
        return coded["code"].to_numpy()

    def _code(self, key: Key) -> int:
        code = self._codes.get(key)
        if code is None:
            failure = key[1] in FAILURES
            if self._varieties[failure] >= MAX_VARIETY and key[2] != OTHER:
                return self._code((*key[:2], OTHER))
            self._varieties[failure] += 1
            code = self._codes[key] = len(self.keys)
            self.keys.append(key)
        return code


def forms_by_code(
    keys: Sequence[Key], codes: NDArray[np.int32], times: FloatArray, ends: Callable[[int, int, int], tuple[Mark, Mark]]
) -> Iterator[tuple[int, LogForm]]:
    """Lines of one origin by their forms, each with the row of its first line.

    Args:
        keys: What the codes stand for.
        codes: The form of each line, in the order of time.
        times: Its time; NaN without one.
        ends: Gives a form's first and last line by its code and their rows.
    """
    rows = np.argsort(codes, kind="stable")
    ordered = codes[rows]
    starts = np.flatnonzero(np.diff(ordered, prepend=np.int32(-1))).tolist()
    for start, end in pairwise([*starts, len(rows)]):
        own = rows[start:end]
        dated = times[own]
        dated = dated[~np.isnan(dated)]
        code, row = int(ordered[start]), int(own[0])
        yield row, LogForm(*keys[code], dated, *ends(code, row, int(own[-1])), len(own) - len(dated))


def count_patterns(records: Iterable[LogRecord]) -> PatternSurvey:
    """Mine templates, and count each by service and level.

    Args:
        records: Log lines, in the order of time where they have one.
    """
    forms = FormCodes()
    codes, times = [np.empty(0, np.int32)], [np.empty(0)]
    firsts: dict[int, Mark] = {}
    latests: dict[int, Mark] = {}
    stream = iter(records)
    while batch := list(islice(stream, BATCH)):
        found = forms.of(
            [record.service for record in batch],
            [record.level for record in batch],
            [headline(record.message, record.attributes) for record in batch],
        )
        codes.append(found)
        times.append(np.array([np.nan if record.time is None else record.time for record in batch]))
        lines = dict(zip(reversed(found.tolist()), reversed(batch), strict=True))  # of equal codes the first one stays
        firsts = {code: _mark(record) for code, record in lines.items()} | firsts
        lines = dict(zip(found.tolist(), batch, strict=True))
        latests |= {code: _mark(record) for code, record in lines.items()}
    counted = forms_by_code(
        forms.keys,
        np.concatenate(codes),
        np.concatenate(times),
        lambda code, _row, _last: (firsts[code], latests[code]),
    )
    return survey_of(form for _, form in sorted(counted, key=itemgetter(0)))


def _mark(record: LogRecord) -> Mark:
    return Mark(record.time, partial(example_of, record))


def example_of(record: LogRecord) -> Example:
    """A record as the example of a pattern."""
    message, fields = record.message, record.attributes
    return Example(headline(message, fields), record.source, record.time, causes(message, fields))


def survey_of(forms: Iterable[LogForm]) -> PatternSurvey:
    """Join forms that Drain puts under one template, and count each template by service and level.

    Args:
        forms: In the order of their first lines; a form may come in parts.
    """
    kept: dict[Key, list[LogForm]] = {}
    varieties = {True: 0, False: 0}
    for form in forms:
        key, failure = (form.service, form.level, form.text), form.level in FAILURES
        if key not in kept:
            if varieties[failure] >= MAX_VARIETY:
                key = (form.service, form.level, OTHER)
            varieties[failure] += key not in kept
        kept.setdefault(key, []).append(form)
    patterns = tuple(_merged(kept))
    return PatternSurvey(patterns, _recorded(patterns))


def _recorded(patterns: Iterable[PatternCount]) -> TimeRange | None:
    dated = [pattern.times for pattern in patterns if pattern.times.size]
    if not dated:
        return None
    return TimeRange(float(min(times[0] for times in dated)), float(max(times[-1] for times in dated)))


def _merged(forms: Mapping[Key, Sequence[LogForm]]) -> Iterator[PatternCount]:
    from drain3.drain import Drain

    miner = Drain(depth=5, sim_th=0.5, max_children=100, max_clusters=2 * MAX_VARIETY, parametrize_numeric_tokens=True)
    clusters: dict[str, int] = {}
    for _, _, text in forms:
        if text not in clusters and text != OTHER:
            clusters[text] = miner.add_log_message(text)[0].cluster_id
    templates = {cluster.cluster_id: cluster.get_template() for cluster in miner.clusters}
    joined: dict[Key, list[LogForm]] = {}
    for (service, level, text), parts in forms.items():
        template = templates.get(clusters.get(text, 0), text)
        joined.setdefault((service, level, template), []).extend(parts)
    for key, members in joined.items():
        yield PatternCount(
            *key,
            times=np.sort(np.concatenate([one.times for one in members])),
            first=min((one.first for one in members), key=_earliness).read(),
            latest=max((one.latest for one in members), key=_earliness).read(),
            undated=sum(one.undated for one in members),
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


def _earliness(line: Example | Mark) -> float:
    return float("-inf") if line.time is None else line.time
