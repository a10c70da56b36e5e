"""Following a skill: the analyst reads the selected one, and makes the calls of its steps in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.agents.ports import Toolbox
from diag_graph.contracts import Invocation, InvocationStatus, JsonObject
from diag_graph.sources.skills.steps import MAX_CALLS
from diag_graph.tools.definition import READ_SKILL, ToolSpec

_MAX_READS = 10
"""Calls that it takes to read the longest skill."""


def follow_skill(name: str | None, tools: Toolbox) -> list[Invocation]:
    """Read a skill and do what its steps say.

    A step is made when its tool is offered, the skill's own list of tools (where it has one) allows it, and its
    arguments are complete; a skill without such steps has its listed tools called in their order. Nothing else in its
    text is acted on, whatever it says.

    Args:
        name: The selected skill; None: there is nothing to follow.
        tools: The way to evidence.

    Returns:
        The calls that were made beside the reading itself: what a skill says is no evidence, and is claimed nowhere.
    """
    offered = {spec.name: spec for spec in tools.specs()}
    if name is None or READ_SKILL not in offered:
        return []
    results = list(_read(name, tools))
    listed = [tool for tool in _list(results[0].get("tools")) if isinstance(tool, str)] if results else []
    steps = [call for result in results for call in _calls(result)]
    wanted = steps or [(tool, {}) for tool in listed]
    made = []
    for tool, arguments in wanted[:MAX_CALLS]:
        spec = offered.get(tool)
        if spec is not None and tool != READ_SKILL and (not listed or tool in listed) and _complete(spec, arguments):
            made.append(tools.call(tool, arguments))
    return made


def not_said(advised: Iterable[Sighting], survey: Iterable[Sighting]) -> list[Sighting]:
    """What a skill's calls show and the survey does not say: a narrower call gives many of the same statements.

    That a search found nothing is left out. Such a statement quotes what was searched for, so that a skill could put
    words of its own into the answer.
    """
    said = {(one.tool, one.text) for one in survey}
    fresh = {(one.tool, one.text): one for one in advised if not one.empty}
    return [one for key, one in fresh.items() if key not in said]


def _read(name: str, tools: Toolbox) -> Iterator[JsonObject]:
    """The results that hold the skill's text, to its end."""
    start = 1
    for _ in range(_MAX_READS):
        made = tools.call(READ_SKILL, {"name": name} if start == 1 else {"name": name, "start": start})
        if made.status is not InvocationStatus.OK or not isinstance(made.result, dict):
            return
        yield made.result
        start += len(_list(made.result.get("items")))
        if made.result.get("truncated") is None:
            return


def _calls(result: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for item in _list(result.get("items")):
        call = item.get("call") if isinstance(item, dict) else None
        if isinstance(call, dict) and isinstance(call.get("tool"), str) and isinstance(call.get("arguments"), dict):
            yield call["tool"], call["arguments"]


def _complete(spec: ToolSpec, arguments: JsonObject) -> bool:
    """Whether a call has what its tool requires, and nothing that it does not know."""
    known = spec.arguments.get("properties", {})
    return set(spec.arguments.get("required", ())) <= arguments.keys() and arguments.keys() <= set(known)


def _list(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, list) else []
