"""Recorded results as the gate reads them."""

from __future__ import annotations

import pytest
from gate_samples import LINE, binding, claim, document, invocation

from diag_graph.contracts import FailureCode
from diag_graph.gate.check import check_document
from diag_graph.gate.recorded import RecordedResults


def test_texts_that_are_no_longer_held_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """G7: what is kept of normalised texts is bounded, which changes no result."""
    monkeypatch.setattr("diag_graph.gate.recorded._HELD_CHARACTERS", len(LINE) + 10)
    entries = [binding(), binding("no restart", "/items/1/text"), binding("2 items", "/summary"), binding()]
    assert check_document(document(claim("claim-1", *entries)), [invocation()]).status == "pass"
    results = RecordedResults([invocation()])
    assert all(results.text_at("inv-1", entry["raw_path"]) for entry in entries)
    assert len(results._cited) == 1


def test_no_excerpt_runs_over_two_values() -> None:
    """Section 5: an excerpt stands in one value, not in the end of one and the beginning of the next."""
    run = [invocation(result=["ab-", "cd"])]
    audit = check_document(document(claim("claim-1", binding("ab-cd", "/0"))), run)
    assert audit.checked_bindings[0].failure is FailureCode.EXCERPT_MISMATCH


def test_a_text_is_normalised_once() -> None:
    """G7: a thousand citations of one text read it once."""
    results = RecordedResults([invocation()])
    assert results.text_at("inv-1", "/items/0/text") is results.text_at("inv-1", "/items/0/text")
