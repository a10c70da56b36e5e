"""How numbers, units and durations are written in every statement, and rounded the same way in its fields."""

from __future__ import annotations

import math
import re

SIGNIFICANT_DIGITS = 4
READ_WHOLE = 100_000
"""Whole numbers below this are written as they are."""
LARGE_FACTOR = 100
"""Factors from here on are written without decimals."""

_DECIMAL_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
"""SI prefixes, as IEC 80000-13 keeps them apart from the binary ones."""

_UNIT_BY_SUFFIX: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), unit)
    for pattern, unit in (
        (r"[_.\- ](?:qps|rps)$|[_.\- ]per[_.\- ]s(?:ec(?:ond)?)?$", "/s"),
        (r"\(%\)$|[_.\- ](?:percent|pct)$|Percent$", "%"),
        (r"\(ms\)$|(?:[_.\- ]ms|[_.\- ]milliseconds|Millis)(?:$|[_.])", "ms"),
        (r"\(us\)$|(?:[_.\- ]us|[_.\- ]microseconds)(?:$|[_.])", "us"),
        (r"\(s\)$|[_.\- ](?:seconds|secs?)(?:$|[_.])", "s"),
        (r"\(Mi\)$", "Mi"),
        (r"\(m\)$|[_.\- ]millicores$", "millicores"),
        (r"\(Ops\)$", "ops"),
        (r"[_.\- ]bytes(?:$|[_.])|Bytes$", "bytes"),
    )
)
"""Metric names that state their unit (Prometheus suffixes, and units in brackets)."""

_SPELLINGS = {
    "percent": "%",
    "seconds": "s",
    "second": "s",
    "milliseconds": "ms",
    "microseconds": "us",
    "count": "",
    "none": "",
    "count/second": "/s",
    "bytes": "bytes",
    "bytes/second": "bytes/s",
}
"""Units as CloudWatch and OpenTelemetry spell them."""


def rounded(value: float) -> float:
    """The value with four significant digits; whole numbers below 100,000 stay as they are.

    Args:
        value: Any float; NaN and infinities are handed back as they came.
    """
    if value == 0 or not math.isfinite(value):
        return value
    if value == int(value) and abs(value) < READ_WHOLE:
        return value
    digits = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(abs(value)))
    return round(value, digits)


def number(value: float) -> str:
    """A number as statements write it: four significant digits, thousands separators, no exponent.

    Args:
        value: A finite float.
    """
    value = rounded(value)
    if value == int(value):
        return f"{int(value):,}"
    text = f"{value:,.12f}".rstrip("0").rstrip(".")
    return "0" if text in {"0", "-0"} else text


def count(value: int) -> str:
    """A count, never rounded: `1,204`."""
    return f"{value:,}"


def plural(value: int, noun: str, nouns: str = "") -> str:
    """A count with its noun: `1 line`, `1,204 lines`."""
    return f"{value:,} {noun if value == 1 else nouns or noun + 's'}"


def quantity(value: float, unit: str) -> str:
    """A number with its unit: `95.2%`, `12/s`, `1,204 ms`; many bytes as kB, MB, GB, TB."""
    if not unit:
        return number(value)
    if unit.startswith("bytes") and abs(value) >= READ_WHOLE:
        size, prefix = next((size, prefix) for size, prefix in _DECIMAL_PREFIXES if abs(value) >= size)
        return f"{number(value / size)} {prefix}B{unit.removeprefix('bytes')}"
    return f"{number(value)}{unit}" if unit in {"%", "/s"} else f"{number(value)} {unit}"


def unit_of(metric: str, stated: str = "") -> str:
    """The unit of a metric: the one that its source states, else the one that its name ends in, else none.

    Args:
        metric: The metric's name.
        stated: A unit from the source's own metadata.
    """
    if re.fullmatch(r"[\w%/ .-]{1,20}", stated):
        return _SPELLINGS.get(stated.lower(), stated)
    return next((unit for pattern, unit in _UNIT_BY_SUFFIX if pattern.search(metric)), "")


def span_of_time(seconds: float) -> str:
    """A length of time in words: `45 s`, `2 min 10 s`, `3 h 5 min`, `2 d 4 h`."""
    whole = round(abs(seconds))
    for size, name, smaller, smaller_name in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {name}" + (f" {rest} {smaller_name}" if rest else "")
    return f"{whole} s"


def factor(before: float, after: float) -> str:
    """How many times as much `after` is as `before`, in words; empty where a zero or a sign makes it say nothing."""
    if before == 0 or after == 0 or (before < 0) != (after < 0):
        return ""
    ratio = after / before
    return f"{ratio:,.0f} times as much" if ratio >= LARGE_FACTOR else f"{ratio:.3g} times as much"
