"""Which statements load a database, as Amazon RDS Performance Insights reports it.

Two shapes are read: a list of statements with their load, as summaries and exports have it (`top_sql`), and the answer
of `pi describe-dimension-keys` grouped by SQL (`Keys` with `Dimensions` and `Total`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LISTS = frozenset({"top_sql", "topsql", "top_statements", "keys"})
_TEXTS = ("statement", "sql", "query", "db.sql_tokenized.statement", "db.sql.statement", "digest_text")
_LOADS = ("db_load_avg", "load", "total", "db_load", "avg_load")
_INSTANCES = ("db_instance_identifier", "dbinstanceidentifier", "source_identifier", "identifier")
MIN_SHARE = 0.2
"""Share of the load of all listed statements from which one is worth naming."""


@dataclass(frozen=True, slots=True)
class StatementLoad:
    """One statement's part in a database's load.

    Attributes:
        instance: The database; empty when the text does not say.
        statement: As reported.
        load: Its load, in the report's own measure (average active sessions, or a share).
        total: The same of all listed statements.
        wait: What it waits for most (`CPU`, `IO:DataFileRead`, ...); empty when not said.
    """

    instance: str
    statement: str
    load: float
    total: float
    wait: str


def loading_statements(value: Any) -> list[StatementLoad]:  # noqa: ANN401 - foreign JSON
    """The statements with the most load in a parsed JSON text, heaviest first; none when it is no such report."""
    found = [
        StatementLoad(instance, text, load, sum(one[1] for one in listed), wait)
        for instance, listed in _lists(value, "")
        for text, load, wait in listed
    ]
    return sorted((one for one in found if one.load >= MIN_SHARE * one.total > 0), key=lambda one: -one.load)


def _lists(value: Any, instance: str) -> Iterator[tuple[str, list[tuple[str, float, str]]]]:  # noqa: ANN401
    if isinstance(value, list):
        for one in value:
            yield from _lists(one, instance)
    if not isinstance(value, dict):
        return
    named = _pick(value, _INSTANCES)
    instance = named if isinstance(named, str) else instance
    for key, inner in value.items():
        listed = _statements(inner) if str(key).lower() in _LISTS and isinstance(inner, list) else []
        if listed:
            yield instance, listed
        elif isinstance(inner, (dict, list)):
            yield from _lists(inner, instance)


def _statements(items: Sequence[Any]) -> list[tuple[str, float, str]]:
    found = []
    for item in items:
        if not isinstance(item, dict):
            continue
        dimensions = item.get("Dimensions")
        text = _pick({**item, **dimensions} if isinstance(dimensions, dict) else item, _TEXTS)
        load = _pick(item, _LOADS)
        if isinstance(text, str) and isinstance(load, int | float) and not isinstance(load, bool):
            found.append((text, float(load), _heaviest_wait(item.get("wait_events"))))
    return found


def _heaviest_wait(events: Any) -> str:  # noqa: ANN401 - foreign JSON
    waits = [
        (float(load), str(event.get("name") or ""))
        for event in (events if isinstance(events, list) else [])
        if isinstance(event, dict) and isinstance(load := _pick(event, _LOADS), int | float)
    ]
    return max(waits, default=(0.0, ""))[1]


def _pick(record: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401 - foreign JSON
    lowered = {str(key).lower(): value for key, value in record.items()}
    return next((lowered[name] for name in names if name in lowered), None)
