r"""Which numbers a text states, and whether other texts state them too (rules C2 and G5).

A text is read as a row of tokens; what is not one of these is no number:

- **names**: a word and the digits that continue it, directly or behind `_`, `-` or a version's point: `p99`, `inv-1`,
  `http2`, `db_3`, `v1.2`. Names state no number, and ground none.
- **numbers**: `1,200`, `-5`, `2.30`, `.5`, `1e-5`, each perhaps with letters behind it as its unit (`210ms`).
  Compared by value, sign included; the unit is not looked at. A minus belongs to the number unless a letter or digit
  precedes it.
- **moments**: dates (`2026-07-16`), times of day (`14:05`, `14:05:10.5`) and both together. See below.
- **codes** that begin with a digit: versions and addresses (`2.3.1`, `10.0.0.1`), durations and hashes (`5m30s`,
  `7f3a9c`). Compared as written.

A moment is grounded by one recorded moment that says at least as much: `14:05` by `2026-07-16T14:05:10Z`, but not the
other way round, and `2026-07-16 14:05` only by a moment of that day and that minute, not by two moments that hold half
of it each. This is safe, for leaving out the end of a time names the period that it lies in, and nothing is rounded.
Parts of a moment ground no plain number, and plain numbers no moment: `5 errors` does not follow from `14:05`. An
offset that is written (`+02:00`) must be the recorded one, for it changes what the digits say; `Z` has no digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from diag_graph.gate.borders import WORD
from diag_graph.gate.characters import UNSEGMENTED
from diag_graph.gate.normalise import normalise

_LETTER = rf"[^\W\d{UNSEGMENTED}]"  # `_` among them: it begins and continues names
_TIME = r"(?:2[0-4]|[01]?\d):[0-5]\d(?::[0-6]\d(?:[.,]\d{1,9})?)?(?!\d)"
_OFFSET = r"(?:0\d|1[0-4]):?(?:00|30|45)(?!\d)"

_TOKEN = re.compile(
    rf"""
      {_LETTER}{WORD}*(?:-{WORD}+|(?<=\d)\.\d{WORD}*)*
    | (?P<date>\d{{4}}([-/])(?:0[1-9]|1[0-2])\2(?:0[1-9]|[12]\d|3[01]))(?!\d)
      (?:
          T(?P<exact_time>{_TIME})(?P<exact_offset>Z|[+-]{_OFFSET})?
        | [ ](?P<day_time>{_TIME})(?P<day_offset>Z|[+]{_OFFSET})?
      )?
    | (?P<time>{_TIME})(?P<offset>Z|[+]{_OFFSET})?
    | (?P<power>(?:(?<![^\W_])-)?\d+(?:\.\d+)?[eE][+-]?\d{{1,4}})(?!\w)
    | (?P<code>\d+(?:\.\d+){{2,}}{WORD}*|\d+(?:\.\d+)?{_LETTER}+\d{WORD}*)
    | (?P<number>(?:(?<![^\W_])-)?(?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+|(?<![\w.])(?=\.\d))(?:\.\d+)?){_LETTER}*
    """,
    re.VERBOSE,
)
"""Tried in this order from left to right: what a name or a moment has taken is no number any more. A negative offset
is read behind an ISO 8601 time alone, for `06:05-06:10` is a span of time."""


class _Moment(NamedTuple):
    date: str
    clock: tuple[str, ...]
    fraction: str
    offset: str

    def covers(self, written: _Moment) -> bool:
        """Whether this recorded moment says all that a written one says."""
        return (
            written.date in ("", self.date)
            and written.clock == self.clock[: len(written.clock)]
            and written.fraction in ("", self.fraction)
            and written.offset in ("", "+0000", self.offset)
        )


class _Stated(NamedTuple):
    written: str
    meaning: str | _Moment


def ungrounded_numbers(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """The numbers of a text that none of its sources states.

    Args:
        text: What is to be said.
        sources: What it may rest on.

    Returns:
        Each such number once, in the order in which they occur, as written (in normalised form: `−5` reads `-5`).
    """
    stated = list(_numbers(text))
    if not stated:
        return ()
    recorded = {number.meaning for source in sources for number in _numbers(source)}
    moments = [meaning for meaning in recorded if isinstance(meaning, _Moment)]
    missing = [number.written for number in stated if not _is_grounded(number.meaning, recorded, moments)]
    return tuple(dict.fromkeys(missing))


def _is_grounded(meaning: str | _Moment, recorded: set[str | _Moment], moments: list[_Moment]) -> bool:
    if isinstance(meaning, _Moment):
        return any(moment.covers(meaning) for moment in moments)
    return meaning in recorded


def _numbers(text: str) -> Iterator[_Stated]:
    for token in _TOKEN.finditer(normalise(text)):
        written, kind = token[0], token.lastgroup
        if kind in ("power", "number"):
            yield _Stated(token[kind], _value(token[kind]))
        elif kind == "code":
            yield _Stated(written, f"code {written}")
        elif kind is not None:
            yield _Stated(written, _moment(token))


def _moment(token: re.Match[str]) -> _Moment:
    time = _ascii_digits(token["time"] or token["exact_time"] or token["day_time"] or "")
    clock, _, fraction = time.replace(",", ".").partition(".")
    offset = token["offset"] or token["exact_offset"] or token["day_offset"] or ""
    if offset == "Z":
        offset = "+0000"
    return _Moment(
        date=_ascii_digits(token["date"] or "").replace("/", "-"),
        clock=tuple(part.zfill(2) for part in clock.split(":")) if clock else (),
        fraction=fraction.rstrip("0"),
        offset=_ascii_digits(offset).replace(":", ""),
    )


def _value(written: str) -> str:
    """A form that numbers of the same value share, in exact arithmetic on their digits, whatever their length."""
    sign = "-" if written.startswith("-") else ""
    mantissa, _, power = _ascii_digits(written.lstrip("-").replace(",", "")).lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    significant = (whole + decimals).lstrip("0")
    digits = significant.rstrip("0")
    if not digits:
        return "0"
    return f"{sign}{digits}e{int(power or 0) - len(decimals) + len(significant) - len(digits)}"


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(character, character)) for character in text)
