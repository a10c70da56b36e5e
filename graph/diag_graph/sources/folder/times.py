"""Times as evidence writes them: ISO 8601 and its relatives, epoch numbers, and the prefixes of common log formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_EARLIEST = datetime(1980, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(2200, 1, 1, tzinfo=UTC).timestamp()
"""What lies outside is no time of an incident: Go's zero time, counters, sequence numbers."""

_EPOCH_UNITS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3), (1e8, 1.0))
"""From which magnitude on a number since 1970 is in nanoseconds, microseconds, milliseconds, seconds."""
_LARGEST_EPOCH = 1e19

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_MONTH = r"(?P<month_name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
ZONE_PATTERN = (
    r"(?:(?-i:Z|UTC|GMT|[ECMP][SD]T|CES?T|[WE]ES?T|BST|MSK|IST|JST|KST|SGT|HKT|AE[SD]T)\b"
    r"|[+-]\d\d:?\d\d\b|[+-]\d\d\b)"
)
_ZONE = rf"(?:\s*(?P<zone>{ZONE_PATTERN}))?"

TIME_PATTERNS: tuple[str, ...] = (
    rf"(?P<year>\d{{4}})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)[T _]{_CLOCK}{_ZONE}",
    rf"(?P<day>\d\d?)/{_MONTH}/(?P<year>\d{{4}}):{_CLOCK}{_ZONE}",
    rf"(?:\w{{3}} )?{_MONTH} +(?P<day>\d\d?) {_CLOCK}{_ZONE} (?P<year>\d{{4}})",
    rf"(?:\w{{3,9}}, )?(?P<day>\d\d?)[ -]{_MONTH}[ -](?P<year>\d{{4}}),? {_CLOCK}{_ZONE}",
    rf"{_MONTH} +(?P<day>\d\d?),? (?P<year>\d{{4}}),? {_CLOCK}{_ZONE}",
    rf"{_MONTH} +(?P<day>\d\d?) {_CLOCK}{_ZONE}",
    rf"(?P<month>\d\d)(?P<day>\d\d) {_CLOCK}",
)
"""How texts write a time, most telling first: ISO-like, common log format, ctime, RFC 1123, syslog (no year), klog."""

_WHOLE = tuple(re.compile(rf"\s*\[?{pattern}\]?\s*", re.IGNORECASE) for pattern in TIME_PATTERNS)
_MAX_REMEMBERED = 10_000
"""Seconds whose epoch is kept: consecutive lines of a log share theirs."""
_NUMBER = re.compile(r"\s*-?\d{9,19}(?:\.\d*)?\s*|\s*\d(?:\.\d+)?[eE]\+?\d{1,2}\s*")


class TimeReader:
    """Reads the times of one file, and remembers what it had to assume.

    Attributes:
        zone_assumed: Whether a time without a zone was read, and so the folder's zone was used.
        year_assumed: Whether a time without a year was read.
    """

    def __init__(self, zone: tzinfo, near: Callable[[], float | None] | None = None) -> None:
        """Make a reader.

        Args:
            zone: Where times without a zone are.
            near: Gives a time that the incident is about, to find the year of times without one.
        """
        self._zone = zone
        self._near = near
        self.zone_assumed = False
        self.year_assumed = False
        self._by_second: dict[str, float | None] = {}

    def read_second(self, second: str, fraction: str | None) -> float | None:
        """A time of which the fraction was parted, as `read` gives it for the whole; None when it is none.

        Args:
            second: An ISO 8601 date and time of day up to the second, with its zone if it has one.
            fraction: Decimal digits of the second's fraction, if it has one.
        """
        if second in self._by_second:
            begin = self._by_second[second]
        else:
            if len(self._by_second) >= _MAX_REMEMBERED:
                self._by_second.clear()
            begin = self._by_second[second] = self.read(second)
        if begin is None or not fraction:
            return begin
        return (int(begin) * 1_000_000 + int(fraction.ljust(6, "0")[:6])) / 1_000_000

    def read(self, value: object) -> float | None:
        """A time in seconds since the epoch, or None when the value is none."""
        if isinstance(value, str):
            # Digits alone are an epoch number; fromisoformat would take some of them for a compact date.
            if not value.isdigit():
                try:
                    return self._seconds(datetime.fromisoformat(value))
                except ValueError:
                    pass
            return self._read_text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return epoch(value)
        if isinstance(value, datetime):
            return self._seconds(value)
        return None

    def _seconds(self, moment: datetime) -> float | None:
        if moment.tzinfo is None:
            self.zone_assumed = True
            moment = moment.replace(tzinfo=self._zone)
        try:
            seconds = moment.timestamp()
        except (OverflowError, ValueError):
            return None
        return seconds if _EARLIEST <= seconds <= _LATEST else None

    def _read_text(self, value: str) -> float | None:
        if len(value) > 64:  # noqa: PLR2004 (no way of writing a time is longer)
            return None
        if _NUMBER.fullmatch(value):
            return epoch(float(value))
        for pattern in _WHOLE:
            match = pattern.fullmatch(value)
            if match:
                return self.from_match(match.groupdict())
        return None

    def from_match(self, parts: dict[str, str | None]) -> float | None:
        """A time from the named groups of one of `TIME_PATTERNS`; None when they are no date."""
        year = parts.get("year")
        try:
            moment = datetime(  # noqa: DTZ001 (the zone is set below)
                int(year) if year else 2000,  # a leap year, so that 29 February can be read at all
                _MONTHS[(parts.get("month_name") or "")[:3].lower()]
                if parts.get("month_name")
                else int(parts.get("month") or 0),
                int(parts.get("day") or 0),
                int(parts.get("hour") or 0),
                int(parts.get("minute") or 0),
                int(parts.get("second") or 0),
                int((parts.get("fraction") or "0").ljust(6, "0")[:6]),
            )
            zone = _zone(parts.get("zone"))
            if zone is not None:
                moment = moment.replace(tzinfo=zone)
            return self._seconds(moment if year else self._with_year(moment))
        except ValueError:
            return None

    def _with_year(self, moment: datetime) -> datetime:
        """The year that brings a time nearest to the incident's."""
        self.year_assumed = True
        known = self._near() if self._near else None
        near = datetime.fromtimestamp(known, UTC) if known is not None else datetime.now(UTC)
        candidates = []
        for year in (near.year - 1, near.year, near.year + 1):
            try:
                candidates.append(moment.replace(year=year))
            except ValueError:  # 29 February
                continue
        if not candidates:
            raise ValueError("no such day in these years")
        return min(
            candidates,
            key=lambda candidate: abs((candidate.replace(tzinfo=candidate.tzinfo or UTC) - near).total_seconds()),
        )


def epoch(number: float) -> float | None:
    """Seconds since the epoch from a number in seconds, milliseconds, microseconds or nanoseconds, by its magnitude."""
    if number > _LARGEST_EPOCH:  # a whole number may be too large for a float
        return None
    for least, factor in _EPOCH_UNITS:
        if number >= least:
            seconds = number * factor
            return seconds if _EARLIEST <= seconds <= _LATEST else None
    return None


def _zone(text: str | None) -> tzinfo | None:
    """The zone of an offset; None for an abbreviation other than UTC's, which names no one zone."""
    if not text:
        return None
    if text.upper() in {"Z", "UTC", "GMT"}:
        return UTC
    if text[0] not in "+-":
        return None
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def zone_named(name: str) -> tzinfo:
    """The zone of an IANA name.

    Raises:
        ValueError: there is none of that name.
    """
    if name.upper() in {"UTC", "Z", "GMT"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"no time zone is called {name!r}") from error
