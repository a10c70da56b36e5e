"""The tool calls of an earlier run in place of tools: what would other agents have made of the same evidence?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diag_graph.contracts import Invocation, InvocationStatus, JsonObject
from diag_graph.events import Listener, ToolFinished
from diag_graph.tools.catalogue import ALL_TOOLS
from diag_graph.tools.definition import ToolSpec
from diag_graph.tools.ledger import SUCCEEDED, Ledger
from diag_graph.tools.masking import mask

NOT_RECORDED = "this call was not made in the recorded run, so that its result is not known; no tool was called"
"""The error of a call that the record cannot answer."""

_FOREIGN_SUMMARY = "a tool of the recorded run; it answers the calls that were made there"
_ANY_ARGUMENTS: JsonObject = {"type": "object"}


class RecordedTools(Ledger):
    """A ledger that answers from a record. No tool is ever run.

    A call that equals a recorded one (tool and canonical arguments) gets the recorded answer under its recorded id. Any
    other gets the status `error` and an id that no recorded call bears. Offered are the tools that were called.
    """

    def __init__(self, recorded: Sequence[Invocation], emit: Listener) -> None:
        """Begin a run's record.

        Args:
            recorded: The calls of the earlier run, with their results.
            emit: Who hears of each call.
        """
        called = {call.tool for call in recorded}
        super().__init__([tool for tool in ALL_TOOLS if tool.name in called], None, emit)
        self._foreign = tuple(dict.fromkeys(call.tool for call in recorded if call.tool not in self._tools))
        self._recorded: dict[tuple[str, str], Invocation] = {}
        for call in recorded:
            key = self._key(call.tool, call.arguments)
            earlier = self._recorded.get(key)
            if earlier is None or earlier.status not in SUCCEEDED:
                self._recorded[key] = call
        self._answered: dict[tuple[str, str], Invocation] = {}
        self._free_ids = _ids_beside({call.id for call in recorded})

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that the record has calls of; one that is not built in, such as an MCP server's, takes anything."""
        foreign = (ToolSpec(name, _FOREIGN_SUMMARY, _ANY_ARGUMENTS) for name in self._foreign)
        return (*super().specs(), *foreign)

    def call_many(self, asked: Sequence[tuple[str, JsonObject]]) -> tuple[Invocation, ...]:
        """Answer several calls from the record, in the order asked; an equal one shares its answer (E2)."""
        with self._lock:
            return tuple(self._answer(tool, arguments) for tool, arguments in asked)

    def _answer(self, tool: str, arguments: JsonObject) -> Invocation:
        key = self._key(tool, arguments)
        earlier = self._answered.get(key)
        if earlier is not None:
            self._emit(ToolFinished(earlier, reused=True))
            return earlier
        found = self._recorded.get(key) or Invocation(
            id=next(self._free_ids), tool=tool, arguments=arguments, status=InvocationStatus.ERROR, error=NOT_RECORDED
        )
        self._answered[key] = self.adopt(found)
        return self._answered[key]

    def _key(self, tool: str, arguments: JsonObject) -> tuple[str, str]:
        return tool, self._canonical(tool, mask(arguments))  # recorded arguments are masked


def _ids_beside(taken: set[str]) -> Iterator[str]:
    """Invocation ids that are not taken."""
    number = len(taken)
    while True:
        number += 1
        if (candidate := f"inv-{number}") not in taken:
            yield candidate
