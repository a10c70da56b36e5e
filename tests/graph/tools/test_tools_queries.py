import json
import time
from typing import Any

import pytest
from tools_samples import ONSET, Recorded, call, context, item, series, texts

from diag_graph.analysis.records import LogRecord, Series
from diag_graph.tools.current_time import CURRENT_TIME
from diag_graph.tools.definition import ToolContext, ToolError
from diag_graph.tools.query_metrics import QUERY_METRICS
from diag_graph.tools.read_document import READ_DOCUMENT
from diag_graph.tools.search_logs import SEARCH_LOGS


@pytest.mark.parametrize(
    "asked",
    [
        {"query": "31337 errors|.", "regex": True},
        {"query": "pool", "service": "checkout,31337"},
        {"query": "pool", "level": "WARN,ERROR,31337"},
    ],
)
def test_a_number_that_only_the_search_holds_is_not_repeated_beside_what_was_found(asked: dict[str, Any]) -> None:
    """G5: searching for a number puts it into no evidence unless a line holds it."""
    output = call(SEARCH_LOGS, **asked)
    assert not output.empty
    assert "31337" not in json.dumps(output.as_result())


def test_a_series_is_summed_up_and_its_change_told() -> None:
    """Min, median, max, last, medians about the onset, and the change as find_metric_anomalies words it."""
    output = call(QUERY_METRICS, metric="latency", service="checkout")
    summed, change = output.items
    assert summed["text"].startswith(
        "request_latency_p95_seconds of checkout from 2026-07-16T06:00:00Z to 2026-07-16T06:59:00Z: min 0.11"
    )
    assert f"median {summed['before']} s before the onset and {summed['after']} s since; 60 samples." in summed["text"]
    assert summed["min"] < summed["median"] < summed["max"]
    assert (change["change"], change["direction"]) == ("level", "up")


def test_exact_names_come_before_parts_and_a_window_narrows() -> None:
    """`cpu` is not drowned by `cpu_throttled`."""
    recorded = Recorded(metric_series=[series("a", name, 1.0, 1.0) for name in ("cpu_throttled", "cpu")])
    assert call(QUERY_METRICS, recorded, metric="cpu").items[0]["metric"] == "cpu"
    narrow = call(QUERY_METRICS, recorded, metric="cpu_throttled", since="06:10", until="06:19")
    assert narrow.items[0]["samples"] == 10


def test_values_that_are_no_numbers_are_left_out() -> None:
    """NaN is a hole, not a value."""
    one = series("a", "m", 1.0, 1.0)
    values = one.values.copy()
    values[3:50] = float("nan")
    holed = Recorded(metric_series=[Series("a", "m", one.times, values)])
    assert call(QUERY_METRICS, holed).items[0]["samples"] == 13
    empty = Recorded(metric_series=[Series("a", "m", one.times, values * float("nan"))])
    assert "none of them a number" in texts(call(QUERY_METRICS, empty))[0]


def test_a_search_gives_counts_first_then_lines_with_their_place() -> None:
    """Section 13: lines with counts; each line's file and number."""
    output = call(SEARCH_LOGS, query="POOL timeout", limit=3)
    assert texts(output)[0] == (
        "60 of 296 lines matched (text 'POOL timeout') from 2026-07-16T06:00:00Z to 2026-07-16T06:59:00Z; checkout 60; "
        "ERROR 60; first at 2026-07-16T06:40:30Z, last at 2026-07-16T06:50:20Z; 0 before the onset "
        "2026-07-16T06:40:00Z, 60 since."
    )
    assert texts(output)[1] == (
        "2026-07-16T06:40:30Z checkout ERROR: pool timeout after 5000 ms calling storefront (shop.log:300)"
    )
    assert len(output.items) == 4
    assert output.truncated == {"shown": 3, "total": 60, "hint": output.truncated["hint"]}


def test_service_level_and_expression_narrow_a_search() -> None:
    """Levels and services as lists; expressions when asked for."""
    assert call(SEARCH_LOGS, level="warn").empty
    assert call(SEARCH_LOGS, service="checkout", level="error").extra["matched"] == 60
    assert call(SEARCH_LOGS, query=r"after 50[0-4]\d ms", regex=True).extra["matched"] == 50
    assert call(SEARCH_LOGS, query=r"after 50[0-4]\d ms").empty


@pytest.mark.parametrize(
    "thrown",
    [
        {"exception": "Traceback (most recent call last):\n  File 'shop.py'\npsycopg.LockNotAvailable: Lock timeout"},
        {"error": {"type": "LockNotAvailable", "message": "Lock timeout"}},
        {"exception.message": "LockNotAvailable: Lock timeout"},
    ],
)
def test_what_was_thrown_is_searched_and_shown_with_its_line(thrown: dict[str, object]) -> None:
    """A structured log has the exception in a field of its own; that nothing matched would be untrue."""
    lines = Recorded(log_records=[LogRecord("POST /cart failed", ONSET, "checkout", "ERROR", attributes=thrown)])
    for arguments in ({"query": "lock timeout"}, {"query": "Lock t.*t", "regex": True}, {"query": "/cart"}):
        found = call(SEARCH_LOGS, lines, **arguments)
        assert found.extra["matched"] == 1
        assert "checkout ERROR: POST /cart failed | " in found.items[1]["text"]
        assert "Lock timeout" in found.items[1]["text"]
    assert call(SEARCH_LOGS, lines, query="deadlock").empty


@pytest.mark.parametrize(
    ("expression", "said"),
    [("(pool", "at position 0"), ("a(?=b)", "cannot be searched for safely"), ("*", "position 0")],
)
def test_an_expression_that_cannot_be_used_says_where_and_what_to_do(expression: str, said: str) -> None:
    """A ToolError is for what a caller can mend."""
    with pytest.raises(ToolError, match=said) as caught:
        call(SEARCH_LOGS, query=expression, regex=True)
    assert "regex to false" in str(caught.value)


def test_no_expression_hangs_a_run() -> None:
    """X4: a pattern that makes a backtracking engine try for hours takes no time here."""
    hostile = Recorded(log_records=[LogRecord("a" * 3_900 + "!", ONSET)])
    begun = time.perf_counter()
    assert call(SEARCH_LOGS, hostile, query="(a+)+$", regex=True).empty
    assert time.perf_counter() - begun < 5.0


def test_a_document_is_given_line_by_line_as_it_stands() -> None:
    """Text exactly as in the document, with its number; blank lines are left out, long ones cut with a mark."""
    output = call(READ_DOCUMENT, name="describe-pod.txt")
    assert [(one["line"], one["text"]) for one in output.items][:3] == [
        (1, "Name: checkout-1"),
        (3, "Status: Running"),
        (4, "Last State: OOMKilled"),
    ]
    assert output.items[3]["text"].endswith("…(cut)")
    assert output.items[3]["cut"]


def test_a_document_can_be_read_by_range_and_by_text() -> None:
    """Lines that hold a text come with their neighbours."""
    assert [one["line"] for one in call(READ_DOCUMENT, name="describe-pod.txt", from_line=3, to_line=4).items] == [3, 4]
    assert [one["line"] for one in call(READ_DOCUMENT, name="describe-pod.txt", query="oomkilled").items] == [3, 4, 5]
    assert item(call(READ_DOCUMENT, name="plan.md"))["source"] == "plan.md:1"


@pytest.mark.parametrize("name", ["nothing.txt", "../../etc/passwd"])
def test_a_document_that_is_not_there_names_those_that_are(name: str) -> None:
    """Names are looked up, never opened as paths."""
    with pytest.raises(ToolError, match="there are 2 documents, such as"):
        call(READ_DOCUMENT, name=name)
    with pytest.raises(ToolError, match="has 1 line"):
        call(READ_DOCUMENT, name="plan.md", from_line=9)


def test_the_clock_is_the_runs_in_utc_and_in_the_users_zone() -> None:
    """A replayed run keeps its clock."""
    here = context()
    there = ToolContext(here.evidence, here.window, "2026-07-16T06:59:00Z", "Asia/Tokyo")
    output = CURRENT_TIME.run(CURRENT_TIME.arguments(), there)
    assert texts(output) == ["It is 2026-07-16T06:59:00Z (UTC), 2026-07-16T15:59:00+09:00 in Asia/Tokyo."]
    nowhere = ToolContext(here.evidence, here.window, here.now, "Mars/Olympus")
    with pytest.raises(ToolError, match="Mars/Olympus"):
        CURRENT_TIME.run(CURRENT_TIME.arguments(), nowhere)
