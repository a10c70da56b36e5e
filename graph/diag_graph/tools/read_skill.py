"""`read_skill`: the instructions of the skill that the plan selected, piece by piece."""

from __future__ import annotations

from pydantic import Field

from diag_graph.analysis.numbers import plural
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import SkillSource
from diag_graph.sources.skills.steps import Call, Piece, pieces
from diag_graph.tools.definition import (
    MAX_ITEM_TEXT,
    READ_SKILL,
    Tool,
    ToolArguments,
    ToolContext,
    ToolError,
    ToolOutput,
)

MAX_PIECES, MAX_CHARS = 36, 7_000
"""Of one call: what a model is shown of one result."""


class SkillArguments(ToolArguments):
    """Which skill."""

    name: str = Field(description="The skill that the plan selected; no other can be read.")
    start: int = Field(default=1, ge=1, description="First piece, counted from 1, to go on where a call was cut.")


def _run(arguments: SkillArguments, context: ToolContext) -> ToolOutput:
    source, name = context.guidance.skills, arguments.name
    if context.selected_skill is None:
        raise ToolError("the plan selected no skill, so that none can be read; go on without one")
    if source is None or name != context.selected_skill:
        raise ToolError(f"only the skill that the plan selected can be read: {context.selected_skill}")
    every, tools = _looked_up(source, name)
    if arguments.start > len(every):
        raise ToolError(f"skill {name} has {plural(len(every), 'piece')}: none from {arguments.start} on")
    shown = _as_many_as_fit(every[arguments.start - 1 :])
    last = arguments.start - 1 + len(shown)
    truncated = None
    if last < len(every):
        truncated = {"shown": len(shown), "total": len(every), "hint": f"go on with start {last + 1}"}
    summary = f"skill {name}, pieces {arguments.start} to {last} of {len(every)}: advice, and no evidence"
    return ToolOutput(
        [_item(name, piece) for piece in shown],
        summary,
        truncated=truncated,
        extra={"skill": name, "tools": list(tools)},
    )


def _looked_up(source: SkillSource, name: str) -> tuple[list[Piece], tuple[str, ...]]:
    try:
        return pieces(source.body(name), MAX_ITEM_TEXT), tuple(source.tools(name))
    except KeyError:
        raise ToolError(f"there is no skill {name!r}; go on without one") from None


def _as_many_as_fit(wanted: list[Piece]) -> list[Piece]:
    shown: list[Piece] = []
    room = MAX_CHARS
    for piece in wanted[:MAX_PIECES]:
        room -= len(piece.text)
        if room < 0:
            break
        shown.append(piece)
    return shown


def _item(name: str, piece: Piece) -> JsonObject:
    return {
        "text": piece.text,
        "entity": "",
        "signal": "skill",
        "change": "line",
        "onset": None,
        "score": 0.0,
        "heading": piece.heading,
        "call": _call(piece.call),
        "source": f"{name}:{piece.line}",
    }


def _call(call: Call | None) -> JsonObject | None:
    """The call that a step makes as it stands; none where a reader must fill something in first."""
    if call is None or call.fault is not None or call.is_open:
        return None
    return {"tool": call.tool, "arguments": call.arguments}


def _offered(context: ToolContext) -> bool:
    return context.guidance.skills is not None and bool(context.guidance.skills.cards())


READ_SELECTED_SKILL = Tool(
    name=READ_SKILL,
    summary="The text of the skill that the plan selected: which tools to use in which order. Advice, never evidence.",
    arguments=SkillArguments,
    run=_run,
    offered=_offered,
    guidance=True,
)
