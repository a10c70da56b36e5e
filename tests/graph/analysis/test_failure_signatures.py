"""Failure signatures: the catalogue that ships with the program, and what a signature must be."""

from __future__ import annotations

import time
import tomllib

import pytest

from diag_graph.analysis.failure_links import is_pod_of
from diag_graph.analysis.failure_signatures import (
    Catalogue,
    Severity,
    Signature,
    SignatureError,
    TextKind,
    read_signatures,
)
from diag_graph.tools.signature_files import built_in_signatures

BUILT_IN = built_in_signatures()
OWN = """
[[signature]]
id = "licence-server"
title = "licence refused"
means = "the licence server gave no licence"
severity = "cause"
phrases = ["licence"]
patterns = ['''no licence for (?P<entity>[\\w-]+)''']
examples = ["E42: no licence for solver-9"]
"""


def _kind(signature: Signature) -> TextKind:
    return signature.kinds[0] if signature.kinds else TextKind.TEXT


@pytest.mark.parametrize("signature", BUILT_IN, ids=lambda one: one.id)
def test_every_signature_is_what_its_examples_show(signature: Signature) -> None:
    """Each built-in signature passes the checks that a user's own must pass: its examples match, the others do not."""
    Signature.model_validate(signature.model_dump())
    for line in signature.examples:
        hit = Catalogue(BUILT_IN).hit(line, _kind(signature))
        assert hit is not None
        assert hit.signature.id == signature.id


@pytest.mark.parametrize("signature", [one for one in BUILT_IN if one.rows], ids=lambda one: one.id)
def test_every_signature_of_tables_is_what_its_rows_show(signature: Signature) -> None:
    """Its rows match, by the name of the row unless it says otherwise; a row in order matches nothing."""
    catalogue = Catalogue(BUILT_IN)
    assert set(signature.columns) <= catalogue.columns
    for row in signature.row_examples:
        hit = catalogue.row_hit(row.partition(":")[0], row)
        assert hit is not None
        assert (hit.signature.id, hit.entity) == (signature.id, row.partition(":")[0])
        assert any(column in row.lower() for column in signature.columns)
    for row in signature.row_counter_examples:
        assert catalogue.row_hit("x", row) is None


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"rows": ["LAG 9"], "row_examples": ["a: LAG 9"]}, "columns need rows"),
        ({"columns": ["lag"], "rows": ["LAG 9"]}, "row_examples"),
        ({"columns": ["lag"], "rows": ["LAG 9"], "row_examples": ["a: LAG 8"]}, "does not match"),
        (
            {
                "columns": ["lag"],
                "rows": ["LAG 9"],
                "row_examples": ["a: LAG 9"],
                "row_counter_examples": ["b: LAG 99"],
            },
            "matches",
        ),
        ({"columns": ["LAG"], "rows": ["LAG 9"], "row_examples": ["a: LAG 9"]}, "lower case"),
        ({"phrases": ["lag"]}, "examples"),
        ({}, "it needs phrases"),
    ],
)
def test_a_signature_of_tables_that_does_not_do_what_it_says_is_refused(
    entry: dict[str, list[str]], reason: str
) -> None:
    """The reason names what is missing or which row is wrong."""
    known = {"id": "x", "title": "x", "means": "x", "severity": "cause"}
    with pytest.raises(SignatureError, match=reason):
        read_signatures({"signature": [{**known, **entry}]}, "own.toml")


def test_what_signatures_refer_to_exists() -> None:
    """Consequences and ends are signatures of the catalogue, and every failure that is a cause comes with advice."""
    known = {one.id for one in BUILT_IN}
    assert len(known) == len(BUILT_IN)
    assert not {name for one in BUILT_IN for name in (*one.explains, *one.ends)} - known
    assert not [one.id for one in BUILT_IN if one.severity is Severity.CAUSE and not one.advice]


@pytest.mark.parametrize(
    "line",
    [
        "Restart Count:  0",
        "Normal  Pulled  8s  kubelet  Successfully pulled image",
        "Ready            True",
        "  MemoryPressure   False   KubeletHasSufficientMemory",
        "request completed status=200 in 34 ms",
        "connection pool at 12/100",
        "error rate exceeded 2%",
        "Automated backup finished for DB instance shopdb.",
        "Tolerations:  node.kubernetes.io/not-ready:NoExecute op=Exists for 300s",
    ],
)
def test_what_healthy_systems_print_names_no_failure(line: str) -> None:
    """What stands in the output of every healthy cluster and program is no failure."""
    hit = Catalogue(BUILT_IN).hit(line, TextKind.KUBERNETES)
    assert hit is None or hit.signature.severity is Severity.RECOVERY


def test_a_signature_says_what_the_line_is_about() -> None:
    """Groups of a pattern give the entity and a detail."""
    [own] = read_signatures(tomllib.loads(OWN), "own.toml")
    hit = Catalogue([own]).hit("E42: no licence for solver-9", TextKind.LOG)
    assert hit is not None
    assert hit.entity == "solver-9"


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ('examples = ["E42', 'examples = ["E42: granted', "does not match"),
        ("[\\w-]+)", "[\\w-]+", "no regular expression"),
        ("(?P<entity>[\\w-]+)", "((a+)+)+", "very long"),
        ('severity = "cause"', 'severity = "fatal"', "severity"),
        ('phrases = ["licence"]', 'phrases = ["Licence"]', "lower case"),
        ('means = "the', 'meens = "the', "means"),
    ],
)
def test_a_signature_that_is_wrong_is_refused_with_its_name(was: str, becomes: str, said: str) -> None:
    """The error names the file, the signature and what is wrong, a pattern that could take very long among it."""
    text = OWN.replace(was, becomes).replace("granted: no licence for solver-9", "granted")
    with pytest.raises(SignatureError, match=r"own\.toml: signature licence-server") as caught:
        read_signatures(tomllib.loads(text), "own.toml")
    assert said in str(caught.value)


def test_an_own_signature_takes_the_place_of_the_built_in_one() -> None:
    """A later signature of the same id replaces the earlier one."""
    [own] = read_signatures(tomllib.loads(OWN.replace("licence-server", "oom-killed")), "own.toml")
    catalogue = Catalogue([*BUILT_IN, own])
    assert len(catalogue.signatures) == len(BUILT_IN)
    assert catalogue.hit("Reason: OOMKilled", TextKind.KUBERNETES) is None


@pytest.mark.parametrize("filler", ["a", "a ", "connection ", '"', "x=1 ", "failed to pull image ", "rate ", "."])
def test_no_line_takes_long(filler: str) -> None:
    """Adversarial lines cost no more than their length: each is looked at in well under a second."""
    catalogue = Catalogue(BUILT_IN)
    line = filler * (100_000 // len(filler))
    begun = time.perf_counter()
    for signature in BUILT_IN:
        for phrase in signature.phrases:
            catalogue.hit(phrase + line, TextKind.TEXT, [phrase])
    assert time.perf_counter() - begun < 10.0  # about 400 lines


@pytest.mark.parametrize(
    ("pod", "workload", "is_one"),
    [
        ("till-7d9f8b6c4-x7k2q", "till", True),
        ("till-7d9f8b6c4", "till", True),
        ("till-0", "till", True),
        ("till", "TILL", True),
        ("till-db", "till", False),
        ("till-redis", "till", False),
        ("tiller", "till", False),
    ],
)
def test_a_pod_is_told_from_another_service_by_how_its_name_is_made(pod: str, workload: str, *, is_one: bool) -> None:
    """`till-redis` is no pod of `till`, though its name begins so."""
    assert is_pod_of(pod, workload) is is_one
    assert is_pod_of(workload, pod) is is_one


@pytest.mark.parametrize(
    "line",
    ['"OOMKilled": false', "OOMKilled: false,", "too many connections: no", "disk full = 0", "no deadlock detected",
     "0 deadlock detected", "without too many connections"],
)  # fmt: skip
def test_a_line_that_denies_a_failure_names_none(line: str) -> None:
    """What is said to be false, zero or none did not happen."""
    assert Catalogue(BUILT_IN).hit(line, TextKind.TEXT) is None


@pytest.mark.parametrize(
    ("line", "signature"),
    [
        ('"OOMKilled": true', "oom-killed"),
        ("1024 worker_connections are not enough", "connection-limit"),
        ("ProvisionedThroughputExceededException: exceeded", "rate-limited"),
        ('Status=429 Code="TooManyRequests"', "rate-limited"),
        ("12 app shop Query 431 Waiting for table metadata lock ALTER TABLE t ADD x int", "lock-wait"),
        (" 13 | active | Lock | transactionid | UPDATE t SET x = 2", "wait-lock"),
        (" 12 | idle in transaction | Client | ClientRead | UPDATE t SET x = 1", "idle-in-transaction"),
    ],
)
def test_what_servers_and_clouds_print_is_known(line: str, signature: str) -> None:
    """The texts of databases, proxies, brokers and clouds, as they print them."""
    found = Catalogue(BUILT_IN).hit(line, TextKind.TEXT)
    assert found is not None
    assert found.signature.id == signature
