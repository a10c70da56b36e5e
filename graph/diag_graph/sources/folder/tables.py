"""Metrics as CSV: one row a sample, one column a series, or rows of an entity with a column a metric.

Polars reads the cells as text, for a cell that is no number must be counted, not guessed at; times are read once a
distinct value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diag_graph.analysis.records import FloatArray, Series, utc
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.columns import SeriesName, from_labels, split_names
from diag_graph.sources.folder.reading import Reading, Tally, count
from diag_graph.sources.folder.text import TextFile
from diag_graph.sources.folder.times import TimeReader

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS = (",", "\t", ";", "|")
_SAMPLE_ROWS = 50
_TEXT_KEYS = frozenset({"message", "msg", "log", "level", "severity", "trace_id", "span_id"})
"""Headers of a table of something other than numbers."""
_MISSING = frozenset({"", "nan", "null", "none", "na", "n/a", "-", "undefined", "no data"})
_INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table of metrics is laid out.

    Attributes:
        separator: Between cells.
        columns: All headers, in order.
        skip: Lines down to and including the header.
        time: Column of the time.
        service: Column of the entity, if any.
        metric: Column of the metric's name in a long table; None in a wide one.
        values: Columns of numbers.
        labels: Columns of text.
    """

    separator: str
    columns: tuple[str, ...]
    skip: int
    time: int
    service: int | None
    metric: int | None
    values: tuple[int, ...]
    labels: tuple[int, ...]


def layout_of(head: str, times: TimeReader, overrides: Mapping[str, str] | None = None) -> Layout | None:
    """How the table that begins like this is laid out; None when it is no table of metrics.

    Args:
        head: The beginning of the file, whole lines.
        times: To try whether a column holds times.
        overrides: Header names by role (`time_column`, `service_column`, ...) as the folder's manifest gives them.
    """
    lines = head.splitlines()
    skip = 0
    while skip < len(lines) and (not lines[skip].strip() or lines[skip].lstrip().startswith("#")):
        skip += 1
    if skip >= len(lines) - 1:
        return None
    body = [line for line in lines[skip : skip + _SAMPLE_ROWS + 1] if line.strip() and not line.startswith("#")]
    separator = max(_SEPARATORS, key=lambda mark: min(body[0].count(mark), body[1].count(mark)) if len(body) > 1 else 0)
    if len(body) < 2 or separator not in body[0]:  # noqa: PLR2004 (a header and a row)
        return None
    try:
        rows = list(csv.reader(io.StringIO("\n".join(body)), delimiter=separator))
    except csv.Error:
        return None
    header, rows = [name.strip() for name in rows[0]], [row for row in rows[1:] if len(row) > 1]
    if not rows or len(header) < 2:  # noqa: PLR2004 (a time and a value)
        return None
    return _roles(separator, tuple(header), skip + 1, rows, times, overrides or {})


def _roles(
    separator: str,
    header: tuple[str, ...],
    skip: int,
    rows: Sequence[Sequence[str]],
    times: TimeReader,
    overrides: Mapping[str, str],
) -> Layout | None:
    def cells(column: int) -> list[str]:
        return [row[column].strip() for row in rows if column < len(row)]

    def named(role: str, names: tuple[str, ...]) -> int | None:
        key = overrides.get(f"{role}_column") or fields.key_of(header, names)
        return header.index(key) if key in header else None

    def is_time(column: int) -> bool:
        readable = [times.read(cell) is not None for cell in cells(column) if cell]
        return bool(readable) and sum(readable) * 2 > len(readable)

    time = named("time", fields.TIME)
    if time is None or not is_time(time):
        time = next((column for column in range(min(3, len(header))) if is_time(column)), None)
    if time is None or _TEXT_KEYS & {fields.plain(name) for name in header}:
        return None
    others = [column for column in range(len(header)) if column != time]
    numeric = [column for column in others if _is_numeric(cells(column))]
    metric, value = named("metric", fields.METRIC), named("value", fields.VALUE)
    service = named("service", fields.SERVICE)
    if service is None:
        service = named("service", fields.WEAK_SERVICE)
    if metric is not None and metric in numeric:
        metric = None
    if service == metric:
        service = None
    if value is not None and value in numeric and metric is not None:
        numeric = [value]
    elif metric is not None and len(numeric) != 1:
        metric = None
    if not numeric:
        return None
    if service in numeric:
        service = None
    labels = tuple(
        column
        for column in others
        if column not in {*numeric, service, metric} and header[column] and not _is_numeric(cells(column))
    )
    return Layout(separator, header, skip, time, service, metric, tuple(numeric), labels)


def _is_numeric(cells: Sequence[str]) -> bool:
    """Whether most cells that hold anything hold a number. A column without any content counts: it may come later."""
    told = [cell for cell in cells if cell.lower() not in _MISSING]
    numbers = sum(_number(cell) for cell in told)
    return numbers * 2 > len(told) or not told


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_table(
    file: TextFile, layout: Layout, times: TimeReader, known: Callable[[], Collection[str]], service: str = ""
) -> Reading:
    """Read a table of metrics.

    Args:
        file: The text.
        layout: How it is laid out.
        times: Reads its times.
        known: Gives services that other evidence names; asked only where column names need it.
        service: What its series belong to when neither rows nor columns say.
    """
    frame = _frame(file, layout)
    tally = Tally()
    moments = _moments(frame["c" + str(layout.time)], times, tally, layout.skip)
    groups, names = _groups(frame, layout)
    series: list[Series] = []
    dropped = duplicates = samples = 0
    column_names: list[SeriesName] = []
    if layout.metric is None:
        wanted = [layout.columns[column] for column in layout.values]
        column_names = (
            [SeriesName("", name) for name in wanted] if layout.service is not None else split_names(wanted, known())
        )
    for position, column in enumerate(layout.values):
        values, missing = _numbers(frame["c" + str(column)], tally, layout.skip)
        good = np.isfinite(values) & np.isfinite(moments)
        dropped += missing
        for group, chosen_times, chosen_values, repeated in _grouped(groups, moments, values, good):
            duplicates += repeated
            samples += len(chosen_times)
            name = names[group]
            if column_names:
                own = column_names[position]
                name = SeriesName(name.service or own.service, own.metric, {**name.labels, **own.labels})
            series.append(
                Series(name.service or service, name.metric, chosen_times, chosen_values, name.labels, file.name)
            )
    details = f"{count(samples, 'sample')}, {count(len(series), 'series', 'series')}"
    services = {one.service for one in series if one.service}
    if services:
        details += f" of {count(len(services), 'service')}"
    if samples:
        begin = min(float(one.times[0]) for one in series)
        details += f", {utc(begin)} to {utc(max(float(one.times[-1]) for one in series))}"
    if dropped:
        details += f", {count(dropped, 'cell')} empty or not finite"
    if duplicates:
        details += f", {count(duplicates, 'sample')} of a time given twice (the last is kept)"
    problems = tally.sentences(frame.height, "row")
    return Reading(series=tuple(series), details=(details,), problems=problems)


def _frame(file: TextFile, layout: Layout) -> pl.DataFrame:
    import polars as pl

    schema = {f"c{column}": pl.String for column in range(len(layout.columns))}
    with file.open() as stream:
        for _ in range(layout.skip):
            stream.readline()
        data = stream.read()
    if file.encoding != "utf-8":
        data = data.decode(file.encoding, "replace").encode()
    return pl.read_csv(
        io.BytesIO(data),
        has_header=False,
        separator=layout.separator,
        schema=schema,
        comment_prefix="#",
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
        quote_char='"',
    )


def _moments(column: pl.Series, times: TimeReader, tally: Tally, skip: int) -> FloatArray:
    import polars as pl

    distinct = column.unique(maintain_order=True)
    read = [times.read(text.strip()) if text else None for text in distinct.to_list()]
    table = pl.DataFrame({"text": distinct, "time": pl.Series(read, dtype=pl.Float64)})
    joined = column.to_frame("text").join(table, on="text", how="left", maintain_order="left", nulls_equal=True)
    moments: FloatArray = joined["time"].to_numpy().astype(np.float64)
    wrong = np.flatnonzero(np.isnan(moments))
    for row in wrong.tolist():
        tally.miss("have no time that can be read", row + skip + 1)
    return moments


def _numbers(column: pl.Series, tally: Tally, skip: int) -> tuple[FloatArray, int]:
    """The numbers of a column (NaN for what is none), and how many cells are empty or not finite."""
    import polars as pl

    text = column.str.strip_chars()
    values: FloatArray = text.cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
    odd = np.flatnonzero(~np.isfinite(values))
    missing = 0
    for row in odd.tolist():
        cell = (text[row] or "").lower()
        if cell in _MISSING or cell in _INFINITE:
            missing += 1
        else:
            tally.miss("have a value that is no number", row + skip + 1)
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
