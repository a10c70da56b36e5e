from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diag_graph.analysis.records import Edge, TimeRange
from diag_graph.sources.folder import documents as documents_module
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

NOON = 1796040000.0
"""2026-11-30T12:00:00Z."""


def test_the_alertmanager_webhook_is_read(opened: OpenFiles) -> None:
    """Section 13: `alert.json`; firing alerts first."""
    evidence = opened(
        {
            "alert.json": {
                "version": "4",
                "status": "firing",
                "alerts": [
                    {
                        "status": "resolved",
                        "labels": {"alertname": "Old", "job": "cart"},
                        "startsAt": "2026-11-30T11:00:00Z",
                        "endsAt": "2026-11-30T11:30:00Z",
                    },
                    {
                        "labels": {"alertname": "Slow", "severity": "page", "service": "web"},
                        "annotations": {"summary": "web is slow"},
                        "startsAt": "2026-11-30T12:00:00Z",
                        "endsAt": "0001-01-01T00:00:00Z",
                    },
                ],
            }
        }
    )
    assert evidence.alerts is not None
    slow, old = evidence.alerts.alerts()
    assert (slow.name, slow.status, slow.severity, slow.service, slow.summary) == (
        "Slow",
        "firing",
        "page",
        "web",
        "web is slow",
    )
    assert (slow.starts_at, slow.ends_at) == (NOON, None)
    assert (old.status, old.service, old.ends_at) == ("resolved", "cart", NOON - 1800)


@pytest.mark.parametrize(
    "content",
    [
        {"monitor": "Slow", "severity": "page", "fired_at": "2026-11-30T12:00:00Z", "service": "web", "threshold": 2},
        [{"labels": {"alertname": "Slow", "service": "web"}, "starts_at": "2026-11-30T12:00:00Z"}],
        {
            "status": "success",
            "data": {
                "alerts": [
                    {
                        "labels": {"alertname": "Slow", "app": "web"},
                        "state": "firing",
                        "activeAt": "2026-11-30T12:00:00Z",
                    }
                ]
            },
        },
        [
            {
                "labels": {"alertname": "Slow", "pod": "web"},
                "status": {"state": "active"},
                "startsAt": "2026-11-30T12:00:00Z",
            }
        ],
    ],
)
def test_near_relatives_of_an_alert_are_alerts(opened: OpenFiles, content: Any) -> None:  # noqa: ANN401 (any JSON)
    """A single object, a list, Prometheus' and Alertmanager's own APIs."""
    evidence = opened({"x.json": content})
    assert evidence.alerts is not None
    (alert,) = evidence.alerts.alerts()
    assert (alert.name, alert.status, alert.service, alert.starts_at) == ("Slow", "firing", "web", NOON)


def test_changes_are_read_from_lists_that_name_them(opened: OpenFiles) -> None:
    """Section 13: deploys and changes as JSON; times under any usual name, oldest first."""
    evidence = opened(
        {
            "c.json": {
                "commits": [
                    {
                        "sha": "abc1",
                        "author": "amy",
                        "timestamp": "2026-11-30T11:00:00Z",
                        "message": "fix: pool",
                        "files": ["a"],
                    }
                ],
                "deployments": [{"service": "web", "version": "1.2", "deployed_at": "2026-11-30T11:10:00Z"}],
                "feature_flags": [{"key": "new-ui", "changed_at": NOON - 2400, "by": "bo", "change": "off->on"}],
                "config_changes": [{"key": "pool.size", "service": "db", "at": "2026-11-30T11:30:00Z"}],
                "events": [{"type": "rollback", "service": "web", "time": "2026-11-30T11:40:00Z"}],
            }
        }
    )
    assert evidence.changes is not None
    found = evidence.changes.changes()
    assert [(change.kind, change.service, change.identifier) for change in found] == [
        ("commit", "", "abc1"),
        ("deploy", "web", "1.2"),
        ("flag", "", "new-ui"),
        ("config", "db", "pool.size"),
        ("deploy", "web", ""),
    ]
    assert (found[0].title, found[0].author, found[0].details) == ("fix: pool", "amy", {"files": ["a"]})
    assert (found[2].title, found[2].author) == ("off->on", "bo")
    assert [change.kind for change in evidence.changes.changes(TimeRange(NOON - 2000, NOON))] == ["config", "deploy"]
    assert evidence.documents is None


def test_bare_lists_of_changes_are_told_by_what_they_say(opened: OpenFiles) -> None:
    """A list with a kind, or with a sha, needs no key around it."""
    evidence = opened(
        {
            "a.json": [{"kind": "deployment", "service": "web", "time": "2026-11-30T11:00:00Z"}],
            "b.json": [
                {"sha": "abc", "commit": {"message": "m", "author": {"name": "amy", "date": "2026-11-30T11:05:00Z"}}}
            ],
        }
    )
    assert evidence.changes is not None
    deploy, commit = evidence.changes.changes()
    assert (deploy.kind, commit.kind, commit.author, commit.title, commit.time) == (
        "deploy",
        "commit",
        "amy",
        "m",
        NOON - 3300,
    )


@pytest.mark.parametrize(
    "graph",
    [
        {"edges": [["web", "cart"], ["cart", "db"]]},
        [{"caller": "web", "callee": "cart"}, {"caller": "cart", "callee": "db"}],
        {"links": [{"source": "web", "target": "cart"}, {"from": "cart", "to": "db"}]},
        {"web": ["cart"], "cart": ["db"], "db": []},
        {
            "nodes": [{"id": 1, "name": "web"}, {"id": 2, "name": "cart"}, {"id": 3, "name": "db"}],
            "edges": [{"source": 1, "target": 2}, {"source": 2, "target": 3}],
        },
    ],
)
def test_call_graphs_are_read_in_their_usual_shapes(opened: OpenFiles, graph: Any) -> None:  # noqa: ANN401 (any JSON)
    """Section 13: a call graph, as pairs, objects, a map, or numbered nodes."""
    evidence = opened({"x.json": graph})
    assert evidence.topology is not None
    assert list(evidence.topology.edges()) == [Edge("web", "cart"), Edge("cart", "db")]


def test_an_object_with_a_list_of_words_is_no_call_graph(opened: OpenFiles) -> None:
    """Only a file that is called a call graph may be one with a single caller."""
    evidence = opened({"x.json": {"owners": ["amy", "bo"]}, "topology.json": {"web": ["cart"]}})
    assert evidence.topology is not None
    assert list(evidence.topology.edges()) == [Edge("web", "cart")]


def test_everything_else_is_a_document_by_lines(opened: OpenFiles, entry: Entry) -> None:
    """Section 13: everything else as documents; unknown JSON on one line is printed anew."""
    evidence = opened(
        {
            "pods.txt": "$ kubectl logs web\n2026-11-30T12:00:00Z ERROR \x1b[31mgone\x1b[0m\n",
            "deploy.yaml": "kind: Deployment\nspec:\n  replicas: 3\n",
            "unknown.json": {"pods": [{"name": "web-1", "restarts": 3}]},
            "broken.json": '{"pods": [1, 2',
            "empty.txt": "",
        }
    )
    assert evidence.documents is not None
    assert list(evidence.documents.names()) == ["broken.json", "deploy.yaml", "empty.txt", "pods.txt", "unknown.json"]
    assert list(evidence.documents.lines("pods.txt")) == ["$ kubectl logs web", "2026-11-30T12:00:00Z ERROR gone"]
    assert '   "restarts": 3' in list(evidence.documents.lines("unknown.json"))
    assert "broken JSON" in (entry(evidence, "broken.json").problem or "")
    assert list(evidence.documents.lines("empty.txt")) == []


def test_a_document_is_looked_up_never_opened_as_a_path(opened: OpenFiles) -> None:
    """A name that is none of the documents' is a KeyError, whatever it looks like."""
    documents = opened({"a.md": "x", "m.csv": "time,service,metric,value\n1796040000,a,b,1\n"}).documents
    assert documents is not None
    for name in ("../secret", "/etc/passwd", "m.csv", ""):
        with pytest.raises(KeyError):
            documents.lines(name)


def test_a_large_document_is_served_from_its_file(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of a large document are read where they are asked for."""
    monkeypatch.setattr(documents_module, "KEEP_BYTES", 100)
    documents = opened({"a.md": "".join(f"line {n} é\n" for n in range(20_000))}).documents
    assert documents is not None
    lines = documents.lines("a.md")
    assert isinstance(lines, documents_module.LazyLines)
    assert (len(lines), lines[0], lines[-1], lines[3:5]) == (
        20_000,
        "line 0 é",
        "line 19999 é",
        ["line 3 é", "line 4 é"],
    )


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 50_000, "[" + "9" * 5000 + "]", '{"a": NaN}', "[]", "{}", "null\n"]
)
def test_absurd_json_is_a_document(opened: OpenFiles, entry: Entry, text: str) -> None:
    """Nesting and numbers made to break a parser cost a note, not a crash."""
    evidence = opened({"x.json": text})
    assert entry(evidence, "x.json").kind == "document"
    assert evidence.documents is not None
    assert evidence.documents.lines("x.json")


def test_csv_of_records_is_read_as_what_they_are(opened: OpenFiles, entry: Entry) -> None:
    """Consoles export log events and spans as CSV; a row that is torn is counted."""
    evidence = opened(
        {
            "export.csv": '@timestamp,level,service,@message\n2026-11-30T12:00:00Z,error,web,"a, b"\n2026-11-30T1',
            "spans.csv": "traceID,spanID,parentSpanID,service,operation,startTime,durationMs\n"
            "t,a,,web,GET,1796040000000,5\n",
        }
    )
    assert evidence.logs is not None
    (record,) = evidence.logs.records()
    assert (record.time, record.level, record.service, record.message) == (NOON, "ERROR", "web", "a, b")
    assert "1 of 2 rows have more or fewer cells" in (entry(evidence, "export.csv").problem or "")
    assert evidence.spans is not None
    (span,) = evidence.spans.spans()
    assert (span.trace_id, span.service, span.start, span.duration_ms, span.parent_id) == ("t", "web", NOON, 5, None)


@pytest.mark.parametrize("wrapped", [True, False], ids=["under a name", "a bare list"])
def test_a_version_that_somebody_brought_out_is_a_deploy_and_no_log_line(opened: OpenFiles, wrapped: bool) -> None:
    """Who writes down deploys by hand writes a time and a message; so does a log, but no author of a version."""
    deploys = [
        {
            "service": "web",
            "version": "1.2",
            "time": "2026-11-30T11:10:00Z",
            "author": "amy",
            "message": "bigger cache",
        },
        {"service": "db", "version": "7", "time": "2026-11-30T11:20:00Z", "author": "bo", "message": "new index"},
    ]
    evidence = opened({"deploys.json": {"deploys": deploys} if wrapped else deploys})
    assert evidence.logs is None
    assert evidence.changes is not None
    assert [(change.kind, change.service, change.title) for change in evidence.changes.changes()] == [
        ("deploy", "web", "bigger cache"),
        ("deploy", "db", "new index"),
    ]
