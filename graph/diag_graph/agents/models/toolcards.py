"""Tools as a model is told of them: natively, or as lines of a prompt. Both leave out what only costs tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diag_graph.contracts import JsonObject
from diag_graph.tools.definition import ToolSpec

MAX_NAME = 64
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_KEPT = ("type", "enum", "items", "description", "properties", "required")


def native_tools(specs: Sequence[ToolSpec]) -> list[JsonObject]:
    """The tools as providers take them. What several say of an argument alike stands in `shared_lines`, not here."""
    shared = _shared_arguments(specs)
    return [
        {
            "type": "function",
            "function": {
                "name": wire_name(spec.name),
                "description": spec.summary,
                "parameters": {"type": "object", "properties": {}} | _without_shared(spec, shared),
            },
        }
        for spec in specs
    ]


def wire_name(name: str) -> str:
    """A tool's name in the letters that providers allow: an MCP server's dot is none of them."""
    return _NOT_ALLOWED.sub("_", name)[:MAX_NAME] or "_"


def names_by_wire(specs: Sequence[ToolSpec]) -> dict[str, str]:
    """The tools' own names, by the names that go over the wire."""
    return {wire_name(spec.name): spec.name for spec in specs}


def known_arguments(spec: ToolSpec, arguments: JsonObject) -> JsonObject:
    """Of some arguments those that a tool takes, as far as its schema says."""
    if spec.arguments.get("additionalProperties", True):
        return arguments
    return {name: value for name, value in arguments.items() if name in spec.arguments.get("properties", {})}


def tool_lines(specs: Sequence[ToolSpec]) -> str:
    """The tools as lines of a prompt. An argument that several tools share is explained once, below them."""
    shared = _shared_arguments(specs)
    lines = [f"- {spec.name}({', '.join(_signature(spec))}): {spec.summary}" for spec in specs]
    for spec in specs:
        for name, schema in _properties(spec).items():
            text = schema.get("description")
            if text and shared.get(name) != text:
                lines.append(f"  {name} of {spec.name}: {text}")
    return "\n".join([*lines, *_explained(shared)])


def shared_lines(specs: Sequence[ToolSpec]) -> str:
    """The arguments that several tools share, a line each; empty when there are none."""
    return "\n".join(_explained(_shared_arguments(specs)))


def _explained(shared: Mapping[str, str]) -> list[str]:
    return [f"  {name}: {text}" for name, text in shared.items()]


def _without_shared(spec: ToolSpec, shared: Mapping[str, str]) -> JsonObject:
    schema = compact(spec.arguments, root=True)
    properties = {
        name: {key: part for key, part in value.items() if key != "description" or part != shared.get(name)}
        for name, value in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties}


def compact(schema: Mapping[str, Any], *, root: bool = False) -> JsonObject:
    """A JSON schema without titles, defaults, limits, and nulls that only say that an argument may be left out."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        schema = {**options[0], **{name: value for name, value in schema.items() if name != "anyOf"}}
    kept = {name: schema[name] for name in _KEPT if name in schema and not (root and name == "description")}
    if "anyOf" in schema and len(options) > 1:
        kept["anyOf"] = [compact(option) for option in options]
    if "items" in kept:
        kept["items"] = compact(kept["items"])
    if "properties" in kept:
        kept["properties"] = {name: compact(value) for name, value in kept["properties"].items()}
    return kept


def _properties(spec: ToolSpec) -> Mapping[str, JsonObject]:
    properties: Mapping[str, JsonObject] = compact(spec.arguments, root=True).get("properties", {})
    return properties


def _signature(spec: ToolSpec) -> Iterator[str]:
    required = spec.arguments.get("required", ())
    for name, schema in _properties(spec).items():
        kind = "|".join(map(str, schema["enum"])) if "enum" in schema else schema.get("type", "any")
        shown = name if kind == "string" else f"{name}: {kind}"
        yield f"{shown} (required)" if name in required else shown


def _shared_arguments(specs: Sequence[ToolSpec]) -> dict[str, str]:
    """Explanations of an argument that several tools give alike: the one most often given."""
    given: dict[str, list[str]] = {}
    for spec in specs:
        for name, schema in _properties(spec).items():
            given.setdefault(name, []).append(schema.get("description", ""))
    common = {name: max(set(texts), key=lambda text: (texts.count(text), text)) for name, texts in given.items()}
    return {name: text for name, text in common.items() if text and given[name].count(text) > 1}
