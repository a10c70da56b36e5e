"""Runs for the gatekeeper's checks, each with what must come of it: passing and failing, and the siblings of both."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from diag_graph.runfile import FileStep
from recordings import (
    FORGED,
    NOTHING,
    UNBOUND,
    bind,
    call,
    claim,
    composer,
    executor,
    fact,
    no_facts,
    plan,
    speechless,
    verifier,
)


class Case(NamedTuple):
    """A run, and what must come of it.

    Attributes:
        steps: What the agents did.
        bindings: The failure of each binding, in order; None for one that passed.
        issues: Faults of claims as a whole, in order.
        verdict: The run's verdict.
        standings: How firmly each finding stands.
    """

    steps: list[FileStep]
    bindings: tuple[str | None, ...]
    issues: tuple[str, ...] = ()
    verdict: str | None = None
    standings: tuple[str, ...] = ()


LOWERING = {
    "incomplete_binding",
    "invocation_failed",
    "trivial_excerpt",
    "unbound_claim",
    "malformed_claim",
    "duplicate_claim_id",
}
"""Failures that lower confidence; the others reject the round."""

INCOMPLETE, UNKNOWN, FAILED = "incomplete_binding", "unknown_invocation", "invocation_failed"
ELSEWHERE, MADE_UP, TRIVIAL = "path_mismatch", "excerpt_mismatch", "trivial_excerpt"


def cites(
    value: Any,  # noqa: ANN401 - any JSON value
    excerpt: object,
    failure: str | None = None,
    *,
    path: object = "/here",
    source: object = "inv-1",
    status: str = "ok",
) -> Case:
    """A run whose one claim has one binding, to a result that holds a value under `here`, or is the value itself."""
    result = value if isinstance(path, str) and not path.startswith("/here") else {"here": value}
    made = call(status=status, error=None if status in ("ok", "empty") else "it failed") | {"result": result}
    binding = {"source_invocation_id": source, "raw_path": path, "evidence_excerpt": excerpt}
    kind = "no_evidence" if status == "empty" else "root_cause"
    steps = [plan(), executor(claim("claim-1", "Something happened", binding, kind=kind), calls=[made])]
    if failure is not None:
        return Case(steps, (failure,))
    said = composer("Something happened.", ("Something happened.", ["claim-1"]))
    return Case([*steps, verifier(), said], (None,), verdict="PASS", standings=("confirmed",))


LATENCY = "p99 of db rose from 1,200 ms to 2.31 s, then -5 s off, 115 ms late, 1e-7 of it (10-15 ms, error_count)"
LONG = " ".join(f"word{number}" for number in range(200))

BINDINGS: dict[str, Case] = {
    # the three fields
    "incomplete-without-id": cites("a needle", "a needle", INCOMPLETE, source=None),
    "incomplete-without-path": cites("a needle", "a needle", INCOMPLETE, path=None),
    "incomplete-without-excerpt": cites("a needle", None, INCOMPLETE),
    "incomplete-empty-excerpt": cites("a needle", "", INCOMPLETE),
    "incomplete-number-as-excerpt": cites(1234, 1234, INCOMPLETE),
    # the invocation
    "invocation-made-up": cites("a needle", "a needle", UNKNOWN, source="inv-99"),
    "invocation-of-another-run": cites("a needle", "a needle", UNKNOWN, source="inv-2"),
    "invocation-nearly-right": cites("a needle", "a needle", UNKNOWN, source="INV-1"),
    "invocation-failed": cites("a needle", "a needle", FAILED, status="error"),
    "invocation-blocked": cites("a needle", "a needle", FAILED, status="blocked"),
    "invocation-empty-is-citable": cites(NOTHING, "no deploy of payment", status="empty"),
    # the path
    "path-nowhere": cites({"a": "a needle"}, "a needle", ELSEWHERE, path="/b"),
    "path-no-pointer": cites({"a": "a needle"}, "a needle", ELSEWHERE, path="a"),
    "path-of-another-dialect": cites({"items": ["a needle"]}, "a needle", ELSEWHERE, path="$.items[0]"),
    "path-escaped-slash": cites({"a/b": "a needle"}, "a needle", path="/a~1b"),
    "path-escaped-tilde": cites({"a~b": "a needle"}, "a needle", path="/a~0b"),
    "path-escapes-in-order": cites({"~1": "a needle", "/": "another"}, "a needle", path="/~01"),
    "path-bad-escape": cites({"a~2": "a needle"}, "a needle", ELSEWHERE, path="/a~2"),
    "path-unescaped-slash": cites({"a/b": "a needle"}, "a needle", ELSEWHERE, path="/a/b"),
    "path-array-index": cites(["x", {"t": "a needle"}], "a needle", path="/1/t"),
    "path-index-with-zero": cites(["x", "a needle"], "a needle", ELSEWHERE, path="/01"),
    "path-index-into-an-object": cites({"a": "a needle"}, "a needle", ELSEWHERE, path="/0"),
    "path-index-beyond": cites(["x", "a needle"], "a needle", ELSEWHERE, path="/2"),
    "path-index-from-the-end": cites(["x", "a needle"], "a needle", ELSEWHERE, path="/-1"),
    "path-index-dash": cites(["x", "a needle"], "a needle", ELSEWHERE, path="/-"),
    "path-empty-key": cites({"": "a needle"}, "a needle", path="/"),
    # the excerpt, and where it stands
    "excerpt-at-another-path": cites({"a": "a needle", "b": "hay"}, "a needle", ELSEWHERE, path="/b"),
    "excerpt-made-up": cites("a needle", "a noodle", MADE_UP),
    "excerpt-with-quotes-at-another-path": cites(
        {"a": 'it said "no" then', "b": "hay"}, 'it said "no"', ELSEWHERE, path="/b"
    ),
    "excerpt-over-two-neighbours": cites(["a needle", "in hay"], "needle in hay", MADE_UP, path="/0"),
    "excerpt-over-two-values": cites(["a nee-", "dle"], "a nee-dle", MADE_UP, path="/0"),
    "excerpt-longer-than-the-value": cites("a needle", "a needle in hay", MADE_UP),
    "excerpt-in-other-case": cites("a needle", "A needle", MADE_UP),
    "excerpt-with-ellipsis": cites("from here on to there", "from ... there", MADE_UP),
    "excerpt-with-punctuation-of-its-own": cites("the pod is down now", "the pod is down.", MADE_UP),
    "excerpt-without-punctuation": cites("first, second", "first second", MADE_UP),
    "excerpt-with-another-unit": cites(LATENCY, "115 s late", MADE_UP),
    # values that are no strings
    "value-number": cites(1234.5, "1234.5"),
    "value-number-cut": cites(1234.5, "1234", MADE_UP),
    "value-true": cites(True, "true"),  # noqa: FBT003 - a JSON value
    "value-false-is-not-zero": cites(False, "0000", MADE_UP),  # noqa: FBT003
    "value-null": cites(None, "null"),
    "value-object": cites({"b": 1, "a": [True, None, "é"]}, '{"b":1,"a":[true,null,"é"]}'),
    "value-object-part": cites({"b": 1, "a": [True, None, "é"]}, '"a":[true,null'),
    "value-object-spaced": cites({"b": 1, "a": 2}, '{"b": 1, "a": 2}', MADE_UP),
    "value-object-sorted": cites({"b": 1, "a": 2}, '{"a":2,"b":1}', MADE_UP),
    "value-array": cites([1, "two", None], '[1,"two",null]'),
    # normalising
    "same-nfd-for-nfc": cites("caf\u00e9 is closed", "cafe\u0301 is closed"),
    "same-nfc-for-nfd": cites("cafe\u0301 is closed", "caf\u00e9 is closed"),
    "same-quotes": cites("it\u2019s \u201cdown\u201d \u2039now\u203a", "it's \"down\" 'now'"),
    "same-dashes": cites("restarts \u2014 all \u2013 of 5\u20137", "restarts - all - of 5-7"),
    "same-minus": cites("fell to -5 s", "fell to \u22125 s"),
    "same-line-breaks": cites("one\r\n  two\tthree", "one two three"),
    "same-no-break-space": cites("took\u00a0210\u202fms", "took 210 ms"),
    "same-zero-width": cites("time\u200bout\ufeff of db", "timeout of db"),
    "other-white-space-is-missing": cites("took 210 ms", "took 210ms", MADE_UP),
    "other-prime-is-no-quote": cites("5\u2032 late on", "5' late on", MADE_UP),
    # borders
    "cut-number": cites(LATENCY, "15 ms late", MADE_UP),
    "cut-decimals": cites(LATENCY, "1,200 ms to 2.3", MADE_UP),
    "cut-before-decimals": cites(LATENCY, "31 s, then", MADE_UP),
    "cut-sign": cites(LATENCY, "5 s off", MADE_UP),
    "cut-thousands": cites(LATENCY, "200 ms to 2.31 s", MADE_UP),
    "cut-exponent": cites(LATENCY, "7 of it", MADE_UP),
    "cut-word": cites(LATENCY, "count)", MADE_UP),
    "cut-name": cites(LATENCY, "error_cou", MADE_UP),
    "cut-contraction": cites("the pod can't start", "the pod can", MADE_UP),
    "cut-mark": cites("cafe\u0327\u0323 is closed", "cafe", MADE_UP),
    "whole-number-behind-a-range": cites(LATENCY, "15 ms, error_count"),
    "whole-number-elsewhere-in-the-text": cites("115 ms, then 15 ms late", "15 ms late"),
    "whole-signed-number": cites(LATENCY, "-5 s off"),
    "whole-number-with-thousands": cites(LATENCY, "1,200 ms to 2.31 s"),
    "whole-chinese-cut-anywhere": cites("数据库连接超时错误", "连接超时"),
    "whole-japanese-cut-anywhere": cites("接続プールが枯渇した", "プールが枯"),
    "cut-korean": cites("연결시간초과", "시간초과", MADE_UP),
    # what an excerpt says
    "trivial": cites(LATENCY, "ms", TRIVIAL),
    "trivial-with-white-space": cites("a b c d", "a b c", TRIVIAL),
    "trivial-blank": cites("a b", " ", TRIVIAL),
    "short-but-whole": cites("ok", "ok"),
    "short-but-whole-number": cites(0, "0"),
    "four-characters": cites("down now", "down"),
    "longer-than-a-citation": cites(LONG, LONG),
}
"""One binding each."""

RUNBOOK = call("inv-2", "restart payment when its pool is exhausted", tool="lookup_knowledge", arguments={})
GUIDED = claim("claim-2", "Payment should be restarted", bind("restart payment when its pool", "inv-2"))
EMPTY = call("inv-2", NOTHING, tool="list_changes", status="empty", arguments={})
SEARCHED = bind("no deploy of payment", "inv-2")
FEW = bind("in")
"""A trivial excerpt of the default call."""


def ends(document: FileStep, *bindings: str | None, issues: tuple[str, ...] = ()) -> Case:
    """A run that the gate ends."""
    return Case([plan(), document], bindings, issues)


def goes_on(document: FileStep, *bindings: str | None, issues: tuple[str, ...] = ()) -> Case:
    """A run whose claim-1 is verified, beside something that lowers confidence."""
    return Case([plan(), document, verifier(), composer()], bindings, issues, "LOW_CONFID", ("likely",))


def beside(second: dict[str, Any], made: dict[str, Any], *standings: str, bindings: int = 2) -> Case:
    """A run with claim-1 and a second claim, which cites a second call; the verifier supports both directly."""
    said = [verifier("PASS", fact(), fact(claim_id="claim-2")), composer()]
    steps = [plan(), executor(claim(), second, calls=[call(), made]), *said]
    return Case(steps, (None,) * bindings, verdict="PASS", standings=("confirmed", *standings))


CLAIMS: dict[str, Case] = {
    "claim-unbound": goes_on(executor(claim(), UNBOUND), None, issues=("unbound_claim",)),
    "claim-without-bindings-field": goes_on(
        executor(claim(), {"claim_id": "c", "claim": "x"}), None, issues=("unbound_claim",)
    ),
    "claim-without-id": goes_on(
        executor(claim(), claim() | {"claim_id": None}), None, None, issues=("malformed_claim",)
    ),
    "claim-without-text": goes_on(executor(claim(), claim("c", " ")), None, None, issues=("malformed_claim",)),
    "claim-that-is-no-object": goes_on(executor(claim(), "payment is down"), None, issues=("malformed_claim",)),  # type: ignore[arg-type]
    "claim-with-an-id-used-twice": goes_on(
        executor(claim(), claim("claim-1", "Another thing")), None, None, issues=("duplicate_claim_id",)
    ),
    "claim-with-one-of-two-bindings": goes_on(
        executor(claim("claim-1", "The pool of payment was exhausted", bind(), FEW)), None, TRIVIAL
    ),
    "claim-of-unknown-kind-is-a-root-cause": goes_on(
        executor(claim(kind="hunch"), UNBOUND), None, issues=("unbound_claim",)
    ),
    "claims-none": Case(
        [plan(), executor(claims=[]), no_facts("PASS"), speechless()], (), verdict="LOW_CONFID"
    ),
    "claims-none-sound": Case(
        [plan(), executor(claim() | {"claim_id": ""}), no_facts("PASS"), speechless()],
        (None,),
        ("malformed_claim",),
        "LOW_CONFID",
    ),
    "worst-forged-beside-true": ends(executor(claim(), claim("c", "x", FORGED)), None, MADE_UP),
    "worst-forged-before-trivial": ends(executor(claim("c", "x", FORGED, FEW, bind())), MADE_UP, TRIVIAL, None),
    "worst-forged-under-a-malformed-claim": ends(
        executor(claim(), claim("c", "", FORGED)), None, MADE_UP, issues=("malformed_claim",)
    ),
    "number-that-no-citation-shows": Case(
        [
            plan(),
            executor(claim("claim-1", "The pool of payment was exhausted 7 times")),
            verifier(),
            composer(),
        ],
        (None,),
        verdict="PASS",
        standings=("possible",),
    ),
    "nothing-found-alone-shows-no-cause": beside(claim("claim-2", "Nobody deployed", SEARCHED), EMPTY),
    "nothing-found-can-be-told": beside(
        claim("claim-2", "No deploy was found", SEARCHED, kind="no_evidence"), EMPTY, "confirmed"
    ),
    "nothing-found-beside-evidence": beside(
        claim("claim-2", "Nobody deployed, and the pool ran out", SEARCHED, bind()), EMPTY, "confirmed", bindings=3
    ),
    "guidance-alone-is-no-finding": beside(GUIDED, RUNBOOK),
    "guidance-beside-evidence": Case(
        [
            plan(),
            executor(
                claim("claim-1", "The pool was exhausted", bind("restart payment when its pool", "inv-2"), bind()),
                calls=[call(), RUNBOOK],
            ),
            verifier(),
            composer(),
        ],
        (None, None),
        verdict="PASS",
        standings=("confirmed",),
    ),
}  # fmt: skip
"""Whole documents."""

KINDS = ("root_cause", "observation", "no_evidence")
CONFIRMED, POSSIBLE, NOT = ("confirmed",) * 3, ("possible",) * 3, ()
ALLOWED: dict[tuple[str, str], tuple[str, ...]] = {
    ("direct_support", "PASS"): CONFIRMED,
    ("direct_support", "LOW_CONFID"): ("likely", "confirmed", "confirmed"),
    ("direct_support", "REJECT"): ("confirmed", "confirmed"),
    ("indirect_support", "PASS"): POSSIBLE,
    ("indirect_support", "LOW_CONFID"): POSSIBLE,
}
"""The contract's table of allowed claims, written out once more: what a claim of each kind stands as."""


def allowed() -> dict[str, Case]:
    """A run for each cell: three claims, one of each kind, all judged alike; LOW_CONFID comes of a second, faulty one.

    The claims are told by the template, as the composer fails: so the replay shows all that may be said.
    """
    runs = {}
    for judged, verdict in product(
        ("direct_support", "indirect_support", "no_evidence", "contradicted", "unchecked"),
        ("PASS", "LOW_CONFID", "REJECT"),
    ):
        claims = [claim(f"claim-{kind}", f"The pool was exhausted ({kind})", kind=kind) for kind in KINDS]
        low = verdict == "LOW_CONFID"
        facts = [] if judged == "unchecked" else [fact(judged, f"claim-{kind}") for kind in KINDS]
        runs[f"{judged.replace('_', '-')}-under-{verdict.lower().replace('_', '-')}"] = Case(
            [
                plan(),
                executor(*claims, *([UNBOUND] if low else [])),
                verifier(verdict, facts_checked=facts),
                _unworded(),
            ],
            (None, None, None),
            ("unbound_claim",) if low else (),
            verdict,
            ALLOWED.get((judged, verdict), NOT),
        )
    return runs  # fmt: skip


def _unworded() -> FileStep:
    return FileStep.model_validate({"agent": "composer", "error": {"kind": "config", "message": "no composer"}})


def cases() -> dict[str, Case]:
    """All of them, by the name of their file."""
    return (
        {f"gate-{name}": case for name, case in (BINDINGS | CLAIMS).items()}
        | {f"allowed-{name}": case for name, case in allowed().items()}
    )  # fmt: skip
