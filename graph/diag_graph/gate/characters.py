"""Classes of characters that Python's `re` has no name for, as bodies of `[...]`."""

from __future__ import annotations

import unicodedata
from functools import cache

QUOTES_AND_DASHES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
"""Typographic quotes, dashes and the minus sign to ASCII, one character for one. Full-width forms, primes and CJK
brackets are other characters, not other shapes of these, and stay."""

ZERO_WIDTH = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
"""Characters without a width: zero-width spaces and joiners, soft hyphen, direction marks, byte order mark."""

UNSEGMENTED = (
    "\u0e01-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff"  # Thai, Lao
    "\u1000-\u103f\u104a-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17df\u17ea-\u17ff"  # Khmer
    "\u1950-\u19cf\u19da-\u19df\u1a20-\u1a7f\u1a8a-\u1a8f\u1a9a-\u1aaf\uaa80-\uaadf"  # Tai scripts
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # Han, half-width katakana
    "\U00011700-\U0001172f\U00011740-\U0001174f"  # Ahom
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # kana supplement, Han extensions
)
"""Scripts that do not part words by spaces, without their digits: those of UAX #14's classes SA and ID that hold
letters. Hangul is not among them: Korean parts words."""


@cache
def marks() -> str:
    """Combining marks (general categories Mn, Mc, Me), read from the interpreter's own Unicode data."""
    points = [p for p in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)) if unicodedata.category(chr(p))[0] == "M"]
    runs: list[list[int]] = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)
