"""Reading statements: what a text says of entities, directions and times, and what kind of evidence it is.

The verifier is given matched texts and claims and nothing else, so it reads sentences as a person does. The tools write
them in one regular grammar (rose / fell / appeared / stopped / slower / failing / new / more frequent), which is what
makes that safe; a text in another form is simply evidence of no particular kind.
"""

from __future__ import annotations

import re
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


def directions(text: str) -> frozenset[Direction]:
    """The directions that a text states."""
    return frozenset(direction for pattern, direction in _DIRECTIONS if pattern.search(text))


def names_entity(text: str, entity: str) -> bool:
    """Whether a text names an entity, as a word of its own and in any case."""
    if not entity:
        return False
    return re.search(rf"(?<![\w-]){re.escape(entity)}(?![\w-])", text, re.IGNORECASE) is not None


def squeezed(text: str) -> str:
    """A text for comparison: case, white space and closing punctuation do not matter."""
    return " ".join(text.split()).rstrip(" .").casefold()


def evidence_kind(tool: str, text: str, entity: str) -> EvidenceKind:
    """What a matched text shows about an entity.

    Args:
        tool: The tool that returned it.
        text: The matched text.
        entity: Whom the claim is about.
    """
    about = names_entity(text, entity)
    by_tool = {
        "list_alerts": EvidenceKind.ALERT,
        "list_evidence": EvidenceKind.RELATION if " calls " in text else EvidenceKind.OTHER,
        "list_changes": EvidenceKind.CHANGE if about else EvidenceKind.OTHER,
    }
    if _NOTHING.search(text) and tool in _SEARCHES:
        return EvidenceKind.NOTHING_FOUND
    if tool in by_tool:
        return by_tool[tool]
    if not about:
        return EvidenceKind.OTHER
    if tool == "find_span_anomalies":
        return _span_kind(text)
    if tool in {"find_metric_anomalies", "query_metrics"}:
        return EvidenceKind.SATURATION if _RESOURCE.search(text) else EvidenceKind.SYMPTOM
    if tool in {"find_log_patterns", "search_logs", "read_document"} and _FAILURE_LEVEL.search(text):
        return EvidenceKind.FAILURE_LOG
    return EvidenceKind.SYMPTOM


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


def _span_kind(text: str) -> EvidenceKind:
    if "by self time" in text:
        return EvidenceKind.OWN_TIME
    return EvidenceKind.OWN_FAILURE if re.search(r"\bdeepest\b|\borigin\b", text) else EvidenceKind.SYMPTOM
