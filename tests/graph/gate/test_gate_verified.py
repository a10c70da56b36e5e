"""What goes on from the gate."""

from __future__ import annotations

import pytest
from gate_samples import GUIDANCE, LINE, binding, claim, document, invocation

from diag_graph.contracts import ClaimFlag, ClaimKind, Invocation, JsonObject, VerifiedDocument, VerifiedEvidence
from diag_graph.gate.check import UNREADABLE, check_document
from diag_graph.gate.verified import build_verified, verified_evidence

RUN = [invocation(1), invocation(2, tool="lookup_knowledge"), invocation(3, tool="read_skill")]


def verified(doc: JsonObject, run: list[Invocation] = RUN) -> tuple[VerifiedDocument, tuple[VerifiedEvidence, ...]]:
    """Document and evidence after the gate."""
    audit = check_document(doc, run)
    return build_verified(doc, audit, GUIDANCE), verified_evidence(doc, audit)


def test_passed_bindings_alone_are_kept() -> None:
    """Section 5, verified_input: failed bindings, the executor's missing_info and its other fields stay behind."""
    doc = document(
        claim(
            "a",
            binding("ms"),
            binding(),
            {"x": 1},
            binding("2 items", "/summary"),
            note="free text",
            kind="observation",
        ),
        claim("b", binding("ms")),
    )
    built, evidence = verified(doc)
    assert built.model_dump(mode="json", by_alias=True) == {
        "schema": "executor_evidence_v2",
        "claims": [
            {
                "claim_id": "a",
                "claim": "payment-db got slow",
                "kind": "observation",
                "entity": None,
                "evidence_bindings": [binding(), binding("2 items", "/summary")],
                "flags": [],
            }
        ],
    }
    assert [entry.model_dump() for entry in evidence] == [
        {
            "claim_id": "a",
            "source_invocation_id": "inv-1",
            "tool_name": "search_logs",
            "raw_path": path,
            "matched_text": text,
        }
        for path, text in [("/items/0/text", LINE), ("/summary", "2 items")]
    ]


@pytest.mark.parametrize("kind", ["observation", "root_cause", "no_evidence"])
def test_a_claim_without_a_passed_binding_is_dropped(kind: str) -> None:
    """Section 5, verified_input: a `no_evidence` claim too."""
    assert verified(document(claim("a", kind=kind), claim("b", binding("ms"), kind=kind))) == (VerifiedDocument(), ())


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"kind": "observation"}, ClaimKind.OBSERVATION),
        ({"kind": "no_evidence"}, ClaimKind.NO_EVIDENCE),
        ({"kind": "root_cause"}, ClaimKind.ROOT_CAUSE),
        ({}, ClaimKind.ROOT_CAUSE),
        ({"kind": None}, ClaimKind.ROOT_CAUSE),
        ({"kind": "Observation"}, ClaimKind.ROOT_CAUSE),
        ({"kind": ["observation"]}, ClaimKind.ROOT_CAUSE),
    ],
)
def test_an_unknown_kind_is_the_strictest(written: JsonObject, read: ClaimKind) -> None:
    """Section 4: `kind` absent or unknown counts as `root_cause`."""
    assert verified(document(claim("a", binding(), **written)))[0].claims[0].kind is read


@pytest.mark.parametrize(
    ("entity", "read"), [("payment-db", "payment-db"), ("", None), (" ", None), (None, None), (3, None), (["x"], None)]
)
def test_an_entity_is_a_name_or_nothing(entity: object, read: str | None) -> None:
    """Section 4: what is no non-empty string names nothing."""
    assert verified(document(claim("a", binding(), entity=entity)))[0].claims[0].entity == read


@pytest.mark.parametrize(
    "faulty",
    [
        claim("", binding()),
        claim(None, binding()),
        claim("a", binding(), text=" "),
        claim("first", binding(), text="the id's second bearer"),
        "no object",
    ],
)
def test_faulty_claims_go_no_further(faulty: object) -> None:
    """A malformed claim, or a later bearer of an id that is taken, supports nothing; the first bearer stays."""
    built, evidence = verified(
        document(claim("first", binding()), faulty, claim("last", binding("2 items", "/summary")))
    )
    assert [(entry.claim_id, entry.claim) for entry in built.claims] == [
        ("first", "payment-db got slow"),
        ("last", "payment-db got slow"),
    ]
    assert [(entry.claim_id, entry.matched_text) for entry in evidence] == [("first", LINE), ("last", "2 items")]


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("p99 rose from 210 ms to 2.310 s at 06:05", False),
        ("p99 rose to 2.4 s", True),
        ("rose by 1000 %", True),
        ("payment-db got slow", False),
        ("2 items were found", True),
    ],
)
def test_a_number_that_no_matched_text_holds_flags_the_claim(text: str, flagged: bool) -> None:
    """G5: the flag goes with the claim; numbers of the result that no binding cites do not count."""
    built, evidence = verified(document(claim("a", binding("latency of payment-db"), text=text)))
    assert built.claims[0].flags == ((ClaimFlag.UNGROUNDED_NUMBER,) if flagged else ())
    assert len(evidence) == 1


def test_only_passed_bindings_ground_numbers() -> None:
    """G5: neither the text that a failed binding of the claim cites nor another claim's counts."""
    doc = document(
        claim("a", binding(), binding("2", "/summary"), text="2 items"), claim("b", binding("2 items", "/summary"))
    )
    assert verified(doc)[0].claims[0].flags == (ClaimFlag.UNGROUNDED_NUMBER,)


@pytest.mark.parametrize(
    ("sources", "flagged"),
    [
        (["inv-2"], True),
        (["inv-2", "inv-3"], True),
        (["inv-2", "inv-1"], False),
        (["inv-1"], False),
    ],
)
def test_guidance_alone_is_no_finding(sources: list[str], flagged: bool) -> None:
    """G6: a claim is guidance only when all its passed bindings cite runbooks and skills."""
    doc = document(claim("a", *(binding(source=source) for source in sources)))
    assert verified(doc)[0].claims[0].flags == ((ClaimFlag.GUIDANCE_ONLY,) if flagged else ())


def test_a_failed_binding_to_evidence_does_not_lift_the_flag() -> None:
    """G6: passed bindings alone count."""
    doc = document(claim("a", binding(source="inv-2"), binding("ms", source="inv-1")))
    assert verified(doc)[0].claims[0].flags == (ClaimFlag.GUIDANCE_ONLY,)


def test_a_runbooks_number_grounds_no_claim_of_what_happened() -> None:
    """G5, G6: beside evidence, what guidance says does not count; in a claim of guidance alone it does."""
    run = [invocation(1), invocation(2, {"items": [{"text": "Set the pool to 42."}]}, tool="lookup_knowledge")]
    advised = binding("Set the pool to 42.", source="inv-2")
    doc = document(
        claim("mixed", binding(), advised, text="the pool of payment-db was 42"),
        claim("advice", advised, text="the runbook sets the pool to 42"),
    )
    mixed, advice = verified(doc, run)[0].claims
    assert mixed.flags == (ClaimFlag.UNGROUNDED_NUMBER,)
    assert advice.flags == (ClaimFlag.GUIDANCE_ONLY,)


def test_an_audit_of_another_document_is_refused() -> None:
    """Document and audit are walked side by side, and must be of one round."""
    doc = document(claim("a", binding()))
    with pytest.raises(ValueError, match="another document"):
        build_verified(doc, UNREADABLE, GUIDANCE)
    with pytest.raises(ValueError, match="another document"):
        verified_evidence(document(), check_document(doc, RUN))


def test_what_goes_on_can_be_stored() -> None:
    """Lone surrogates in an agent's words do not reach the store."""
    doc = document(claim("a\ud800", binding(), text="slow \udc00", entity="db\ud800"))
    built, evidence = verified(doc)
    assert built.model_dump_json().encode()
    assert built.claims[0].claim_id == evidence[0].claim_id == "a\ufffd"


@pytest.mark.parametrize(("empty", "flagged"), [({"inv-1"}, True), ({"inv-2"}, False), (set(), False)])
def test_a_claim_bound_to_results_without_a_match_is_marked(empty: set[str], flagged: bool) -> None:
    """G8: what was asked is repeated by a search that found nothing, and must not come back as evidence."""
    doc = document(claim("a", binding()))
    built = build_verified(doc, check_document(doc, RUN), GUIDANCE, empty)
    assert (ClaimFlag.EMPTY_ONLY in built.claims[0].flags) is flagged
