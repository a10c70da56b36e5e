"""OTLP in JSON (https://opentelemetry.io/docs/specs/otlp/, JSON mapping of protobuf): spans and log records.

Metrics are read by `otlp_metrics`. Both a single export request and one request a line (the collector's file exporter)
come here object by object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diag_graph.analysis.records import LogRecord, Span
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.levels import level_in, level_of
from diag_graph.sources.folder.otlp_values import attributes_of, leaves, value_of, whole_number
from diag_graph.sources.folder.spans import is_error
from diag_graph.sources.folder.times import TimeReader

ROOTS = frozenset({"resourceSpans", "resourceLogs", "resourceMetrics"})
"""Keys of an export request."""

_STATUS = {"1": "OK", "2": "ERROR", "STATUS_CODE_OK": "OK", "STATUS_CODE_ERROR": "ERROR"}


def spans_of(request: Mapping[str, Any], times: TimeReader) -> Iterator[Span | None]:
    """The spans of an export request; None for each that lacks an id or a start."""
    for service, resource, raw in leaves(
        request, "resourceSpans", ("scopeSpans", "instrumentationLibrarySpans"), "spans"
    ):
        start, end = times.read(raw.get("startTimeUnixNano")), times.read(raw.get("endTimeUnixNano"))
        if start is None or not raw.get("spanId"):
            yield None
            continue
        state = fields.table_of(raw.get("status"))
        status = _STATUS.get(str(state.get("code", 0)), "UNSET")
        attributes = resource | attributes_of(raw.get("attributes"))
        if state.get("message"):
            attributes["status_message"] = state["message"]
        yield Span(
            str(raw.get("traceId") or ""),
            str(raw["spanId"]),
            str(raw["parentSpanId"]) if str(raw.get("parentSpanId") or "").strip("0") else None,
            service,
            str(raw.get("name") or ""),
            start,
            _milliseconds(raw, start, end),
            status == "ERROR" or is_error(attributes),
            "" if status == "UNSET" else status,
            attributes,
        )


def logs_of(request: Mapping[str, Any], times: TimeReader, source: str) -> Iterator[LogRecord]:
    """The log records of an export request."""
    for service, resource, raw in leaves(
        request, "resourceLogs", ("scopeLogs", "instrumentationLibraryLogs"), "logRecords"
    ):
        time = times.read(raw.get("timeUnixNano")) or times.read(raw.get("observedTimeUnixNano"))
        message = str(value_of(raw.get("body")) or "")
        level = level_of(raw.get("severityText") or "") or level_of(
            whole_number(raw.get("severityNumber")), "severity_number"
        )
        attributes = resource | attributes_of(raw.get("attributes"))
        yield LogRecord(
            message, time, service, level or level_in(message), str(raw.get("traceId") or ""), attributes, source
        )


def _milliseconds(raw: Mapping[str, Any], start: float, end: float | None) -> float:
    """How long a span lasted; from the nanoseconds themselves, for a float of seconds since 1970 rounds them."""
    first, last = whole_number(raw.get("startTimeUnixNano")), whole_number(raw.get("endTimeUnixNano"))
    if isinstance(first, int) and isinstance(last, int):
        return max(0, last - first) / 1e6
    return max(0.0, round((end - start) * 1e3, 3)) if end is not None else 0.0
