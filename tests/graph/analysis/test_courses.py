"""Work that ends early or fails on its way, by what follows what in traces; and what is no such thing."""

from itertools import pairwise

import pytest
from analysis_samples import MINUTE, ONSET, START

from diag_graph.analysis.courses import Course, Event, changed_courses
from diag_graph.analysis.log_courses import code_place, traced_events
from diag_graph.analysis.records import LogRecord, Span
from diag_graph.analysis.share_evidence import SUBSTANTIAL, share_evidence, worth_of


def work(number: int, minute: float, *steps: str, service: str = "stock") -> list[Event]:
    """One trace of a service: its steps, a second apart; one that ends in `!` fails, one after `>` is a call."""
    return [
        Event(
            f"t{number}",
            service,
            step.strip("!>"),
            START + minute * MINUTE + place,
            failed=step.endswith("!"),
            callee=step[1:] if step.startswith(">") else "",
        )
        for place, step in enumerate(steps)
    ]


def found(*, before: list[tuple[str, ...]], since: list[tuple[str, ...]]) -> list[Course]:
    """The courses that changed, when work went on like this before the onset and like that since."""
    events = [event for n, steps in enumerate(before) for event in work(n, n, *steps)]
    events += [event for n, steps in enumerate(since, 1_000) for event in work(n, 40 + n / 1_000, *steps)]
    return changed_courses(events, ONSET)


USUAL = ("asked", "looked up", "reserved", ">bank", "answered")


def test_a_bayes_factor_tells_what_always_was_and_never_is_from_what_sometimes_is() -> None:
    """Of as few observations, the first is strong and the second is nothing."""
    assert share_evidence(2, 2, 0, 3) == pytest.approx(1.0, abs=0.01)
    assert share_evidence(3, 3, 0, 4) > share_evidence(3, 3, 1, 4) > SUBSTANTIAL
    assert share_evidence(1, 3, 2, 4) < 0
    assert share_evidence(500, 1_000, 490, 1_000) < 0
    assert share_evidence(0, 4, 3, 3) == pytest.approx(share_evidence(4, 4, 0, 3))


def test_evidence_is_worth_more_the_more_there_is_of_it_and_never_more_than_a_strong_sign() -> None:
    """Beside resources and latencies it must not be loud."""
    worths = [worth_of(evidence) for evidence in (-1.0, 0.5, 1.0, 2.0, 40.0)]
    assert all(less < more for less, more in pairwise(worths))
    assert worths[-1] == 1.0


def test_work_that_ends_early_is_told_with_its_last_step_and_the_first_that_is_missing() -> None:
    """It is not the whole work that is blamed, but the place between two steps."""
    (course,) = found(before=[USUAL] * 4, since=[USUAL[:2]] * 4)
    assert course.missing is not None
    assert (course.service, course.after.kind, course.missing.kind) == ("stock", "looked up", "reserved")
    assert course.missed is not None
    assert (course.missed.before, course.missed.all_before, course.missed.since, course.missed.all_since) == (
        4,
        4,
        0,
        4,
    )
    assert course.failure is None
    assert course.uncalled == ("bank",)
    assert course.onset == pytest.approx(START + 41 * MINUTE + 1)


def test_work_that_began_otherwise_than_any_before_is_told_as_such() -> None:
    """Requests of another kind may do without what always followed in those that were recorded before."""
    other = ("opened", "browsed", *USUAL[:2], "shown")
    (course,) = found(before=[USUAL] * 4, since=[other] * 4)
    assert course.unlike
    (course,) = found(before=[USUAL] * 4, since=[*([other] * 4), *([USUAL[:2]] * 4)])
    assert not course.unlike
    assert course.missed is not None
    assert course.missed.all_since == 4


def test_an_error_that_takes_the_place_of_a_step_is_told_with_it() -> None:
    """Also when it is not so each time."""
    failing = ("asked", "looked up", "not found!")
    (course,) = found(before=[USUAL] * 5, since=[failing, failing, failing, USUAL, failing])
    assert course.failure is not None
    assert course.failed is not None
    assert course.missing is not None
    assert (course.after.kind, course.missing.kind, course.failure.kind) == ("looked up", "reserved", "not found")
    assert (course.failed.before, course.failed.since, course.failed.all_since) == (0, 4, 5)


def test_another_branch_is_no_fault() -> None:
    """Something else is done in place of what is missing: it was asked for something else."""
    assert found(before=[USUAL] * 6, since=[("asked", "looked up", "listed", "sorted", "answered")] * 6) == []


def test_what_followed_now_and_then_may_follow_less() -> None:
    """Its share moves with the mixture of requests."""
    some = ("asked", "looked up")
    assert found(before=[USUAL, USUAL, USUAL, USUAL, some, USUAL], since=[some] * 5 + [USUAL]) == []


def test_more_requests_alone_change_no_course() -> None:
    """Ten times as many traces, or a recorder that keeps ten times as many, say nothing."""
    failing = ("asked", "looked up", "not found!")
    assert found(before=[USUAL, USUAL, failing], since=[USUAL, USUAL, failing] * 10) == []


def test_one_trace_on_a_side_is_not_enough() -> None:
    """What was seen once may always have been so."""
    assert found(before=[USUAL], since=[USUAL[:2]] * 9) == []


def test_lines_of_one_place_in_the_code_are_alike_and_lines_without_a_trace_do_not_count() -> None:
    """Their words may differ, as names do."""
    records = [
        LogRecord("o.s.Stock#118 from Oslo to Rome", START, "stock", "INFO", "t1"),
        LogRecord("o.s.Stock#118 from Bern to Kiel", START + 1, "stock", "INFO", "t1"),
        LogRecord("reserved 17 of 20", START + 2, "stock", "INFO", "t1"),
        LogRecord("reserved 3 of 21", START + 3, "stock", "INFO", "t2"),
        LogRecord("reserved 3 of 21", START + 3, "stock", "INFO"),
        LogRecord("no stock", START + 4, "stock", "ERROR", "t2"),
    ]
    events = traced_events(records)
    assert [event.work for event in events] == ["t1", "t1", "t1", "t2", "t2"]
    assert len({event.kind for event in events}) == 3
    assert [event.failed for event in events] == [False] * 4 + [True]


def test_a_line_of_another_call_does_not_follow() -> None:
    """That a service is called once more, or is not, is its caller's doing; spans say which lines are of one call."""
    spans = [
        Span("t1", "root", None, "shop", "POST /order", START, 9_000.0),
        Span("t1", "x", "root", "stock", "GET /stock", START + 1, 2_000.0),
        Span("t1", "inner", "x", "stock", "SELECT", START + 1, 500.0),
        Span("t1", "y", "root", "stock", "POST /stock", START + 4, 2_000.0),
    ]
    records = [
        LogRecord(message, START + second, "stock", "INFO", "t1")
        for message, second in (("asked", 1.5), ("found", 2.0), ("reserved", 4.5), ("nobody asked", 8.0))
    ]
    assert [event.work for event in traced_events(records, spans)] == ["t1 x", "t1 x", "t1 y"]
    assert {event.work for event in traced_events(records)} == {"t1"}
    assert {event.work for event in traced_events(records, spans[:3])} == {"t1"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("17:43:10.332 ERROR v.s.i.StockServiceImpl#129 [find] no stock", "v.s.i.StockServiceImpl#129"),
        ("reserve.go:77: no stock", "reserve.go:77"),
        ("listening on stock:8080", ""),
        ("order #12 was paid", ""),
    ],
)
def test_a_place_in_the_code_is_known_as_loggers_write_it(text: str, place: str) -> None:
    """And a port or a number of an order is none."""
    assert code_place(text) == place
