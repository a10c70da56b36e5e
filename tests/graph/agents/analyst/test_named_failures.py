"""Failures that texts name: whom the analyst blames for them, and whom not."""

from __future__ import annotations

from typing import Any

from diag_graph.agents.analyst.advice import advice_for
from diag_graph.agents.analyst.claims import Suspicion
from diag_graph.agents.analyst.kinds import EvidenceKind
from diag_graph.agents.analyst.named_failures import (
    named_suspicions,
    stated_failures,
    subjects_of,
    with_named_failures,
)
from diag_graph.agents.analyst.sightings import Sighting

TILL, STOCK = "till-7d9f8b6c4-x7k2q", "stock-5c8d7f-zzzzz"


def named(entity: str, title: str, standing: str, **fields: Any) -> Sighting:  # noqa: ANN401 - an item's fields
    """An item of `find_failure_signatures`."""
    score = {"cause": 3.0, "symptom": 1.5, "hint": 1.0, "over": 0.5}[standing]
    item = {
        "text": f"Document a.txt, line {len(title)}: pod {entity}: {title} ({standing}): it means so.",
        "entity": entity,
        "signal": "document",
        "change": "failure",
        "signature": title,
        "standing": standing,
        "score": score,
        "lines": 2,
        "sure": True,
        "about": entity,
    }
    return Sighting("inv-3", "find_failure_signatures", len(title), {**item, **fields})


def alert(text: str) -> Sighting:
    """An alert of the till."""
    return Sighting("inv-2", "list_alerts", 0, {"text": text, "entity": "till", "signal": "alert"})


def blamed(question: str, *seen: Sighting) -> list[str]:
    """Whom the analyst blames."""
    return [one.entity for one in named_suspicions(question, seen)]


def test_the_trouble_of_another_pod_is_not_what_was_asked_about() -> None:
    """A cluster has many troubles at any time: only what was asked or alerted on is explained by them."""
    other, own = named(STOCK, "OOMKilled", "cause", score=9.0), named(TILL, "disk full", "cause")
    assert blamed("why is till slow? It runs as till-7d9f8b6c4-x7k2q", other, own) == [TILL]
    assert blamed("what is wrong in namespace shop-prod?", other, own) == [STOCK]
    assert blamed("what is wrong?", alert("Alert PodNotReady: [deployment=till]"), other, own) == [TILL]


def test_what_touches_the_pod_in_question_counts() -> None:
    """A pod's node is found by the line that names both."""
    node = named(
        "worker-2",
        "node not ready",
        "cause",
        text=f"Document b.txt, line 3: node worker-2, seen at {TILL}: node not ready (cause): it means so.",
    )
    assert blamed(f"what is wrong with {TILL}?", node) == ["worker-2"]


def test_symptoms_hints_and_what_is_over_accuse_nobody() -> None:
    """Abstention: no cause is claimed of a consequence, of a hint, or of what has passed; all of it may be stated."""
    seen = [named(TILL, "CrashLoopBackOff", "symptom"), named(TILL, "policy", "hint"), named(TILL, "pull", "over")]
    assert blamed(f"what is wrong with {TILL}?", *seen) == []
    assert stated_failures(f"what is wrong with {TILL}?", seen)


def test_a_cause_about_nothing_by_name_is_stated_and_accuses_nobody() -> None:
    """Nothing says that it is of something else than what was alerted on; a cause of another pod is."""
    nameless = named("", "replication lag", "cause")
    seen = [
        alert("Alert Slow: [deployment=till]"),
        nameless,
        named(STOCK, "OOMKilled", "cause"),
        named(TILL, "x", "hint"),
    ]
    assert blamed("what is wrong?", *seen) == []
    assert [one.field("signature") for one in stated_failures("what is wrong?", seen)] == ["x", "replication lag"]


def test_one_stray_line_of_a_log_accuses_nobody() -> None:
    """A line that was logged once and led to nothing is no cause."""
    assert blamed(f"what is wrong with {TILL}?", named(TILL, "connection refused", "cause", sure=False)) == []


def test_a_suspicion_by_numbers_is_supported_by_what_is_named_of_it() -> None:
    """What metrics accuse, and texts name: one suspicion, with both."""
    lead = Sighting("inv-1", "find_metric_anomalies", 0, {"text": "memory of till rose", "entity": "till"})
    [one] = with_named_failures(
        [Suspicion("till", lead)], [named(TILL, "OOMKilled", "cause"), named(STOCK, "x", "cause")]
    )
    assert one.lead is lead
    assert [said.entity for said in one.support] == [TILL]


def test_namespaces_and_words_that_the_evidence_does_not_know_are_no_subjects() -> None:
    """Hyphenated English is no name, and a namespace is everything in it."""
    seen = [named(TILL, "OOMKilled", "cause"), named("shop-prod", "x", "symptom")]
    assert subjects_of(f"is {TILL} in namespace shop-prod write-heavy on 2026-07-16?", seen) == [TILL]


def test_a_plain_word_is_a_name_when_something_goes_by_it() -> None:
    """People ask about `till`, not about its pods; and the word `pod` means no pod in particular."""
    seen = [named(TILL, "disk full", "cause"), named(STOCK, "OOMKilled", "cause", score=9.0)]
    assert blamed("why do the till pods restart?", *seen) == [TILL]
    assert blamed("why do pods restart?", *seen) == [STOCK]


def test_the_signature_says_what_to_do() -> None:
    """Advice is data of the signature; a failure that has none still gets a next step."""
    text = f"Document a.txt, line 3: pod {TILL}: no node has enough resources (cpu) (cause): it means so."
    kinds = frozenset({EvidenceKind.NAMED_FAILURE})
    assert advice_for(TILL, kinds, [text]) == [f"Add nodes or free that resource, or lower what {TILL} requests."]
    assert advice_for(TILL, kinds, [text.replace("no node has enough", "own")])[0].startswith("Look at what")
