"""Items about the statements that load a database, from documents that report it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from diag_graph.analysis.database_load import StatementLoad, loading_statements
from diag_graph.analysis.numbers import number
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import DocumentSource
from diag_graph.tools.scope import clip

MAX_LINES = 20_000
MAX_STATEMENTS = 3
SCORE = 1.2
"""As a hint that says more than others: it names what is done."""
_MARKS = ("sql", "statement")


def load_items(source: DocumentSource, names: Iterable[str]) -> list[JsonObject]:
    """What the documents say of the statements with the most load, at most a few each."""
    items: list[JsonObject] = []
    for name in names:
        lines = source.lines(name)
        head = next((line for line in lines[:5] if line.strip()), "")
        if len(lines) > MAX_LINES or not head.lstrip().startswith(("{", "[")):
            continue
        text = "\n".join(lines)
        if not any(mark in text.lower() for mark in _MARKS):
            continue
        try:
            value = json.loads(text)
        except ValueError:
            continue
        items.extend(_item(one, name, lines) for one in loading_statements(value)[:MAX_STATEMENTS])
    return items


def _item(one: StatementLoad, name: str, lines: Sequence[str]) -> JsonObject:
    quoted = json.dumps(one.statement, ensure_ascii=False)
    line = next((index for index, text in enumerate(lines, 1) if quoted in text), 1)
    whom = f"database {one.instance}: " if one.instance else ""
    waits = f" It waits most for {one.wait}." if one.wait else ""
    text = (
        f"Document {name}, line {line}: {whom}statement with much load (hint): Performance Insights shows a database "
        f"load of {number(one.load)} for this query, of {number(one.total)} for all that it lists.{waits}"
    )
    return {
        "text": f'{text} It reads: "{clip(one.statement, max(478 - len(text) - 12, 40))}"',
        "entity": one.instance,
        "signal": "document",
        "change": "failure",
        "signature": "statement-load",
        "severity": "hint",
        "standing": "hint",
        "explained_by": [],
        "explains": ["database-cpu", "replication-lag", "database-storage-full", "lock-wait"],
        "about": one.instance,
        "onset": None,
        "score": SCORE,
        "lines": 1,
        "sure": True,
        "file": name,
        "line": line,
        "quote": clip(one.statement),
        "source": f"{name}:{line}",
    }
