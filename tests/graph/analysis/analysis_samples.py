"""Series, lines and spans with known faults, and healthy ones with the noise that real ones have."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from diag_graph.analysis.records import FloatArray, LogRecord, Series, Span, TimeRange

START = 1_784_181_600.0
"""2026-07-16T06:00:00Z."""
MINUTE = 60.0
SAMPLES = 60
ONSET = START + 40 * MINUTE
"""The fault of a series begins with its sample 40 of 60."""
WINDOW = TimeRange(START, START + (SAMPLES - 1) * MINUTE)


def noise(seed: int, level: float, spread: float, count: int = SAMPLES) -> FloatArray:
    """Stationary, positive, slightly correlated noise about a level."""
    generator = np.random.default_rng(seed)
    white = generator.normal(0.0, spread, count + 2)
    return np.asarray(np.maximum(level + (white[2:] + 0.5 * white[1:-1] + 0.25 * white[:-2]), 0.0))


def series(values: Iterable[float], metric: str = "request_latency_p95_seconds", service: str = "checkout") -> Series:
    """A series with one sample a minute from `START`."""
    array = np.array(list(values), dtype=np.float64)
    return Series(service, metric, START + MINUTE * np.arange(array.size), array)


def stepped(seed: int, before: float, after: float, at: int = 40, spread: float = 0.05) -> FloatArray:
    """Noise that moves from one level to another at a sample."""
    values = noise(seed, before, spread * before)
    values[at:] += after - before
    return values


def line(message: str, minute: float, service: str = "checkout", level: str = "INFO") -> LogRecord:
    """A log line some minutes after `START`."""
    return LogRecord(message, START + minute * MINUTE, service, level, source=f"{service}.log:1")


def trace(number: int, minute: float, *spans: tuple[str, str | None, str, str, float, float, bool]) -> list[Span]:
    """A trace: spans as (id, parent, service, operation, begins after ms, lasts ms, failed)."""
    begin = START + minute * MINUTE
    return [
        Span(f"t{number}", span_id, parent, service, name, begin + after / 1_000, lasts, failed)
        for span_id, parent, service, name, after, lasts, failed in spans
    ]
