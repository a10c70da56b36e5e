"""Normalisation, and its map back."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.gate.borders import is_border
from diag_graph.gate.characters import QUOTES_AND_DASHES, ZERO_WIDTH
from diag_graph.gate.normalise import _INDEPENDENT, normalise, normalised

TRICKY = st.text(
    st.sampled_from(
        "ab é\u0301\u0323e \t\n\r\u00a0\u2009\u3000\u200b\ufeff’“–—−-'\"1.,中\u1100\u1161\u11a8가\u0928\u093c\u00ad"
    )
)
TEXTS = TRICKY | st.text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e\u0301", "é"),
        ("a \t\r\n\u00a0\u202f\u3000 b", "a b"),
        (" a\n", " a "),
        ("‘a’ ‚b‛ “c” „d‟ «e» ‹f›", "'a' 'b' \"c\" \"d\" \"e\" 'f'"),
        ("\u20101\u20112\u20123\u20134\u20145\u20156\u22127", "-1-2-3-4-5-6-7"),
        ("a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg", "abcdefg"),
        ("a \u200b b", "a b"),
        ("\u212b", "Å"),
        ("\ud800", "\ud800"),
        ("", ""),
    ],
)
def test_what_is_folded(text: str, expected: str) -> None:
    """Section 5: NFC, white space, typographic quotes and dashes, zero-width characters."""
    assert normalise(text) == expected


@pytest.mark.parametrize("text", ["A", "ａ", "１", "½", "…", "ﬁ", "′", "~", "²", "μ", "「x」", "1.0", "＂", "a_b"])
def test_what_is_not_folded(text: str) -> None:
    """Section 5: nothing else is folded: case, width, digits, signs and units stay, and an ellipsis is an ellipsis."""
    assert normalise(text) == text


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    """Normalisation is idempotent."""
    once = normalise(text)
    assert normalise(once) == once


def plainly(text: str) -> str:
    """The definition, without stretches."""
    text = re.sub(f"[{ZERO_WIDTH}]", "", text).translate(QUOTES_AND_DASHES)
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text))


@given(TEXTS, st.integers(1000, 1100), TEXTS)
def test_long_texts_are_folded_as_a_whole(head: str, gap: int, tail: str) -> None:
    """Cutting a text into stretches does not show, wherever the cuts fall."""
    text = head + "x" * (gap - len(head)) + (tail + "y" + head) * 40
    assert normalise(text) == plainly(text)


@given(TEXTS, st.sampled_from([0, 1000, 1020, 1030]))
def test_offsets_lead_back(text: str, shift: int) -> None:
    """At every place where an excerpt may be cut, the original can be cut into the same two halves."""
    value = normalised("x" * shift + " " * min(shift, 1) + text * 3)
    for offset in range(len(value.text) + 1):
        if is_border(value.text, offset):
            place = value.original_offset(offset)
            assert normalise(value.original[:place]) == value.text[:offset]
            assert normalise(value.original[place:]) == value.text[offset:]


def test_no_character_before_a_stretch_can_change_its_first_one() -> None:
    """Characters that begin a stretch are composed with nothing before them, in the interpreter's own Unicode data."""
    seconds = set()
    for point in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(chr(int(parts[1], 16)))
    starts = [chr(point) for point in range(0x20000) if _INDEPENDENT.match(chr(point))]
    assert len(starts) > 30_000
    assert not seconds.intersection(starts)
    assert all(unicodedata.combining(start) == 0 for start in starts)


def test_rows_of_marks_no_language_has_cost_no_quadratic_time() -> None:
    """A long row of combining marks is left as it stands; putting 400,000 of them into order would take minutes."""
    row = "a" + "\u0301\u0323" * 200_000
    assert normalise(row + " é") == row + " é"
    assert normalise(row) == row
