"""Records of evidence, whatever source they came from.

Times are seconds since the epoch, UTC, as floats (arrays: float64).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def utc(timestamp: float) -> str:
    """A time as every tool states it: `2026-07-16T06:05:00Z`, with milliseconds only where there are any.

    Args:
        timestamp: Seconds since the epoch, UTC.
    """
    moment = datetime.fromtimestamp(round(timestamp, 3), UTC)
    spec = "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A span of time, both ends included."""

    start: float
    end: float

    def __contains__(self, timestamp: float) -> bool:
        """Whether the time lies in the range."""
        return self.start <= timestamp <= self.end


@dataclass(frozen=True, slots=True)
class Window:
    """What a run looks at.

    Attributes:
        start: Where the evidence to look at begins.
        end: Where it ends.
        onset: When the trouble began, as far as it is known before looking; what lies before is the baseline.
        origin: Where onset and window come from, in words that can stand in an answer ("the alert's start time").
    """

    start: float
    end: float
    onset: float | None
    origin: str


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One numeric series, sorted by time, without NaN times."""

    service: str
    """What it belongs to: a service, pod, host or database; empty when the source does not say."""
    metric: str
    times: FloatArray
    values: FloatArray
    labels: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    """File or server that it was read from."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One log event (a stack trace belongs to the line before it)."""

    message: str
    time: float | None = None
    service: str = ""
    level: str = ""
    """`DEBUG`, `INFO`, `WARN`, `ERROR` or `FATAL`; empty when unknown."""
    trace_id: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    """`file:line`, counted from 1."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span of a trace."""

    trace_id: str
    span_id: str
    parent_id: str | None
    service: str
    name: str
    start: float
    duration_ms: float
    error: bool = False
    status: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert."""

    name: str
    status: str
    """`firing` or `resolved`."""
    starts_at: float | None
    ends_at: float | None
    severity: str = ""
    service: str = ""
    """What it is about, as far as its labels say."""
    summary: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that somebody changed."""

    kind: str
    """`deploy`, `commit`, `flag`, `config` or `change`."""
    time: float | None
    service: str
    """What was changed; empty when the source does not say."""
    identifier: str = ""
    """Version, commit or flag name."""
    title: str = ""
    author: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """`caller` calls `callee`."""

    caller: str
    callee: str
