"""Quotes: so many words of a text in a row."""

from __future__ import annotations

import pytest

from diag_graph.gate.quoting import quotes

TEXT = "pool.md, 'Mitigation': End the idle sessions that hold 7 connections, then restart the pgbouncer."


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        (TEXT, True),
        ("First, END the idle sessions - that hold!", True),
        ("sessions that hold 7 connections then", True),
        ("End the idle sessions that", False),
        ("End the sessions that hold 7 connections", False),
        ("Look at the pool, then restart what is idle.", False),
        ("", False),
    ],
)
def test_six_words_in_a_row_are_a_quote(said: str, quoted: bool) -> None:
    """G6, C3: case and punctuation aside; fewer words stand in any two texts about one thing."""
    assert quotes(said, TEXT) is quoted


@pytest.mark.parametrize(("said", "quoted"), [("请先结束空闲会话再看", True), ("结束空闲连接", False)])
def test_scripts_without_blanks_count_by_characters(said: str, quoted: bool) -> None:
    """Each character of Chinese and Japanese is a word."""
    assert quotes(said, "先结束空闲会话。") is quoted


def test_a_text_that_is_shorter_than_a_quote_is_quoted_by_nothing() -> None:
    """A word or two prove nothing."""
    assert not quotes("restart it", "restart it")
