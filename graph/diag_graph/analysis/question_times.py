"""Times that stand in a question: "at 14:05", "since 14:05 UTC", "at 15:06 UTC on 2026-06-18", "20 minutes ago"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from diag_graph.analysis.records import TimeRange

_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?(?![\d:])")
_CLOCK = re.compile(
    r"(?<![\d:.T-])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:])"
    r"\s*(?P<half>[ap]\.?m\.?(?![a-z]))?\s*(?P<zone>UTC|GMT|Z\b)?",
    re.IGNORECASE,
)
_AGO = re.compile(
    r"\b(?P<count>\d+)\s*(?P<unit>min(?:ute)?s?|h(?:ours?|rs?)?|days?)\s+ago\b"
    r"|\b(?:last|past)\s+(?P<count2>\d+)\s*(?P<unit2>min(?:ute)?s?|h(?:ours?|rs?)?|days?)\b",
    re.IGNORECASE,
)
NOON = 12
_SECONDS = {"m": 60.0, "h": 3_600.0, "d": 86_400.0}


@dataclass(frozen=True, slots=True)
class StatedTime:
    """A time that a text names.

    Attributes:
        time: Seconds since the epoch, UTC.
        words: The text's own words.
    """

    time: float
    words: str


def stated_time(text: str, now: float, data: TimeRange | None, zone: str = "UTC") -> StatedTime | None:
    """The first time that a text names, with its date where it has one, else on the day of the evidence.

    Args:
        text: The question.
        now: The run's clock; relative times and days without evidence count from it.
        data: From when to when there is evidence.
        zone: IANA name of the zone in which a time without one is read.
    """
    if (iso := _ISO.search(text)) is not None and (moment := parse_time(iso.group(), zone)) is not None:
        return StatedTime(moment, iso.group())
    if (clock := _CLOCK.search(text)) is not None:
        return StatedTime(_resolved(clock, text, now, data, zone), clock.group().strip())
    if (ago := _AGO.search(text)) is not None:
        unit = (ago["unit"] or ago["unit2"])[0].lower()
        # "20 minutes ago", asked of recorded evidence, means before the end of that evidence.
        reference = data.end if data is not None and data.end < now - 86_400 else now
        return StatedTime(reference - float(ago["count"] or ago["count2"]) * _SECONDS[unit], ago.group())
    return None


def parse_time(text: str, zone: str = "UTC") -> float | None:
    """Seconds since the epoch of an ISO 8601 time, or of digits that are such seconds; None for anything else.

    Args:
        text: `2026-06-18T15:06:00Z`, `2026-06-18 15:06`, `1781795160`.
        zone: IANA name of the zone in which a time without one is read.
    """
    text = text.strip()
    if re.fullmatch(r"\d{9,10}(?:\.\d+)?", text):
        return float(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=_zone(zone))).timestamp()


def _resolved(clock: re.Match[str], text: str, now: float, data: TimeRange | None, zone: str) -> float:
    hour = int(clock["hour"])
    half = (clock["half"] or "").lower()
    if half:
        hour = hour % NOON + (NOON if half.startswith("p") else 0)
    where: tzinfo = UTC if clock["zone"] else _zone(zone)
    if (date := _DATE.search(text)) is not None:
        try:
            day = datetime(*(int(part) for part in date.groups()), tzinfo=where)  # type: ignore[arg-type,misc]
        except ValueError:
            day = datetime.fromtimestamp(now, where)
        days = [day]
    else:
        days = _candidate_days(now, data, where)
    moments = [
        day.replace(hour=hour, minute=int(clock["minute"]), second=int(clock["second"] or 0), microsecond=0).timestamp()
        for day in days
    ]
    if data is not None:
        inside = [moment for moment in moments if moment in data]
        return inside[-1] if inside else min(moments, key=lambda one: min(abs(one - data.start), abs(one - data.end)))
    past = [moment for moment in moments if moment <= now]
    return past[-1] if past else moments[-1]


def _candidate_days(now: float, data: TimeRange | None, zone: tzinfo) -> list[datetime]:
    """Days of the evidence, oldest first and at most the last 31; without evidence, yesterday and today."""
    end = datetime.fromtimestamp(data.end if data else now, zone)
    days = 1 if data is None else min(int((data.end - data.start) // 86_400) + 1, 31)
    return [end - timedelta(days=back) for back in range(days, -1, -1)]


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
