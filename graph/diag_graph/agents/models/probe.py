"""One tiny look at a model: does it answer, keep to a JSON schema, call a tool? For `diag doctor --probe`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from pydantic import BaseModel

from diag_graph.agents.models.calls import asked_calls
from diag_graph.agents.models.client import Abilities, ChatModel, abilities_of
from diag_graph.agents.models.keys import key_from_command
from diag_graph.agents.models.replies import Completion
from diag_graph.agents.models.schema import json_schema
from diag_graph.agents.models.settings import ModelSettings, Support
from diag_graph.agents.models.toolcards import native_tools
from diag_graph.contracts import Frozen
from diag_graph.errors import AgentFailure
from diag_graph.parsing import InvalidReplyError, parse_model
from diag_graph.tools.definition import ToolSpec
from diag_graph.usage import NO_USAGE, Usage

PROBE_TOKENS = 300
PROBE_SECONDS = 60.0


class Ability(StrEnum):
    """What is looked at."""

    TEXT = "text"
    JSON_SCHEMA = "JSON schema"
    TOOL_CALLS = "tool calls"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one look showed.

    Attributes:
        ability: What was looked at.
        works: Whether it works.
        said: What came back, or what went wrong.
    """

    ability: Ability
    works: bool
    said: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A model, looked at.

    Attributes:
        model: Its name.
        taken_for: What diag takes it to be able to, with these settings.
        sightings: What it showed; only the first when not even that works.
        usage: What the look cost.
    """

    model: str
    taken_for: Abilities
    sightings: tuple[Sighting, ...]
    usage: Usage


class _Colour(Frozen):
    colour: str
    warm: bool


_SPEC = ToolSpec(
    "look_up_weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def probe(settings: ModelSettings, name: str | None = None) -> Probe:
    """Look at a model with three tiny requests.

    Args:
        settings: How models are reached.
        name: Which one; None: that of every role.

    Raises:
        ConfigError: LiteLLM cannot be imported, or the command for the key fails.
    """
    name = name or settings.model
    bold = replace(
        settings,
        json_schema=Support.ON,
        tool_calls=Support.ON,
        output_tokens=PROBE_TOKENS,
        request_seconds=min(settings.request_seconds, PROBE_SECONDS),
    )
    key = key_from_command(settings.api_key_command) if settings.api_key_command else None
    model = ChatModel(name, bold, key=key)
    looks = ((Ability.TEXT, _text), (Ability.JSON_SCHEMA, _schema), (Ability.TOOL_CALLS, _tools))
    seen: list[Sighting] = []
    usage = NO_USAGE
    for ability, look in looks:
        sighting, used = _looked(ability, look, model)
        seen.append(sighting)
        usage += used
        if ability is Ability.TEXT and not sighting.works:
            break
    return Probe(name, abilities_of(name, settings), tuple(seen), usage)


Look = Callable[[ChatModel], tuple[Completion, str]]
"""Asks, and says what is wrong with the answer; empty when nothing is."""


def _looked(ability: Ability, look: Look, model: ChatModel) -> tuple[Sighting, Usage]:
    try:
        completion, wrong = look(model)
    except AgentFailure as failure:
        return Sighting(ability, works=False, said=failure.message), failure.usage
    return Sighting(ability, works=not wrong, said=wrong or "works"), completion.usage


def _text(model: ChatModel) -> tuple[Completion, str]:
    completion = model.complete(_ask("Reply with the word: ready"))
    return completion, "" if (completion.text or "").strip() else "the reply was empty"


def _schema(model: ChatModel) -> tuple[Completion, str]:
    contract: type[BaseModel] = _Colour
    completion = model.complete(_ask("What colour is the sky?"), schema=json_schema("colour", contract))
    try:
        parse_model(completion.text, contract)
    except InvalidReplyError as error:
        return completion, f"the reply did not keep to it: {error}"
    return completion, ""


def _tools(model: ChatModel) -> tuple[Completion, str]:
    completion = model.complete(_ask("What is the weather in Oslo? Use the tool."), tools=native_tools([_SPEC]))
    if completion.calls:
        return completion, ""
    written = " but wrote one as text, which diag understands" if asked_calls(completion) else ""
    return completion, f"it called no tool{written}"


def _ask(question: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}]
