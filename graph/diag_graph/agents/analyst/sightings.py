"""What the tools showed, item by item: each with the place that it can be cited from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from diag_graph.contracts import Invocation, InvocationStatus, JsonObject


@dataclass(frozen=True, slots=True)
class Sighting:
    """One item of one recorded result."""

    invocation_id: str
    tool: str
    index: int
    item: JsonObject

    @property
    def text(self) -> str:
        """The item's statement."""
        return str(self.item.get("text", ""))

    @property
    def said(self) -> str:
        """The statement as a claim says it: a line of a document says in which document it stands."""
        document = self._document()
        return f'The file "{document}" says: {self.text}' if document else self.text

    @property
    def entity(self) -> str:
        """What it is about; empty when it does not say."""
        value = self.item.get("entity")
        return value if isinstance(value, str) else ""

    @property
    def empty(self) -> bool:
        """Whether it says that nothing matched."""
        return self.item.get("empty") is True

    def field(self, name: str) -> Any:  # noqa: ANN401 - any JSON value
        """A field of the item, or None."""
        return self.item.get(name)

    def bindings(self) -> list[JsonObject]:
        """The citation of the whole statement, and of the document's name where it is said."""
        document = self._document()
        bound = [self._binding("text", self.text)]
        return [*bound, self._binding("document", document)] if document else bound

    def _binding(self, field: str, excerpt: str) -> JsonObject:
        return {
            "source_invocation_id": self.invocation_id,
            "raw_path": f"/items/{self.index}/{field}",
            "evidence_excerpt": excerpt,
        }

    def _document(self) -> str:
        """The document that the statement is a line of; empty when it is none."""
        name = self.item.get("document")
        return name if self.tool == "read_document" and isinstance(name, str) and not self.empty else ""


def sightings(invocations: Iterable[Invocation]) -> list[Sighting]:
    """All statements in the results of calls that succeeded, in order.

    A call that is there twice counts once, and so does a statement that two calls of a tool give.
    """
    found: list[Sighting] = []
    seen: set[str] = set()
    said: set[tuple[str, str]] = set()
    for invocation in invocations:
        if invocation.id not in seen and invocation.status in {InvocationStatus.OK, InvocationStatus.EMPTY}:
            seen.add(invocation.id)
            fresh = [one for one in _of(invocation) if (one.tool, one.text) not in said]
            said.update((one.tool, one.text) for one in fresh)
            found.extend(fresh)
    return found


def _of(invocation: Invocation) -> Iterator[Sighting]:
    result = invocation.result
    items: Sequence[Any] = result.get("items", []) if isinstance(result, dict) else []
    for index, item in enumerate(items):
        if isinstance(item, dict) and isinstance(item.get("text"), str) and item["text"].strip():
            yield Sighting(invocation.id, invocation.tool, index, _well_typed(item))


_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("entity", "signal", "metric", "direction", "change", "onset", "caller", "callee", "section"), str),
    **dict.fromkeys(("document", "standing", "signature", "about", "example", "operation", "level"), str),
    **dict.fromkeys(("score", "seconds_before_onset", "before", "after"), (int, float)),
    **dict.fromkeys(("mentions", "callers", "uncalled", "explained_by", "explains"), list),
}
"""Of what type the fields are that code reads; a result that was written by hand may hold anything."""


def _well_typed(item: JsonObject) -> JsonObject:
    """The item without the fields that are not of their type."""
    return {key: value for key, value in item.items() if key not in _TYPES or isinstance(value, _TYPES[key])}
