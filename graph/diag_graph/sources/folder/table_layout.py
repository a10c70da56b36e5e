"""How a table of metrics is laid out: its separator, and what each column holds."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diag_graph.sources.folder import fields
from diag_graph.sources.folder.times import TimeReader

_SEPARATORS = (",", "\t", ";", "|")
_SAMPLE_ROWS = 50
_TIME_WITHIN = 3
"""A time without a name that says so stands in one of the first columns."""
_TEXT_KEYS = frozenset({"message", "msg", "log", "level", "severity", "trace_id", "span_id"})
"""Headers of a table of something other than numbers."""
MISSING = frozenset({"", "nan", "null", "none", "na", "n/a", "-", "undefined", "no data"})
"""Cells that say that there is no value, in lower case."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


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
        decimal_comma: Whether numbers are written as 1,5.
        moment: The time of the first row that has one.
    """

    separator: str
    columns: tuple[str, ...]
    skip: int
    time: int
    service: int | None
    metric: int | None
    values: tuple[int, ...]
    labels: tuple[int, ...]
    decimal_comma: bool = False
    moment: float | None = None


def layout_of(head: str, times: TimeReader, overrides: Mapping[str, str] | None = None) -> Layout | None:
    """How the table that begins like this is laid out; None when it is no table of metrics.

    Args:
        head: The beginning of the file, whole lines.
        times: To try whether a column holds times.
        overrides: Header names by role (`time_column`, `service_column`, ...) as the folder's manifest gives them.
    """
    lines = head.split("\n")
    skip = next((number for number, line in enumerate(lines) if not _is_comment(line)), len(lines))
    body = [line for line in lines[skip : skip + _SAMPLE_ROWS + 1] if not _is_comment(line)]
    if len(body) < 2:  # noqa: PLR2004 (a header and a row)
        return None
    separator = max(_SEPARATORS, key=lambda mark: min(body[0].count(mark), body[1].count(mark)))
    try:
        header, *rows = csv.reader(io.StringIO("\n".join(body)), delimiter=separator)
    except csv.Error:
        return None
    rows = [row for row in rows if len(row) > 1]
    if not rows or len(header) < 2:  # noqa: PLR2004 (a time and a value)
        return None
    sample = _Sample(separator, tuple(name.strip() for name in header), rows, times, overrides or {})
    return sample.layout(skip + 1)


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


class _Sample:
    """The header and the first rows of a table."""

    def __init__(
        self,
        separator: str,
        header: tuple[str, ...],
        rows: Sequence[Sequence[str]],
        times: TimeReader,
        overrides: Mapping[str, str],
    ) -> None:
        self._separator = separator
        self._header = header
        self._times = times
        self._overrides = overrides
        self._columns = [[row[at].strip() for row in rows if at < len(row)] for at in range(len(header))]
        self._decimal_comma = separator != "," and any(
            _DECIMAL_COMMA.fullmatch(cell) for cells in self._columns for cell in cells
        )

    def layout(self, skip: int) -> Layout | None:
        time = self._time_column()
        if (
            time is None
            or self._times.read(self._header[time]) is not None
            or (not self._overrides and _TEXT_KEYS & {fields.plain(name) for name in self._header})
        ):
            return None
        others = [column for column in range(len(self._header)) if column != time]
        numeric = [column for column in others if self._is_numeric(column)]
        texts = [column for column in others if column not in numeric]
        metric, numeric = self._metric_and_values(numeric, texts)
        if not numeric:
            return None
        named = [column for column in texts if column != metric]
        service = self._named("service", fields.SERVICE, named)
        if service is None:
            service = self._named("service", fields.WEAK_SERVICE, named)
        return Layout(
            self._separator,
            self._header,
            skip,
            time,
            service,
            metric,
            tuple(numeric),
            tuple(column for column in named if column != service and self._header[column]),
            self._decimal_comma,
            next((moment for cell in self._columns[time] if (moment := self._times.read(cell)) is not None), None),
        )

    def _time_column(self) -> int | None:
        everywhere = range(len(self._header))
        named = self._named("time", fields.TIME, everywhere)
        if named is not None and self._is_time(named):
            return named
        return next((column for column in everywhere[:_TIME_WITHIN] if self._is_time(column)), None)

    def _metric_and_values(self, numeric: list[int], texts: list[int]) -> tuple[int | None, list[int]]:
        """The column of the metric's name and that of its value; None where each column of numbers is a metric."""
        metric = self._named("metric", fields.METRIC, texts)
        value = self._named("value", fields.VALUE, numeric)
        if metric is None:
            return None, numeric
        if value is not None:
            return metric, [value]
        return (metric, numeric) if len(numeric) == 1 else (None, numeric)

    def _named(self, role: str, names: tuple[str, ...], among: Sequence[int]) -> int | None:
        wanted = self._overrides.get(f"{role}_column")
        headers = {self._header[column]: column for column in reversed(among)}
        return headers.get(wanted or fields.key_of(tuple(headers), names) or "")

    def _is_time(self, column: int) -> bool:
        told = [cell for cell in self._columns[column] if cell]
        return bool(told) and sum(self._times.read(cell) is not None for cell in told) * 2 > len(told)

    def _is_numeric(self, column: int) -> bool:
        """Whether most cells that hold anything hold a number. An empty column counts: numbers may come later."""
        told = [cell for cell in self._columns[column] if cell.lower() not in MISSING]
        return sum(map(self._is_number, told)) * 2 > len(told) or not told

    def _is_number(self, cell: str) -> bool:
        try:
            float(cell.replace(",", ".") if self._decimal_comma else cell)
        except ValueError:
            return False
        return True
