from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from diag_graph.sources.folder import open_folder

SEEDS = [
    b"timestamp,service,metric,value\n2026-11-30T12:00:00Z,cart,cpu,1\n2026-11-30T12:01:00Z,cart,cpu,2\n",
    b"time,cart_cpu,web_cpu\n1796040000,1,2\n1796040060,3,4\n",
    b'{"time":"2026-11-30T12:00:00Z","level":"error","msg":"a"}\n{"time":1796040000,"msg":"b","attributes":{"k":1}}\n',
    b'2026-11-30 12:00:00 ERROR [cart] a\nTraceback (most recent call last):\n  File "x"\nValueError: b\n',
    b"E1130 12:00:00.000000 1 a.go:1] x\nNov 30 12:00:00 host app[1]: y\n2026-11-30T12:00:00Z stdout P z\n",
    json.dumps({"alerts": [{"labels": {"alertname": "A"}, "startsAt": "2026-11-30T12:00:00Z"}]}).encode(),
    json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [{"spanId": "a"}]}]}]}).encode(),
    json.dumps({"commits": [{"sha": "a", "timestamp": "2026-11-30T12:00:00Z"}], "edges": [["a", "b"]]}).encode(),
    json.dumps({"data": {"resultType": "matrix", "result": [{"metric": {}, "values": [[1, "2"]]}]}}).encode(),
]
KEYS = (
    "alerts labels startsAt spans trace_id span_id start duration_ms status attributes tags data result resultType "
    "metric values value timestamps time message logs level service commits commit author sha events edges nodes id "
    "name resourceSpans resource scopeSpans resourceLogs resourceMetrics Datapoints processes involvedObject reason "
    "stream annotations jsonPayload kubernetes"
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.just(10**400)
    | st.text(max_size=8)
    | st.just("2026-11-30T12:00:00Z"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS.split(" ")), inner, max_size=6),
    max_leaves=25,
)


def read_everything(content: bytes) -> None:
    """Read a folder of one file to the last value of every source; all text must be such as can be stored."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "x.dat").write_bytes(content)
        evidence = open_folder(Path(folder))
        (entry,) = evidence.inventory.entries()
        assert entry.detail or entry.problem
        texts = [entry.detail, entry.problem or "", *evidence.notes.values()]
        texts += [record.message for record in evidence.logs.records()] if evidence.logs else []
        for name in evidence.documents.names() if evidence.documents else ():
            texts += evidence.documents.lines(name)  # type: ignore[union-attr]
        for source, method in (
            (evidence.metrics, "series"), (evidence.spans, "spans"), (evidence.alerts, "alerts"),
            (evidence.changes, "changes"), (evidence.topology, "edges"),
        ):  # fmt: skip
            if source is not None:
                repr(getattr(source, method)())
        "\n".join(texts).encode("utf-8")


@settings(max_examples=150, deadline=None)
@given(seed=st.sampled_from(SEEDS), at=st.integers(0, 400), junk=st.binary(max_size=12), cut=st.booleans())
def test_a_damaged_file_never_stops_the_reader(seed: bytes, at: int, junk: bytes, cut: bool) -> None:
    """Section 13: a file that cannot be read is listed with why, and never stops the rest."""
    at = min(at, len(seed))
    read_everything(seed[:at] + junk + (b"" if cut else seed[at:]))


SHAPES: list[Any] = [
    {
        "status": "firing",
        "alerts": [
            {
                "labels": {"alertname": "A", "service": "s"},
                "annotations": {"summary": "x"},
                "status": {"state": "active"},
                "startsAt": "2026-11-30T12:00:00Z",
                "endsAt": "2026-11-30T12:00:00Z",
            }
        ],
    },
    {
        "data": [
            {
                "traceID": "t",
                "processes": {"p": {"serviceName": "s", "tags": [{"key": "k", "value": "v"}]}},
                "spans": [
                    {
                        "traceID": "t",
                        "spanID": "a",
                        "operationName": "o",
                        "startTime": 1796040000000000,
                        "duration": 5,
                        "processID": "p",
                        "references": [{"refType": "CHILD_OF", "spanID": "b"}],
                        "tags": [{"key": "error", "value": True}],
                    }
                ],
            }
        ]
    },
    [
        {
            "traceId": "t",
            "id": "a",
            "parentId": "b",
            "timestamp": 1796040000000000,
            "duration": 5,
            "name": "n",
            "localEndpoint": {"serviceName": "s"},
            "tags": {"error": "x"},
            "status": {"code": 2, "message": "m"},
        }
    ],
    {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]},
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "t",
                                "spanId": "a",
                                "startTimeUnixNano": "1796040000000000000",
                                "endTimeUnixNano": "1796040000000000009",
                                "status": {"code": 2},
                                "attributes": [{"key": "k", "value": {"arrayValue": {"values": [{"intValue": "3"}]}}}],
                            }
                        ]
                    }
                ],
            }
        ]
    },
    {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {
                        "logRecords": [
                            {
                                "timeUnixNano": "1796040000000000000",
                                "severityNumber": 17,
                                "severityText": "E",
                                "body": {"stringValue": "x"},
                                "traceId": "t",
                            }
                        ]
                    }
                ]
            }
        ]
    },
    {
        "resourceMetrics": [
            {
                "scopeMetrics": [
                    {
                        "metrics": [
                            {
                                "name": "m",
                                "sum": {
                                    "dataPoints": [
                                        {"timeUnixNano": "1796040000000000000", "asInt": "3", "attributes": []}
                                    ]
                                },
                            }
                        ]
                    }
                ]
            }
        ]
    },
    {
        "data": {
            "resultType": "matrix",
            "result": [{"metric": {"__name__": "m", "job": "j"}, "values": [[1796040000, "1"]]}],
        }
    },
    {
        "data": {
            "resultType": "streams",
            "result": [{"stream": {"app": "a", "level": "x"}, "values": [["1796040000000000000", "l"]]}],
        }
    },
    {
        "MetricDataResults": [
            {
                "Id": "i",
                "Label": "l",
                "Timestamps": ["2026-11-30T12:00:00Z"],
                "Values": [1.0],
                "Dimensions": [{"Name": "n", "Value": "v"}],
                "stat": "s",
            }
        ]
    },
    {"Label": "l", "Datapoints": [{"Timestamp": "2026-11-30T12:00:00Z", "Average": 1.0, "Unit": "u"}]},
    {
        "commits": [{"sha": "s", "commit": {"message": "m", "author": {"name": "n", "date": "2026-11-30T12:00:00Z"}}}],
        "flags": [{"flag": "f", "timestamp": 1796040000, "change": "on"}],
        "events": [{"type": "deploy", "time": 1796040000}],
    },
    {"nodes": [{"id": 1, "name": "a"}], "edges": [{"source": 1, "target": 2}, ["a", "b"]]},
    {
        "items": [
            {
                "reason": "r",
                "message": "m",
                "type": "Warning",
                "involvedObject": {"name": "n"},
                "metadata": {"creationTimestamp": "2026-11-30T12:00:00Z"},
            }
        ]
    },
    {
        "logs": [
            {
                "timestamp": "2026-11-30T12:00:00Z",
                "level": "x",
                "message": "m",
                "kubernetes": {"labels": {"app": "a"}},
                "attributes": {"a": 1},
                "trace_id": "t",
            }
        ]
    },
    [
        {"time": 1796040000, "log": '{"msg": "m"}', "stream": "s"},
        {"timestamp": 1796040000, "jsonPayload": {"message": "m"}},
    ],
    {"pod_name": "p", "logs": "2026-11-30T12:00:00Z ERROR a\nb\n"},
    [{"metric": "m", "value": 1, "time": 1796040000, "service": "s"}],
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 (any JSON)
    """The path of each value within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:  # noqa: ANN401 (any JSON)
    """The value with another one at a path."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=200, deadline=None)
@given(shape=st.sampled_from(SHAPES), where=st.integers(0, 60), new=JSON, as_lines=st.booleans())
def test_a_known_shape_with_something_else_in_it_never_stops_the_reader(
    shape: Any,  # noqa: ANN401 (any JSON)
    where: int,
    new: Any,  # noqa: ANN401 (any JSON)
    as_lines: bool,
) -> None:
    """A file of a known kind may hold anything anywhere: it is read as far as it goes."""
    paths = places(shape)
    text = json.dumps(replaced(shape, paths[where % len(paths)], new))
    read_everything(f"{text}\n{text}\n".encode() if as_lines else text.encode())


@settings(max_examples=200, deadline=None)
@given(value=JSON)
def test_json_of_any_shape_never_stops_the_reader(value: object) -> None:
    """Objects that look like a known shape and hold something else in its place are read as far as they go."""
    read_everything(json.dumps(value).encode())


@settings(max_examples=60, deadline=None)
@given(values=st.lists(JSON, min_size=2, max_size=4))
def test_json_lines_of_any_shape_never_stop_the_reader(values: list[object]) -> None:
    """The same, a value a line."""
    read_everything("\n".join(map(json.dumps, values)).encode())
