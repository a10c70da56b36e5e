"""Which service and which metric a column or series name speaks of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from diag_graph.sources.folder import fields

_SELECTOR = re.compile(r"\s*(?P<name>[^{}]*?)\s*\{(?P<labels>.*)\}\s*", re.DOTALL)
_LABEL = re.compile(r"(?P<key>[A-Za-z_][\w.]*)\s*=~?\s*(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<bare>[^,\s]+))")
_SEPARATOR = re.compile(r"[/:|._\s]+")
_PARTING = ("/", "|")
"""Separators that part a service from a metric wherever they stand; dots and underscores may belong to either."""

_METRIC_WORDS = frozenset(
    [
        "cpu",
        "mem",
        "memory",
        "latency",
        "error",
        "errors",
        "request",
        "requests",
        "duration",
        "rate",
        "count",
        "bytes",
        "seconds",
        "load",
        "socket",
        "sockets",
        "disk",
        "diskio",
        "usage",
        "qps",
        "rps",
        "tps",
        "throughput",
        "rss",
        "heap",
        "gc",
        "connections",
        "availability",
        "p50",
        "p75",
        "p90",
        "p95",
        "p99",
        "workload",
        "queue",
        "lag",
        "saturation",
        "restarts",
        "response",
        "http",
        "rpc",
        "network",
        "net",
        "fs",
    ]
)
_TECHNICAL = frozenset(
    [
        "http",
        "https",
        "grpc",
        "rpc",
        "node",
        "process",
        "go",
        "jvm",
        "container",
        "kube",
        "kubernetes",
        "system",
        "db",
        "sql",
        "tcp",
        "udp",
        "net",
        "network",
        "disk",
        "memory",
        "mem",
        "cpu",
        "up",
        "requests",
        "request",
        "total",
        "avg",
        "max",
        "min",
        "sum",
        "count",
        "latency",
        "error",
        "errors",
        "response",
        "gc",
        "heap",
        "python",
        "nodejs",
        "dotnet",
    ]
)
"""Words at the beginning of a name that name a technique, not a service."""


@dataclass(frozen=True, slots=True)
class SeriesName:
    """What a name says. `service` is empty when it does not say."""

    service: str
    metric: str
    labels: Mapping[str, str] = field(default_factory=dict)


def from_labels(labels: Mapping[str, str], metric: str = "") -> SeriesName:
    """The service and metric of a label set in Prometheus' manner; what is left stays as labels."""
    metric = metric or labels.get("__name__", "")
    rest = {key: value for key, value in labels.items() if key != "__name__" and value}
    key = fields.key_of(tuple(rest), fields.SERVICE) or fields.key_of(tuple(rest), fields.WEAK_SERVICE)
    service = rest.pop(key) if key else ""
    return SeriesName(service, metric, rest)


def split_names(names: Sequence[str], known: Collection[str] = ()) -> list[SeriesName]:
    """Divide the names of a wide table's columns into service and metric.

    A selector (`name{label="value"}`) says it itself. Else a service that other evidence names is looked for at the
    beginning; then the names are looked at together: in a table of services by metrics, beginnings and ends recur.

    Args:
        names: Column names, the time's left out.
        known: Services that other evidence names.
    """
    by_plain = {_normal(service): service for service in known if service}
    heads, tails = Counter[str](), Counter[str]()
    for name in names:
        for head, tail in _cuts(name):
            heads[head] += 1
            tails[tail] += 1
    return [_split(name, by_plain, heads, tails) for name in names]


def _normal(name: str) -> str:
    return name.lower().replace("-", "_")


def _cuts(name: str) -> list[tuple[str, str]]:
    """Each way to divide a name at a separator."""
    return [
        (name[: match.start()], name[match.end() :])
        for match in _SEPARATOR.finditer(name)
        if match.start() and match.end() < len(name)
    ]


def _split(name: str, known: Mapping[str, str], heads: Counter[str], tails: Counter[str]) -> SeriesName:
    selector = _SELECTOR.fullmatch(name)
    if selector:
        labels = {match["key"]: match["quoted"] or match["bare"] or "" for match in _LABEL.finditer(selector["labels"])}
        return from_labels(labels, selector["name"])
    cuts = _cuts(name)
    return _by_known_service(cuts, known) or _by_habit(name, cuts, heads, tails) or SeriesName("", name)


def _by_known_service(cuts: Sequence[tuple[str, str]], known: Mapping[str, str]) -> SeriesName | None:
    """The longest known service that the name begins with, or ends with (`cpu_usage.checkout`)."""
    for head, tail in reversed(cuts):
        if _normal(head) in known:
            return SeriesName(known[_normal(head)], tail)
    for head, tail in cuts:
        if _normal(tail) in known:
            return SeriesName(known[_normal(tail)], head)
    return None


def _by_habit(
    name: str, cuts: Sequence[tuple[str, str]], heads: Counter[str], tails: Counter[str]
) -> SeriesName | None:
    """By ends that recur among the columns, by a separator that parts things, or by a word that begins a metric."""
    recurring = [(heads[head] * tails[tail], tails[tail], head, tail) for head, tail in cuts if tails[tail] > 1]
    recurring = [cut for cut in recurring if _may_be_service(cut[2])]
    if recurring:
        _, _, head, tail = max(recurring, key=lambda cut: cut[:2])
        return SeriesName(head, tail)
    for separator in _PARTING:
        head, _, tail = name.partition(separator)
        if head and tail and _may_be_service(head):
            return SeriesName(head, tail)
    for head, tail in cuts:
        if _first_word(tail) in _METRIC_WORDS and _may_be_service(head):
            return SeriesName(head, tail)
    return None


def _first_word(text: str) -> str:
    return re.split(r"[^a-z0-9]+", text.lower(), maxsplit=1)[0]


def _may_be_service(head: str) -> bool:
    return _first_word(head) not in _TECHNICAL
