"""Sections into passages: as many whole blocks as fit, with the headings above them and their lines in the file.

A passage is what is found; it is cited in pieces, each short enough to be quoted whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diag_graph.knowledge.markdown import Block, Document, Unit

MAX_PASSAGE = 1_200
"""Characters of a passage: a section of a runbook mostly fits, and what is found is still to the point."""

_LINE = re.compile(r"(?<!\\)\n")
"""The end of a line that does not go on with the next, as a command does after a backslash."""
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？；])")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a runbook.

    Attributes:
        headings: The headings above it, outermost first.
        first: Its first line in the file, counted from 1.
        last: Its last line.
        units: Its texts: a paragraph, an item of a list, a piece of code; each with its lines.
    """

    headings: tuple[str, ...]
    first: int
    last: int
    units: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.units)

    @property
    def fingerprint(self) -> str:
        """Equal for passages that say the same in the same words, wherever they stand."""
        return hashlib.sha256(self.text.casefold().encode("utf-8", "replace")).hexdigest()


def passages_of(document: Document, limit: int = MAX_PASSAGE) -> list[Passage]:
    """The passages of a document, in its order.

    Args:
        document: A Markdown file.
        limit: Characters of a passage.
    """
    return [
        Passage(section.headings, group[0][0], group[-1][1], tuple(text for _, _, text in group))
        for section in document.sections
        for group in _groups(section.blocks, limit)
    ]


def _groups(blocks: Sequence[Block], limit: int) -> Iterator[list[Unit]]:
    """Neighbouring blocks that fit together; a block that fits no passage is divided between its units."""
    group: list[Unit] = []
    room = limit
    for block in blocks:
        units = list(_units(block, limit))
        needed = sum(len(text) + 1 for _, _, text in units)
        for index, unit in enumerate(units):
            if group and (len(unit[2]) + 1 > room or (index == 0 and room < needed <= limit)):
                yield group
                group, room = [], limit
            group.append(unit)
            room -= len(unit[2]) + 1
    if group:
        yield group


def _units(block: Block, limit: int) -> Iterator[Unit]:
    """A block's units: code and tables in one while they fit."""
    whole = "\n".join(text for _, _, text in block.units)
    if block.whole and len(whole) <= limit:
        yield block.first, block.last, whole
        return
    for first, last, text in block.units:
        for piece in pieces((text,), limit):
            yield first, last, piece


def pieces(units: Sequence[str], limit: int) -> list[str]:
    """Units put together into pieces of at most `limit` characters.

    A unit that is longer is cut between lines or after a sentence, and where there is neither, at white space or at the
    limit. Pieces are parts of the text as it stands: nothing is added or left out but white space.
    """
    made: list[str] = []
    for unit in units:
        for part in _parts(unit, limit):
            if made and len(made[-1]) + 1 + len(part) <= limit:
                made[-1] = f"{made[-1]}\n{part}"
            else:
                made.append(part)
    return made


def _parts(unit: str, limit: int) -> Iterator[str]:
    rest = unit
    while len(rest) > limit:
        cut = _cut(rest, limit)
        yield rest[:cut].rstrip()
        rest = rest[cut:]
        rest = rest.lstrip("\n") if rest.startswith("\n") else rest.lstrip()  # a line keeps its indent
    if rest:
        yield rest


def _cut(text: str, limit: int) -> int:
    """Where to cut a text that is too long: the last good place, not in its first third."""
    head = text[: limit + 1]
    ends = [found.end() for found in _SENTENCE.finditer(head) if limit // 3 <= found.start() <= limit]
    lines = [found.start() for found in _LINE.finditer(head) if limit // 3 <= found.start() <= limit]
    blank = head.rfind(" ")
    if lines:
        return lines[-1]
    if ends:
        return min(ends[-1], limit)
    return blank if blank > 0 else limit
