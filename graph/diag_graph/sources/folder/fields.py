"""The names under which evidence files keep the same thing, one table a thing, most telling name first.

Names are compared in lower case, with `-`, `.`, blanks and capital letters within a word read as `_`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

TIME = (
    "timestamp", "@timestamp", "time", "ts", "datetime", "date", "event_time", "eventtime", "timestamp_ms",
    "time_unix_nano", "observed_time_unix_nano", "occurred_at", "occurredat", "created_at", "last_timestamp",
    "last_time", "event_timestamp", "date_time", "__realtime_timestamp", "_time", "asctime", "first_timestamp",
    "t", "at",
)  # fmt: skip
LEVEL = (
    "level", "severity", "severity_text", "lvl", "log_level", "loglevel", "levelname", "log_levelname", "severitytext",
    "priority", "level_name", "severity_number",
)  # fmt: skip
MESSAGE = (
    "message", "@message", "msg", "log", "body", "text", "text_payload", "event_message", "error_message", "line",
    "event", "raw", "_raw", "content", "logmessage", "log_message", "short_message",
)  # fmt: skip
SERVICE = (
    "service", "service_name", "servicename", "svc", "app", "app_kubernetes_io_name", "application", "app_name",
    "component", "deployment", "kube_deployment", "workload", "microservice", "logger_service", "container",
    "container_name", "kubernetes_container_name", "pod", "pod_name", "kubernetes_pod_name", "source_identifier",
    "dbinstance_identifier", "db_instance_identifier", "entity", "syslog_identifier", "program", "_systemd_unit", "job",
)  # fmt: skip
WEAK_SERVICE = ("logger", "host", "hostname", "instance", "node", "node_name", "name", "logger_name", "source")
"""What stands for a service when neither the record nor its file names one."""
TRACE_ID = ("trace_id", "traceid", "trace", "dd_trace_id", "x_b3_traceid", "otel_trace_id")
SPAN_ID = ("span_id", "spanid", "id")
PARENT_ID = ("parent_span_id", "parent_id", "parentspanid", "parentid", "parent")
SPAN_NAME = ("name", "operation_name", "operationname", "operation", "span_name", "resource", "endpoint")
START = (
    "start", "start_time", "starttime", "start_time_unix_nano", "start_time_millis", "timestamp", "time", "ts",
    "start_ts", "begin", "startts", "@timestamp",
)  # fmt: skip
END = ("end", "end_time", "endtime", "end_time_unix_nano", "end_ts", "finish", "finish_time")
METRIC = ("metric", "metric_name", "metricname", "__name__", "kpi", "measurement", "name", "series", "kpi_name")
VALUE = ("value", "val", "metric_value", "y", "sample")

ATTRIBUTES = frozenset({"attributes", "attrs", "fields", "tags", "context", "ctx", "extra", "labels"})
"""Objects within a record whose members are attributes of the record itself."""

_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[-. /]+")


@lru_cache(maxsize=8192)
def plain(name: str) -> str:
    """A field's name in the form in which the tables hold it."""
    return _SEPARATORS.sub("_", _WORD_BORDER.sub("_", name.strip())).lower()


def key_of(keys: Sequence[str], names: Sequence[str]) -> str | None:
    """The key that is named first in a table; None when none is named there."""
    by_name: dict[str, str] = {}
    for key in keys:
        by_name.setdefault(plain(key), key)
    for name in names:
        if name in by_name:
            return by_name[name]
    return None


def pick(record: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401 (a value of foreign JSON)
    """The value under the first of these names that has one; None without any."""
    by_name: dict[str, Any] = {}
    for key, value in record.items():
        if value is not None and value != "":
            by_name.setdefault(plain(key), value)
    for name in names:
        if name in by_name:
            return by_name[name]
    return None


def items_of(value: object) -> Sequence[Any]:
    """A list's members; none of anything else."""
    return value if isinstance(value, list) else ()


def table_of(value: object) -> Mapping[str, Any]:
    """An object; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def number_of(value: object) -> float:
    """A number, written as one or as text; NaN for anything else."""
    try:
        return float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def text_of(value: object) -> str:
    """A value as text: strings as they are, named things by their name, nothing for None."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = value.get("name") or value.get("stringValue") or value.get("value")
        return inner if isinstance(inner, str) else ""
    if value is None or isinstance(value, (bool, list)):
        return ""
    return str(value)


_GENERIC_STEMS = frozenset({
    "log", "logs", "app", "apps", "application", "output", "out", "stdout", "stderr", "all", "combined", "messages",
    "syslog", "console", "error", "errors", "access", "debug", "service", "services", "trace", "traces", "event",
    "events", "container", "containers", "pod", "pods", "current", "data", "export", "server", "records", "lines",
    "main", "spans", "metrics", "scrape", "scrapes", "snapshot", "snapshots", "prometheus", "federate", "openmetrics",
    "evidence", "otlp", "otel", "journal", "previous", "context", "raw", "files",
})  # fmt: skip
_EXTENSIONS = re.compile(
    r"(?:\.(?:log|logs|txt|json|ndjson|jsonl|gz|out|err|csv|tsv|parquet|prom|openmetrics|\d{1,3}|\d{4}-?\d\d-?\d\d))+$",
    re.IGNORECASE,
)
_AFFIXES = re.compile(
    r"^(?:kubectl[_-])?(?:logs?|pod|metrics)[_-]+|[_-](?:logs?|output|stdout|stderr|access|errors?|metrics|scrapes?)$"
    r"|[_-]\d{4}-?\d\d-?\d\d(?:[T_-]?\d+)?$",
    re.IGNORECASE,
)


def stem_of(name: str) -> str:
    """A file's name without folders and extensions."""
    return _EXTENSIONS.sub("", name.rpartition("/")[2])


def service_of_file(name: str) -> str:
    """The service that a file's name speaks of (`checkout.log`, `checkout/app.log`); empty when it speaks of none."""
    for part in reversed(name.split("/")):
        stem = _AFFIXES.sub("", _EXTENSIONS.sub("", part))
        if stem and not stem.isdigit() and stem.lower() not in _GENERIC_STEMS:
            return stem
    return ""
