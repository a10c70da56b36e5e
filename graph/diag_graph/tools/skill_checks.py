"""What is odd about a skill's tools and steps. None of it keeps the skill from being used."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from diag_graph.sources.skills.document import Skill
from diag_graph.sources.skills.steps import MAX_CALLS, Call, pieces
from diag_graph.tools.catalogue import ALL_TOOLS
from diag_graph.tools.definition import MAX_ITEM_TEXT, READ_SKILL

_OF_A_SERVER = "."
"""What the name of an MCP server's tool holds, and no other: whether there is such a tool shows when one asks."""


_KNOWN = {tool.name: tool for tool in ALL_TOOLS}


def steps_of(skill: Skill) -> tuple[Call, ...]:
    """The calls that a skill's steps make, in their order; those that its reader has to complete, too."""
    return tuple(piece.call for piece in pieces(skill.body, MAX_ITEM_TEXT) if piece.call is not None)


def oddities(skill: Skill) -> tuple[str, ...]:
    """One line for each thing that will not work as its author may think."""
    return tuple(_oddities(skill))


def is_useless(skill: Skill) -> bool:
    """Whether a skill has steps and every one calls what is no tool, so that it can guide nobody to anything."""
    calls = steps_of(skill)
    return bool(calls) and not any(_may_exist(call.tool) for call in calls)


def _oddities(skill: Skill) -> Iterator[str]:
    calls = steps_of(skill)
    for name in skill.tools:
        if not _may_exist(name):
            yield f"allowed-tools names {name!r}, which is no tool of diag and is passed over"
    for call in calls:
        fault = _fault(call, skill)
        if fault:
            yield f"line {call.line + skill.first_line - 1}: {call.tool}: {fault}, so that the step is not made"
    if not calls and not skill.tools:
        yield "no numbered step begins with a call in backticks, so that the built-in analyst makes no call for it"
    if len(calls) == MAX_CALLS:
        yield f"only its first {MAX_CALLS} calls are made"


def _fault(call: Call, skill: Skill) -> str:
    """Why a step's call is not made; empty when it is."""
    if call.fault:
        return call.fault
    if call.tool == READ_SKILL:
        return "that is called without a step"
    if not _may_exist(call.tool):
        return "it is no tool of diag"
    if skill.tools and call.tool not in skill.tools:
        return "it is not among its allowed-tools"
    return "" if call.is_open else _misfit(call)


def _may_exist(tool: str) -> bool:
    return tool in _KNOWN or _OF_A_SERVER in tool


def _misfit(call: Call) -> str:
    """How a call's arguments do not fit its tool; empty when they do."""
    if call.tool not in _KNOWN:
        return ""
    try:
        _KNOWN[call.tool].arguments.model_validate(call.arguments)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'arguments'}: {first['msg']}"
    return ""
