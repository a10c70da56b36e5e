"""How an evidence tool is defined, and the shape of what it returns.

A tool's result is a JSON object: `{"items": [{"text": ..., ...}], "summary": str, "truncated": null | {...}, ...}`.
Each item's text is one citable statement with its numbers, units and UTC times in it, so that an agent can quote and
need not compute; the item's other fields say the same in a form that code can read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from diag_graph.analysis.records import Window
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import NO_GUIDANCE, Evidence, Guidance

MAX_ITEM_TEXT = 480
"""Characters of an item's text: it must fit whole into a citation (500), so that a quoted item is shown uncut."""


LOOKUP_KNOWLEDGE = "lookup_knowledge"
"""Name of the tool that gives passages of runbooks: the graph and the analyst know it by this."""
READ_SKILL = "read_skill"
"""Name of the tool that gives the selected skill's text: the graph and the executors know it by this."""

GUIDANCE = frozenset({LOOKUP_KNOWLEDGE, READ_SKILL})
"""Names of the tools that the contract calls guidance."""


class ToolArguments(BaseModel):
    """Base of a tool's arguments: unknown names are refused, so that a typo is not silently ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool works on, beside its arguments."""

    evidence: Evidence
    window: Window
    """The run's window; a tool's own window arguments narrow or move it."""
    now: str
    """The run's clock, ISO 8601 in UTC."""
    zone: str = "UTC"
    """IANA name of the user's time zone."""
    guidance: Guidance = NO_GUIDANCE
    """Runbooks and skills."""
    selected_skill: str | None = None
    """The skill that the round's plan selected: the only one that may be read."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool found.

    Attributes:
        items: Statements, best first; each has at least a `text` of at most `MAX_ITEM_TEXT` characters.
        summary: One line about the whole: what was looked at, and how much was found.
        empty: Nothing matched. `items` then holds one statement of what was asked, where, over which window (X5).
        truncated: None, or `{"shown": int, "total": int, "hint": str}`, the hint saying how to narrow the call.
        extra: Further top-level fields of the result.
        retrieval_details: How passages were found, for the store.
    """

    items: Sequence[JsonObject]
    summary: str
    empty: bool = False
    truncated: JsonObject | None = None
    extra: JsonObject = field(default_factory=dict)
    retrieval_details: JsonObject | None = None

    def as_result(self) -> JsonObject:
        """The JSON object that is recorded and cited."""
        return {"items": list(self.items), "summary": self.summary, "truncated": self.truncated, **self.extra}


ArgumentsT = TypeVar("ArgumentsT", bound=ToolArguments)


class ToolError(Exception):
    """A tool could not do what was asked; its message says what was wrong and what to do. Recorded as `error`."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[ArgumentsT]):
    """One tool that agents may call.

    Attributes:
        name: As agents call it.
        summary: One line for the planner and a model: what it gives.
        arguments: The model that arguments are read through.
        run: Does the work. Reads only; raises ToolError for what a caller can mend.
        offered: Whether there is a source for it.
        guidance: What it returns is advice (runbooks, skills), never evidence of what happened (G6).
    """

    name: str
    summary: str
    arguments: type[ArgumentsT]
    run: Callable[[ArgumentsT, ToolContext], ToolOutput]
    offered: Callable[[ToolContext], bool]
    guidance: bool = False


AnyTool = Tool[Any]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as an executor sees it; `arguments` is a JSON schema."""

    name: str
    summary: str
    arguments: JsonObject
