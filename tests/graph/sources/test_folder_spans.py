from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from diag_graph.analysis.records import Edge, TimeRange
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

NOON = 1796040000.0
"""2026-11-30T12:00:00Z."""


def span_line(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 (any JSON)
    """A span, with fields of the test's own."""
    return {
        "trace_id": "t",
        "span_id": "a",
        "service": "web",
        "name": "GET /",
        "start": "2026-11-30T12:00:00Z",
        "duration_ms": 12.5,
        **fields,
    }


SPAN_FILES: dict[str, Any] = {
    "lines.ndjson": json.dumps(span_line())
    + "\n"
    + json.dumps(span_line(span_id="b", parent_span_id="a", service="db")),
    "list.json": [span_line(), span_line(span_id="b", parent_id="a", service="db")],
    "wrapped.json": {"spans": [span_line(), span_line(span_id="b", parentSpanId="a", service="db")]},
    "traces.json": {
        "traces": [
            {
                "trace_id": "t",
                "spans": [
                    {k: v for k, v in span_line().items() if k != "trace_id"},
                    span_line(span_id="b", parent_span_id="a", service="db"),
                ],
            }
        ]
    },
    "jaeger.json": {
        "data": [
            {
                "traceID": "t",
                "processes": {"p1": {"serviceName": "web"}, "p2": {"serviceName": "db"}},
                "spans": [
                    {
                        "traceID": "t",
                        "spanID": "a",
                        "operationName": "GET /",
                        "startTime": NOON * 1e6,
                        "duration": 12500,
                        "processID": "p1",
                    },
                    {
                        "traceID": "t",
                        "spanID": "b",
                        "operationName": "q",
                        "startTime": NOON * 1e6,
                        "duration": 12500,
                        "processID": "p2",
                        "references": [{"refType": "CHILD_OF", "spanID": "a"}],
                    },
                ],
            }
        ]
    },
    "zipkin.json": [
        {
            "traceId": "t",
            "id": "a",
            "name": "GET /",
            "timestamp": int(NOON * 1e6),
            "duration": 12500,
            "localEndpoint": {"serviceName": "web"},
        },
        {
            "traceId": "t",
            "id": "b",
            "parentId": "a",
            "name": "q",
            "timestamp": int(NOON * 1e6),
            "duration": 12500,
            "localEndpoint": {"serviceName": "db"},
        },
    ],
    "otlp.json": {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "t",
                                "spanId": span,
                                "parentSpanId": parent,
                                "name": "GET /",
                                "startTimeUnixNano": "1796040000000000000",
                                "endTimeUnixNano": "1796040000012500000",
                            }
                        ]
                    }
                ],
            }
            for service, span, parent in (("web", "a", ""), ("db", "b", "a"))
        ]
    },
}


@pytest.mark.parametrize("name", SPAN_FILES)
def test_spans_are_read_whoever_wrote_them(opened: OpenFiles, name: str) -> None:
    """Section 13: OTLP JSON, Jaeger JSON, span lines and lists; who calls whom follows from them."""
    evidence = opened({name: SPAN_FILES[name]})
    assert evidence.spans is not None
    found = {span.service: span for span in evidence.spans.spans()}
    assert set(found) == {"web", "db"}
    assert (found["web"].trace_id, found["web"].parent_id, found["db"].parent_id) == ("t", None, "a")
    assert (found["web"].name, found["web"].start, found["web"].duration_ms) == ("GET /", NOON, 12.5)
    assert not found["web"].error
    assert evidence.topology is not None
    assert list(evidence.topology.edges()) == [Edge("web", "db")]


@pytest.mark.parametrize(
    ("fields", "duration"),
    [
        ({"duration_us": 12500}, 12.5),
        ({"durationNanos": 12500000}, 12.5),
        ({"duration": "12.5ms"}, 12.5),
        ({"duration_seconds": 0.0125}, 12.5),
        ({"end": "2026-11-30T12:00:00.012500Z"}, pytest.approx(12.5)),
    ],
)
def test_durations_have_the_unit_that_their_name_says(
    opened: OpenFiles, fields: dict[str, Any], duration: float
) -> None:
    """Milliseconds, microseconds, nanoseconds, seconds, or an end instead."""
    span = {key: value for key, value in span_line().items() if key != "duration_ms"} | fields
    evidence = opened({"s.json": [span]})
    assert evidence.spans is not None
    assert evidence.spans.spans()[0].duration_ms == duration


def test_a_duration_without_a_unit_is_read_as_milliseconds_and_said(opened: OpenFiles, entry: Entry) -> None:
    """An assumption stands in the inventory."""
    span = {key: value for key, value in span_line().items() if key != "duration_ms"} | {"duration": 12.5}
    evidence = opened({"s.ndjson": f"{json.dumps(span)}\n{json.dumps(span)}\n"})
    assert evidence.spans is not None
    assert evidence.spans.spans()[0].duration_ms == 12.5
    assert "without a unit were read as milliseconds" in (entry(evidence, "s.ndjson").assumption or "")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"status": "ERROR"}, True),
        ({"status": {"code": "STATUS_CODE_ERROR", "message": "gone"}}, True),
        ({"status": {"code": 2}}, True),
        ({"status": 503}, True),
        ({"status": "OK"}, False),
        ({"status": 404}, False),
        ({"attributes": {"error": True}}, True),
        ({"attributes": {"http.status_code": 500}}, True),
        ({"attributes": {"http.response.status_code": "404"}}, False),
        ({"attributes": {"rpc.grpc.status_code": 14}}, True),
        ({"attributes": {"rpc.grpc.status_code": 5}}, False),
        ({"tags": [{"key": "error", "value": "true"}]}, True),
    ],
)
def test_a_span_failed_when_its_status_or_attributes_say_so(
    opened: OpenFiles, fields: dict[str, Any], error: bool
) -> None:
    """Errors from the status, HTTP 5xx, and gRPC codes that are the server's fault."""
    evidence = opened({"s.json": [span_line(**fields)]})
    assert evidence.spans is not None
    assert evidence.spans.spans()[0].error is error


def test_span_lines_that_are_broken_are_counted(opened: OpenFiles, entry: Entry) -> None:
    """Nothing swallowed: 1 of 4 lines, and where."""
    lines = [json.dumps(span_line(span_id=str(n))) for n in range(4)]
    lines[2] = lines[2][:40]
    evidence = opened({"s.ndjson": "\n".join(lines)})
    assert entry(evidence, "s.ndjson").problem == "1 of 4 lines are not JSON: first at line 3"
    assert evidence.spans is not None
    assert len(evidence.spans.spans(TimeRange(NOON, NOON))) == 3
    assert evidence.spans.spans(TimeRange(0, 1)) == []
