import time
from typing import Any

import numpy as np
import pytest
from analysis_samples import MINUTE, ONSET, START, WINDOW, line

from diag_graph.analysis.log_changes import PatternChange, PatternKind, changed_patterns, rate_evidence
from diag_graph.analysis.log_masks import exception_line, headline, masked_column
from diag_graph.analysis.log_patterns import count_patterns
from diag_graph.analysis.records import LogRecord

TRACEBACK = """unhandled exception
Traceback (most recent call last):
  File "pay.py", line 12, in charge
    raise PoolTimeout("no connection")
db.PoolTimeoutError: no connection after 5.0 s"""

PYTHON_TRACE = 'Traceback (most recent call last):\n  File "pay.py", line 12, in charge\n    return run()\n'


def steady(
    message: str = "handled request {n}", per_minute: int = 4, level: str = "INFO", minutes: int = 60
) -> list[LogRecord]:
    """Lines at a steady rate over the whole window."""
    return [line(message.format(n=1_000 + n), n / per_minute, level=level) for n in range(minutes * per_minute)]


def changed(records: list[LogRecord], onset: float = ONSET) -> list[PatternChange]:
    """What changed in these lines."""
    ordered = sorted(records, key=lambda record: record.time or 0.0)
    return changed_patterns(count_patterns(ordered), WINDOW, onset)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("pool timeout after 5000ms", "pool timeout after <*>ms"),
        ("user 42 from 10.1.2.3:8080 failed", "user <*> from <*> failed"),
        ("order 7d9f3b1e-98aa-4b1c-8f2d-0123456789ab paid", "order <*> paid"),
        ("trace 4bf92f3577b34da6a3ce929d0e0e4736 lost", "trace <*> lost"),
        ("at 2026-07-16T06:05:00Z it broke", "at <*> it broke"),
        ("http2 goes on", "http2 goes on"),
        ("took 1.31 s", "took <*> s"),
        ("free: -12 of 0xdeadbeef", "free: <*> of <*>"),
    ],
)
def test_variable_parts_are_masked_and_names_are_not(message: str, expected: str) -> None:
    """Numbers, addresses and identifiers vary; words and names with digits do not."""
    assert masked_column([message]).to_list() == [expected]


def test_a_stack_trace_is_known_by_what_was_thrown() -> None:
    """The same error with another stack is the same pattern."""
    assert masked_column([headline(TRACEBACK, {})]).to_list() == [
        "unhandled exception | db.PoolTimeoutError: no connection after <*> s"
    ]
    assert exception_line("Caused by: java.io.IOException: broken\n at a.b(C.java:1)").endswith("IOException: broken")


@pytest.mark.parametrize(
    ("attributes", "thrown"),
    [
        ({"exception": TRACEBACK}, "db.PoolTimeoutError: no connection after 5.0 s"),
        (
            {"exception": f"{PYTHON_TRACE}psycopg.errors.LockNotAvailable: lock timeout\nCONTEXT:  while updating"},
            "psycopg.errors.LockNotAvailable: lock timeout",
        ),
        ({"error.stack_trace": "java.io.IOException: broken\n\tat a.b(C.java:1)"}, "java.io.IOException: broken"),
        ({"error": "context deadline exceeded"}, "context deadline exceeded"),
        ({"err": {"type": "TypeError", "message": "x is undefined", "stack": "..."}}, "TypeError: x is undefined"),
        ({"exception": {"class": "Timeout", "message": ""}}, "Timeout"),
    ],
)
def test_what_a_structured_log_says_was_thrown_stands_in_its_pattern(attributes: dict[str, Any], thrown: str) -> None:
    """JSON loggers put the exception into a field of its own."""
    assert headline("charge failed", attributes) == f"charge failed | {thrown}"
    record = LogRecord("charge failed", START, "pay", "ERROR", attributes=attributes)
    assert count_patterns([record]).patterns[0].first.text == f"charge failed | {thrown}"


@pytest.mark.parametrize("attributes", [{}, {"error": False}, {"error": "false"}, {"stack": ""}, {"err": None}])
def test_fields_that_say_nothing_was_thrown_add_nothing(attributes: dict[str, Any]) -> None:
    """A flag is no exception."""
    assert headline("charged", attributes) == "charged"


def test_a_new_error_is_found_with_its_counts_first_time_and_example() -> None:
    """None before, many since: new."""
    errors = [line(f"pool timeout after {n} ms", 40.5 + n / 10, level="ERROR") for n in range(30)]
    (change,) = changed([*steady(), *errors])
    assert (change.kind, change.before, change.after) == (PatternKind.NEW, 0, 30)
    assert change.pattern.template == "pool timeout after <*> ms"
    assert change.onset == START + 40.5 * MINUTE
    assert change.pattern.example(ONSET).text == "pool timeout after 0 ms"


def test_a_pattern_that_surges_and_one_that_ends_are_found() -> None:
    """Counts are compared as rates, and with what the pattern did by itself before."""
    surge = [*steady("retry {n}", 1, "WARN"), *(line(f"retry {n}", 41 + n / 20, level="WARN") for n in range(200))]
    ended = steady("heartbeat {n}", 2, minutes=39)
    kinds = {change.pattern.template: change.kind for change in changed([*steady(), *surge, *ended])}
    assert kinds == {"retry <*>": PatternKind.MORE, "heartbeat <*>": PatternKind.GONE}


@pytest.mark.parametrize("seed", range(6))
def test_a_healthy_log_has_no_changed_pattern(seed: int) -> None:
    """Steady lines, bursts that also came before, lone errors, and a long tail of rare messages: nothing to tell."""
    generator = np.random.default_rng(seed)
    bursts = [
        line(f"cache refresh of shard {n}", minute + n / 60) for minute in (5, 15, 25, 35, 45, 55) for n in range(40)
    ]
    rare = [line(f"odd thing {word} happened", generator.uniform(0, 60)) for word in "abcdefghijklmnopqrstuvwxyz"]
    lone = [line("connection reset by peer", minute, level="ERROR") for minute in (12.0, 48.0)]
    errors = [line("slow query", minute, level="ERROR") for minute in generator.uniform(0, 60, 40)]
    assert changed([*steady(), *bursts, *rare, *lone, *errors]) == []


def test_more_lines_of_every_kind_are_more_requests_and_no_change() -> None:
    """A recorder that keeps more, or more traffic, is not what a pattern tells; what grew beyond it is."""
    quiet = [line(f"handled request {n}", n / 2, level="INFO") for n in range(80)]
    busy = [line(f"handled request {n}", 40 + n / 60, level="INFO") for n in range(1_200)]
    retries = [line(f"retrying {n}", n / 2, level="WARN") for n in range(80)]
    more_retries = [line(f"retrying {n}", 40 + n / 60, level="WARN") for n in range(1_200)]
    assert changed([*quiet, *busy, *retries, *more_retries]) == []
    failing = [line(f"refused {n}", 40 + n / 60, level="ERROR") for n in range(1_200)]
    assert [one.pattern.template for one in changed([*quiet, *busy, *failing])] == ["refused <*>"]


def test_levels_and_services_are_counted_apart() -> None:
    """The same words from another service are another pattern."""
    errors = [line("refused", 41 + n / 10, service, "ERROR") for service in ("stock", "billing") for n in range(9)]
    assert {change.pattern.service for change in changed([*steady(), *errors])} == {"stock", "billing"}


def test_nothing_before_the_onset_means_nothing_to_compare() -> None:
    """A log that begins with the trouble says nothing about what is new."""
    assert changed([line("refused", 41 + n / 10, level="ERROR") for n in range(50)]) == []


def test_lines_without_a_time_are_counted_but_not_compared() -> None:
    """An undated log still has patterns."""
    survey = count_patterns([LogRecord("boom 1", level="ERROR"), LogRecord("boom 2", level="ERROR")])
    (pattern,) = survey.patterns
    assert (pattern.undated, survey.recorded) == (2, None)
    assert changed_patterns(survey, WINDOW, ONSET) == []


def test_evidence_of_a_rate_grows_with_counts_and_is_nothing_for_equal_rates() -> None:
    """The likelihood ratio of two rates against one."""
    assert rate_evidence(40, 20, 400.0, 200.0) == pytest.approx(0.0, abs=1e-9)
    assert rate_evidence(40, 200, 400.0, 200.0) > rate_evidence(4, 20, 400.0, 200.0) > 0
    assert rate_evidence(0, 0, 1.0, 1.0) == 0.0


def test_a_hundred_thousand_lines_take_seconds() -> None:
    """Equal masked lines reach the miner once."""
    records = [line(f"request {n} from 10.0.0.{n % 250} took {n % 900} ms", n / 1_700) for n in range(100_000)]
    begun = time.perf_counter()
    assert len(count_patterns(records).patterns) == 1
    assert time.perf_counter() - begun < 5.0
