"""Reading statements: what a text says of entities, directions and times, and what kind of evidence it is.

The verifier is given matched texts and claims and nothing else, so it reads sentences as a person does. The tools write
them in one regular grammar (rose / fell / appeared / stopped / slower / failing / new / more frequent), which is what
makes that safe; a text in another form is simply evidence of no particular kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum


class Direction(StrEnum):
    """Which way a statement says that something went."""

    UP = "up"
    DOWN = "down"
    APPEARED = "appeared"
    STOPPED = "stopped"


class EvidenceKind(StrEnum):
    """What a matched text can carry in an argument about causes."""

    CHANGE = "a change to it just before"
    SATURATION = "a resource of its own that ran short"
    OWN_TIME = "time spent in itself, not in what it calls"
    OWN_FAILURE = "failures that begin with it"
    FAILURE_LOG = "error messages of its own"
    SYMPTOM = "a symptom"
    RELATION = "who calls whom"
    ALERT = "an alert"
    NOTHING_FOUND = "a search without a match"
    OTHER = "something else"


CAUSAL = frozenset(
    {
        EvidenceKind.CHANGE,
        EvidenceKind.SATURATION,
        EvidenceKind.OWN_TIME,
        EvidenceKind.OWN_FAILURE,
        EvidenceKind.FAILURE_LOG,
    }
)
"""Kinds that show something of how a trouble comes about; the others show that there is one."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_CALLS = re.compile(r"\A(?P<caller>\S+) calls (?P<callee>\S+) \(")
_OWN_TIMES = tuple(
    re.compile(pattern % _TIME.pattern, re.DOTALL)
    for pattern in (r"\bfirst at (%s)", r"\bat (%s)", r"\AAlert .*?\bsince (%s)")
)
"""Where a statement says when its own trouble began. "since" elsewhere names the onset that it was compared by."""
_DIRECTIONS: tuple[tuple[re.Pattern[str], Direction], ...] = (
    (re.compile(r"\brose\b|\bslower\b|\bmore frequent\b|\bfailing\b", re.IGNORECASE), Direction.UP),
    (re.compile(r"\bfell\b|\bfaster\b|\bless frequent\b", re.IGNORECASE), Direction.DOWN),
    (re.compile(r"\bappeared\b|\bnew\b", re.IGNORECASE), Direction.APPEARED),
    (re.compile(r"\bstopped\b|\bgone\b", re.IGNORECASE), Direction.STOPPED),
)
_RESOURCE = re.compile(
    r"cpu|memory|\bmem\b|_mem_|heap|\bgc\b|rss|resident|oom|disk|iops|filesystem|inode|pool|connection|queue|backlog"
    r"|waiting|pending|thread|file_desc|\bfds?\b|socket|throttl|saturat|utili[sz]ation|lag\b|lock|restart|packet|bandwidth",
    re.IGNORECASE,
)
_FAILURE_LEVEL = re.compile(
    r"\((?:ERROR|FATAL|CRITICAL)\b|\b(?:ERROR|FATAL|CRITICAL|panic|[A-Z]\w+(?:Error|Exception))\b"
)


def times(text: str) -> tuple[float, ...]:
    """The UTC times that a text states, in seconds since the epoch, in their order."""
    found = []
    for match in _TIME.finditer(text):
        try:
            found.append(datetime.fromisoformat(match.group()).timestamp())
        except ValueError:
            continue
    return tuple(found)


def began(text: str) -> float | None:
    """When what a text tells of began, by its own words; None when it does not say."""
    found = next((match for pattern in _OWN_TIMES if (match := pattern.search(text))), None)
    stated = times(found.group(1)) if found else ()
    return stated[0] if stated else None


def directions(text: str) -> frozenset[Direction]:
    """The directions that a text states."""
    return frozenset(direction for pattern, direction in _DIRECTIONS if pattern.search(text))


def names_entity(text: str, entity: str) -> bool:
    """Whether a text names an entity, as a word of its own and in any case."""
    if not entity:
        return False
    return re.search(rf"(?<![\w-]){re.escape(entity)}(?![\w-])", text, re.IGNORECASE) is not None


def names_failure(text: str) -> bool:
    """Whether a text shows a message that reports a failure, by its level or by an exception's name."""
    return _FAILURE_LEVEL.search(text) is not None


def calls(text: str) -> tuple[str, str] | None:
    """Caller and callee, when a text says that one calls the other."""
    found = _CALLS.match(text)
    return (found["caller"], found["callee"]) if found else None


def evidence_kind(tool: str, text: str, entity: str) -> EvidenceKind:
    """What a matched text shows about an entity.

    Args:
        tool: The tool that returned it.
        text: The matched text.
        entity: Whom the claim is about.
    """
    if tool in _SEARCHES and _NOTHING.search(text):
        return EvidenceKind.NOTHING_FOUND
    if tool == "list_alerts":
        return EvidenceKind.ALERT
    if tool == "list_evidence":
        return EvidenceKind.RELATION if calls(text) else EvidenceKind.OTHER
    if not names_entity(text, entity):
        return EvidenceKind.OTHER
    if tool == "list_changes":
        return EvidenceKind.CHANGE
    return _BY_TOOL[tool](text) if tool in _BY_TOOL else EvidenceKind.OTHER


def _metric_kind(text: str) -> EvidenceKind:
    return EvidenceKind.SATURATION if _RESOURCE.search(text) else EvidenceKind.SYMPTOM


def _span_kind(text: str) -> EvidenceKind:
    if "by self time" in text:
        return EvidenceKind.OWN_TIME
    return EvidenceKind.OWN_FAILURE if "no failed call beneath" in text else EvidenceKind.SYMPTOM


def _log_kind(text: str) -> EvidenceKind:
    return EvidenceKind.FAILURE_LOG if names_failure(text) else EvidenceKind.SYMPTOM


_BY_TOOL: dict[str, Callable[[str], EvidenceKind]] = {
    "find_metric_anomalies": _metric_kind,
    "query_metrics": _metric_kind,
    "find_span_anomalies": _span_kind,
    "find_log_patterns": _log_kind,
    "search_logs": _log_kind,
    "read_document": _log_kind,
}
"""How the statements of a tool are read, when they name the entity that they are cited for."""


def compared_something(text: str) -> bool:
    """Whether a search without a match looked at enough for its silence to say anything.

    It must state a number of series compared, spans on both sides of the onset, or a good number of log lines, and
    must not have stopped early.
    """
    if _STOPPED_EARLY.search(text):
        return False
    return any(
        (found := pattern.search(text)) and all(int(part.replace(",", "")) >= least for part in found.groups())
        for pattern, least in _COMPARED
    )


_STOPPED_EARLY = re.compile(r"\b(?:reading|searching) stopped\b")
_COMPARED = (
    (re.compile(r"\b([\d,]+) series compared\b"), 1),
    (re.compile(r"\bstands out in ([\d,]+) series\b"), 1),
    (re.compile(r"\b([\d,]+) spans before and ([\d,]+) since\b"), 1),
    (re.compile(r"\b([\d,]+) lines in [\d,]+ patterns?\b"), 100),
)
"""What a search says of how much it compared, and how much of it is enough."""

_SEARCHES = frozenset(
    {
        "find_metric_anomalies",
        "find_log_patterns",
        "find_span_anomalies",
        "search_logs",
        "list_alerts",
        "list_changes",
        "query_metrics",
    }
)
_NOTHING = re.compile(r"\A(?:No|None|Nothing)\b")
