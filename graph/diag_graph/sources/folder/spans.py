"""Spans: span lines and lists, Zipkin v2 and Jaeger JSON (https://www.jaegertracing.io/docs/latest/apis/).

OTLP's own nesting is unpacked in `otlp`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from diag_graph.analysis.records import Span
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.times import TimeReader, epoch

_TO_MS = {
    "ms": 1.0, "millis": 1.0, "milliseconds": 1.0, "us": 1e-3, "µs": 1e-3, "micros": 1e-3, "microseconds": 1e-3,
    "ns": 1e-6, "nanos": 1e-6, "nanoseconds": 1e-6, "s": 1e3, "sec": 1e3, "secs": 1e3, "seconds": 1e3, "m": 60e3,
}  # fmt: skip
_DURATION_KEY = re.compile(r"(?:duration|elapsed|latency|took)(?:_(?:in_)?(?P<unit>[a-z]+))?$")
_DURATION_TEXT = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>[a-zµ]*)\s*")
_MICROSECONDS_FROM = 1e14
"""A start that is this large a number is in microseconds, and so is the duration beside it (Zipkin, Jaeger)."""

UNIT_ASSUMED = "durations without a unit were read as milliseconds"

_ERROR_STATUS = frozenset(
    {"error", "status_code_error", "2", "failed", "failure", "fail", "err", "internal", "unavailable", "unset_error"}
)
_SERVER_ERROR = 500
_RPC_SERVER_ERRORS = frozenset({2, 4, 12, 13, 14, 15})
"""gRPC codes that are the server's fault, by OpenTelemetry's semantic conventions for RPC spans."""


def looks_like_span(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a span: it has a trace, an id of its own, and begins or lasts."""
    keys = tuple(record)
    return (
        fields.key_of(keys, fields.TRACE_ID) is not None
        and fields.key_of(keys, fields.SPAN_ID) is not None
        and (
            any(_DURATION_KEY.search(fields.plain(key)) for key in keys) or fields.key_of(keys, fields.END) is not None
        )
        and fields.key_of(keys, fields.START) is not None
    )


class SpanReader:
    """Reads spans from JSON objects.

    Attributes:
        unit_assumed: Whether a duration without a unit was read (as milliseconds).
    """

    def __init__(self, times: TimeReader) -> None:
        """Make a reader for one file, whose times this reader reads."""
        self._times = times
        self.unit_assumed = False

    def span(self, record: Mapping[str, Any]) -> Span | None:
        """The span that an object holds; None when it lacks a start or an id."""
        values = {fields.plain(key): value for key, value in record.items() if value is not None and value != ""}
        start_key, start = self._start(values)
        span_id = fields.text_of(_first(values, fields.SPAN_ID))
        trace_id = fields.text_of(_first(values, fields.TRACE_ID))
        if start is None or not span_id:
            return None
        attributes = _attributes(record, values)
        status, message = _status(values)
        if message:
            attributes.setdefault("status_message", message)
        parent = fields.text_of(_first(values, fields.PARENT_ID)).strip("0")
        return Span(
            trace_id,
            span_id,
            fields.text_of(_first(values, fields.PARENT_ID)) if parent else None,
            _service(values, attributes),
            fields.text_of(_first(values, fields.SPAN_NAME)),
            start,
            self._duration(values, start, values[start_key]),
            status.lower() in _ERROR_STATUS or is_error(attributes),
            status,
            attributes,
        )

    def _start(self, values: Mapping[str, Any]) -> tuple[str, float | None]:
        for name in fields.START:
            if name in values:
                time = self._times.read(values[name])
                if time is not None:
                    return name, time
        return "", None

    def _duration(self, values: Mapping[str, Any], start: float, raw_start: object) -> float:
        """Milliseconds that a span lasted; 0 when the record does not say."""
        for key, value in values.items():
            match = _DURATION_KEY.search(key)
            if match is None:
                continue
            text = _DURATION_TEXT.fullmatch(str(value))
            if text is None:
                continue
            unit = match["unit"] if match["unit"] in _TO_MS else text["unit"]
            if unit not in _TO_MS:
                in_micros = isinstance(raw_start, int) and raw_start >= _MICROSECONDS_FROM
                self.unit_assumed = self.unit_assumed or not in_micros
                unit = "us" if in_micros else "ms"
            return float(text["number"]) * _TO_MS[unit]
        end = self._times.read(_first(values, fields.END))
        return max(0.0, round((end - start) * 1e3, 3)) if end is not None else 0.0


def jaeger_spans(trace: Mapping[str, Any]) -> Iterator[Span | None]:
    """The spans of one trace of Jaeger's JSON, whose times are in microseconds; None for each that cannot be read."""
    processes = fields.table_of(trace.get("processes"))
    for item in fields.items_of(trace.get("spans")):
        raw = fields.table_of(item)
        start, span_id = epoch(fields.number_of(raw.get("startTime"))), fields.text_of(raw.get("spanID"))
        if start is None or not span_id:
            yield None
            continue
        process = fields.table_of(raw.get("process")) or fields.table_of(processes.get(str(raw.get("processID"))))
        attributes = _tags(process.get("tags")) | _tags(raw.get("tags"))
        parents = [fields.text_of(fields.table_of(one).get("spanID")) for one in fields.items_of(raw.get("references"))]
        duration = fields.number_of(raw.get("duration"))
        yield Span(
            fields.text_of(raw.get("traceID")) or fields.text_of(trace.get("traceID")),
            span_id,
            fields.text_of(raw.get("parentSpanID")) or (parents[0] if parents else "") or None,
            fields.text_of(process.get("serviceName")),
            fields.text_of(raw.get("operationName")),
            start,
            duration / 1e3 if duration >= 0 else 0.0,
            is_error(attributes),
            fields.text_of(attributes.get("otel.status_code")),
            attributes,
        )


def is_error(attributes: Mapping[str, Any]) -> bool:
    """Whether a span's attributes say that it failed."""
    if str(attributes.get("error", "")).lower() in {"true", "1"}:
        return True
    if str(attributes.get("otel.status_code", "")).lower() == "error":
        return True
    for key in ("http.status_code", "http.response.status_code", "http_status_code"):
        code = _whole(attributes.get(key))
        if code is not None:
            return code >= _SERVER_ERROR
    return _whole(attributes.get("rpc.grpc.status_code")) in _RPC_SERVER_ERRORS


def _whole(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isdigit() and len(text) < 6 else None  # noqa: PLR2004 (no status is longer)


def _tags(tags: object) -> dict[str, Any]:
    if not isinstance(tags, list):
        return {}
    return {str(tag.get("key")): tag.get("value") for tag in tags if isinstance(tag, dict)}


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:  # noqa: ANN401 (a value of foreign JSON)
    for name in names:
        if name in values:
            return values[name]
    return None


_OWN = frozenset((*fields.TRACE_ID, *fields.SPAN_ID, *fields.PARENT_ID, *fields.START, *fields.END, *fields.ATTRIBUTES,
                  "service", "service_name", "name", "status", "local_endpoint", "process", "resource"))  # fmt: skip


def _attributes(record: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    resource = values.get("resource")
    for inner in (resource, *(values.get(name) for name in sorted(fields.ATTRIBUTES))):
        if isinstance(inner, dict):
            nested = inner.get("attributes")
            attributes.update(nested if isinstance(nested, dict) else inner)
        elif isinstance(inner, list):
            attributes.update(_tags(inner))
    for key, value in record.items():
        name = fields.plain(key)
        if name not in _OWN and not _DURATION_KEY.search(name) and value is not None:
            attributes[key] = value
    return attributes


def _service(values: Mapping[str, Any], attributes: Mapping[str, Any]) -> str:
    for name in ("service", "service_name", "servicename"):
        text = fields.text_of(values.get(name))
        if text:
            return text
    for owner, key in (("local_endpoint", "serviceName"), ("process", "serviceName")):
        inner = values.get(owner)
        if isinstance(inner, dict) and inner.get(key):
            return str(inner[key])
    named = attributes.get("service.name")
    return str(named) if named else fields.text_of(_first(values, fields.SERVICE))


def _status(values: Mapping[str, Any]) -> tuple[str, str]:
    """Status and the message that goes with it."""
    status = values.get("status", values.get("status_code", ""))
    if isinstance(status, dict):
        return str(status.get("code", "")), str(status.get("message", "") or "")
    code = _whole(status)
    if code is not None and code >= 100:  # noqa: PLR2004 (an HTTP status)
        return ("ERROR" if code >= _SERVER_ERROR else str(code)), ""
    return fields.text_of(status), ""
