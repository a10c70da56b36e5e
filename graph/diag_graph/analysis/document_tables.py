"""Tables that commands print: each row with the names of its columns, as a statement that signatures can match.

Read are boxes and rules of bars (psql, mysql, Markdown), columns under a header in capitals (kubectl, docker, kafka,
top, ps, df), and columns between tabs (mysql --batch, rabbitmqctl). A row's own name is what stands in the column that
names things, else in the first one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

MIN_COLUMNS = 2
MIN_HEADINGS = 3
"""Columns of a table without bars: two words in capitals may be anything."""
MAX_WIDTH = 2_000
"""Characters of a line up to which it may be a row."""
_NAMES = ("name", "names", "application_name", "mounted on", "mounted", "pod", "service", "queue")
"""Columns that name what a row is about, most telling first, where it is not the first column."""
_PROGRAMS, _OF_PROGRAMS = ("command", "cmd"), frozenset({"pid", "user", "uid"})
"""Columns that name a row that is a process, and what such a table begins with."""
_RULER = re.compile(r"\s*[|+:]?\s*:?-{2,}[-\s|+:]*\Z")
_HEADINGS = re.compile(r"\s*(?:Filesystem\s|(?:[A-Z%#][A-Z0-9_%#()/.:-]*(?:\s+|\Z)){2,}[A-Z%/#(])")
_CAPITALS = re.compile(r"(?:[A-Z0-9_%#()/.:+-]+\s*)+\Z")
_TWO_WORDS = re.compile(
    r"\b(Mounted on|CONTAINER ID|IMAGE ID|LAST SEEN|NOMINATED NODE|READINESS GATES|NET I/O|BLOCK I/O|CPU %|MEM %"
    r"|MEM USAGE / LIMIT)(?=\s|\Z)"
)
"""Headings of more than one word, where a single blank parts them."""
_GAP = re.compile(r"\s{2,}")
_JOINED = "\0"

Split = Callable[[str], list[str] | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
        index: Of its line, from 0.
        name: What it is about.
        text: `NAME: COLUMN value, COLUMN value`, the column of the name left out, and cells that hold nothing.
    """

    index: int
    name: str
    text: str


def read_rows(lines: Sequence[str], wanted: Collection[str]) -> Iterator[Row]:
    """The rows of the tables that have one of the wanted columns.

    Args:
        lines: Of a document.
        wanted: Names of columns in lower case.
    """
    index = 0
    while index < len(lines):
        header, first, split = _table_at(lines, index)
        index += 1
        if split is None or not any(name.lower() in wanted for name in header):
            continue
        for index in range(first, len(lines)):
            if _RULER.match(lines[index]):
                continue
            cells = split(lines[index]) if len(lines[index]) <= MAX_WIDTH else None
            if cells is None:
                break
            yield _row(index, header, cells)
        else:
            return


def _table_at(lines: Sequence[str], index: int) -> tuple[list[str], int, Split | None]:
    """The headings of a table that begins here, where its rows begin, and how a row is split."""
    line = lines[index].rstrip()
    if len(line) > MAX_WIDTH:
        return [], index, None
    below = lines[index + 1] if index + 1 < len(lines) else ""
    if "|" in line and ("|" in below or "+" in below) and _RULER.match(below) and not _RULER.match(line):
        header = _between_bars(line) or []
        return header, index + 2, _as_many(_between_bars, len(header)) if len(header) >= MIN_COLUMNS else None
    if "\t" in line and "\t" in below:
        header = line.split("\t")
        plain = len(header) >= MIN_COLUMNS and all(re.fullmatch(r"[A-Za-z_][\w ]*", name) for name in header)
        return header, index + 1, _as_many(lambda row: row.rstrip("\n").split("\t"), len(header)) if plain else None
    if _HEADINGS.match(line) and (line.lstrip().startswith("Filesystem") or _CAPITALS.match(line.strip())):
        return _columns(line, index)
    return [], index, None


def _as_many(split: Split, columns: int) -> Split:
    def of_row(line: str) -> list[str] | None:
        cells = split(line)
        return cells if cells is not None and len(cells) == columns else None

    return of_row


def _between_bars(line: str) -> list[str] | None:
    text = line.strip()
    if "|" not in text:
        return None
    text = text.removeprefix("|")
    text = text[:-1] if text.endswith("|") and line.strip().startswith("|") else text
    return [cell.strip() for cell in text.split("|")]


def _columns(line: str, index: int) -> tuple[list[str], int, Split | None]:
    """A header without bars: by wide gaps, by where its headings begin, or by blanks, whatever fits the row."""
    joined = _TWO_WORDS.sub(lambda found: found[0].replace(" ", _JOINED), line)
    header = [name.replace(_JOINED, " ") for name in joined.split()]
    if len(header) < MIN_HEADINGS:
        return [], index, None
    starts = [found.start() for found in re.finditer(r"\S+", joined)]

    def split(row: str) -> list[str] | None:
        text = row.rstrip()
        if not text.strip():
            return None
        for cells in (_GAP.split(text.strip()), text.split()):
            if len(cells) == len(header):
                return cells
        if all(start == 0 or text[start - 1 : start] in {"", " "} for start in starts):  # some cells are empty
            ends = [*starts[1:], max(len(text), starts[-1])]
            return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        words = text.split(None, len(header) - 1)  # the last column is text
        return words if len(words) == len(header) else None

    return header, index + 1, split


def _row(index: int, header: Sequence[str], cells: Sequence[str]) -> Row:
    lowered = [name.lower() for name in header]
    names = (*_NAMES, *_PROGRAMS) if lowered[0] in _OF_PROGRAMS else _NAMES
    at = next((lowered.index(name) for name in names if name in lowered), 0)
    said = [
        f"{name} {cell}"
        for column, (name, cell) in enumerate(zip(header, cells, strict=True))
        if column != at and cell and name
    ]
    return Row(index, cells[at], f"{cells[at]}: {', '.join(said)}")
