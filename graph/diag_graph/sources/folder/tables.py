"""Metrics as CSV: one row a sample, one column a series, or rows of an entity with a column a metric.

Polars reads the cells as text, for a cell that is no number must be counted, not guessed at; times are read once a
distinct value.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diag_graph.analysis.records import FloatArray, Series
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.columns import SeriesName, from_labels, split_names
from diag_graph.sources.folder.encodings import NotTextError
from diag_graph.sources.folder.reading import Reading, Tally, count, series_detail
from diag_graph.sources.folder.table_layout import MISSING, Layout
from diag_graph.sources.folder.text import TextFile
from diag_graph.sources.folder.times import TimeReader

if TYPE_CHECKING:
    import polars as pl

_INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})


def read_table(
    file: TextFile, layout: Layout, times: TimeReader, known: Callable[[], Collection[str]], service: str, stem: str
) -> Reading:
    """Read a table of metrics.

    Args:
        file: The text.
        layout: How it is laid out.
        times: Reads its times.
        known: Gives services that other evidence names; asked only where names need it.
        service: What its series belong to when neither rows nor columns say; empty when unknown.
        stem: What the file's name says, which may be a service, a metric or both.

    Raises:
        NotTextError: its cells cannot be told apart.
    """
    frame = _frame(file, layout)
    tally = Tally()
    moments = _moments(frame[f"c{layout.time}"], times, tally, layout.skip)
    groups, group_names = _groups(frame, layout)
    columns = [SeriesName("", "")] if layout.metric is not None else _column_names(layout, known, stem)
    if not service and stem in known():
        service = stem
    series: list[Series] = []
    missing = repeated = 0
    for own, column in zip(columns, layout.values, strict=True):
        values, empty = _numbers(frame[f"c{column}"], layout, tally)
        missing += empty
        good = np.isfinite(values) & np.isfinite(moments)
        for group, group_times, group_values, again in _grouped(groups, moments, values, good):
            repeated += again
            name = group_names[group]
            labels = {**name.labels, **own.labels}
            owner = name.service or own.service or service
            series.append(Series(owner, own.metric or name.metric, group_times, group_values, labels, file.name))
    details = series_detail(series)
    if missing:
        details += f", {count(missing, 'cell')} empty or not finite"
    if repeated:
        details += f", {count(repeated, 'sample')} replaced by a later row of the same time"
    return Reading(series=tuple(series), details=(details,), problems=tally.sentences(frame.height, "row"))


def _column_names(layout: Layout, known: Callable[[], Collection[str]], stem: str) -> list[SeriesName]:
    """What each column of numbers speaks of. A lone column `value` is called what its file is called."""
    names = [layout.columns[column] for column in layout.values]
    if len(names) == 1 and fields.plain(names[0]) in fields.VALUE and stem:
        names = [stem]
    if layout.service is not None:
        return [replace(split_names([name])[0], service="", metric=name) for name in names]
    return split_names(names, known())


def _frame(file: TextFile, layout: Layout) -> pl.DataFrame:
    """All cells as text. A quotation mark that is never closed would swallow the rest: then marks are plain text."""
    import polars as pl

    schema = {f"c{column}": pl.String for column in range(len(layout.columns))}
    with file.open() as stream:
        for _ in range(layout.skip):
            stream.readline()
        data = stream.read()
    if file.encoding != "utf-8":
        data = data.decode(file.encoding, "replace").encode()
    for quote in ('"', None):
        try:
            return pl.read_csv(
                io.BytesIO(data),
                has_header=False,
                separator=layout.separator,
                schema=schema,
                comment_prefix="#",
                truncate_ragged_lines=True,
                encoding="utf8-lossy",
                quote_char=quote,
            )
        except pl.exceptions.PolarsError as error:
            failure = error
    raise NotTextError(f"cannot be read as a table: {failure}")


def _moments(column: pl.Series, times: TimeReader, tally: Tally, skip: int) -> FloatArray:
    import polars as pl

    distinct = column.unique(maintain_order=True)
    read = [times.read(text.strip()) if text else None for text in distinct.to_list()]
    table = pl.DataFrame({"text": distinct, "time": pl.Series(read, dtype=pl.Float64)})
    joined = column.to_frame("text").join(table, on="text", how="left", maintain_order="left", nulls_equal=True)
    moments: FloatArray = joined["time"].to_numpy().astype(np.float64)
    for row in np.flatnonzero(np.isnan(moments)).tolist():
        tally.miss("have no time that can be read", row + skip + 1)
    return moments


def _numbers(column: pl.Series, layout: Layout, tally: Tally) -> tuple[FloatArray, int]:
    """The numbers of a column (NaN for what is none), and how many cells are empty or not finite."""
    import polars as pl

    text = column.str.strip_chars()
    if layout.decimal_comma:
        text = text.str.replace(",", ".", literal=True)
    values: FloatArray = text.cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
    missing = 0
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        cell = (text[row] or "").lower()
        if cell in MISSING or cell in _INFINITE:
            missing += 1
        else:
            tally.miss("have a value that is no number", row + layout.skip + 1)
    return values, missing


def _groups(frame: pl.DataFrame, layout: Layout) -> tuple[NDArray[np.int64], list[SeriesName]]:
    """For each row the number of its group (entity, metric and labels alike), and each group's name."""
    keys = [column for column in (layout.service, layout.metric, *layout.labels) if column is not None]
    if not keys:
        return np.zeros(frame.height, np.int64), [SeriesName("", "")]
    columns = [f"c{column}" for column in keys]
    distinct = frame.select(columns).unique(maintain_order=True).with_row_index("group")
    joined = frame.select(columns).join(distinct, on=columns, how="left", maintain_order="left", nulls_equal=True)
    names = []
    for row in distinct.select(columns).iter_rows():
        cell = {key: (text or "").strip() for key, text in zip(keys, row, strict=True)}
        metric = cell[layout.metric] if layout.metric is not None else ""
        labels = {layout.columns[column]: cell[column] for column in layout.labels if cell[column]}
        if layout.service is not None:
            names.append(SeriesName(cell[layout.service], metric, labels))
        else:
            names.append(from_labels(labels, metric))
    return joined["group"].to_numpy().astype(np.int64), names


def _grouped(
    groups: NDArray[np.int64], moments: FloatArray, values: FloatArray, good: NDArray[np.bool_]
) -> list[tuple[int, FloatArray, FloatArray, int]]:
    """Each group's samples by time, and how many a later one of the same time replaced."""
    rows = np.flatnonzero(good)
    rows = rows[np.lexsort((moments[rows], groups[rows]))]
    if not len(rows):
        return []
    kept_groups, kept_times = groups[rows], moments[rows]
    # Sorting is stable, so of samples of one time the last in the file comes last, and is kept.
    last = np.append((np.diff(kept_groups) != 0) | (np.diff(kept_times) != 0), True)
    borders = np.flatnonzero(np.diff(kept_groups)) + 1
    out = []
    for part in np.split(np.arange(len(rows)), borders):
        keep = part[last[part]]
        out.append((int(kept_groups[part[0]]), kept_times[keep], values[rows[keep]], len(part) - len(keep)))
    return out
