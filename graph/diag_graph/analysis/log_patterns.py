"""Message templates of log lines, and which of them are new, gone or far more frequent since the onset.

Templates are mined with Drain (He et al., "Drain: An Online Log Parsing Approach with Fixed Depth Tree", ICWS 2017),
after numbers, identifiers and addresses were masked by one expression. Lines that are equal once masked reach the
miner once, so that its cost follows the variety of messages and not their number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from diag_graph.analysis.records import LogRecord

MAX_LINES = 1_000_000
"""Lines after which reading stops; what was left out is stated."""
MAX_VARIETY = 20_000
"""Distinct masked lines that are mined; later ones count as `OTHER`."""
OTHER = "(other messages)"
_MAX_MESSAGE = 400
_WILDCARD = "<*>"

_VARIABLE = re.compile(
    r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?"  # a time
    r"|\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b"  # a time of day
    r"|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"  # a UUID
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # an IPv4 address
    r"|\b(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}\b"  # an IPv6 address
    r"|\b0x[0-9a-fA-F]+\b"
    r"|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b"  # a hexadecimal identifier
    r"|@[0-9a-f]{6,8}\b"  # an object's address in Java
    r"|(?<![\w.])[+-]?\d+(?:[.,]\d+)*(?=(?:ms|us|ns|s|m|h|d|%|[kKMGT]i?B?|B)?\b|\W|$)"  # a number, its unit kept
    r"|(?<=[A-Za-z_])-?\d{2,}\b"  # the number at the end of a name
)
_EXCEPTION = re.compile(r"^(?:Caused by: )?(?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error|Panic|Fault)\b.*|^panic: .*")

Key = tuple[str, str, str]
"""Service, level, template."""


@dataclass(slots=True)
class PatternCount:
    """How often one template of one service and level was logged.

    Attributes:
        service: What logged it; empty when unknown.
        level: As recorded; empty when unknown.
        template: The message with variable parts as `<*>`.
        times: Times of its lines, in the order of reading.
        example: A message as logged: the first since the onset, else the first of all.
        source: `file:line` of that example.
        undated: Lines without a time.
    """

    service: str
    level: str
    template: str
    times: list[float] = field(default_factory=list)
    example: str = ""
    source: str = ""
    undated: int = 0
    example_is_later: bool = False


@dataclass(frozen=True, slots=True)
class PatternSurvey:
    """Counts of all templates.

    Attributes:
        patterns: One entry a service, level and template.
        lines: Lines that were read.
        cut: Whether reading stopped at `MAX_LINES`.
        first: Time of the earliest line; None when none has a time.
        last: Time of the latest line.
    """

    patterns: tuple[PatternCount, ...]
    lines: int
    cut: bool
    first: float | None
    last: float | None


def masked(message: str) -> str:
    """The message on one line with times, addresses, identifiers and numbers as `<*>`; a stack trace by its exception.

    Args:
        message: As logged; further lines are a stack trace.
    """
    first, _, rest = message.partition("\n")
    text = " ".join(first[:_MAX_MESSAGE].split())
    if rest and (thrown := exception_line(rest)) and thrown not in text:
        text = f"{text} | {thrown}"
    return _VARIABLE.sub(_WILDCARD, text)


def exception_line(trace: str) -> str:
    """The line of a stack trace that names what was thrown: the innermost cause, or Python's last line; else empty."""
    found = [line.strip() for line in trace.splitlines() if _EXCEPTION.match(line.strip())]
    return found[-1][:_MAX_MESSAGE] if found else ""


def count_patterns(records: Iterable[LogRecord], onset: float | None, max_lines: int = MAX_LINES) -> PatternSurvey:
    """Mine templates, and count each by service and level.

    Args:
        records: Log lines, in the order of time where they have one.
        onset: Decides which line stands as the example: the first one since.
        max_lines: Lines after which reading stops.
    """
    by_line: dict[Key, PatternCount] = {}
    lines, cut = 0, False
    first, last = float("inf"), float("-inf")
    for record in records:
        if lines >= max_lines:
            cut = True
            break
        lines += 1
        text = masked(record.message)
        key = (record.service, record.level, text)
        counted = by_line.get(key)
        if counted is None:
            if len(by_line) >= MAX_VARIETY:
                key = (record.service, record.level, OTHER)
            counted = by_line.setdefault(key, PatternCount(*key))
        _count(counted, record, onset)
        if record.time is not None:
            first, last = min(first, record.time), max(last, record.time)
    merged = _merged(by_line.values())
    dated = first <= last
    return PatternSurvey(tuple(merged), lines, cut, first if dated else None, last if dated else None)


def _count(counted: PatternCount, record: LogRecord, onset: float | None) -> None:
    if record.time is None:
        counted.undated += 1
    else:
        counted.times.append(record.time)
    later = onset is not None and record.time is not None and record.time >= onset
    if not counted.example or (later and not counted.example_is_later):
        counted.example, counted.source, counted.example_is_later = record.message, record.source, later


def _merged(counts: Iterable[PatternCount]) -> list[PatternCount]:
    """Join masked lines that Drain puts under one template."""
    from drain3.drain import Drain

    miner = Drain(depth=5, sim_th=0.5, max_children=100, max_clusters=MAX_VARIETY, parametrize_numeric_tokens=True)
    members: dict[int, list[PatternCount]] = defaultdict(list)
    for counted in counts:
        if counted.template == OTHER:
            members[0].append(counted)
            continue
        cluster, _ = miner.add_log_message(counted.template)
        members[cluster.cluster_id].append(counted)
    templates = {cluster.cluster_id: cluster.get_template() for cluster in miner.clusters}
    joined: dict[Key, PatternCount] = {}
    for cluster_id, found in members.items():
        for counted in found:
            key = (counted.service, counted.level, templates.get(cluster_id, counted.template))
            whole = joined.get(key)
            if whole is None:
                counted.template = key[2]
                joined[key] = counted
                continue
            whole.times.extend(counted.times)
            whole.undated += counted.undated
            if counted.example_is_later and not whole.example_is_later:
                whole.example, whole.source = counted.example, counted.source
                whole.example_is_later = True
    for whole in joined.values():
        whole.times.sort()
    return list(joined.values())


def times_array(counted: PatternCount) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The pattern's times as an array, rising."""
    return np.asarray(counted.times, dtype=np.float64)
