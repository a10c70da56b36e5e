import numpy as np
import pytest
from tools_samples import MINUTE, ONSET, START, Recorded, call, incident, item, logs, series, spans, texts

from diag_graph.agents.analyst.kinds import EvidenceKind, evidence_kind
from diag_graph.agents.analyst.reading import Direction, directions
from diag_graph.analysis.records import Edge, LogRecord, Series, Span, utc
from diag_graph.tools.definition import AnyTool
from diag_graph.tools.find_log_patterns import FIND_LOG_PATTERNS
from diag_graph.tools.find_metric_anomalies import FIND_METRIC_ANOMALIES
from diag_graph.tools.find_span_anomalies import FIND_SPAN_ANOMALIES


def test_a_changed_series_is_told_with_both_levels_its_time_and_how_many_times_as_much() -> None:
    """Section 13: what changed, from what, to what, when, and by how much; fields say the same."""
    found = item(call(FIND_METRIC_ANOMALIES), metric="request_latency_p95_seconds")
    before, after = found["before"], found["after"]
    assert found["text"] == (
        f"request_latency_p95_seconds of checkout rose from {before} s (median before) to {after} s (median since) at "
        f"2026-07-16T06:40:00Z, {after / before:.3g} times as much."
    )
    assert (found["entity"], found["direction"], found["unit"]) == ("checkout", "up", "s")
    assert (found["onset"], found["change"]) == ("2026-07-16T06:40:00Z", "level")


def test_a_coarse_series_says_how_far_apart_its_samples_are() -> None:
    """A time that is known to five minutes is not stated as if it were known to the second."""
    fine = series("checkout", "request_latency_p95_seconds", 0.12, 1.9)
    coarse = Series(fine.service, fine.metric, ONSET + 5 * (fine.times - ONSET), fine.values)
    window = {"since": "03:20", "until": "08:20"}
    assert "one sample every" not in texts(call(FIND_METRIC_ANOMALIES, Recorded(metric_series=[fine])))[0]
    (text,) = texts(call(FIND_METRIC_ANOMALIES, Recorded(metric_series=[coarse]), **window))
    assert text.endswith("; one sample every 5 min.")


def test_series_that_did_not_change_are_left_out_and_counted() -> None:
    """Two of four series changed; the summary says of how many."""
    output = call(FIND_METRIC_ANOMALIES)
    assert {one["metric"] for one in output.items} == {"request_latency_p95_seconds", "db_pool_waiting"}
    assert output.summary.startswith("2 series of 4 changed")


def test_a_call_narrows_to_services_and_metrics_and_may_name_another_onset() -> None:
    """Lists of names or parts of names; an onset of the call's own."""
    assert len(call(FIND_METRIC_ANOMALIES, metric="latency").items) == 1
    assert call(FIND_METRIC_ANOMALIES, service="storefront").empty
    moved = call(FIND_METRIC_ANOMALIES, onset="06:38")
    assert moved.items[0]["onset"] == "2026-07-16T06:40:00Z"


def test_labels_tell_series_of_one_name_apart() -> None:
    """`5xx` and `2xx` of one metric are two series."""
    one = series("checkout", "http_responses", 1.0, 40.0)
    labelled = Series(one.service, one.metric, one.times, one.values, {"code": "503", "service": "checkout"}, "m.csv")
    (text,) = texts(call(FIND_METRIC_ANOMALIES, Recorded(metric_series=[labelled])))
    assert text.startswith('http_responses{code="503"} of checkout rose from ')


def test_a_series_without_a_service_is_named_by_its_labels() -> None:
    """A pod is an entity when no service is known."""
    one = series("", "memory_bytes", 10.0, 99.0)
    labelled = Series("", one.metric, one.times, one.values, {"pod": "checkout-7f"}, "m.csv")
    assert call(FIND_METRIC_ANOMALIES, Recorded(metric_series=[labelled])).items[0]["entity"] == "checkout-7f"


def test_stopped_and_appeared_have_words_of_their_own() -> None:
    """Their statements give the time, the count of samples and the level."""
    steady, whole = series("a", "steady", 5.0, 5.0, 1), series("b", "gone", 5.0, 5.0, 2)
    gone = Series("b", "gone", whole.times[:40], whole.values[:40])
    new = Series("c", "new", whole.times[41:], whole.values[41:])
    output = call(FIND_METRIC_ANOMALIES, Recorded(metric_series=[steady, gone, new]))
    assert "stopped at 2026-07-16T06:39:00Z: 40 samples until then" in item(output, direction="stopped")["text"]
    assert "appeared at 2026-07-16T06:41:00Z with a median of" in item(output, direction="appeared")["text"]


def test_a_pause_and_a_frozen_value_are_told_with_their_times_and_read_as_symptoms() -> None:
    """Missing data and a value that never moves again are statements like others, for a verifier too."""
    steady = [series("a", f"steady{n}", 5.0, 5.0, n) for n in range(3)]
    whole, stuck = series("b", "paused", 5.0, 5.0, 7), series("c", "cpu_load", 5.0, 5.0, 8)
    paused = Series("b", "paused", np.delete(whole.times, range(41, 47)), np.delete(whole.values, range(41, 47)))
    stuck.values[41:] = 5.25
    output = call(FIND_METRIC_ANOMALIES, Recorded(metric_series=[*steady, paused, stuck]))
    gap, frozen = item(output, change="gap"), item(output, change="frozen")
    assert gap["text"].startswith(
        "paused of b stopped at 2026-07-16T06:40:00Z: 40 samples before the onset with a median "
    )
    assert gap["text"].endswith(", then none until 2026-07-16T06:47:00Z.")
    assert (gap["onset"], gap["ended"]) == ("2026-07-16T06:40:00Z", "2026-07-16T06:47:00Z")
    assert frozen["text"] == (
        "cpu_load of c froze at 2026-07-16T06:41:00Z: exactly 5.25 in all 19 samples since, and never at rest before."
    )
    assert directions(gap["text"]) == {Direction.STOPPED}
    assert directions(frozen["text"]) == {Direction.FROZE}
    assert evidence_kind("find_metric_anomalies", frozen["text"], "c") is EvidenceKind.SYMPTOM


def test_a_new_log_pattern_is_told_with_counts_first_time_and_an_example() -> None:
    """Counts before and after, a line as it was logged, and when they ended, for the log goes on without them."""
    found = item(call(FIND_LOG_PATTERNS), change="new")
    assert found["text"] == (
        'checkout logged 60 lines like "pool timeout after <*> ms calling storefront" (ERROR) since '
        "2026-07-16T06:40:00Z, new: none before; first at 2026-07-16T06:40:30Z, last at 2026-07-16T06:50:20Z, "
        'example: "pool timeout after 5000 ms calling storefront".'
    )
    assert (found["before"], found["after"], found["level"], found["entity"]) == (0, 60, "ERROR", "checkout")
    assert found["mentions"] == ["storefront"]
    assert found["source"] == "shop.log:300"


def test_a_pattern_that_stopped_says_when_it_was_last_seen() -> None:
    """What falls silent is told as well."""
    recorded = Recorded(
        log_records=[record for record in logs() if record.service == "checkout" or record.time < ONSET]
    )
    found = item(call(FIND_LOG_PATTERNS, recorded), direction="stopped")
    assert "storefront stopped logging lines like " in found["text"]
    assert f"last at {utc(START + 159 * 15.0)}" in found["text"]


def test_a_log_without_times_gives_its_failures_uncompared_and_says_why() -> None:
    """Patterns are worth telling though nothing can be compared."""
    undated = Recorded(log_records=[LogRecord(f"disk {n} is full", service="batch", level="ERROR") for n in range(3)])
    (text,) = texts(call(FIND_LOG_PATTERNS, undated))
    assert text.startswith(
        'batch logged 3 lines like "disk <*> is full" (ERROR) (not compared with before: no line has a time)'
    )


def test_the_deepest_slow_and_failing_operation_is_told_and_not_its_callers() -> None:
    """Self time, and failure at its origin, with counts on both sides and who calls it."""
    output = call(FIND_SPAN_ANOMALIES)
    assert {(one["entity"], one["operation"]) for one in output.items} == {("checkout", "pool.acquire")}
    slower, failing = item(output, direction="slower"), item(output, direction="failing")
    assert "Operation pool.acquire of checkout got slower by self time: median 1," in slower["text"]
    assert slower["text"].endswith("before (19 and 40 spans).")
    assert "is failing: 19 of 19 spans since 2026-07-16T06:40:00Z (100%)" in failing["text"]
    assert 'error: "pool timeout"' in failing["text"]
    assert (failing["count_before"], failing["failures"]) == (40, 19)


def test_a_wait_for_a_database_is_told_in_words_with_its_name_from_the_call_graph() -> None:
    """Self time of a statement is a wait: for whom, the call graph says where the span does not."""
    statements = [
        Span(f"t{n}", "a", None, "checkout", "SELECT orders", START + n * MINUTE, 3.0 if n < 40 else 800.0 + n)
        for n in range(60)
    ]
    recorded = Recorded(trace_spans=statements, calls=[Edge("checkout", "orders-db")])
    (found,) = call(FIND_SPAN_ANOMALIES, recorded).items
    assert "got slower by self time, waiting for a database call to orders-db: median" in found["text"]
    assert (found["entity"], found["waits_for"], found["database"]) == ("checkout", "orders-db", True)


def test_spans_with_no_baseline_say_so() -> None:
    """Without spans before, nothing is called slower."""
    output = call(FIND_SPAN_ANOMALIES, Recorded(trace_spans=spans(range(41, 60), 1_900.0)))
    assert output.empty
    assert "there is no span before the onset to compare with" in output.items[0]["text"]


@pytest.mark.parametrize(
    "tool", [FIND_METRIC_ANOMALIES, FIND_LOG_PATTERNS, FIND_SPAN_ANOMALIES], ids=lambda one: one.name
)
def test_before_the_fault_the_same_incident_is_healthy(tool: AnyTool) -> None:
    """The first 35 minutes, with an onset in their middle: nothing is found, so nothing can be blamed."""
    output = call(tool, incident(), known=START + 20 * MINUTE, until="06:35")
    assert output.empty
    assert texts(output)[0].startswith("No ")
