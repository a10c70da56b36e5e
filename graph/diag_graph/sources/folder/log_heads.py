"""Level and service of a log line, from the words and brackets between its time and its message."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from diag_graph.sources.folder import log_formats as formats
from diag_graph.sources.folder.levels import LEVELS

_MAX_REMEMBERED = 10_000


class Head(NamedTuple):
    """What stands before a message.

    Attributes:
        level: In our words; empty when none is named.
        service: Empty when none is named.
        end: Where it ends.
    """

    level: str
    service: str
    end: int


class HeadReader:
    """Reads the heads of one file's lines, each kind of head once: millions of lines share a few dozen."""

    def __init__(self, known: Callable[[], Collection[str]]) -> None:
        """Make a reader.

        Args:
            known: Gives services that other evidence names; asked once, when the first line is read.
        """
        self._known = known
        self._services: dict[str, bool] = {}
        self._heads: dict[str, Head] = {}

    def read(self, text: str) -> tuple[Head, str]:
        """The head, and the message behind it.

        Args:
            text: What follows the time.
        """
        match = formats.HEAD.match(text)
        head = self.head(match[0] if match else "")
        return head, message_of(text, head.end, head.end)

    def head(self, text: str) -> Head:
        """The head in what `HEAD` found, which may go on into the message."""
        head = self._heads.get(text)
        if head is None:
            if len(self._heads) >= _MAX_REMEMBERED:
                self._heads.clear()
            head = self._heads[text] = self._look_at(text)
        return head

    def _look_at(self, text: str) -> Head:
        level = ""
        service = ""
        position = begin = 0
        skipped = False
        while position < len(text):
            token = formats.TOKEN.match(text, position)
            if token is None:
                break
            bracket, angle, word, colon = token.groups()
            if word is not None:
                found = LEVELS.get(word.upper()) if len(word) > 1 and (colon or word.isupper()) else None
                if not found:
                    break
                level = level or found
            else:
                name = bracket or angle or ""
                found = LEVELS.get(name.rpartition(":")[2].strip().upper())
                if found:
                    level = level or found
                elif not (service or skipped) and self._names_service(name):
                    service = name
                else:
                    skipped = True
            position = token.end()
            begin = begin if skipped else position
        return Head(level, service, begin)

    def _names_service(self, word: str) -> bool:
        told = self._services.get(word)
        if told is None:
            if not self._services:
                self._services.update(dict.fromkeys(self._known(), True))
            told = self._services.get(word) or (
                formats.SERVICE_NAME.fullmatch(word) is not None and formats.THREAD_NAME.fullmatch(word) is None
            )
            if len(self._services) < _MAX_REMEMBERED:
                self._services[word] = told
        return told


def message_of(line: str, begin: int, head: int) -> str:
    """A message without what parts it from its head; indentation stays, for it says that an event goes on.

    Args:
        line: The line, or a part of it.
        begin: Where its head ends.
        head: The head's length.
    """
    first = line[begin : begin + 2]
    if first[:1] == " " and first[1:].isalnum():
        return line[begin + 1 :]
    rest = line[begin:]
    if first[:1] == "\t" or (head == 0 and first == "  "):
        return rest
    return rest[formats.parting_ends(rest) :]
