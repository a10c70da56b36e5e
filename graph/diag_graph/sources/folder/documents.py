"""Texts that are nothing else, line by line. Large ones are served from the file."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any, overload

from diag_graph.sources.folder.text import TextFile, clean

KEEP_BYTES = 2 << 20
"""Documents up to this size are kept whole."""
_LONG_LINE = 400
"""JSON on lines longer than this is printed anew, so that a range of lines means something."""


def document_lines(file: TextFile) -> Sequence[str]:
    """The lines of a text file, without control characters."""
    if file.size <= KEEP_BYTES:
        return tuple(clean(line) for line in _split(file.text()))
    return LazyLines(file)


def json_lines(value: Any, text: str) -> Sequence[str]:  # noqa: ANN401 (foreign JSON)
    """A JSON document by lines: as it stands where people can read it, printed anew where it is one long line."""
    lines = _split(text)
    if max(map(len, lines), default=0) > _LONG_LINE or (len(lines) == 1 and isinstance(value, (dict, list))):
        lines = json.dumps(value, indent=1, ensure_ascii=False).split("\n")
    return tuple(clean(line) for line in lines)


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


class LazyLines(Sequence[str]):
    """The lines of a large file, read where they are asked for."""

    def __init__(self, file: TextFile) -> None:
        """Note where each line begins."""
        self._file = file
        self._starts = array("q", (offset for offset, _ in file.lines()))

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        """A line, or a range of lines."""
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return self._read([chosen])[0]
        return self._read(chosen)

    def _read(self, numbers: Sequence[int]) -> list[str]:
        lines = []
        with self._file.open() as stream:
            for number in numbers:
                start = self._starts[number]
                end = self._starts[number + 1] if number + 1 < len(self) else self._file.size
                stream.seek(start)
                lines.append(clean(self._file.decoded(stream.read(end - start))))
        return lines
