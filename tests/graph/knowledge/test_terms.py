"""Questions into search terms: scripts, names, and nothing that FTS5 could take for syntax."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.knowledge.terms import index_text, query_terms


def said(question: str) -> list[str]:
    """What a question searches for."""
    return [term.said for term in query_terms(question)]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("what does the runbook say about pool exhaustion?", ["pool", "exhaustion"]),
        ("why pg_stat_activity at 14:05", ["pg_stat_activity", "pg", "stat", "activity"]),
        ("ORA-00060 on 2026-07-16T06:05:00Z", ["ORA-00060", "ORA", "00060"]),
        ("连接池", ["连接", "接池"]),
        ("耗尽", ["耗尽"]),
        ("连接池满了怎么办", ["连接", "接池", "池满", "满了"]),
        ("ディスク", ["ディ", "ィス", "スク"]),
        ("接続が足りない", ["接続", "続が", "が足", "足り"]),
        ("磁盘 disk 满", ["磁盘", "disk", "满"]),
        ("what is it?", ["what", "is", "it"]),
        ("?!", []),
    ],
)
def test_a_question_is_taken_apart(question: str, terms: list[str]) -> None:
    """Section 13: names in one and by their parts, Chinese and Japanese by pairs, words that say nothing left out."""
    assert said(question) == terms


def test_names_are_indexed_by_their_parts_too() -> None:
    """Who asks for a crash loop finds `CrashLoopBackOff`."""
    assert index_text("CrashLoopBackOff of 数据库") == "CrashLoopBackOff Crash Loop Back Off of 数据 据库"


@given(st.text(max_size=80))
def test_no_question_is_syntax(question: str) -> None:
    """Whatever is asked, FTS5 takes it for words: no operator, column or quote of a question reaches it as such."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (body, tokenize = 'porter unicode61 remove_diacritics 2')")
    db.execute("INSERT INTO t VALUES (?)", [index_text("pool exhausted NEAR body")])
    terms = query_terms(question)
    if terms:
        db.execute("SELECT count(*) FROM t WHERE t MATCH ?", [" OR ".join(term.match for term in terms)]).fetchone()
    db.close()
