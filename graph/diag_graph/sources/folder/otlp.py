"""OTLP in JSON (https://opentelemetry.io/docs/specs/otlp/, JSON mapping of protobuf): spans, log records and numbers.

Both a single export request and one request a line (the collector's file exporter) come here object by object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from diag_graph.analysis.records import LogRecord, Series, Span
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.levels import level_in, level_of
from diag_graph.sources.folder.spans import is_error
from diag_graph.sources.folder.times import TimeReader

ROOTS = frozenset({"resourceSpans", "resourceLogs", "resourceMetrics"})
"""Keys of an export request."""

_STATUS = {"1": "OK", "2": "ERROR", "STATUS_CODE_OK": "OK", "STATUS_CODE_ERROR": "ERROR"}


def spans_of(request: Mapping[str, Any], times: TimeReader) -> Iterator[Span | None]:
    """The spans of an export request; None for each that lacks an id or a start."""
    for service, resource, raw in _leaves(
        request, "resourceSpans", ("scopeSpans", "instrumentationLibrarySpans"), "spans"
    ):
        start, end = times.read(raw.get("startTimeUnixNano")), times.read(raw.get("endTimeUnixNano"))
        if start is None or not raw.get("spanId"):
            yield None
            continue
        state = fields.table_of(raw.get("status"))
        status = _STATUS.get(str(state.get("code", 0)), "UNSET")
        attributes = resource | _attributes(raw.get("attributes"))
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
    for service, resource, raw in _leaves(
        request, "resourceLogs", ("scopeLogs", "instrumentationLibraryLogs"), "logRecords"
    ):
        time = times.read(raw.get("timeUnixNano")) or times.read(raw.get("observedTimeUnixNano"))
        message = str(_value(raw.get("body")) or "")
        level = level_of(raw.get("severityText") or "") or level_of(
            _number(raw.get("severityNumber")), "severity_number"
        )
        attributes = resource | _attributes(raw.get("attributes"))
        yield LogRecord(
            message, time, service, level or level_in(message), str(raw.get("traceId") or ""), attributes, source
        )


def series_of(request: Mapping[str, Any], times: TimeReader, source: str) -> Iterator[Series | None]:
    """The gauges and sums of an export request; None for each metric of another type."""
    for service, _, raw in _leaves(
        request, "resourceMetrics", ("scopeMetrics", "instrumentationLibraryMetrics"), "metrics"
    ):
        held = raw.get("gauge") or raw.get("sum")
        if not isinstance(held, dict):
            yield None
            continue
        points: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
        for point in fields.items_of(held.get("dataPoints")):
            time = times.read(point.get("timeUnixNano")) if isinstance(point, dict) else None
            if time is None:
                continue
            labels = tuple(sorted((key, str(value)) for key, value in _attributes(point.get("attributes")).items()))
            number = point.get("asDouble", point.get("asInt"))
            points.setdefault(labels, []).append((time, fields.number_of(number)))
        for labels, samples in points.items():
            table = np.array(sorted(samples), np.float64)
            yield Series(service, str(raw.get("name") or ""), table[:, 0], table[:, 1], dict(labels), source)


def _leaves(
    request: Mapping[str, Any], root: str, scopes: tuple[str, ...], leaf: str
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each innermost object with its service and its resource's other attributes."""
    for resource in _objects(request.get(root)):
        inner = resource.get("resource")
        attributes = _attributes(inner.get("attributes")) if isinstance(inner, dict) else {}
        service = str(attributes.pop("service.name", "") or "")
        for key in scopes:
            for scope in _objects(resource.get(key)):
                for raw in _objects(scope.get(leaf)):
                    yield service, attributes, raw


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _attributes(pairs: object) -> dict[str, Any]:
    return {str(pair.get("key")): _value(pair.get("value")) for pair in _objects(pairs)}


def _value(value: object) -> Any:  # noqa: ANN401 (any JSON)
    if not isinstance(value, dict):
        return value
    for key, inner in value.items():
        if key == "arrayValue" and isinstance(inner, dict):
            return [_value(item) for item in fields.items_of(inner.get("values"))]
        if key == "kvlistValue" and isinstance(inner, dict):
            return _attributes(inner.get("values"))
        if key == "intValue":
            return _number(inner)
        return inner
    return None


def _number(value: object) -> object:
    """Protobuf's JSON writes 64-bit integers as text."""
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() and len(value) < 20 else value  # noqa: PLR2004


def _milliseconds(raw: Mapping[str, Any], start: float, end: float | None) -> float:
    """How long a span lasted; from the nanoseconds themselves, for a float of seconds since 1970 rounds them."""
    first, last = _number(raw.get("startTimeUnixNano")), _number(raw.get("endTimeUnixNano"))
    if isinstance(first, int) and isinstance(last, int):
        return max(0, last - first) / 1e6
    return max(0.0, round((end - start) * 1e3, 3)) if end is not None else 0.0
