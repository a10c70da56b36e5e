"""The gatekeeper's checks, one by one."""

from __future__ import annotations

import json

import pytest
from gate_samples import LINE, RESULT, binding, citing, claim, document, invocation

from diag_graph.contracts import ClaimIssue, FailureCode, GatekeeperAudit, InvocationStatus, JsonObject, Severity
from diag_graph.gate.check import SEVERITY, UNREADABLE, audit_document, check_document, worst

REJECT, LOW = Severity.REJECT, Severity.LOW_CONFID


def audit_of_binding(entry: object, *, result: object = RESULT) -> tuple[FailureCode | None, Severity | None]:
    """The failure of a document's only binding, and the round's severity."""
    audit = check_document(document(claim("claim-1", entry)), [invocation(result=result)])
    assert audit is not UNREADABLE
    assert audit.claim_issues == ()
    (checked,) = audit.checked_bindings
    assert (checked.status == "pass") == (checked.failure is None) == (checked.matched_text is not None)
    return checked.failure, audit.severity


def test_every_failure_has_a_severity() -> None:
    """Section 5: the table of severities is total, and four failures are forgeries."""
    assert set(SEVERITY) == set(FailureCode)
    assert {code for code, severity in SEVERITY.items() if severity is REJECT} == {
        FailureCode.UNKNOWN_INVOCATION,
        FailureCode.PATH_MISMATCH,
        FailureCode.EXCERPT_MISMATCH,
    }


def test_a_true_binding_passes() -> None:
    """A document whose bindings all hold is a pass, with all that the record knows of them."""
    audit = check_document(document(claim("claim-1", binding("rose from 210 ms to 2.31 s"))), [invocation()])
    assert audit.model_dump(mode="json") == {
        "status": "pass",
        "severity": None,
        "checked_bindings": [
            {
                "claim_id": "claim-1",
                "source_invocation_id": "inv-1",
                "tool_name": "search_logs",
                "raw_path": "/items/0/text",
                "status": "pass",
                "failure": None,
                "matched_text": LINE,
            }
        ],
        "claim_issues": [],
    }


@pytest.mark.parametrize(
    "entry",
    [
        {},
        None,
        "inv-1",
        [],
        7,
        binding(source=None),
        binding(source=""),
        binding(source=1),
        binding(path=None),
        binding(path=""),
        binding(path=["items", 0, "text"]),
        binding(None),
        binding(""),
        binding({"text": LINE}),
        {"source_invocation_id": "inv-1", "raw_path": "/items/0/text"},
    ],
)
def test_a_binding_needs_its_three_fields(entry: object) -> None:
    """Section 5: fields that are missing, empty or no strings make an incomplete binding, and nothing worse."""
    assert audit_of_binding(entry) == (FailureCode.INCOMPLETE_BINDING, LOW)


@pytest.mark.parametrize(
    "source", ["inv-2", "inv-99", "INV-1", "inv-1 ", " ", "1", "search_logs", "inv-1\u200b", "\ud800"]
)
def test_an_invocation_of_no_run_or_another_is_a_forgery(source: str) -> None:
    """Section 5: an id is this run's to the letter, or unknown; a true excerpt does not help it."""
    assert audit_of_binding(binding(source=source)) == (FailureCode.UNKNOWN_INVOCATION, REJECT)


@pytest.mark.parametrize("status", [InvocationStatus.ERROR, InvocationStatus.BLOCKED])
def test_a_call_that_returned_nothing_proves_nothing(status: InvocationStatus) -> None:
    """Section 5: a failed or blocked call returned no result, whatever stands in its record."""
    audit = check_document(document(claim("claim-1", binding())), [invocation(status=status)])
    assert audit.checked_bindings[0].failure is FailureCode.INVOCATION_FAILED
    assert audit.severity is LOW


def test_an_empty_result_can_be_cited() -> None:
    """X5: the one item of an empty result says what was not found."""
    empty = invocation(status=InvocationStatus.EMPTY, result={"items": [{"text": "no line matched 'timeout'"}]})
    audit = check_document(document(claim("claim-1", binding("no line matched 'timeout'"))), [empty])
    assert audit.status == "pass"


@pytest.mark.parametrize(
    "path", ["/items/2/text", "/items/-/text", "items/0/text", "$.items[0].text", "/items/00/text", " "]
)
def test_a_path_that_leads_nowhere(path: str) -> None:
    """Section 5: `raw_path` is a JSON Pointer that resolves in the recorded result, or a forgery."""
    assert audit_of_binding(binding(path=path)) == (FailureCode.PATH_MISMATCH, REJECT)


def test_a_null_result_holds_nothing() -> None:
    """A call that recorded null has no place to point at; a null within a result has."""
    assert audit_of_binding(binding(), result=None) == (FailureCode.PATH_MISMATCH, REJECT)
    assert audit_of_binding(binding("null", "/truncated")) == (None, None)


@pytest.mark.parametrize(
    ("excerpt", "path"),
    [
        (LINE, "/items/1/text"),
        ("no restart of payment-db", "/items/0/text"),
        ("2.31", "/items/1/count"),
        ("2 items", "/items/0/text"),
        ('{"text":"no restart', "/items/0/text"),
    ],
)
def test_an_excerpt_at_another_path_of_the_same_result(excerpt: str, path: str) -> None:
    """Section 5: text that stands elsewhere in the result is a wrong path, also as part of the result's JSON."""
    assert audit_of_binding(binding(excerpt, path)) == (FailureCode.PATH_MISMATCH, REJECT)


@pytest.mark.parametrize(
    "excerpt",
    [
        "p99 latency of payment-db rose from 210 ms to 2.32 s",
        "P99 latency of payment-db",
        "rose from 210ms",
        "rose from 210 s",
        "rose from 10 ms",
        "rose from 210 ms to 2.3",
        "p99 latency ... 2.31 s",
        "p99 latency … 2.31 s",
        "payment-db fell",
        "no restart of payment-db was seen 2 items",
        "LINE",
    ],
)
def test_an_excerpt_that_nobody_returned(excerpt: str) -> None:
    """Section 5: case, digits, units and punctuation must match, and an ellipsis joins nothing."""
    assert audit_of_binding(binding(excerpt)) == (FailureCode.EXCERPT_MISMATCH, REJECT)


@pytest.mark.parametrize(
    "excerpt", ["210", "s at", "to", "db", "-", " ", "\n\u00a0", "\u200b", "ms ", "2.3\u200b1"[:3]]
)
def test_an_excerpt_that_says_nothing(excerpt: str) -> None:
    """Section 5: less than four characters that are no white space say too little to carry a claim."""
    failure, severity = audit_of_binding(binding(excerpt))
    expected = (FailureCode.EXCERPT_MISMATCH, REJECT) if excerpt == "2.3" else (FailureCode.TRIVIAL_EXCERPT, LOW)
    assert (failure, severity) == expected


@pytest.mark.parametrize(
    ("excerpt", "value"), [("0", 0), ("ok", " ok\n"), ("null", None), ("[]", []), ("故障", "故障")]
)
def test_a_short_excerpt_may_be_the_whole_value(excerpt: str, value: object) -> None:
    """Section 5: the whole value is never trivial."""
    assert check_document(*citing(excerpt, value)).status == "pass"


@pytest.mark.parametrize(("excerpt", "value"), [(" ", "  "), ("\u200b", ""), ("\u200b \ufeff", "\n")])
def test_a_blank_value_says_nothing_even_when_quoted_whole(excerpt: str, value: object) -> None:
    """Blank text supports no claim."""
    assert check_document(*citing(excerpt, value)).checked_bindings[0].failure is FailureCode.TRIVIAL_EXCERPT


@pytest.mark.parametrize(
    ("excerpt", "value"),
    [
        ('restarts - it\'s "down"', "restarts\u00a0—\r\n it’s “down”"),
        ("restarts\u2009\u2013 it‘s „down“", 'restarts - it\'s "down"'),
        ("caf\u00e9 is closed", "cafe\u0301 is closed"),
        ("time\u200bout after 5 s", "timeout after 5 s"),
        ("from −5 to 5", "from -5 to 5"),
        ('{"b":1,"a":[true,null,"é"]}', {"b": 1, "a": [True, None, "é"]}),
        ('"a":[true,null', {"b": 1, "a": [True, None, "é"]}),
        ("1234.5", 1234.5),
        ("false", False),
        ("15 ms later", "115 ms, then 15 ms later"),
    ],
)
def test_both_sides_are_normalised_alike(excerpt: str, value: object) -> None:
    """Section 5: the two may differ in white space, quotes, dashes, composition and zero-width characters."""
    assert check_document(*citing(excerpt, value)).status == "pass"


@pytest.mark.parametrize("key", ["a/b", "m~n", "", "~1", "naïve\nkey\x00", "\ud800"])
def test_any_key_can_be_pointed_at(key: str) -> None:
    """RFC 6901 escapes reach keys with `/` and `~`; empty and hostile keys are keys too."""
    path = "/" + key.replace("~", "~0").replace("/", "~1")
    audit = check_document(document(claim("claim-1", binding("needle", path))), [invocation(result={key: "needle"})])
    assert audit.status == "pass"
    assert audit.model_dump_json().encode()


@pytest.mark.parametrize(
    ("claims", "issues"),
    [
        ([claim("c")], [("c", FailureCode.UNBOUND_CLAIM)]),
        ([claim("c", kind="no_evidence")], [("c", FailureCode.UNBOUND_CLAIM)]),
        ([claim("c") | {"evidence_bindings": None}], [("c", FailureCode.UNBOUND_CLAIM)]),
        ([claim("c") | {"evidence_bindings": "inv-1"}], [("c", FailureCode.UNBOUND_CLAIM)]),
        ([claim("c") | {"evidence_bindings": binding()}], [("c", FailureCode.UNBOUND_CLAIM)]),
        ([{"claim_id": "c", "claim": "no bindings field"}], [("c", FailureCode.UNBOUND_CLAIM)]),
        ([claim("c", binding(), text=None)], [("c", FailureCode.MALFORMED_CLAIM)]),
        ([claim("c", binding(), text=" \n")], [("c", FailureCode.MALFORMED_CLAIM)]),
        ([claim("c", binding(), text=["x"])], [("c", FailureCode.MALFORMED_CLAIM)]),
        ([claim(None, binding())], [(None, FailureCode.MALFORMED_CLAIM)]),
        ([claim("", binding())], [(None, FailureCode.MALFORMED_CLAIM)]),
        ([claim(7, binding())], [(None, FailureCode.MALFORMED_CLAIM)]),
        (["payment-db is down"], [(None, FailureCode.MALFORMED_CLAIM)]),
        ([None], [(None, FailureCode.MALFORMED_CLAIM)]),
        ([claim("c", binding()), claim("c", binding())], [("c", FailureCode.DUPLICATE_CLAIM_ID)]),
        ([claim("c", text=""), claim("c", binding())],
         [("c", FailureCode.MALFORMED_CLAIM), ("c", FailureCode.UNBOUND_CLAIM), ("c", FailureCode.DUPLICATE_CLAIM_ID)]),
    ],
)  # fmt: skip
def test_faults_of_a_claim(claims: list[object], issues: list[tuple[str | None, FailureCode]]) -> None:
    """Section 5: a claim without bindings, text or id, or with an id that is taken, lowers confidence."""
    audit = check_document(document(*claims), [invocation()])
    assert audit.claim_issues == tuple(ClaimIssue(claim_id=claim_id, failure=code) for claim_id, code in issues)
    assert (audit.status, audit.severity) == ("fail", LOW)


def test_bindings_of_faulty_claims_are_checked_too() -> None:
    """G2: a forgery counts wherever it stands, also under a claim that would be dropped anyway."""
    for faulty in (claim("", binding(source="inv-9")), claim("c", binding(source="inv-9"), text="")):
        audit = check_document(document(claim("c", binding()), faulty), [invocation()])
        assert audit.severity is REJECT


def test_no_claims_at_all_is_a_pass() -> None:
    """G3: "I found nothing" is legal."""
    assert check_document(document(), [invocation()]) == GatekeeperAudit(status="pass")
    assert check_document(document(), []) == GatekeeperAudit(status="pass")


@pytest.mark.parametrize(
    "unreadable", [None, [], "{}", 3, {}, {"claims": None}, {"claims": {}}, {"claims": "claim-1"}, {"claims": 0}]
)
def test_what_cannot_be_read_is_rejected(unreadable: JsonObject | None) -> None:
    """G1: a document that is missing or unreadable is a rejection."""
    assert check_document(unreadable, [invocation()]) == GatekeeperAudit(status="fail", severity=REJECT)


def test_an_error_inside_is_a_rejection() -> None:
    """G1: the gate fails closed; a result that is no JSON value breaks the check, never the run."""
    broken = invocation(result={"items": [{"text": {1, 2}}]})
    with pytest.raises(TypeError):
        audit_document(document(claim("claim-1", binding())), [broken])
    assert check_document(document(claim("claim-1", binding())), [broken]).severity is REJECT


def test_two_invocations_of_one_id_are_rejected() -> None:
    """Ids are unique within a run; where they are not, nobody knows which result is meant."""
    twice = [invocation(1), invocation(1, result={"items": []})]
    with pytest.raises(ValueError, match="same id"):
        audit_document(document(claim("claim-1", binding())), twice)
    assert check_document(document(claim("claim-1", binding())), twice).severity is REJECT


@pytest.mark.parametrize(
    ("failures", "severity"),
    [
        ([], None),
        ([None, None], None),
        ([None, FailureCode.TRIVIAL_EXCERPT], LOW),
        ([FailureCode.TRIVIAL_EXCERPT, FailureCode.PATH_MISMATCH, None], REJECT),
        ([FailureCode.EXCERPT_MISMATCH, FailureCode.UNBOUND_CLAIM], REJECT),
    ],
)
def test_the_worst_severity_wins(failures: list[FailureCode | None], severity: Severity | None) -> None:
    """G2: whatever the order."""
    assert worst(failures) is severity


@pytest.mark.parametrize(
    ("entry", "failure"),
    [
        (binding("", "/nowhere", "inv-9"), FailureCode.INCOMPLETE_BINDING),
        (binding("x", "/nowhere", "inv-9"), FailureCode.UNKNOWN_INVOCATION),
        (binding("x", "/nowhere", "inv-2"), FailureCode.INVOCATION_FAILED),
        (binding("x", "/nowhere", "inv-1"), FailureCode.PATH_MISMATCH),
        (binding("x", "/items/0/text", "inv-1"), FailureCode.EXCERPT_MISMATCH),
        (binding("ms", "/items/0/text", "inv-1"), FailureCode.TRIVIAL_EXCERPT),
    ],
)
def test_the_first_check_that_fails_names_the_failure(entry: JsonObject, failure: FailureCode) -> None:
    """Section 5: checks run in the table's order."""
    run = [invocation(1), invocation(2, status=InvocationStatus.ERROR)]
    assert check_document(document(claim("claim-1", entry)), run).checked_bindings[0].failure is failure


def test_failed_bindings_show_no_recorded_text() -> None:
    """A text that no passed binding cites stays out of the audit, for the verifier sees that."""
    entries = [binding("ms"), binding("made up"), binding(LINE, "/items/1/text")]
    audit = check_document(document(claim("claim-1", *entries)), [invocation()])
    assert [checked.matched_text for checked in audit.checked_bindings] == [None, None, None]


def test_hostile_depth_and_characters_do_not_break_the_check() -> None:
    """A result nested 20,000 deep, with lone surrogates and NaN in it, is checked like any other."""
    deep: object = ["the needle \ud800 is here", float("nan")]
    for _ in range(20_000):
        deep = [deep]
    run = [invocation(result={"deep": deep})]
    entries = [
        binding("the needle \ud800 is here", "/deep" + "/0" * 20_001),
        binding("NaN", "/deep" + "/0" * 20_000 + "/1"),
        binding("[[[[[[[", "/deep"),
        binding("the needle", "/deep"),
    ]
    audit = check_document(document(claim("claim-1", *entries)), run)
    assert audit.status == "pass"
    assert audit.checked_bindings[0].matched_text == "the needle \ufffd is here"
    json.dumps(audit.model_dump(mode="json"), ensure_ascii=False).encode()
    forged = check_document(document(claim("claim-1", binding("the needle is there", "/deep"))), run)
    assert forged.checked_bindings[0].failure is FailureCode.EXCERPT_MISMATCH
