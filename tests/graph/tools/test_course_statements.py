"""Work that ends early and calls that do not arrive, as statements that fit into a citation."""

import pytest
from tools_samples import MINUTE, ONSET, START, Recorded, call, item, texts

from diag_graph.analysis.records import LogRecord, Span
from diag_graph.tools.definition import MAX_ITEM_TEXT
from diag_graph.tools.find_log_patterns import FIND_LOG_PATTERNS
from diag_graph.tools.find_span_anomalies import FIND_SPAN_ANOMALIES


def traced(number: int, minute: float, *lines: tuple[str, str]) -> list[LogRecord]:
    """The lines of one trace in stock, as (level, message), a second apart."""
    return [
        LogRecord(message, START + minute * MINUTE + place, "stock", level, f"t{number}")
        for place, (level, message) in enumerate(lines)
    ]


ASKED = ("INFO", "Stock#11 asked for 3 chairs")
RESERVED = ("INFO", "Stock#14 reserved 3 chairs")
NOT_FOUND = ("ERROR", 'Stock#17 no "chair" is known')


def logs(number: int, *since: tuple[str, str], each: int = 4) -> Recorded:
    """As many usual traces before the onset as others since."""
    records = [line for n in range(number) for line in traced(n, 30 + n / each, ASKED, RESERVED)]
    records += [line for n in range(number) for line in traced(100 + n, 41 + n / each, *since)]
    return Recorded(log_records=records)


def spans(*since: tuple[str, str | None, str, str]) -> Recorded:
    """Four usual traces, and four of these spans: (id, parent, service, name)."""
    usual = (("a", None, "shop", "POST /order"), ("b", "a", "shop", "call bank"), ("c", "b", "bank", "POST /pay"))
    found = [
        Span(f"t{n + add}", span_id, parent, service, name, START + (minute + n) * MINUTE + place, 5_000.0)
        for n in range(4)
        for add, minute, rows in ((0, 30, usual), (100, 41, since))
        for place, (span_id, parent, service, name) in enumerate(rows)
    ]
    return Recorded(trace_spans=sorted(found, key=lambda span: span.start))


def test_a_line_that_no_longer_follows_is_stated_with_its_counts() -> None:
    """Whose work, after which line, which line, how often, since when; and that it is few."""
    found = item(call(FIND_LOG_PATTERNS, logs(4, ASKED)), change="ends early")
    assert found["text"] == (
        'stock stopped short after logging "Stock#11 asked for 3 chairs": "Stock#14 reserved 3 chairs" follows in '
        "0 of 4 traces since 2026-07-16T06:40:00Z, against 4 of 4 before; only a few cases; "
        "first at 2026-07-16T06:41:00Z."
    )
    assert (found["entity"], found["direction"], found["level"]) == ("stock", "stopped", "INFO")


def test_an_error_that_follows_instead_is_stated_with_its_level_behind_its_line() -> None:
    """A quote within a line does not end the quotation."""
    found = item(call(FIND_LOG_PATTERNS, logs(4, ASKED, NOT_FOUND)), change="fails on its way")
    assert found["text"] == (
        'stock is failing after logging "Stock#11 asked for 3 chairs": "Stock#14 reserved 3 chairs" follows in '
        "0 of 4 traces, before in 4 of 4, and \"Stock#17 no 'chair' is known\" (ERROR) in "
        "4 of 4 traces since 2026-07-16T06:40:00Z, against 0 of 4 before; only a few cases; "
        "first at 2026-07-16T06:41:01Z."
    )
    assert found["direction"] == "failing"


def test_many_traces_are_enough_to_be_sure() -> None:
    """Where a few more could not change it, nothing is said of few."""
    found = item(call(FIND_LOG_PATTERNS, logs(40, ASKED)), change="ends early")
    assert "only a few" not in found["text"]


def test_work_that_began_otherwise_than_any_before_is_stated_with_that() -> None:
    """It may have been asked for something else, however many traces show it."""
    opened = ("a", None, "shop", "GET /open"), ("b", "a", "shop", "POST /order")
    found = item(call(FIND_SPAN_ANOMALIES, spans(*opened)), change="ends early")
    assert "against 4 of 4 before; some of these began otherwise than any before; only a few" in found["text"]
    assert found["unlike"] is True


def test_courses_are_narrowed_as_patterns_are() -> None:
    """By service, and by the level of what is missing or fails."""
    recorded = logs(4, ASKED, NOT_FOUND)
    for arguments in ({"service": "bank"}, {"level": "WARN"}):
        assert not any("after logging" in text for text in texts(call(FIND_LOG_PATTERNS, recorded, **arguments)))
    assert any("after logging" in text for text in texts(call(FIND_LOG_PATTERNS, recorded, level="ERROR")))


def test_without_an_onset_nothing_is_before_and_nothing_ends_early() -> None:
    """There is nothing to compare with."""
    assert not any("after logging" in text for text in texts(call(FIND_LOG_PATTERNS, logs(4, ASKED), known=None)))
    assert not any("stopped short" in text for text in texts(call(FIND_SPAN_ANOMALIES, spans(), known=None)))


def test_a_call_that_is_no_longer_made_is_stated_of_the_caller() -> None:
    """With what it does last, and what it does not do after it."""
    found = item(call(FIND_SPAN_ANOMALIES, spans(("a", None, "shop", "POST /order"))), change="ends early")
    assert found["text"] == (
        "Work of shop stopped short after POST /order: the call to bank POST /pay follows in "
        "0 of 4 executions since 2026-07-16T06:40:00Z, against 4 of 4 before; only a few cases; "
        "first at 2026-07-16T06:41:00Z."
    )
    assert (found["entity"], found["uncalled"]) == ("shop", ["bank"])


def test_a_service_that_stopped_appearing_while_it_is_called_is_stated() -> None:
    """The trace holds the call, and nothing of whom it went to."""
    only_call = (("a", None, "shop", "POST /order"), ("b", "a", "shop", "call bank"))
    found = item(call(FIND_SPAN_ANOMALIES, spans(*only_call)), change="not arriving")
    assert found["text"] == (
        "Calls of shop to bank (call bank) stopped arriving: bank recorded "
        "0 of 4 calls since 2026-07-16T06:40:00Z, against 4 of 4 before; only a few cases; "
        "first at 2026-07-16T06:41:01Z."
    )
    assert found["entity"] == "bank"


@pytest.mark.parametrize("service", ["stock", "s" * 200])
def test_the_longest_statement_fits_into_a_citation(service: str) -> None:
    """Long names and lines are cut, and the text as a whole is."""
    long = [(level, f"{name} " + "word " * 60) for level, name in (("INFO", "A#1"), ("INFO", "B#2"), ("ERROR", "C#3"))]
    records = [
        LogRecord(message, START + minute * MINUTE + place + n, service, level, f"t{minute}{n}")
        for minute, chosen in ((30, long[:2]), (41, [long[0], long[2]]))
        for n in range(4)
        for place, (level, message) in enumerate(chosen)
    ]
    found = item(call(FIND_LOG_PATTERNS, Recorded(log_records=records), known=ONSET), change="fails on its way")
    assert len(found["text"]) <= MAX_ITEM_TEXT
    if service == "stock":
        assert found["text"].endswith("Z.")
