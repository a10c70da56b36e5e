import pytest
from analysis_samples import ONSET, trace

from diag_graph.analysis.peers import Wait, common_wait, named_peer, wait_of
from diag_graph.analysis.records import Edge, Span
from diag_graph.analysis.span_changes import survey_spans

RECORDING = frozenset({"shop", "payment"})


def call(name: str, **attributes: str) -> Span:
    """A span of shop, with attributes whose dots are written as two underscores."""
    return Span(
        "t", "a", None, "shop", name, ONSET, 5.0, attributes={k.replace("__", "."): v for k, v in attributes.items()}
    )


@pytest.mark.parametrize(
    ("span", "wait"),
    [
        (call("UPDATE accounts"), Wait("", database=True)),
        (call("query", db__system="postgresql", server__address="db-1:5432"), Wait("db-1:5432", database=True)),
        (call("query", db__system="postgresql", db__name="accounts"), Wait("accounts", database=True)),
        (call("call bank", peer__service="bank"), Wait("bank", database=False)),
        (call("call bank", span__kind="SPAN_KIND_CLIENT", server__address="bank"), Wait("bank", database=False)),
        (call("call payment", peer__service="payment"), None),
        (call("GET /cart", server__address="shop.example"), None),
        (call("pool.acquire", db__client__connection__pool__name="main"), None),
        (call("updates of a basket"), None),
    ],
)
def test_a_call_to_what_records_no_spans_is_a_wait(span: Span, wait: Wait | None) -> None:
    """Statements and client spans wait; a client's own pool, a server's span and a recorded callee do not count."""
    assert wait_of(span, RECORDING) == wait


def test_an_operation_waits_when_most_of_its_spans_do() -> None:
    """One odd span does not make a wait."""
    bank = Wait("bank", database=False)
    assert common_wait([bank, bank, None]) == bank
    assert common_wait([bank, None, None]) is None
    assert common_wait([]) is None


@pytest.mark.parametrize(
    ("wait", "edges", "peer"),
    [
        (Wait("ACCOUNTS-DB:5432", database=True), (), "accounts-db"),
        (Wait("accounts-db.internal", database=True), (), "accounts-db"),
        (Wait("", database=True), (Edge("shop", "accounts-db"), Edge("shop", "bank")), "accounts-db"),
        (Wait("", database=True), (Edge("shop", "ledger"), Edge("shop", "payment")), "ledger"),
        (Wait("", database=True), (Edge("shop", "orders-db"), Edge("shop", "users-db")), ""),
        (Wait("10.0.0.7", database=False), (Edge("shop", "ledger"),), "10.0.0.7"),
    ],
)
def test_a_peer_is_named_as_other_evidence_names_it(wait: Wait, edges: tuple[Edge, ...], peer: str) -> None:
    """By its address, or as the only thing without spans that the client calls; two candidates are none."""
    assert named_peer(wait, "shop", edges, ["accounts-db", "shop"], RECORDING).peer == peer


def test_a_slower_statement_is_told_as_a_wait() -> None:
    """The span of a statement has no child: its self time is the database's, or the way to it."""
    before = [one for n in range(40) for one in trace(n, n, ("a", None, "shop", "SELECT items", 0.0, 3.0, False))]
    after = [one for n in range(40, 60) for one in trace(n, n, ("a", None, "shop", "SELECT items", 0.0, 900.0, False))]
    (change,) = survey_spans([*before, *after], ONSET).changes
    assert change.wait == Wait("", database=True)
