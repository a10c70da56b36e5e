"""What kind of evidence a statement is: what it can carry in an argument about causes."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from diag_graph.agents.analyst.reading import EXAMPLE, Direction, calls, directions, names_entity, plain
from diag_graph.analysis.troubles import is_spare, words_of
from diag_graph.tools.course_statements import TOO_FEW, UNLIKE


class EvidenceKind(StrEnum):
    """What a matched text can carry in an argument about causes."""

    CHANGE = "a change to it just before"
    SATURATION = "a resource of its own that ran short"
    OWN_TIME = "time spent in itself, not in what it calls"
    OWN_FAILURE = "failures that begin with it"
    COURSE = "work of its own that ends early"
    FAILURE_LOG = "error messages of its own"
    NAMED_FAILURE = "a known failure that is named of it"
    ENDED = "a failure that is over, or a state in order"
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
        EvidenceKind.COURSE,
        EvidenceKind.FAILURE_LOG,
        EvidenceKind.NAMED_FAILURE,
    }
)
"""Kinds that show something of how a trouble comes about; the others show that there is one."""

SIGNS = CAUSAL - {EvidenceKind.CHANGE} | {EvidenceKind.SYMPTOM}
"""Kinds that show that something is wrong with the entity."""

_METRIC_NAME = re.compile(r"\A(?:rate of )?(.+?)(?:\{| of | rose | fell | stopped | appeared | froze | has )")
_RESOURCE_WORDS = frozenset(
    [
        "cpu",
        "mem",
        "memory",
        "heap",
        "gc",
        "rss",
        "resident",
        "oom",
        "disk",
        "io",
        "iops",
        "filesystem",
        "inode",
        "inodes",
        "pool",
        "pools",
        "connection",
        "connections",
        "queue",
        "backlog",
        "waiting",
        "pending",
        "thread",
        "threads",
        "fd",
        "fds",
        "descriptors",
        "socket",
        "sockets",
        "lag",
        "lock",
        "locks",
        "restart",
        "restarts",
        "bandwidth",
        "load",
        "storage",
        "swap",
    ]
)
_RESOURCE_STEMS = ("throttl", "saturat", "utiliz", "utilis", "evict")
_COURSE = re.compile(r"\bstopped short after\b|\bstopped arriving\b|\AWork of .* is failing after\b")
"""Statements of work that ends early, fails on its way, or does not arrive."""
_WAIT = re.compile(r"\ba (?P<database>database )?call(?: to (?P<peer>\S+?))?(?=[,:]| is failing)")
_LEVEL = re.compile(r"\" \(([A-Z]+)\)")
_FAILURE_LEVELS = frozenset({"ERROR", "FATAL", "CRITICAL"})
_LINE_LEVEL = re.compile(r"\A\S+Z(?: \S+)? (?:ERROR|FATAL|CRITICAL): ")
_COMPLAINT = re.compile(
    r"cannot (?:reach|connect)|(?:could|can)(?:n't| not) (?:reach|connect)|connection (?:refused|reset|timed out)"
    r"|connect(?:ion)? timeout|upstream|unavailable|answered [45<]|no route to|no such host|name resolution"
    r"|bad gateway|gateway timeout",
    re.IGNORECASE,
)
"""Messages in which a service complains of another one."""
_COUNT = re.compile(r"\A[\d,]+ of [\d,]+ lines? matched")
_NOTHING = re.compile(r"\A(?:No|None|Nothing)\b")
_SEARCHES = frozenset(
    {
        "find_metric_anomalies",
        "find_log_patterns",
        "find_span_anomalies",
        "find_failure_signatures",
        "search_logs",
        "list_alerts",
        "list_changes",
        "query_metrics",
    }
)


def evidence_kind(tool: str, text: str, entity: str) -> EvidenceKind:
    """What a matched text shows about an entity.

    Args:
        tool: The tool that returned it.
        text: The matched text.
        entity: Whom the claim is about; empty for nobody by name: then the text shows what it shows of itself.
    """
    if tool in _SEARCHES and _NOTHING.search(text):
        return EvidenceKind.NOTHING_FOUND
    if tool == "list_alerts":
        return EvidenceKind.ALERT
    if tool == "list_evidence":
        return EvidenceKind.RELATION if calls(tool, text) else EvidenceKind.OTHER
    if tool == "find_failure_signatures" and text.startswith("State of what documents show"):
        return EvidenceKind.ENDED
    if tool not in _BY_TOOL or (entity and not names_entity(text, entity)):
        return EvidenceKind.OTHER
    return _BY_TOOL[tool](text, entity)


def names_failure(text: str) -> bool:
    """Whether a statement of a log tool shows a message of a level that reports failures."""
    # The level of a pattern stands last, behind the message: what looks like one before it is part of the message.
    levels = _LEVEL.findall(EXAMPLE.split(text, maxsplit=1)[0])
    return bool(levels and levels[-1] in _FAILURE_LEVELS) or _LINE_LEVEL.search(text) is not None


def _change_kind(text: str, entity: str) -> EvidenceKind:  # noqa: ARG001 - a reader's signature
    return EvidenceKind.CHANGE


def _metric_kind(text: str, entity: str) -> EvidenceKind:  # noqa: ARG001 - a reader's signature
    """A resource that ran short, when more than one sample says so; else a symptom."""
    if "(one sample)" in text:
        return EvidenceKind.SYMPTOM
    name = _METRIC_NAME.match(text)
    words = words_of(name.group(1)) if name else set()
    went = directions(text)
    spare = name is not None and is_spare(name.group(1))
    resource = bool(words & _RESOURCE_WORDS) or any(word.startswith(_RESOURCE_STEMS) for word in words)
    short = Direction.DOWN in went if spare else Direction.UP in went
    return EvidenceKind.SATURATION if (resource or spare) and short else EvidenceKind.SYMPTOM


def _span_kind(text: str, entity: str) -> EvidenceKind:
    """A wait for somebody is that one's time, and a symptom of the one who waits, unless the other shows nothing."""
    bare = plain(text)
    if _COURSE.search(bare):
        return EvidenceKind.SYMPTOM if _is_doubted(bare) else EvidenceKind.COURSE
    own = EvidenceKind.OWN_TIME if "by self time" in bare else EvidenceKind.OWN_FAILURE
    if "by self time" not in bare and "no failed call beneath" not in bare:
        return EvidenceKind.SYMPTOM
    wait = _WAIT.search(bare)
    if wait is None or "which records no spans" in bare or wait["peer"] == entity:
        return own
    return EvidenceKind.SYMPTOM


def _is_doubted(bare: str) -> bool:
    """Whether a statement of work that ends early says that it may be chance, or other requests."""
    return TOO_FEW in bare or UNLIKE in bare


def _log_kind(text: str, entity: str) -> EvidenceKind:  # noqa: ARG001 - a reader's signature
    if _COUNT.match(text):
        return EvidenceKind.OTHER
    bare = plain(text)
    if _is_doubted(bare):
        return EvidenceKind.SYMPTOM
    if _COURSE.search(bare) and not names_failure(text):
        return EvidenceKind.COURSE
    own = names_failure(text) and not _COMPLAINT.search(text)
    return EvidenceKind.FAILURE_LOG if own else EvidenceKind.SYMPTOM


def _document_kind(text: str, entity: str) -> EvidenceKind:  # noqa: ARG001 - a reader's signature
    return EvidenceKind.SYMPTOM


def _signature_kind(text: str, entity: str) -> EvidenceKind:  # noqa: ARG001 - a reader's signature
    """By the standing that the tool gives a failure: a cause, a symptom of one, a hint, or over."""
    found = _STANDING.search(plain(text))
    if text.startswith("Log line ") and _COMPLAINT.search(text):
        return EvidenceKind.SYMPTOM
    return _STANDINGS.get(found.group(1), EvidenceKind.OTHER) if found else EvidenceKind.OTHER


_STANDING = re.compile(r" \((cause|symptom|hint|recovery|over)(?: of [^)]*|: [^)]*)?\): ")
_STANDINGS = {
    "cause": EvidenceKind.NAMED_FAILURE,
    "symptom": EvidenceKind.SYMPTOM,
    "recovery": EvidenceKind.ENDED,
    "over": EvidenceKind.ENDED,
}

_BY_TOOL: dict[str, Callable[[str, str], EvidenceKind]] = {
    "list_changes": _change_kind,
    "find_metric_anomalies": _metric_kind,
    "query_metrics": _metric_kind,
    "find_span_anomalies": _span_kind,
    "find_log_patterns": _log_kind,
    "search_logs": _log_kind,
    "read_document": _document_kind,
    "find_failure_signatures": _signature_kind,
}
"""How the statements of a tool are read, when they name the entity that they are cited for."""


def compared_something(text: str) -> bool:
    """Whether a search without a match looked at enough for its silence to say anything.

    It must state a number of series compared, and no more that could not be; or spans on both sides of the onset; or a
    good number of log lines; and it must not have stopped early.
    """
    if _STOPPED_EARLY.search(text):
        return False
    counts = [
        [int(part.replace(",", "")) for part in found.groups()]
        for pattern in _COMPARED
        if (found := pattern.search(text))
    ]
    skipped = _SKIPPED.search(text)
    left_out = int(skipped.group(1).replace(",", "")) if skipped else 0
    return bool(counts) and all(number > 0 for number in counts[0]) and counts[0][0] >= left_out


def knows_no_onset(text: str) -> bool:
    """Whether a search without a match had no time to compare with: what came and went may be all of its usual."""
    return _NO_ONSET.search(text) is not None


_NO_ONSET = re.compile(r"\bno onset (?:is )?known\b")
_STOPPED_EARLY = re.compile(r"\b(?:reading|searching) stopped\b")
_SKIPPED = re.compile(r"\b([\d,]+) series had too few samples")
_COMPARED = (
    re.compile(r"\b([\d,]+) series compared\b"),
    re.compile(r"\bstands out in ([\d,]+) series\b"),
    re.compile(r"\b([\d,]+) operations? of [\d,]+ compared\b"),
    re.compile(r"\b([\d,]+) patterns? compared\b"),
    re.compile(r"\b([\d,]+) spans? before and ([\d,]+) since\b"),
    re.compile(r"\b([\d,]+) before the onset and ([\d,]+) since\b"),
)
"""What a search says of how much it compared."""
