"""Searching: ranked passages, how relevant each is, what was dropped and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from diag_graph.knowledge import KnowledgeIndex
from diag_graph.sources.ports import Relevance


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("connections of the pool are used up", "runbooks/db/pool.md"),
        ("the disk is full", "runbooks/db/disk.md"),
        ("resolving a name", "runbooks/net/dns.md"),
        ("连接池", "runbooks/cjk.md"),
        ("耗尽", "runbooks/cjk.md"),
        ("空き容量がない", "runbooks/cjk.md"),
    ],
)
def test_the_passage_stands_first(index: KnowledgeIndex, library: Path, question: str, source: str) -> None:
    """Section 13: full text, stemmed English, Chinese and Japanese down to two characters."""
    index.add(library)
    assert index.search(question).passages[0].source == source


def test_relevance_says_how_much_of_the_question_is_held(index: KnowledgeIndex, library: Path) -> None:
    """Section 13: high, medium, low, by the weighted share of the question's terms that stand in the passage."""
    index.add(library)
    assert index.search("pool exhausted").passages[0].relevance is Relevance.HIGH
    stray = index.search("volume of the quarterly revenue forecast presentation").passages[0]
    assert (stray.relevance, stray.share < 0.35) == (Relevance.LOW, True)
    assert index.search("kubernetes scheduler").passages == []


def test_a_domain_narrows_the_search(index: KnowledgeIndex, library: Path) -> None:
    """Only its runbooks are looked into."""
    index.add(library)
    found = index.search("pool pods disk", domain="net")
    assert {passage.domain for passage in found.passages} == {"net"}
    assert found.details["domains_retrieved"] == ["net"]
    assert index.search("pool", domain="no such domain").passages == []


def test_duplicates_are_dropped_and_the_reason_is_kept(index: KnowledgeIndex, library: Path) -> None:
    """Section 13: the same passage under several paths, and one that is nearly the same."""
    steps = "Drain the node, wait for the pods to move, then reboot it and uncordon it when it is ready again."
    for name, text in (("a", steps), ("b", steps), ("c", steps + " Then tell the team.")):
        (library / f"{name}.md").write_text(f"# Node {name}\n\n{text}\n")
    index.add(library)
    found = index.search("drain and reboot a node")
    assert [passage.source for passage in found.passages] == ["runbooks/a.md"]
    assert [(drop["passage"], drop["same_as"]) for drop in found.details["dropped_duplicates"]] == [
        ("runbooks/b.md:3-3", "runbooks/a.md:3-3"),
        ("runbooks/c.md:3-3", "runbooks/a.md:3-3"),
    ]
    reasons = [drop["why"] for drop in found.details["dropped_duplicates"]]
    assert reasons[0] == "the same text"
    assert reasons[1].startswith("nearly the same text: 8")


def test_details_say_how_it_was_found(index: KnowledgeIndex, library: Path) -> None:
    """Section 13: `retrieval_details` has L0 and L1 hits, layer, relevance and domains."""
    index.add(library)
    details = index.search("pool exhausted").details
    assert (details["layer"], details["relevance"], details["domains_retrieved"]) == ("L1", "high", ["db"])
    assert details["l0_hits"] == [{"domain": "db", "candidates": 1}]
    assert details["l1_hits"][0]["passage"] == "runbooks/db/pool.md:5-5"
    assert index.search("kubernetes").details["layer"] == "L0"
