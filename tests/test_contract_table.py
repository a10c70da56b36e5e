"""`docs/contract-tests.md` is current, and no rule of the contract is without a test."""

from __future__ import annotations

import os

from contract_table import OPEN, TABLE, UNBUILT, SuiteTest, cites, rules, sections, suite, table


def test_every_rule_is_cited_by_a_test() -> None:
    """A rule that nobody holds to is a wish."""
    every = list(suite())
    assert [rule for rule in rules() if not any(cites(test, rule) for test in every)] == []


def test_the_contract_is_read_whole() -> None:
    """The table has a row for each rule and section, and remarks are about rules that there are."""
    numbers: dict[str, list[int]] = {}
    for rule in rules():
        numbers.setdefault(rule[0], []).append(int(rule[1:]))
    assert all(sorted(found) == list(range(1, len(found) + 1)) for found in numbers.values())
    assert "".join(numbers) == "RSCGVEFTDJPX"
    assert list(sections()) == [str(number) for number in range(1, 16)]
    assert all(rules().values())
    assert set(OPEN) <= set(rules())
    assert set(UNBUILT) <= set(sections())


def test_a_rule_is_cited_by_its_whole_number() -> None:
    """In a docstring or a name, and not as a part of something longer."""
    assert cites(SuiteTest("f", "test_x", "T2, D1: both."), "D1")
    assert cites(SuiteTest("f", "test_d1_holds", ""), "D1")
    assert not any(cites(SuiteTest("f", "test_d12_x", says), "D1") for says in ("D12", "RD1", "d1", "D1a", ""))


def test_the_table_of_rules_and_tests_is_current() -> None:
    """What the tests cite is what stands there; DIAG_UPDATE_DOCS=1 writes it."""
    if os.environ.get("DIAG_UPDATE_DOCS") == "1":
        TABLE.write_text(table(), encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == table()
