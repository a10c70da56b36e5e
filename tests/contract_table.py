"""Which tests cite which rule of `docs/contract.md`, as the Markdown of `docs/contract-tests.md`.

A test cites a rule in its docstring or its name. Tests are read, not imported; one with parameters counts once.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
CONTRACT = ROOT / "docs" / "contract.md"
TABLE = ROOT / "docs" / "contract-tests.md"

_RULE = re.compile(r"^- ([A-Z]\d+) (.*(?:\n {2}\S.*)*)", re.MULTILINE)
_SECTION = re.compile(r"^## (\d+)\. (.*)", re.MULTILINE)
_CITED_RULE = re.compile(r"(?<![A-Za-z0-9])([A-Z]\d+)(?![A-Za-z0-9])")
_CITED_SECTION = re.compile(r"\b[Ss]ection (\d+)\b")

OPEN: dict[str, str] = {
    "G7": "The time itself is measured by `benchmarks/gate_scan.py`, as a ratio, and by no test.",
    "X2": "No MCP server can be connected yet: nothing of theirs is offered, and a call to one is blocked as unknown.",
}
"""What of a rule no test shows today, and why."""

UNBUILT: dict[str, str] = {
    "13": "Not built yet: live sources, MCP servers.",
    "14": "Not built yet.",
}
"""What of a section there is no code for."""

HEAD = """# Rules and their tests

Generated from the tests' docstrings and names, and held to them by the suite; `DIAG_UPDATE_DOCS=1 pytest
tests/test_contract_table.py` writes it anew. Each numbered rule of [contract.md](contract.md) is cited by a test that
fails when the rule is broken; `benchmarks/mutate.py` tries that for the gate and the routing table.
"""


class SuiteTest(NamedTuple):
    """A test: where it stands, what it is called, and what it says of itself."""

    file: str
    name: str
    says: str


def rules() -> dict[str, str]:
    """Each numbered rule of the contract, and its first sentence."""
    text = CONTRACT.read_text(encoding="utf-8")
    return {found[1]: _first_sentence(found[2]) for found in _RULE.finditer(text)}


def sections() -> dict[str, str]:
    """Each section of the contract, and its title."""
    return {found[1]: found[2] for found in _SECTION.finditer(CONTRACT.read_text(encoding="utf-8"))}


def suite() -> Iterator[SuiteTest]:
    """All tests of the suite, in the order of their files."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield SuiteTest(path.relative_to(ROOT).as_posix(), node.name, ast.get_docstring(node) or "")


def cites(test: SuiteTest, rule: str) -> bool:
    """Whether a test cites a rule."""
    named = re.search(rf"_{rule}(?![A-Za-z0-9])", test.name, re.IGNORECASE)
    return named is not None or rule in _CITED_RULE.findall(test.says)


def table() -> str:
    """The document."""
    every = list(suite())
    lines = [HEAD, "| rule | it says | tests that cite it | not shown today |", "|---|---|---|---|"]
    for rule, says in rules().items():
        found = [test for test in every if cites(test, rule)]
        lines.append(f"| {rule} | {_cell(says)} | {_listed(found)} | {OPEN.get(rule, '')} |")
    lines += [
        *("", "## Rules without a number", ""),
        "Tests of what the sections say in tables and prose cite the section. 7 and 12 hold numbered rules alone.",
        *("", "| section | tests that cite it | not shown today |", "|---|---|---|"),
    ]
    for number, title in sections().items():
        found = [test for test in every if number in _CITED_SECTION.findall(test.says)]
        lines.append(f"| {number}. {_cell(title)} | {_counted(found)} | {UNBUILT.get(number, '')} |")
    return "\n".join(lines) + "\n"


def _first_sentence(text: str) -> str:
    whole = " ".join(text.replace("**", "").split())
    return textwrap.shorten(re.split(r"(?<=\.) (?=[A-Z`])", whole)[0], 160, placeholder=" ...")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _listed(found: Iterable[SuiteTest]) -> str:
    names: dict[str, list[str]] = {}
    for test in found:
        names.setdefault(test.file, []).append(f"`{test.name}`")
    return "<br>".join(f"{_link(file)}: {', '.join(inside)}" for file, inside in names.items())


def _counted(found: Iterable[SuiteTest]) -> str:
    files = [test.file for test in found]
    return ", ".join(f"{_link(file)} ({files.count(file)})" for file in dict.fromkeys(files))


def _link(file: str) -> str:
    return f"[{file.removeprefix('tests/')}](../{file})"
