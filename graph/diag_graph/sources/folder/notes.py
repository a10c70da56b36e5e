"""What the files of a folder say about each other: times that disagree by whole hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from diag_graph.analysis.records import TimeRange
from diag_graph.sources.folder.reading import count
from diag_graph.sources.folder.sniff import FolderFile

_HOUR = 3600.0
_MAX_SHIFT = 14
"""Hours by which any zone is apart from UTC at most."""
_LITTLE, _MUCH = 0.1, 0.8
"""Shares of a file's span that lie within the other files' before and after a shift that explains something."""
_INSTANT = 60.0
"""A span is taken to last at least so long, in seconds, that shares of it can be told."""


class FolderNotes(Mapping[str, str]):
    """Notes by the file that they are about. Made when they are first looked at, for they need every file read."""

    def __init__(self, files: Sequence[FolderFile], given: Mapping[str, str]) -> None:
        """Compare these files' times; `given` notes stand as they are."""
        self._files = files
        self._given = given

    @cached_property
    def _notes(self) -> Mapping[str, str]:
        return {**self._given, **disagreements(self._files)}

    def __getitem__(self, key: str) -> str:
        """The note of this name."""
        return self._notes[key]

    def __iter__(self) -> Iterator[str]:
        """Names of all notes."""
        return iter(self._notes)

    def __len__(self) -> int:
        """How many notes there are."""
        return len(self._notes)

    def __repr__(self) -> str:
        """The notes, as a dictionary shows them."""
        return repr(dict(self._notes))


def disagreements(files: Sequence[FolderFile]) -> dict[str, str]:
    """Files whose times carry no zone and match the rest of the folder only when they are moved by whole hours."""
    spans = {file.name: span for file in files if (span := file.reading.span()) is not None}
    assumed = [file.name for file in files if file.reading.zone_assumed and file.name in spans]
    certain = {name: span for name, span in spans.items() if name not in assumed}
    if not certain:
        return {}
    rest = TimeRange(min(span.start for span in certain.values()), max(span.end for span in certain.values()))
    notes = {}
    for name in assumed:
        hours = _explaining_shift(spans[name], rest)
        if hours:
            others = next(iter(certain)) if len(certain) == 1 else count(len(certain), "other file")
            direction = "before" if hours > 0 else "after"
            notes[name] = (
                f"times in {name} carry no zone and lie {count(abs(hours), 'hour')} {direction} those of {others}, "
                f"which do: they are probably local time; name it with timezone in incident.toml"
            )
    return notes


def _explaining_shift(span: TimeRange, rest: TimeRange) -> int:
    """The fewest whole hours to move a span by, so that it lies within the rest; 0 when it does so, or never does."""
    if _share_within(span, 0.0, rest) >= _LITTLE:
        return 0
    for hours in range(1, _MAX_SHIFT + 1):
        for signed in (hours, -hours):
            if _share_within(span, signed * _HOUR, rest) >= _MUCH:
                return signed
    return 0


def _share_within(span: TimeRange, shift: float, rest: TimeRange) -> float:
    """Which share of the shorter of two spans is common to both, once the first is moved."""
    start, end = span.start + shift, max(span.end, span.start + _INSTANT) + shift
    common = min(end, max(rest.end, rest.start + _INSTANT)) - max(start, rest.start)
    shorter = min(end - start, max(rest.end - rest.start, _INSTANT))
    return max(0.0, common) / shorter
