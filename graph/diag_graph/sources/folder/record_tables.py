"""CSV whose rows are not samples but records: exported log events, spans, alerts or changes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from diag_graph.sources.folder.json_file import majority
from diag_graph.sources.folder.reading import Kind, Tally
from diag_graph.sources.folder.text import TextFile, clean

_SAMPLE_ROWS = 20
_SEPARATORS = ",;\t|"
_LEAST_COLUMNS = 2


def kind_of_table(head: str) -> Kind | None:
    """What the rows of a table are, judged by its header and first rows; None when they are nothing that is known."""
    lines = [line for line in head.split("\n") if line.strip()][: _SAMPLE_ROWS + 1]
    if len(lines) < _LEAST_COLUMNS:
        return None
    try:
        rows = list(_records(csv.reader(io.StringIO("\n".join(lines)), delimiter=_separator(lines[0]))))
    except csv.Error:
        return None
    return majority([row for row in rows if row is not None]) if rows else None


def rows_of_table(file: TextFile, tally: Tally) -> Iterator[dict[str, Any]]:
    """The rows, each by its headers; rows of another width are counted and left out."""
    lines = (line + "\n" for _, line in file.lines() if line.strip())
    reader = csv.reader(lines, delimiter=_separator(file.head.lstrip().split("\n", 1)[0]))
    try:
        for row in _records(reader):
            if row is None:
                tally.miss("have more or fewer cells than the header", reader.line_num)
            else:
                yield row
    except csv.Error as error:
        tally.miss(f"and all after it cannot be told apart ({error})", reader.line_num)


def _separator(header: str) -> str:
    return max(_SEPARATORS, key=header.count)


def _records(reader: Iterator[list[str]]) -> Iterator[dict[str, Any] | None]:
    header = [name.strip() for name in next(reader, [])]
    if len(header) < _LEAST_COLUMNS or len(set(header)) < len(header):
        return
    for row in reader:
        yield (
            {name: clean(cell) for name, cell in zip(header, row, strict=True) if cell}
            if len(row) == len(header)
            else None
        )
