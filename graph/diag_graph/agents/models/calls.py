"""The tool calls of a reply: native ones, the JSON form for models without, and calls written as plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diag_graph.agents.models.replies import Completion
from diag_graph.contracts import JsonObject
from diag_graph.parsing import InvalidReplyError, parse_object, strict_loads

_TAGGED = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_TOOL_NAMES = ("tool", "name")
_ARGUMENT_NAMES = ("arguments", "parameters")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a model asks for.

    Attributes:
        tool: The tool's name, as the model wrote it.
        arguments: Its arguments; None when they are no JSON object.
        call_id: The provider's id of a native call; None when it was written as text.
        problem: Why the arguments cannot be read.
    """

    tool: str
    arguments: JsonObject | None
    call_id: str | None = None
    problem: str = ""


def asked_calls(completion: Completion) -> tuple[Call, ...]:
    """The calls of a reply: the native ones, or when there are none those in its text."""
    native = tuple(_native(call.call_id, call.name, call.arguments) for call in completion.calls)
    return native or tuple(written_calls(completion.text or ""))


def _native(call_id: str, name: str, text: str) -> Call:
    try:
        value = strict_loads(text) if text.strip() else {}
    except InvalidReplyError as error:
        return Call(name, None, call_id, str(error))
    if not isinstance(value, dict):
        return Call(name, None, call_id, "they are no JSON object")
    return Call(name, value, call_id)


def written_calls(text: str) -> list[Call]:
    """The calls in a text, when it is made of calls and of nothing that could be an evidence document.

    What is read: `{"tool_calls": [...]}`, a single `{"tool": ..., "arguments": {...}}`, and several of these in code
    fences or `<tool_call>` tags.
    """
    for pattern in (_TAGGED, _FENCED):
        parts = pattern.findall(text)
        if parts and (len(parts) > 1 or pattern is _TAGGED):
            found = [call for part in parts for call in _calls_of(_object_in(part))]
            if found:
                return found
    return list(_calls_of(_object_in(text)))


def _object_in(text: str) -> JsonObject:
    try:
        return parse_object(text)
    except InvalidReplyError:
        return {}


def _calls_of(document: JsonObject) -> Iterator[Call]:
    if "claims" in document:
        return
    listed = document.get("tool_calls")
    for entry in listed if isinstance(listed, list) else [document]:
        inner = entry.get("function") if isinstance(entry, dict) else None
        call = _written(inner if isinstance(inner, dict) else entry)
        if call is not None:
            yield call


def _written(entry: Any) -> Call | None:  # noqa: ANN401 - any JSON value
    if not isinstance(entry, dict):
        return None
    tool = next((entry[name] for name in _TOOL_NAMES if isinstance(entry.get(name), str)), None)
    if tool is None:
        return None
    arguments: Any = next((entry[name] for name in _ARGUMENT_NAMES if name in entry), {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return Call(tool, None, problem="they are no JSON")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        return Call(tool, None, problem="they are no JSON object")
    return Call(tool, arguments)
