"""The one normalisation under which excerpts and recorded texts are compared (contract section 5), with the way back.

Zero-width characters are dropped, typographic quotes and dashes become ASCII, the text is put into Unicode NFC, and
each run of white space becomes one space. In this order the result is stable: normalising twice changes nothing.

Texts are folded in stretches of about a thousand characters that do not influence each other. The stretches' offsets
are the map back to the original; within one, an offset is found by bisection over its prefixes. So a map costs almost
nothing until a match asks for it, whatever the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from diag_graph.gate.characters import QUOTES_AND_DASHES, ZERO_WIDTH, marks

_STRETCH = 1024

_STACKED = 64
"""So many combining marks in a row are no text in any language (UAX #15 reckons with 30), and putting them into order
takes quadratic time: a longer row is left as it stands."""

_ASCII_SPACES = str.maketrans(dict.fromkeys("\t\n\v\f\r\x1c\x1d\x1e\x1f", " "))
_ZERO_WIDTH = re.compile(f"[{ZERO_WIDTH}]+")
_TYPOGRAPHIC = re.compile("[\u00ab\u00bb\u2010-\u2015\u2018-\u201f\u2039\u203a\u2212]+")
_MAYBE_STACKED = re.compile(f"[\u0300-\U0010ffff]{{{_STACKED + 1}}}")
"""No mark stands below U+0300: where so many characters in a row are higher, it is worth looking for marks."""

_INDEPENDENT = re.compile(
    rf"(?<![\s{ZERO_WIDTH}])\s"
    r"|[!-~\u00c0-\u02af\u0400-\u0481\u05d0-\u05ea\u0620-\u064a\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
)
"""A character that no character before it can change or swallow: the first of a white space run, or one that is neither
a mark nor composes with what stands before it."""


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """A text, normalised, that still knows where it came from.

    Attributes:
        original: The text as recorded.
        text: The same, normalised.
    """

    original: str
    text: str
    _starts: array[int]
    """Where each stretch begins in the original; empty when offsets are the same in both."""
    _folded_starts: array[int]
    """Where each stretch begins in the normalised text."""

    def original_offset(self, offset: int) -> int:
        """Where an offset into the normalised text lies in the original.

        Of several original offsets with the same normalised text before them, the last: a match that ends in a space
        takes the whole run with it, and one that begins behind dropped characters leaves them out.
        """
        if not self._starts:
            return offset
        number = bisect_right(self._folded_starts, offset) - 1
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.original)
        stretch = self.original[start:end]
        within = offset - self._folded_starts[number]
        lengths = range(len(stretch) + 1)
        return start + bisect_right(lengths, within, key=lambda length: len(_fold(stretch[:length]))) - 1


def normalise(text: str) -> str:
    """A text in the form in which texts are compared."""
    return normalised(text).text


def normalised(text: str) -> NormalisedText:
    """A text in the form in which texts are compared, with the map back to the original."""
    if text.isascii():
        folded = text.translate(_ASCII_SPACES)
        if "  " not in folded:
            return NormalisedText(text, folded, array("q"), array("q"))
    starts, folded_starts = array("q"), array("q")
    pieces: list[str] = []
    start = folded_start = 0
    for end in _stretch_ends(text):
        piece = _fold(text[start:end])
        starts.append(start)
        folded_starts.append(folded_start)
        pieces.append(piece)
        start, folded_start = end, folded_start + len(piece)
    return NormalisedText(text, "".join(pieces), starts, folded_starts)


def _stretch_ends(text: str) -> Iterator[int]:
    end = 0
    while end < len(text):
        border = _INDEPENDENT.search(text, end + _STRETCH)
        end = border.start() if border else len(text)
        yield end


def _fold(text: str) -> str:
    if not text.isascii():
        text = _TYPOGRAPHIC.sub(lambda found: found[0].translate(QUOTES_AND_DASHES), _ZERO_WIDTH.sub("", text))
        text = _composed(text)
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"


def _composed(text: str) -> str:
    if not _MAYBE_STACKED.search(text) or unicodedata.is_normalized("NFC", text):
        return unicodedata.normalize("NFC", text)
    pieces = _stacked_marks().split(text)
    return "".join(piece if number % 2 else unicodedata.normalize("NFC", piece) for number, piece in enumerate(pieces))


@cache
def _stacked_marks() -> re.Pattern[str]:
    return re.compile(f"([{marks()}]{{{_STACKED + 1},}})")
