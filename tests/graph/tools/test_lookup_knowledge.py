"""`lookup_knowledge`: passages as citable items that name their runbook."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from diag_graph.contracts import Invocation, InvocationStatus
from diag_graph.knowledge import KnowledgeIndex
from diag_graph.tools.definition import MAX_ITEM_TEXT
from diag_graph.tools.lookup_alone import looked_up

RUNBOOK = """# Pool exhausted

## Mitigation

Set `password=hunter2secret` aside, then end idle sessions.

""" + "\n".join(f"{number}. Do step {number} of the long list of steps that free the pool." for number in range(1, 16))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[KnowledgeIndex]:
    """An index of one runbook."""
    (tmp_path / "runbooks").mkdir()
    (tmp_path / "runbooks" / "pool.md").write_text(RUNBOOK)
    with KnowledgeIndex.open(tmp_path / "knowledge.db", create=True) as opened:
        opened.add(tmp_path / "runbooks")
        yield opened


def lookup(index: KnowledgeIndex, query: str, **arguments: object) -> Invocation:
    """The recorded call."""
    return looked_up(index, {"query": query, **arguments})


def test_each_item_is_a_quote_that_names_its_runbook(index: KnowledgeIndex) -> None:
    """Section 13: one citable statement an item, at most as long as a citation, with file, headings and lines."""
    call = lookup(index, "long list of steps that free the pool")
    assert call.status is InvocationStatus.OK
    items = call.result["items"]
    assert len(items) > 2
    for item in items:
        assert item["text"].startswith("runbooks/pool.md, 'Pool exhausted' > 'Mitigation':\n")
        assert len(item["text"]) <= MAX_ITEM_TEXT
        assert (item["source"], item["domain"], item["relevance"]) == ("runbooks/pool.md", "general", "high")
    quoted = " ".join(item["text"].partition("':")[2] for item in items)
    assert "15. Do step 15 of the long list" in quoted


def test_nothing_found_is_citable(index: KnowledgeIndex) -> None:
    """X5: the one item says what was asked, over how much, and that nothing matched."""
    call = lookup(index, "kubernetes scheduler", domain="network")
    assert call.status is InvocationStatus.EMPTY
    [item] = call.result["items"]
    assert item["text"].startswith("No runbook passage is about what was asked (query 'kubernetes scheduler', domain")
    assert "1 searched, domains: general" in item["text"]
    assert call.retrieval_details is not None
    assert call.retrieval_details["layer"] == "L0"


def test_secrets_in_a_runbook_are_masked(index: KnowledgeIndex) -> None:
    """X3: before a passage is recorded, shown or sent to a model."""
    call = lookup(index, "idle sessions")
    assert "hunter2secret" not in call.model_dump_json()
    assert "end idle sessions" in call.result["items"][0]["text"]


def test_how_it_was_found_is_recorded(index: KnowledgeIndex) -> None:
    """Section 13: `retrieval_details` of the invocation."""
    details = lookup(index, "idle sessions").retrieval_details
    assert details is not None
    assert {"layer", "relevance", "l0_hits", "l1_hits", "domains_retrieved", "dropped_duplicates"} <= set(details)


@pytest.mark.parametrize("query", ["", '" OR NEAR(', "x" * 3_000])
def test_odd_queries_fail_no_worse_than_by_saying_so(index: KnowledgeIndex, query: str) -> None:
    """A query is words: nothing of it is syntax, and one that is empty or huge is refused."""
    assert lookup(index, query).status in {InvocationStatus.ERROR, InvocationStatus.EMPTY}
