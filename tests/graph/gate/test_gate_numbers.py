"""Which numbers a text states, and what grounds them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.gate.numbers import ungrounded_numbers


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("1,200 requests", "1200 requests"),
        ("1200", "1,200"),
        ("1,234,567.50", "1234567.5"),
        ("2.30 s", "2.3 s"),
        ("2.3", "2.30"),
        ("5%", "5 %"),
        ("5 percent", "5%"),
        ("210ms", "210 ms"),
        ("210 ms", "210ms"),
        ("from 210ms-300ms", "210 ms to 300 ms"),
        ("10–15 ms", "10 and 15"),
        ("-5 °C", "−5 °C"),
        ("(-5)", "x=-5"),
        ("+5", "5"),
        ("0.50", ".5"),
        ("-.5", "-0.5"),
        ("1e-5", "0.00001"),
        ("2.5E3", "2500"),
        ("007", "7"),
        ("0", "0.00"),
        ("-0", "0"),
        ("１２", "12"),
        ("٣", "3"),
        ("took 5.", "5"),
        ("5, 6 and 7", "5,6,7"),
        ("port 8080", "10.0.0.1:8080"),
        ("5 errors", '{"errors":5}'),
        ("503", "HTTP/1.1 503"),
        ("延迟210毫秒", "210 ms"),
        ("5分30秒", "5 and 30"),
        ("9" * 5000, "9" * 5000 + ".0"),
    ],
)
def test_numbers_are_compared_as_numbers(said: str, source: str) -> None:
    """C2: separators, trailing zeros, units and percent signs do not matter."""
    assert ungrounded_numbers(said, [source]) == ()


@pytest.mark.parametrize(
    ("said", "source", "missing"),
    [
        ("5 errors", "15 errors", ("5",)),
        ("5", "-5", ("5",)),
        ("-5", "5", ("-5",)),
        ("2.3", "2.31", ("2.3",)),
        ("1.200", "1,200", ("1.200",)),
        ("1200", "1 200", ("1200",)),
        ("0.5", "5", ("0.5",)),
        ("200", "1,200", ("200",)),
        ("99", "p99", ("99",)),
        ("1", "inv-1", ("1",)),
        ("2", "http2", ("2",)),
        ("3", "db_3", ("3",)),
        ("1.2", "v1.2", ("1.2",)),
        ("7", "7f3a9c", ("7",)),
        ("5m99s", "5m30s", ("5m99s",)),
        ("210ms-310ms", "210 ms, 300 ms", ("310",)),
        ("2.3.2", "2.3.1", ("2.3.2",)),
        ("10.0", "10.0.0.1", ("10.0",)),
        ("1e6", "1e5", ("1e6",)),
        ("1e99999999999", "1", ("1e99999999999",)),
        ("12% of 340 in 5 s, again 12%", "340", ("12", "5")),
        ("5分99秒", "5 and 30", ("99",)),
    ],
)
def test_numbers_that_nobody_stated_are_named(said: str, source: str, missing: tuple[str, ...]) -> None:
    """C2: each once, in the order in which they occur, as written; parts of names and of other numbers ground none."""
    assert ungrounded_numbers(said, [source]) == missing


@pytest.mark.parametrize(
    "name", ["p99", "inv-1", "http2", "db_3", "v1.2.3", "payment-7d9f-2", "utf8", "_5", "e2e", "EC2", "p99.9"]
)
def test_digits_that_continue_a_word_are_no_numbers(name: str) -> None:
    """C2: names need no grounding."""
    assert ungrounded_numbers(f"{name} is slow", []) == ()


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("at 14:05", "2026-07-16T14:05:10Z"),
        ("at 14:05:10", "2026-07-16T14:05:10.250Z"),
        ("at 14:05 UTC", "2026-07-16 14:05:10,250 ERROR"),
        ("at 14:05Z", "2026-07-16T14:05:10Z"),
        ("at 4:05", "04:05:00"),
        ("on 2026-07-16", "2026-07-16T14:05:10Z"),
        ("on 2026/07/16", "2026-07-16"),
        ("2026-07-16 14:05", "2026-07-16T14:05:10Z"),
        ("2026-07-16T14:05:10Z", "2026-07-16T14:05:10.000Z"),
        ("2026-07-16T14:05:10+00:00", "2026-07-16T14:05:10Z"),
        ("2026-07-16T14:05-03:00", "2026-07-16T14:05:10-0300"),
        ("from 06:05-06:30", "06:05:00 and 06:30:00"),
        ("on 2026-07-16 at 14:05", "2026-07-16T14:05:10Z"),
    ],
)
def test_moments_are_grounded_by_moments_that_say_as_much(said: str, source: str) -> None:
    """C2: the end of a recorded time may be left out."""
    assert ungrounded_numbers(said, [source]) == ()


@pytest.mark.parametrize(
    ("said", "source", "missing"),
    [
        ("at 14:05:10", "14:05", ("14:05:10",)),
        ("at 14:06", "2026-07-16T14:05:10Z", ("14:06",)),
        ("at 05:10", "2026-07-16T14:05:10Z", ("05:10",)),
        ("5 errors", "2026-07-16T14:05:10Z", ("5",)),
        ("in 2026", "2026-07-16", ("2026",)),
        ("16 pods", "2026-07-16", ("16",)),
        ("at 14:05", "14 of 05", ("14:05",)),
        ("2026-07-15 14:05", "2026-07-15T10:00:00Z and 2026-07-16T14:05:10Z", ("2026-07-15 14:05",)),
        ("14:05+02:00", "14:05Z", ("14:05+02:00",)),
        ("2026-07-16T14:05:10.123Z", "2026-07-16T14:05:10Z", ("2026-07-16T14:05:10.123Z",)),
        ("30:70", "30", ("70",)),
        ("2026-99-16", "2026", ("99", "16")),
    ],
)
def test_moments_that_nobody_recorded_are_named(said: str, source: str, missing: tuple[str, ...]) -> None:
    """C2: nothing finer, no mixture of two moments, no other zone; parts of a moment are no plain numbers."""
    assert ungrounded_numbers(said, [source]) == missing


def test_any_source_will_do() -> None:
    """Numbers may come from different sources; without any, all are missing."""
    assert ungrounded_numbers("5 of 7", ["5", "7"]) == ()
    assert ungrounded_numbers("5 of 7", []) == ("5", "7")
    assert ungrounded_numbers("no numbers", iter(())) == ()


TEXTS = st.text("ab19 2.,:-_eTZé中%+/", max_size=40) | st.text(max_size=30)


@given(TEXTS)
def test_a_text_grounds_itself(text: str) -> None:
    """Whatever is said as it was recorded is grounded."""
    assert ungrounded_numbers(text, [text]) == ()


@given(TEXTS)
def test_a_number_that_is_named_was_said(text: str) -> None:
    """What is named stands in the text, and only what holds a digit is named."""
    for number in ungrounded_numbers(f"{text} 77", ["no number"]):
        assert any(character.isdecimal() for character in number)
    assert "77" in ungrounded_numbers(f"{text} and 77", [])[-1]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_all_ways_of_writing_a_number_are_equal(number: object) -> None:
    """C2: with and without separators and trailing zeros, with a unit, and as a power of ten."""
    ways = [f"{number:,}", f"{number:f}", f"{number:f}0", f"{number:f}ms", f"{number:f} ms", f"{number:f}e0"]
    for way in ways:
        assert ungrounded_numbers(f"it was {way}", [f"it was {number}"]) == ()
        assert ungrounded_numbers(f"it was {number}", [f"it was {way}"]) == ()
    assert ungrounded_numbers(f"it was {number}1", [f"it was {number}"]) != ()
