"""A run's recorded results as the gate reads them: found by id and pointer, each text normalised once (G7)."""

from __future__ import annotations

from collections.abc import Sequence

from diag_graph.contracts import Invocation
from diag_graph.gate.borders import find_excerpt
from diag_graph.gate.normalise import NormalisedText, normalise, normalised
from diag_graph.gate.pointer import resolve
from diag_graph.gate.values import leaf_texts, text_of

_HELD_CHARACTERS = 256_000_000
"""Characters of normalised text that are kept at most: citing a result's nested parts would else multiply it."""


class RecordedResults:
    """The invocations of one run, for one check of one document."""

    def __init__(self, invocations: Sequence[Invocation]) -> None:
        self._invocations = {invocation.id: invocation for invocation in invocations}
        if len(self._invocations) != len(invocations):
            raise ValueError("two invocations of the run have the same id")
        self._cited: dict[tuple[str, str], NormalisedText | None] = {}
        self._cited_characters = 0
        self._all_leaves: dict[str, str] = {}
        self._all_json: dict[str, str] = {}

    def invocation(self, invocation_id: str) -> Invocation | None:
        """The invocation of that id, when this run made it."""
        return self._invocations.get(invocation_id)

    def text_at(self, invocation_id: str, pointer: str) -> NormalisedText | None:
        """The text at a path of a result; None when the path does not resolve."""
        key = (invocation_id, pointer)
        if key not in self._cited:
            found = resolve(self._invocations[invocation_id].result, pointer)
            self._keep(key, None if found is None else normalised(text_of(found.value)))
        return self._cited[key]

    def _keep(self, key: tuple[str, str], text: NormalisedText | None) -> None:
        self._cited_characters += 0 if text is None else len(text.text)
        if self._cited_characters > _HELD_CHARACTERS:
            self._cited.clear()
            self._cited_characters = 0 if text is None else len(text.text)
        self._cited[key] = text

    def stands_anywhere(self, invocation_id: str, excerpt: str) -> bool:
        """Whether a normalised excerpt stands in any value of a result, or in the result's JSON.

        All leaves are searched as one text. Normalised text has no line breaks, so that no match runs over two leaves.
        """
        result = self._invocations[invocation_id].result
        if invocation_id not in self._all_leaves:
            self._all_leaves[invocation_id] = "\n".join(map(normalise, leaf_texts(result)))
        if find_excerpt(self._all_leaves[invocation_id], excerpt) is not None:
            return True
        if invocation_id not in self._all_json:
            self._all_json[invocation_id] = normalise(text_of(result))
        return find_excerpt(self._all_json[invocation_id], excerpt) is not None
