"""Stack traces of many runtimes are one event each, and say what caused what."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from diag_graph.analysis.log_masks import causes, headline
from diag_graph.analysis.records import LogRecord
from diag_graph.sources.ports import Evidence

OpenFiles = Callable[..., Evidence]

JAVA = """\
org.springframework.web.util.NestedServletException: Request processing failed
	at org.springframework.web.servlet.FrameworkServlet.processRequest(FrameworkServlet.java:1014) ~[spring-5.3.jar:5.3]
	Suppressed: java.lang.Exception: closing
		at a.B.close(B.java:1)
		Caused by: java.io.IOException: beside it
Caused by: shop.PaymentException: could not charge
	at shop.Pay.charge(Pay.java:88)
	... 23 more
Caused by: java.net.ConnectException: Connection refused (Connection refused)
	at java.net.PlainSocketImpl.socketConnect(Native Method)
	... 41 common frames omitted"""
PYTHON = """\
Traceback (most recent call last):
  File "/app/db.py", line 10, in connect
    sock.connect(addr)
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/pay.py", line 33, in charge
    raise PaymentError("could not charge") from error
shop.PaymentError: could not charge

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/web.py", line 3, in handle
    render(error)
KeyError: 'message'"""
PYTHON_GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "x.py", line 1, in <module>
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "x.py", line 3, in t
    | TimeoutError: took too long
    +------------------------------------"""
GO = """\
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x48d5e6]

goroutine 34 [running]:
main.(*Server).handle(0xc000010000, {0x1, 0x2})
	/src/main.go:42 +0x1d
created by main.main in goroutine 1
	/src/main.go:20 +0x99
exit status 2"""
NODE = """\
Error: could not place order
    at placeOrder (/app/order.js:12:11)
    at async handler (/app/web.js:9:3) {
  code: 'ORDER_FAILED',
  [cause]: Error: connect ECONNREFUSED 10.0.0.7:5432
      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1595:16) {
    errno: -111
  }
}"""
DOTNET = """\
System.InvalidOperationException: Could not save order
 ---> Npgsql.NpgsqlException (0x80004005): Failed to connect to 10.0.0.7:5432
 ---> System.Net.Sockets.SocketException (111): Connection refused
   at Npgsql.Internal.NpgsqlConnector.Connect()
   --- End of inner exception stack trace ---
   at Shop.Orders.Save() in /src/Orders.cs:line 42"""
DOTNET_ONE_LINE = """\
System.AggregateException: One or more errors occurred. ---> System.Net.WebException: Unable to connect
   at System.Net.HttpWebRequest.EndGetRequestStream()
---> (Inner Exception #0) System.Net.WebException: Unable to connect<---"""
RUST = """\
thread 'main' panicked at src/main.rs:4:5:
index out of bounds: the len is 3 but the index is 99
stack backtrace:
   0: rust_begin_unwind
note: run with `RUST_BACKTRACE=full` for a verbose backtrace."""
RUBY = """\
app/models/pay.rb:10:in `charge': no money (PaymentError)
	from app/web.rb:3:in `handle'"""
PHP = """\
Stack trace:
#0 /app/db.php(3): PDO->__construct()
#1 {main}
  thrown in /app/db.php on line 3"""

TRACES: dict[str, tuple[str, list[str]]] = {
    "java": (
        JAVA,
        [
            "org.springframework.web.util.NestedServletException: Request processing failed",
            "shop.PaymentException: could not charge",
            "java.net.ConnectException: Connection refused (Connection refused)",
        ],
    ),
    "python": (
        PYTHON,
        [
            "KeyError: 'message'",
            "shop.PaymentError: could not charge",
            "ConnectionRefusedError: [Errno 111] Connection refused",
        ],
    ),
    "python group": (
        PYTHON_GROUP,
        ["ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)", "TimeoutError: took too long"],
    ),
    "go": (GO, ["panic: runtime error: invalid memory address or nil pointer dereference"]),
    "node": (NODE, ["Error: could not place order", "Error: connect ECONNREFUSED 10.0.0.7:5432"]),
    "dotnet": (
        DOTNET,
        [
            "System.InvalidOperationException: Could not save order",
            "Npgsql.NpgsqlException (0x80004005): Failed to connect to 10.0.0.7:5432",
            "System.Net.Sockets.SocketException (111): Connection refused",
        ],
    ),
    "dotnet on one line": (
        DOTNET_ONE_LINE,
        ["System.AggregateException: One or more errors occurred.", "System.Net.WebException: Unable to connect"],
    ),
    "rust": (
        RUST,
        ["thread 'main' panicked at src/main.rs:4:5: index out of bounds: the len is 3 but the index is 99"],
    ),
    "ruby": (RUBY, ["app/models/pay.rb:10:in `charge': no money (PaymentError)"]),
    "php": (PHP, []),
}


def written(trace: str, form: str) -> str:
    """A log of three events, the second with this trace, as that kind of writer keeps it."""
    if form == "json":
        events = [
            {"ts": "2026-11-30T12:00:00Z", "level": "info", "msg": "before"},
            {"ts": "2026-11-30T12:00:01Z", "level": "error", "msg": "it failed", "stack_trace": trace},
            {"ts": "2026-11-30T12:00:02Z", "level": "info", "msg": "after"},
        ]
        return "".join(json.dumps(event) + "\n" for event in events)
    at = "2026-11-30 12:00:0"
    text = f"{at}0 INFO before\n{at}1 ERROR it failed\n{trace}\n{at}2 INFO after\n"
    if form == "container":
        return "".join(f"2026-11-30T12:00:00.000000001Z stderr F {line}\n" for line in text.splitlines())
    return text.replace("\n", "\r\n") if form == "windows" else text


def failed(evidence: Evidence) -> LogRecord:
    """The middle one of three events."""
    assert evidence.logs is not None
    before, found, after = evidence.logs.records()
    assert (before.message, after.message) == ("before", "after")
    return found


@pytest.mark.parametrize("form", ["text", "windows", "container", "json"])
@pytest.mark.parametrize("name", TRACES)
def test_a_trace_is_one_event_that_says_its_causes(opened: OpenFiles, name: str, form: str) -> None:
    """Its first line, the innermost cause beside it, and the chain from the outside inwards."""
    trace, chain = TRACES[name]
    event = failed(opened({"pay.log": written(trace, form)}))
    assert event.level == "ERROR"
    head, _, thrown = headline(event.message, event.attributes).partition(" | ")
    assert head == "it failed"
    assert thrown.removeprefix("Caused by: ") == (chain[-1] if chain else "")
    assert list(causes(event.message, event.attributes)) == (chain if len(chain) > 1 else [])


def test_exceptions_that_are_logged_by_themselves_are_events_of_their_own(opened: OpenFiles) -> None:
    """With a time of their own, or behind a line that reports no failure."""
    at = "2026-11-30 12:00:0"
    text = f"{at}0 ERROR one\n{at}1 ERROR java.io.IOException: two\n{at}2 INFO three\n"
    evidence = opened({"pay.log": text})
    assert evidence.logs is not None
    assert [record.message for record in evidence.logs.records()] == ["one", "java.io.IOException: two", "three"]


def test_fields_of_structured_lines_are_used(opened: OpenFiles) -> None:
    """Level, service, trace id and what was thrown, in logfmt as in JSON."""
    logfmt = (
        "ts=2026-11-30T12:00:01Z level=error service=pay trace_id=4bf92f "
        'msg="charge failed" error="connection refused"\n'
        'ts=2026-11-30T12:00:02Z level=warn service=pay trace_id=4bf930 msg="slow" took=3s\n'
    )
    lines = [
        {"@timestamp": "2026-11-30T12:00:01Z", "log.level": "ERROR", "service.name": "cart", "trace.id": "4bf92f",
         "message": "charge failed", "error": {"type": "IOError", "message": "connection refused"}},
        {"@timestamp": "2026-11-30T12:00:02Z", "log.level": "WARN", "service.name": "cart", "message": "slow"},
    ]  # fmt: skip
    evidence = opened({"a.txt": logfmt, "b.jsonl": "".join(json.dumps(line) + "\n" for line in lines)})
    assert evidence.logs is not None
    told = {
        (one.service, one.level, one.trace_id, headline(one.message, one.attributes))
        for one in evidence.logs.records()
        if one.level == "ERROR"
    }
    assert told == {
        ("pay", "ERROR", "4bf92f", "charge failed | connection refused"),
        ("cart", "ERROR", "4bf92f", "charge failed | IOError: connection refused"),
    }
