"""The flow of calls by spans: work that ends early, calls that do not arrive, are repeated, or come from nowhere."""

import pytest
from analysis_samples import ONSET, trace

from diag_graph.analysis.records import Span
from diag_graph.analysis.span_courses import FlowKind, FlowSurvey, survey_flows

Row = tuple[str, str | None, str, str, float, float, bool]

ROOT: Row = ("a", None, "shop", "POST /order", 0.0, 90.0, False)
LOOK: Row = ("b", "a", "shop", "look up", 1.0, 5.0, False)
CALL: Row = ("c", "a", "shop", "call bank", 10.0, 30.0, False)
PAY: Row = ("d", "c", "bank", "POST /pay", 12.0, 20.0, False)
BOOK: Row = ("e", "d", "bank", "INSERT", 13.0, 10.0, False)
TELL: Row = ("f", "a", "shop", "tell the customer", 60.0, 5.0, False)
USUAL = (ROOT, LOOK, CALL, PAY, BOOK, TELL)


def surveyed(since: tuple[Row, ...], usual: tuple[Row, ...] = USUAL) -> FlowSurvey:
    """What is found when five traces are as usual and five since the onset are like this."""
    spans: list[Span] = []
    for n in range(5):
        spans += trace(n, 30 + n, *usual)
        spans += trace(100 + n, 41 + n, *since)
    return survey_flows(spans, ONSET)


def test_the_usual_course_is_nothing() -> None:
    """The same before and since."""
    assert surveyed(USUAL) == FlowSurvey((), ())


def test_work_that_ends_before_a_call_is_told_of_its_service_and_not_of_the_callee() -> None:
    """An early return: nothing failed, nothing got slower, and what came next is not there."""
    found = surveyed((ROOT, LOOK))
    (course,) = found.courses
    assert course.missing is not None
    assert (course.service, course.after.kind, course.missing.kind) == ("shop", "look up", "bank POST /pay")
    assert course.uncalled == ("bank",)
    assert found.flows == ()


def test_work_of_a_callee_that_ends_early_is_told_of_the_callee() -> None:
    """Its caller went on as ever."""
    (course,) = surveyed((ROOT, LOOK, CALL, PAY, TELL)).courses
    assert course.missing is not None
    assert (course.service, course.missing.kind) == ("bank", "INSERT")


def test_a_call_that_is_made_and_not_recorded_by_its_callee_does_not_arrive() -> None:
    """The callee stopped appearing while it is still called: that speaks against the callee."""
    (flow,) = surveyed((ROOT, LOOK, CALL, TELL)).flows
    assert (flow.kind, flow.entity, flow.caller, flow.operation) == (
        FlowKind.NOT_ARRIVING,
        "bank",
        "shop",
        "call bank",
    )


def _repeated(times: int, *, failed: bool) -> tuple[Row, ...]:
    again: list[Row] = []
    for n in range(times):
        again.append((f"c{n}", "a", "shop", "call bank", 10.0 + n, 1.0, failed))
        again.append((f"d{n}", f"c{n}", "bank", "POST /pay", 10.1 + n, 0.5, failed))
    return (ROOT, LOOK, *again, TELL)


def test_calls_that_fail_and_are_repeated_are_retries_and_speak_against_the_callee() -> None:
    """One execution called once before, and four times since."""
    (flow,) = surveyed(_repeated(4, failed=True), _repeated(1, failed=False)).flows
    assert (flow.kind, flow.entity, flow.before, flow.since) == (FlowKind.RETRIED, "bank", 1.0, 4.0)


def test_calls_that_succeed_and_are_repeated_speak_against_the_caller() -> None:
    """A loop of queries is the doing of who makes them."""
    (flow,) = surveyed(_repeated(4, failed=False), _repeated(1, failed=False)).flows
    assert (flow.kind, flow.entity) == (FlowKind.FANNED_OUT, "shop")


def test_spans_whose_parent_is_not_recorded_point_to_who_usually_calls() -> None:
    """What called them did not live to record it, or its recorder dropped it."""
    (flow,) = surveyed((PAY, BOOK)).flows
    assert (flow.kind, flow.entity, flow.callee) == (FlowKind.ORPHANED, "shop", "bank")


def test_only_the_traces_nearest_to_the_onset_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole traces, on either side."""
    monkeypatch.setattr("diag_graph.analysis.span_courses.MAX_SPANS", 10)
    spans = [span for n in range(20) for span in trace(n, 20 + 2 * n, *(USUAL if n < 10 else (ROOT, LOOK)))]
    (course,) = survey_flows(spans, ONSET).courses
    assert course.missed is not None
    assert (course.missed.all_before, course.missed.all_since) == (2, 5)
