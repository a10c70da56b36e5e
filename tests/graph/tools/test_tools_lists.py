import pytest
from tools_samples import ONSET, START, Recorded, call, context, evidence, incident, item, series, texts

from diag_graph.analysis.records import Alert, Change, Edge
from diag_graph.tools.definition import ToolError
from diag_graph.tools.list_alerts import LIST_ALERTS
from diag_graph.tools.list_changes import LIST_CHANGES
from diag_graph.tools.list_evidence import LIST_EVIDENCE
from diag_graph.tools.orientation import orient


def test_the_overview_comes_first_and_names_the_window_and_the_onset() -> None:
    """What is there, from when to when, and from when on trouble is assumed and why."""
    first, second = texts(call(LIST_EVIDENCE))[:2]
    assert first.startswith(
        "recorded holds metrics (1). 1 source could not be read. Times run from 2026-07-16T06:00:00Z"
    )
    assert "the trouble is taken to begin at 2026-07-16T06:40:00Z, from the start of alert CheckoutSlow" in second


def test_what_could_not_be_read_is_told_with_its_reason() -> None:
    """A file that cannot be read is listed with why."""
    assert "broken.json could not be read: it ends in the middle of line 7" in texts(call(LIST_EVIDENCE))


def test_services_are_listed_with_their_signals_and_calls_can_be_cited() -> None:
    """Who has what, and who calls whom by the call graph or by spans."""
    statements = texts(call(LIST_EVIDENCE))
    assert "checkout has 2 series, 60 log lines, 120 spans." in statements
    assert "storefront calls checkout (call graph)." in statements
    found = item(call(LIST_EVIDENCE, section="calls"), signal="call")
    assert (found["caller"], found["callee"]) == ("storefront", "checkout")
    no_graph = Recorded(trace_spans=incident().trace_spans)
    assert texts(call(LIST_EVIDENCE, no_graph, section="calls")) == ["storefront calls checkout (seen in 60 spans)."]


def test_a_section_can_be_asked_for_and_searched() -> None:
    """How to narrow a listing that was cut."""
    assert texts(call(LIST_EVIDENCE, section="metrics", query="cpu")) == [
        "Metric cpu_usage_percent is recorded for storefront."
    ]
    assert texts(call(LIST_EVIDENCE, section="documents", query="plan")) == ["Document plan.md has 1 line."]
    many = Recorded(metric_series=[series("a", f"metric_{n:03}", 1.0, 1.0) for n in range(90)], calls=[Edge("a", "b")])
    output = call(LIST_EVIDENCE, many)
    assert output.truncated is not None
    assert "cut: metrics" in output.truncated["hint"]


def test_firing_alerts_come_first_with_severity_subject_start_and_summary() -> None:
    """An alert is one statement; what else it says stands beside it."""
    output = call(LIST_ALERTS)
    assert texts(output)[0] == (
        "Alert CheckoutSlow (critical, firing of checkout) since 2026-07-16T06:40:00Z: p95 above 1 s "
        "[metric=request_latency_p95_seconds]"
    )
    assert texts(output)[1] == "Alert CheckoutSlow says (description): observed 1.9 s"
    resolved = item(output, name="DiskFull")
    assert "resolved at 2026-07-16T06:01:00Z (40 min before the onset): disk above 90%" in resolved["text"]
    assert [one["name"] for one in call(LIST_ALERTS, status="resolved").items] == ["DiskFull"]


def test_changes_before_the_onset_come_first_and_say_how_long_before() -> None:
    """The nearest before it, then those after it; distances in words."""
    statements = texts(call(LIST_CHANGES))
    assert statements[0] == (
        "Deploy 1.8.2 of checkout (commit 0123456789ab) at 2026-07-16T06:37:50Z (2 min 10 s before the onset) by mara: "
        "Smaller pools."
    )
    assert statements[1].startswith(
        "Commit 0123456789ab at 2026-07-16T06:30:00Z (10 min before the onset) by mara: Cut the pool"
    )
    assert "db/file5.py and 3 more files" in statements[1]
    assert "(5 min after the onset) by tom: off->on." in statements[2]
    assert statements[3] == "Diff of commit 0123456789ab: @@ -1 +1 @@ | -size = 50 | +size = 10"


def test_changes_are_weighed_against_a_failure_by_time_place_and_content() -> None:
    """What a diff does and what fails are set side by side; the deploy that brought it is named with its commit."""
    output = call(LIST_CHANGES, failure="no connection from the pool in 5 s", place="checkout, orders-db")
    first, second = output.items[:2]
    assert first["text"] == (
        "Deploy 1.8.2 of checkout (commit 0123456789ab) at 2026-07-16T06:37:50Z (2 min 10 s before the failure began) "
        'fits what fails: "Cut the pool to ten" sets "size" from "50" to "10", and what fails speaks of connections'
        ' and their pools; it speaks of "pool", as does what fails.'
    )
    assert first["commit"] == "0123456789abcdef0123456789abcdef01234567"
    assert (first["fit"], second["fit"]) == ("fits", "does not fit")
    assert "(5 min after the failure began) does not fit what fails: " in second["text"]
    assert "came after the failure began" in second["text"]


def test_that_no_change_fits_is_one_citable_statement() -> None:
    """Innocence is said in words, with how much was weighed, and nothing is ruled out (V1)."""
    output = call(LIST_CHANGES, failure="certificate has expired", place="checkout")
    first, *others = output.items
    assert first["text"].startswith(
        "No recorded change fits what fails at checkout: 1 commit, 1 deploy and 1 flag weighed by time, place and"
        " content against a failure since 2026-07-16T06:40:00Z, from "
    )
    assert first["empty"] is True
    assert {one["fit"] for one in others} == {"does not fit"}


def test_a_failure_without_a_beginning_cannot_be_weighed() -> None:
    """Without an onset no change is before or after it; the caller is told what to name."""
    with pytest.raises(ToolError, match="name it as onset"):
        LIST_CHANGES.run(LIST_CHANGES.arguments(failure="it fails"), context(onset=None))


def test_a_change_has_its_full_commit_and_the_seconds_before_the_onset_in_fields() -> None:
    """Code reads fields; statements have short commits."""
    found = item(call(LIST_CHANGES, kind="commit"), change="commit")
    assert found["commit"] == "0123456789abcdef0123456789abcdef01234567"
    assert (found["seconds_before_onset"], found["score"]) == (600.0, 0.6)
    assert item(call(LIST_CHANGES, kind="flag"))["score"] == 0.0


def test_changes_can_be_narrowed_and_reach_back_a_day_unless_told_otherwise() -> None:
    """By kind, service, text; a change of nine days ago is listed when asked for."""
    assert len(call(LIST_CHANGES, service="checkout").items) == 1
    assert len(call(LIST_CHANGES, query="file3.py").items) == 2
    assert call(LIST_CHANGES, service="batch").empty
    assert "long ago" in texts(call(LIST_CHANGES, service="batch", since="2026-07-01T00:00:00Z"))[0]


def test_changes_without_a_time_are_listed_last() -> None:
    """An undated change may still be the cause."""
    undated = Recorded(
        change_list=[Change("config", None, "checkout", "pool", "size"), Change("flag", ONSET, "a", "b")]
    )
    assert [one["change"] for one in call(LIST_CHANGES, undated).items] == ["flag", "config"]


def test_the_run_is_oriented_by_alert_question_or_data() -> None:
    """The composition of sources and the rules of the window."""
    late = Alert("CheckoutSlow", "firing", ONSET + 240.0, None, service="checkout")
    recorded = Recorded(metric_series=incident().metric_series, alert_list=[late])
    found = orient(evidence(recorded), "what is wrong?", START + 9_999.0)
    assert found.onset == ONSET
    assert "before the start of alert CheckoutSlow" in found.origin
    by_question = Recorded(metric_series=incident().metric_series)
    assert orient(evidence(by_question), "why is storefront slow since 06:20?", START).onset == START + 1_200.0
    by_data = orient(evidence(by_question), "what is wrong?", START)
    assert by_data.onset == ONSET
    calm = Recorded(metric_series=[one for one in incident().metric_series if one.service == "storefront"])
    assert orient(evidence(calm), "what is wrong?", START).onset is None


def test_logs_and_spans_alone_date_an_incident_too() -> None:
    """A folder need not hold metrics."""
    logs_only = orient(evidence(Recorded(log_records=incident().log_records)), "what broke?", START)
    assert logs_only.onset is not None
    assert abs(logs_only.onset - ONSET) <= 120.0
