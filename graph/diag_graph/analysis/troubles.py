"""Kinds of trouble: what an item of a tool shows, what that is worth, and what remains of it when a callee explains it.

The kinds of metrics are read from their names, which Prometheus, CloudWatch and OpenTelemetry chose to say them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from diag_graph.analysis.peers import is_statement

Item = Mapping[str, Any]
"""One item of a tool's recorded result."""


class Trouble(StrEnum):
    """What kind of trouble an item shows, which decides what it is worth and what may explain it away."""

    RESOURCE = "resource"
    POOL = "pool"
    """A client's connections and waiting work: what runs out by itself, or because each call takes longer."""
    USE = "use"
    """What its clients do with a database, connections and transactions: no trouble of its own by themselves."""
    RESTART = "restart"
    ERRORS = "errors"
    CANCELLED = "cancelled"
    """Work that its caller gave up on: the caller's doing, or its deadline's."""
    LATENCY = "latency"
    PRESENCE = "presence"
    TRAFFIC = "traffic"
    OTHER = "other"
    SELF_TIME = "self time"
    CALLS = "calls"
    FAILURE = "failure"
    DATABASE_CALL = "database call"
    """A statement that got slower or fails, as its client sees it: the client's trouble or the database's."""
    LOG = "log"
    COURSE = "course"
    """Work that ends early or fails on its way, or calls that do not arrive."""
    FLOW = "flow"
    """Calls that are repeated, or whose caller recorded nothing: what trouble elsewhere leaves, too."""


_METRIC_TROUBLE: tuple[tuple[Trouble, re.Pattern[str]], ...] = tuple(
    (trouble, re.compile(pattern, re.IGNORECASE))
    for trouble, pattern in (
        (Trouble.RESTART, r"restart|oom|evict|crash|uptime"),
        (Trouble.CANCELLED, r"cancel"),
        (
            Trouble.ERRORS,
            r"(?<![a-z])err|error|fail|5xx|4xx|reject|drop|abort|timeout|availab|success|panic|exception|denied|lost",
        ),
        (
            Trouble.USE,
            (
                r"^(?!.*(?:lock|wait|block|dead|max|limit|util|percent|pool|queue|pending|exhaust|refus))"
                r".*(?:transactions?|rollbacks?|commits|connections|sessions)"
            ),
        ),
        (Trouble.POOL, r"pool|in_?flight"),
        (
            Trouble.RESOURCE,
            (
                r"cpu|mem|heap|disk|storage|iops|pool|conn|thread|goroutine|queue|backlog|lag|throttl|saturat|capacity|"
                r"limit|quota|file_?desc|inode|swap|(?<![a-z])gc(?![a-z])|lock|cache|hit_?ratio|buffer|load|wait|utili[sz]|replica|transaction"
            ),
        ),
        (Trouble.LATENCY, r"laten|duration|response_?time|p\d{2}|_ms$|seconds|delay|rtt"),
        (Trouble.TRAFFIC, r"request|rps|qps|ops|throughput|traffic|bytes|packets|count|syscall|rate|workload|per_sec"),
    )
)
WEIGHT = {
    Trouble.RESOURCE: 1.15,
    Trouble.POOL: 1.15,
    Trouble.USE: 0.8,
    Trouble.RESTART: 1.2,
    Trouble.ERRORS: 1.0,
    Trouble.CANCELLED: 0.5,
    Trouble.LATENCY: 1.0,
    Trouble.PRESENCE: 0.6,
    Trouble.TRAFFIC: 0.6,
    Trouble.OTHER: 0.8,
    Trouble.SELF_TIME: 1.3,
    Trouble.CALLS: 1.1,
    Trouble.FAILURE: 1.3,
    Trouble.DATABASE_CALL: 1.0,
    Trouble.LOG: 1.0,
    Trouble.COURSE: 1.0,
    Trouble.FLOW: 0.8,
}
LEFT_WHEN_EXPLAINED = {
    Trouble.ERRORS: 0.35,
    Trouble.LATENCY: 0.35,
    Trouble.TRAFFIC: 0.35,
    Trouble.LOG: 0.35,
    Trouble.COURSE: 0.35,
    Trouble.FLOW: 0.35,
    Trouble.PRESENCE: 0.35,
    Trouble.CANCELLED: 0.35,
    Trouble.DATABASE_CALL: 0.35,
    Trouble.SELF_TIME: 0.7,
}
"""What remains of an entity's trouble when a service that it calls is anomalous as well. Resources, restarts, waiting
calls and failures at their origin stay whole; self time nearly so: it may be a wait for calls that nobody traced."""
SEEN_BY_CALLERS = frozenset({Trouble.LATENCY, Trouble.ERRORS, Trouble.TRAFFIC, Trouble.PRESENCE, Trouble.CANCELLED})
"""Kinds that who calls something can measure of it."""
UNNOTICED = frozenset(
    {Trouble.RESOURCE, Trouble.POOL, Trouble.USE, Trouble.TRAFFIC, Trouble.OTHER, Trouble.PRESENCE, Trouble.CANCELLED}
)
"""Kinds that nobody notices as long as nothing is slower, fails or restarts for them."""
POOL_LEFT = 0.35
"""What remains of a client's used up pool when the calls that hold its connections wait for a peer's own trouble."""
OWN_OF_A_PEER = frozenset({Trouble.RESOURCE, Trouble.RESTART, Trouble.ERRORS, Trouble.LOG, Trouble.PRESENCE})
"""Kinds that show that something without spans has trouble of its own, and not just more or longer use."""
_ADVERSE = frozenset({Trouble.LATENCY, Trouble.ERRORS, Trouble.CANCELLED})
"""Kinds of which only one direction is bad."""
_SUCCESS = re.compile(r"availab|success|apdex", re.IGNORECASE)
BENIGN = 0.4
"""What a change for the better is worth: less latency or fewer errors are rather what trouble elsewhere leaves."""
_CANCELLED = re.compile(
    r"cancel+ed by (?:the )?client|client (?:has )?(?:closed|disconnected|went away)", re.IGNORECASE
)
FELL = 0.4
"""What a resource is worth of which less is used: its owner has less to do, or was begun anew."""
_SPARE_WORDS = frozenset(
    ["free", "freeable", "available", "idle", "headroom", "remaining", "spare", "credit", "credits", "hit"]
)
_USED_WORDS = frozenset(
    ["cpu", "mem", "memory", "heap", "rss", "resident", "gc", "thread", "threads", "goroutines", "load", "disk", "io"]
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
ALERTABLE = frozenset({Trouble.ERRORS, Trouble.LATENCY})
"""Kinds that spread to callers as the same kind: an alert on one is not explained by the other as well as by itself."""


_COURSES = {
    "ends early": Trouble.COURSE,
    "fails on its way": Trouble.COURSE,
    "not arriving": Trouble.COURSE,
    "retried": Trouble.FLOW,
    "fanned out": Trouble.FLOW,
    "orphaned": Trouble.FLOW,
}
"""By what an item says of its change."""


def trouble_of(item: Item) -> Trouble:
    """What kind of trouble an item of a metric, span or log tool shows."""
    if (course := _COURSES.get(str(item.get("change")))) is not None:
        return course
    if item.get("signal") == "log":
        return Trouble.CANCELLED if _CANCELLED.search(str(item.get("example") or "")) else Trouble.LOG
    if item.get("direction") in ("appeared", "stopped", "frozen"):
        return Trouble.PRESENCE
    if item.get("signal") == "span":
        return _span_trouble(item)
    return metric_trouble(str(item.get("metric") or ""))


def _span_trouble(item: Item) -> Trouble:
    if item.get("change") == "calls slower":
        return Trouble.CALLS
    if item.get("database") or is_statement(str(item.get("operation") or "")):
        return Trouble.DATABASE_CALL
    return Trouble.FAILURE if item.get("direction") == "failing" else Trouble.SELF_TIME


def metric_trouble(metric: str) -> Trouble:
    """What kind of trouble a change of a metric of this name is."""
    return next((trouble for trouble, pattern in _METRIC_TROUBLE if pattern.search(metric)), Trouble.OTHER)


def is_benign(item: Item, trouble: Trouble) -> bool:
    """Whether a metric changed for the better: latency, errors or cancellations fell, or a share of successes rose."""
    if item.get("signal") != "metric" or trouble not in _ADVERSE:
        return False
    adverse = "down" if _SUCCESS.search(str(item.get("metric") or "")) else "up"
    return item.get("direction") != adverse


def words_of(metric: str) -> set[str]:
    """The words of a metric's name, in small letters."""
    return {word.lower() for word in _WORDS.findall(metric)}


def is_spare(metric: str) -> bool:
    """Whether a metric measures what is left of a resource, of which less is worse."""
    return bool(words_of(metric) & _SPARE_WORDS)


def is_relief(item: Item, trouble: Trouble) -> bool:
    """Whether less of a resource is used than before."""
    metric = str(item.get("metric") or "")
    fell = item.get("signal") == "metric" and trouble is Trouble.RESOURCE and item.get("direction") == "down"
    return fell and bool(words_of(metric) & _USED_WORDS) and not is_spare(metric)
