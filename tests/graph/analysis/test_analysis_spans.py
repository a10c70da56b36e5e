import numpy as np
import pytest
from analysis_samples import MINUTE, ONSET, START, trace

from diag_graph.analysis.records import Edge, Span
from diag_graph.analysis.span_changes import SpanKind, rank_sum_z, survey_spans
from diag_graph.analysis.span_times import call_counts, cancelled, timed

generator = np.random.default_rng(5)


def shop(minutes: range, *, pay: float = 20.0, own: float = 8.0, gap: float = 1.0, fail: bool = False) -> list[Span]:
    """Checkout requests that call payment once each: `gap` ms on the way, `pay` ms in payment, `own` ms in checkout."""
    spans: list[Span] = []
    for n in minutes:
        jitter = float(np.random.default_rng(n).uniform(0.9, 1.1))
        inner, call, whole = pay * jitter, pay * jitter + gap * jitter, own * jitter + pay * jitter + gap * jitter
        spans += trace(
            n,
            n,
            ("a", None, "checkout", "POST /checkout", 0.0, whole, fail),
            ("b", "a", "checkout", "call payment", 1.0, call, fail),
            ("c", "b", "payment", "POST /pay", 1.0 + gap / 2, inner, fail),
        )
    return spans


def test_self_time_is_the_time_in_which_no_child_ran() -> None:
    """Children that overlap count once, and what sticks out of the parent does not count."""
    spans = trace(
        1,
        0,
        ("a", None, "s", "root", 0.0, 100.0, False),
        ("b", "a", "s", "one", 10.0, 40.0, False),
        ("c", "a", "s", "two", 30.0, 40.0, False),
        ("d", "a", "s", "late", 90.0, 50.0, False),
    )
    assert [round(one.self_ms) for one in timed(spans)] == [30, 40, 40, 50]


def test_a_handler_does_not_work_while_the_call_beside_it_runs() -> None:
    """Asynchronous frameworks put both beneath the request; a statement that outlasts a call works all the same."""
    spans = trace(
        1,
        0,
        ("a", None, "gateway", "POST", 0.0, 1_000.0, False),
        ("b", "a", "gateway", "handle", 1.0, 981.0, False),
        ("c", "a", "gateway", "HTTP POST", 2.0, 980.5, False),
        ("d", "c", "stock", "POST", 4.0, 970.0, False),
        ("e", "a", "gateway", "SELECT", 500.0, 495.0, False),
    )
    assert [round(one.self_ms) for one in timed(spans)] == [6, 1, 10, 970, 495]


def test_a_parent_in_another_trace_is_found_when_its_identifier_is_unambiguous() -> None:
    """Recorders lose trace identifiers; a parent that names its child is still its parent."""
    parent, child = Span("t1", "a", None, "s", "x", START, 10.0), Span("lost", "b", "a", "u", "y", START, 4.0)
    assert timed([parent, child])[1].parent is parent
    assert call_counts([parent, child]) == {Edge("s", "u"): 1}


def test_blame_for_slowness_follows_self_time_not_duration() -> None:
    """The callee got slower; its caller only waits."""
    survey = survey_spans([*shop(range(40)), *shop(range(40, 60), pay=900.0)], ONSET)
    (change,) = survey.changes
    assert (change.service, change.operation, change.kind) == ("payment", "POST /pay", SpanKind.SLOWER)
    assert change.before == pytest.approx(20.0, rel=0.1)
    assert change.after == pytest.approx(900.0, rel=0.1)
    assert (change.count_before, change.count_after, change.callers) == (40, 20, ("checkout",))


def test_a_slow_caller_is_blamed_itself() -> None:
    """Its own time grew, its callee's did not."""
    (change,) = survey_spans([*shop(range(40)), *shop(range(40, 60), own=700.0)], ONSET).changes
    assert (change.service, change.operation) == ("checkout", "POST /checkout")


def test_waiting_on_the_way_is_told_of_the_calls() -> None:
    """Neither side worked longer: the time was lost between them."""
    (change,) = survey_spans([*shop(range(40)), *shop(range(40, 60), gap=300.0)], ONSET).changes
    assert (change.service, change.kind, change.callers) == ("payment", SpanKind.CALLS_SLOWER, ("checkout",))


def test_a_failure_belongs_to_the_deepest_failing_span() -> None:
    """Callers of a failing callee fail too, and are not its origin."""
    (change,) = survey_spans([*shop(range(40)), *shop(range(40, 60), fail=True)], ONSET).changes
    assert (change.service, change.kind, change.failures, change.after) == ("payment", SpanKind.FAILING, 20, 1.0)


def test_work_that_its_caller_gave_up_is_the_callers_failure() -> None:
    """A cancelled callee did nothing wrong: the deadline was its caller's."""
    spans = shop(range(40))
    for n in range(40, 60):
        spans += trace(
            n,
            n,
            ("a", None, "checkout", "POST /checkout", 0.0, 30.0, True),
            ("c", "a", "payment", "POST /pay", 1.0, 50.0, True),
        )
    given_up = [
        Span(
            s.trace_id,
            s.span_id,
            s.parent_id,
            s.service,
            s.name,
            s.start,
            s.duration_ms,
            s.error,
            s.status,
            {"rpc.grpc.status_code": 1},
        )
        if s.error and s.service == "payment"
        else s
        for s in spans
    ]
    assert cancelled(given_up[-1])
    failing = [change for change in survey_spans(given_up, ONSET).changes if change.kind is SpanKind.FAILING]
    assert [change.service for change in failing] == ["checkout"]


def test_an_operation_that_is_no_longer_called_is_told() -> None:
    """What stops matters as much as what slows."""
    after = [span for span in shop(range(40, 60)) if span.service != "payment"]
    kinds = {(change.service, change.kind) for change in survey_spans([*shop(range(40)), *after], ONSET).changes}
    assert ("payment", SpanKind.STOPPED) in kinds


def test_without_spans_before_nothing_is_called_slower_but_failures_are_told() -> None:
    """No baseline, no comparison; a failure needs none."""
    (change,) = survey_spans(shop(range(41, 60), pay=900.0, fail=True), ONSET).changes
    assert (change.kind, change.before, change.count_before) == (SpanKind.FAILING, None, 0)


@pytest.mark.parametrize("seed", range(6))
def test_healthy_spans_have_no_anomaly(seed: int) -> None:
    """Durations with long tails, and a failure now and then before and after, are nothing to tell."""
    noisy = np.random.default_rng(seed)
    spans: list[Span] = []
    for n in range(240):
        own, pay = noisy.lognormal(2.0, 0.7), noisy.lognormal(3.0, 0.7)
        failed = bool(noisy.random() < 0.03)
        spans += trace(
            n,
            n / 4,
            ("a", None, "checkout", f"GET /{n % 12}", 0.0, own + pay + 1, failed),
            ("b", "a", "checkout", "call payment", 1.0, pay + 0.5, failed),
            ("c", "b", "payment", f"op {n % 12}", 1.2, pay, failed),
        )
    assert survey_spans(spans, ONSET).changes == ()


def test_the_rank_sum_is_zero_for_equal_and_grows_with_separation() -> None:
    """Mann-Whitney: where later values rank among all."""
    same = np.arange(20.0)
    assert rank_sum_z(same, same) == pytest.approx(0.0)
    assert rank_sum_z(same, same + 100) > 5.0 > rank_sum_z(same[:5], same[:5] + 100)


def test_spans_of_the_time_before_the_first_and_after_the_last_are_counted() -> None:
    """A span belongs to the time in which it ended, for it may wait for the trouble."""
    long = Span("t", "a", None, "s", "x", ONSET - MINUTE, 120_000.0)
    survey = survey_spans([long, Span("u", "b", None, "s", "x", START, 1.0)], ONSET)
    assert (survey.before, survey.after, survey.operations) == (1, 1, 1)


def test_slow_calls_of_a_few_traces_are_a_moment_and_not_a_slow_operation() -> None:
    """One request that makes ten slow queries tells of one slow moment; ten requests with one each tell of a change."""

    def queries(number: int, minute: int, lasts: float) -> list[Span]:
        rows = [(f"q{n}", "a", "stock", "SELECT", 10.0 * n, lasts, False) for n in range(4)]
        return trace(number, minute, ("a", None, "stock", "GET /stock", 0.0, 900.0, False), *rows)

    usual = [span for n in range(59) for span in queries(n, n, 2.0 + 0.01 * n)]
    moment = [span for n in (100, 101) for span in queries(n, 50, 400.0)]
    spread = [span for n in range(100, 110) for span in queries(n, 41 + n % 10, 400.0)]
    assert survey_spans([*usual, *moment], ONSET).changes == ()
    assert [change.kind for change in survey_spans([*usual, *spread], ONSET).changes] == [SpanKind.SLOWER_TAIL]
