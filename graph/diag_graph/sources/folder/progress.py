"""How far the reading of a folder has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from diag_graph.sources.ports import Progress


class FolderProgress:
    """Adds up what is read of a folder's files, and tells whoever watches.

    Attributes:
        watchers: Who is told.
    """

    def __init__(self) -> None:
        """Begin with nothing to read."""
        self.watchers: list[Callable[[Progress], None]] = []
        self._total = 0
        self._done = 0
        self._reading = ""

    def expect(self, size: int) -> None:
        """A file of that many bytes will be read when somebody asks for what is in it."""
        self._total += size

    @contextmanager
    def reading(self, name: str, size: int) -> Iterator[None]:
        """While a file is read that was expected."""
        self._reading = name
        try:
            yield
        finally:
            self._done += size
            self._reading = ""

    def advance(self, name: str, offset: int) -> None:
        """A file has been read up to there. Files that are read again, for their lines, count no more."""
        if name == self._reading:
            told = Progress(name, self._done + offset, self._total)
            for watcher in self.watchers:
                watcher(told)
