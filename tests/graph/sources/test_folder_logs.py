from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from diag_graph.analysis.records import LogRecord, TimeRange, utc
from diag_graph.sources.folder import log_file
from diag_graph.sources.folder.text import clean
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

NOON = 1796040000.0
"""2026-11-30T12:00:00Z."""


def records(evidence: Evidence, window: TimeRange | None = None) -> list[LogRecord]:
    """All log events."""
    assert evidence.logs is not None
    return list(evidence.logs.records(window))


def read(opened: OpenFiles, line: str) -> LogRecord:
    """The event of one line, which stands in a file twice."""
    first, _ = records(opened({"x/all.log": f"{line}\n{line}\n", "ref.json": {"edges": [["web", "cart"]]}}))
    return first


@pytest.mark.parametrize(
    ("event", "level", "message", "service"),
    [
        ({"timestamp": "2026-11-30T12:00:00Z", "level": "error", "message": "m", "service": "s"}, "ERROR", "m", "s"),
        ({"@timestamp": "2026-11-30T12:00:00.000Z", "severity": "WARNING", "msg": "m", "app": "s"}, "WARN", "m", "s"),
        ({"ts": NOON, "lvl": "crit", "body": "m", "component": "s"}, "FATAL", "m", "s"),
        ({"time": NOON * 1e3, "level": 50, "msg": "m", "container": "s"}, "ERROR", "m", "s"),
        ({"t": str(int(NOON * 1e9)), "severity_text": "Information", "event": "m", "pod": "s"}, "INFO", "m", "s"),
        (
            {"time": "2026-11-30T12:00:00Z", "log": "m\n", "kubernetes": {"labels": {"app": "s"}}, "level": "debug"},
            "DEBUG", "m", "s",
        ),
        ({"timestamp": "2026-11-30T12:00:00Z", "severity": "ERROR", "jsonPayload": {"message": "m", "service": "s"}},
         "ERROR", "m", "s"),
        ({"__REALTIME_TIMESTAMP": str(int(NOON * 1e6)), "PRIORITY": "3", "MESSAGE": "m", "SYSLOG_IDENTIFIER": "s"},
         "ERROR", "m", "s"),
        ({"time": "2026-11-30T12:00:00Z", "message": "ERROR m", "service": {"name": "s"}}, "ERROR", "ERROR m", "s"),
    ],
)  # fmt: skip
def test_json_events_are_read_whatever_their_fields_are_called(
    opened: OpenFiles, event: dict[str, object], level: str, message: str, service: str
) -> None:
    """Section 13: JSON lines of applications, runtimes and collectors."""
    found = read(opened, json.dumps(event))
    assert (found.time, found.level, found.message, found.service) == (NOON, level, message, service)


def test_what_is_not_named_becomes_attributes(opened: OpenFiles) -> None:
    """Fields of no other meaning, and those of a nested `attributes`, are kept."""
    event = {"time": NOON, "msg": "m", "traceId": "t1", "status": 500, "attributes": {"route": "/pay", "n": {"a": 1}}}
    found = read(opened, json.dumps(event))
    assert found.trace_id == "t1"
    assert found.attributes == {"status": 500, "route": "/pay", "n": {"a": 1}}


def test_a_json_line_within_a_container_line_is_read_by_its_own_fields(opened: OpenFiles) -> None:
    """Docker's json-file wraps what the program wrote."""
    inner = {"level": "warn", "msg": "slow", "service": "pay"}
    found = read(
        opened, json.dumps({"log": json.dumps(inner) + "\n", "stream": "stderr", "time": "2026-11-30T12:00:00Z"})
    )
    assert (found.time, found.level, found.message, found.service) == (NOON, "WARN", "slow", "pay")
    assert found.attributes == {"stream": "stderr"}


TEXT_LINES = [
    ("2026-11-30T12:00:00Z ERROR refused", "ERROR", "refused", "x"),
    ("2026-11-30 12:00:00,000 WARNING [checkout] refused", "WARN", "refused", "checkout"),
    ("2026-11-30 12:00:00 INFO [main] com.shop.Pay - taken", "INFO", "[main] com.shop.Pay - taken", "x"),
    ("[2026/11/30 12:00:00] refused", "", "refused", "x"),
    ("2026/11/30 12:00:00 [error] 12#12: *1 refused", "ERROR", "12#12: *1 refused", "x"),
    ("Nov 30 12:00:00 host pay[12]: refused", "", "refused", "pay"),
    ("<11>1 2026-11-30T12:00:00Z host pay 12 - - refused", "ERROR", "refused", "pay"),
    ('10.0.0.1 - - [30/Nov/2026:13:00:00 +0100] "GET /p HTTP/1.1" 503 2 "-" "curl"', "",
     '"GET /p HTTP/1.1" 503 2 "-" "curl"', "x"),
    ("[Mon Nov 30 12:00:00.000000 2026] [core:error] [pid 1] refused", "ERROR", "[pid 1] refused", "x"),
    ("E1130 12:00:00.000000       1 pay.go:12] refused", "ERROR", "refused", "x"),
    ('time="2026-11-30T12:00:00Z" level=error msg="not \\"taken\\"" service=pay', "ERROR", 'not "taken"', "pay"),
    ("2026-11-30T12:00:00.000000000Z stdout F refused", "", "refused", "x"),
    ('2026-11-30T12:00:00Z stderr F {"level":"error","msg":"refused"}', "ERROR", "refused", "x"),
    ("pay-1  | 2026-11-30T12:00:00Z ERROR refused", "ERROR", "refused", "pay"),
    ("[pod/pay-7d/pay] 2026-11-30T12:00:00Z ERROR refused", "ERROR", "refused", "pay"),
    ("2026-11-30 12:00:00.000 UTC [12] pay@db ERROR:  refused", "ERROR", "[12] pay@db ERROR:  refused", "x"),
    ("2026-11-30T12:00:00.000Z  INFO 1 --- [exec-1] c.s.Pay : taken", "INFO", "1 --- [exec-1] c.s.Pay : taken", "x"),
    ("[2026-11-30T12:00:00,000][WARN ][o.e.Pay] refused", "WARN", "[o.e.Pay] refused", "x"),
    ("INFO 2026-11-30 12:00:00 taken", "INFO", "taken", "x"),
    ("I, [2026-11-30T12:00:00.000000 #1]  INFO -- : taken", "INFO", "taken", "x"),
    ("1796040000.000 refused", "", "refused", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "level", "message", "service"), TEXT_LINES)
def test_text_lines_are_read_whatever_stands_before_the_message(
    opened: OpenFiles, line: str, level: str, message: str, service: str
) -> None:
    """Section 13: plain text, syslog, container and Kubernetes formats; the service from the line, or the file."""
    found = read(opened, line)
    assert (found.time, found.level, found.message, found.service) == (NOON, level, message, service)


def test_a_year_that_is_missing_is_that_of_the_other_evidence(opened: OpenFiles, entry: Entry) -> None:
    """Syslog names no year: a folder about 2019 is read in 2019, and the inventory says so."""
    evidence = opened(
        {
            "sys.txt": "Nov 30 12:00:00 host pay: refused\n",
            "alert.json": {"alertname": "Slow", "severity": "page", "startsAt": "2019-11-30T12:00:00Z"},
        }
    )
    assert utc(records(evidence)[0].time or 0) == "2019-11-30T12:00:00Z"
    assert "without a year" in (entry(evidence, "sys.txt").assumption or "")


PYTHON_TRACE = (
    "2026-11-30 12:00:01 ERROR failed\nTraceback (most recent call last):\n"
    '  File "pay.py", line 3, in pay\n    card.charge()\nValueError: no money'
)
JAVA_TRACE = (
    "2026-11-30 12:00:01 ERROR failed\njava.lang.IllegalStateException: no money\n\tat shop.Pay.run(Pay.java:3)\n"
    "Caused by: java.io.IOException: gone\n\t... 3 more"
)
GO_TRACE = (
    "2026-11-30 12:00:01 ERROR failed\npanic: no money\n\ngoroutine 1 [running]:\nmain.pay(0x1)\n"
    "\t/src/pay.go:3 +0x1\nexit status 2"
)


@pytest.mark.parametrize("trace", [PYTHON_TRACE, JAVA_TRACE, GO_TRACE])
def test_a_stack_trace_belongs_to_the_line_before_it(opened: OpenFiles, trace: str) -> None:
    """A log event is one record, however many lines it takes."""
    found = records(opened({"pay.log": f"2026-11-30 12:00:00 INFO a\n{trace}\n2026-11-30 12:00:02 INFO b\n"}))
    assert [record.message.split("\n")[0] for record in found] == ["a", "failed", "b"]
    assert found[1].message.replace("\n\n", "\n") == trace.partition("ERROR ")[2].replace("\n\n", "\n")
    assert found[1].source == "pay.log:2"


def test_a_line_that_a_runtime_cut_is_put_together(opened: OpenFiles) -> None:
    """CRI marks a partial line with P; a trace in CRI lines is one event too."""
    prefix = "2026-11-30T12:00:00Z stderr"
    found = records(
        opened({"pay.log": f"{prefix} P half \n{prefix} F whole\n{prefix} F x.Error: y\n{prefix} F \tat z\n"})
    )
    assert [record.message for record in found] == ["half whole", "x.Error: y\n\tat z"]


def test_lines_that_are_not_json_are_kept_and_counted(opened: OpenFiles, entry: Entry) -> None:
    """Nothing swallowed: a torn line is text, and stands in the inventory with its place."""
    lines = [json.dumps({"time": NOON + n, "level": "info", "msg": f"m{n}"}) for n in range(20)]
    lines[16] = "Starting up..."
    evidence = opened({"pay.ndjson": "\n".join(lines) + '\n[1]\n{"time": 17960'})
    assert len(records(evidence)) == 22
    problem = entry(evidence, "pay.ndjson").problem or ""
    assert "2 of 22 lines are not JSON and stand as plain text: first at line 17" in problem
    assert "1 of 22 lines are no JSON objects" in problem


def test_a_line_without_a_beginning_takes_the_time_before_it(opened: OpenFiles, entry: Entry) -> None:
    """Such a line is an event of its own at the time of the line before it, and is counted."""
    evidence = opened({"pay.log": "2026-11-30 12:00:00 INFO a\nshutting down\n2026-11-30 12:00:01 INFO b\n"})
    assert [(record.time, record.message) for record in records(evidence)] == [
        (NOON, "a"), (NOON, "shutting down"), (NOON + 1, "b"),
    ]  # fmt: skip
    assert "1 of 3 events have no time or level of their own: first at line 2" in (
        entry(evidence, "pay.log").problem or ""
    )


def test_events_of_all_files_come_by_time_and_window(opened: OpenFiles) -> None:
    """Lines in the order of their time; both ends of the window count; lines without a time are always given."""
    evidence = opened(
        {
            "a.log": "2026-11-30 12:00:03 INFO a3\n2026-11-30 12:00:01 INFO a1\n",
            "b.ndjson": '{"time": 1796040002, "msg": "b2"}\n{"level": "info", "msg": "b?"}\n'
            '{"time": 1796040009, "msg": "b9"}\n',
        }
    )
    assert [record.message for record in records(evidence)] == ["a1", "b2", "b?", "a3", "b9"]
    assert [record.message for record in records(evidence, TimeRange(NOON + 2, NOON + 3))] == ["b2", "b?", "a3"]


def test_a_large_file_is_read_again_rather_than_kept(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file above the limit gives the same events, and keeps none of them."""
    text = f"2026-11-30 12:00:05 INFO late\nno prefix é\n{PYTHON_TRACE}\n2026-11-30 12:00:00 INFO first\n"
    kept = records(opened({"a.log": text}))
    monkeypatch.setattr(log_file, "KEEP_BYTES", 10)
    evidence = opened({"a.log": text})
    assert records(evidence) == kept
    assert records(evidence) == kept
    assert [record.message for record in records(evidence, TimeRange(NOON, NOON))] == ["first"]
    assert evidence.logs is not None
    assert evidence.logs._files[0].reading.logs._kept is None  # type: ignore[attr-defined]


def test_terminal_escapes_go_and_markup_stays(opened: OpenFiles) -> None:
    """X1: control codes are made harmless where text comes in; markup is text, and nothing is swallowed."""
    found = read(opened, "\x1b[31m2026-11-30 12:00:00 ERROR\x1b[0m [red]not[/red] \x1b]0;title\x07taken\x08")
    assert (found.level, found.message) == ("ERROR", "[red]not[/red] taken")
    hidden = json.dumps({"time": NOON, "msg": "a\x1b[2Jb\u202ec\ud800", "k\x1b[0m": ["v\x07"]})
    found = read(opened, hidden)
    assert found.message == "abc\ufffd"
    assert found.attributes == {"k": ["v"]}


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("日本語", "日本語"),
        ("a\tb\r\nc\rd", "a\tb\nc d"),
        ("\x9b1mx\x1bP1$q\x1b\\y", "xy"),
        ("a\x1b[", "a"),
    ],
)
def test_cleaning_keeps_what_can_be_read(raw: str, shown: str) -> None:
    """Tabs, line ends and every script stay."""
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("name", "service"),
    [
        ("checkout.log", "checkout"), ("checkout-2026-11-30.log", "checkout"), ("checkout_errors.log.1", "checkout"),
        ("checkout/app.log", "checkout"), ("logs/checkout/0.log", "checkout"), ("logs/all.log", ""),
        ("kubectl_logs_checkout-7d9f.txt", "checkout-7d9f"),
    ],
)  # fmt: skip
def test_the_file_names_the_service_where_the_line_does_not(opened: OpenFiles, name: str, service: str) -> None:
    """Section 13: service from the line, else from the file's name or folder."""
    assert records(opened({name: "2026-11-30T12:00:00Z INFO Taken\n"}))[0].service == service


def test_logs_that_tools_wrap_are_logs(opened: OpenFiles) -> None:
    """Kubernetes events, a pod's log as one text, Loki's streams and lists under `logs`."""
    evidence = opened(
        {
            "events.json": {
                "items": [
                    {
                        "reason": "BackOff",
                        "message": "restarting",
                        "type": "Warning",
                        "involvedObject": {"kind": "Pod", "name": "pay-1"},
                        "lastTimestamp": "2026-11-30T12:00:01Z",
                    }
                ]
            },
            "pod.json": {
                "pod_name": "pay-2",
                "logs": "2026-11-30T12:00:02Z ERROR killed\n2026-11-30T12:00:03Z INFO up\n",
            },
            "loki.json": {
                "data": {
                    "resultType": "streams",
                    "result": [
                        {"stream": {"app": "pay-3", "level": "error"}, "values": [["1796040004000000000", "gone"]]}
                    ],
                }
            },
            "dd.json": {
                "logs": [{"timestamp": "2026-11-30T12:00:05Z", "status": "warn", "message": "slow", "service": "p4"}]
            },
        }
    )
    assert [(record.service, record.level, record.message) for record in records(evidence)] == [
        ("pay-1", "WARN", "BackOff: restarting"), ("pay-2", "ERROR", "killed"), ("pay-2", "INFO", "up"),
        ("pay-3", "ERROR", "gone"), ("p4", "WARN", "slow"),
    ]  # fmt: skip


def test_a_level_before_the_service_is_no_host(opened: OpenFiles) -> None:
    """`TIME LEVEL service: message` looks like syslog, and is none."""
    evidence = opened({"x.log": "2026-11-30T14:05:00Z ERROR pay: refused\n2026-11-30T14:05:01Z INFO pay: taken\n"})
    assert evidence.logs is not None
    read = [(record.level, record.service, record.message) for record in evidence.logs.records()]
    assert read == [("ERROR", "pay", "refused"), ("INFO", "pay", "taken")]
