"""Where an excerpt may begin and end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diag_graph.gate.borders import find_excerpt, is_border
from diag_graph.gate.normalise import normalise


def stands(excerpt: str, text: str) -> bool:
    """Whether an excerpt occurs in a text."""
    return find_excerpt(normalise(text), normalise(excerpt)) is not None


@pytest.mark.parametrize(
    ("excerpt", "text"),
    [
        ("15 ms", "115 ms"),
        ("2.3", "2.31"),
        ("2", "2.31"),
        ("31 s", "2.31 s"),
        (".31 s", "2.31 s"),
        ("5 s", "-5 s"),
        ("5 s", "−5 s"),
        ("5 s", "–5 s"),
        ("5 s", "(-5 s"),
        ("5 s", "--5 s"),
        ("5 s", "=-5 s"),
        (".5 s", "-.5 s"),
        ("5 s", "took .5 s"),
        ("5 s", "-.5 s"),
        ("1", "1,200 ms"),
        ("200 ms", "1,200 ms"),
        (",200 ms", "1,200 ms"),
        ("000 rows", "1,000,000 rows"),
        ("1,000", "1,000,000 rows"),
        ("1,200", "1,200.50"),
        ("5 s", "1e-5 s"),
        ("-5 s", "1e-5 s"),
        ("1e", "1e-5 s"),
        ("2.5", "2.5e3"),
        ("5", "1e+5"),
        ("0.0.1", "10.0.0.1"),
        ("210", "210ms"),
        ("ms", "210ms"),
        ("p9", "p99"),
        ("count 5", "error_count 5"),
        ("http", "http2"),
        ("latenc", "latency"),
        ("atency", "latency"),
        ("the pod can", "the pod can't start"),
        ("the pod can", "the pod can’t start"),
        ("t start", "the pod can't start"),
        ("x", "x\u0301"),
        ("\u0301 y", "x\u0301 y"),
        ("y", "x\u0301y"),
        ("y", "x\u0301\u0302\u0303\u0304y"),
        ("e", "e\u0301"),
        ("한", "한국"),
        ("स", "समय"),
        ("१", "१२"),
        ("๑", "๑๒"),
        ("1", "1\u200b5"),
        ("aa", "aaaa" * 2000),
    ],
)
def test_no_excerpt_is_cut_inside_a_number_or_a_word(excerpt: str, text: str) -> None:
    """Section 5: an excerpt may not begin or end inside a number, a word, or a letter with its marks."""
    assert not stands(excerpt, text)


@pytest.mark.parametrize(
    ("excerpt", "text"),
    [
        ("15 ms", "10-15 ms"),
        ("15 ms", "10–15 ms"),
        ("07-16", "2026-07-16"),
        ("14:05", "at 14:05:10 UTC"),
        ("5 s", "x-5 s"),
        ("5 s", "- 5 s"),
        ("-5 s", "was -5 s"),
        ("2.31", "took 2.31."),
        ("5 items", "...5 items"),
        ("17", "5,17,23"),
        ("200", "1.5,200"),
        ("[1,2", "[1,2,3]"),
        ("1234", "1234,567"),
        ("5", "5%"),
        ("5 %", "5 %"),
        ("db timed out", "payment-db timed out"),
        ("status", "status=503"),
        ("503", "status=503"),
        ("nodes", "the nodes' load"),
        ("it", "'it'"),
        ("x\u0301", "x\u0301 y"),
        ("超时", "支付服务超时了"),
        ("延迟", "延迟210毫秒"),
        ("210", "延迟210毫秒"),
        ("タイム", "接続タイムアウト"),
        ("เวลา", "หมดเวลารอ"),
        ("15 ms", "115 ms, then 15 ms"),
        ("aa", "aaaa " * 2000 + "aa"),
        ("aa", "aaaa " * 2000 + "(aa)"),
        ("", "anything"),
    ],
)
def test_an_excerpt_may_be_cut_anywhere_else(excerpt: str, text: str) -> None:
    """Section 5: hyphens, colons and brackets are borders; scripts that do not part words may be cut anywhere."""
    assert stands(excerpt, text)


def test_the_place_is_that_of_the_bordered_occurrence() -> None:
    """All occurrences are tried, also when very many stand inside words."""
    assert find_excerpt("115 ms, 15 ms", "15 ms") == 8
    assert find_excerpt("x" * 5000 + " x", "x") == 5001
    assert find_excerpt("xx " * 5000 + "x.", "x") == 15_000


ALPHABET = "ab1 2.,-_eE'\u0301é中文ก0 "


@given(st.text(ALPHABET, max_size=40), st.data())
def test_what_stands_between_borders_is_found(text: str, data: st.DataObject) -> None:
    """Any piece of a text between two borders is found, at a place with borders on both sides."""
    borders = [offset for offset in range(len(text) + 1) if is_border(text, offset)]
    start, end = sorted((data.draw(st.sampled_from(borders)), data.draw(st.sampled_from(borders))))
    place = find_excerpt(text, text[start:end])
    assert place is not None
    assert place <= start
    assert is_border(text, place)
    assert is_border(text, place + end - start)


@given(st.text(ALPHABET, max_size=40), st.text("ab1 中-,.", min_size=1, max_size=2))
@settings(max_examples=40)
def test_the_patient_and_the_quick_search_agree(text: str, excerpt: str) -> None:
    """After many occurrences inside words the search goes on in another way, by the same rule."""
    assert find_excerpt(text, excerpt, patience=0) == find_excerpt(text, excerpt)
