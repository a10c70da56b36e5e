"""The agents' contracts, generated from the pydantic models in two forms, so that neither can drift from what is read.

`outline` is a line for a prompt, in the notation of section 4. `json_schema` is what a provider holds a reply to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from diag_graph.contracts import EVIDENCE_SCHEMA, Binding, ClaimKind, Frozen, JsonObject

Choices = Mapping[str, Sequence[str]]
NO_CHOICES: Choices = {}
_DROPPED = ("title", "default", "description", "$defs")


class EvidenceClaim(Frozen):
    """A claim as an executor writes it."""

    claim_id: str
    claim: str
    kind: ClaimKind
    entity: str | None
    evidence_bindings: tuple[Binding, ...]


class EvidenceDocument(Frozen):
    """An executor's document, for the contract alone: what is read is the JSON object, which the gatekeeper judges."""

    schema_: str = Field(alias="schema", pattern=EVIDENCE_SCHEMA)
    claims: tuple[EvidenceClaim, ...]
    missing_info: tuple[str, ...]


class AskedCall(Frozen):
    """A tool call that a model without native ones writes down."""

    tool: str
    arguments: JsonObject


class AskedCalls(Frozen):
    """Tool calls in JSON."""

    tool_calls: tuple[AskedCall, ...]


def outline(model: type[BaseModel]) -> str:
    """A contract in one line, such as `{"verdict": "PASS" | "REJECT", "reasons": [str]}`."""
    schema = model.model_json_schema()
    return _outline(schema, schema.get("$defs", {}))


def json_schema(name: str, *models: type[BaseModel], choices: Choices = NO_CHOICES) -> JsonObject:
    """What a provider is told to hold a reply to: one of the contracts.

    Every field is required and no other allowed, as providers want. `strict` is set where they can be strict: not for
    objects of any shape.

    Args:
        name: What the provider calls it.
        models: The contracts.
        choices: For fields of these names, the texts that they may have in this run, beside null where that is legal.
    """
    schemas = [_closed(model.model_json_schema(), choices) for model in models]
    whole = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    strict = len(schemas) == 1 and not _has_open_object(whole)
    return {"name": name, "schema": whole, "strict": strict}


def _outline(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    schema = _resolved(schema, definitions)
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if "const" in schema or "pattern" in schema:
        return f'"{schema.get("const") or schema["pattern"]}"'
    if "anyOf" in schema:
        return " | ".join(_outline(option, definitions) for option in schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        return f"[{_outline(schema['items'], definitions)}]"
    if kind == "object" and "properties" in schema:
        members = (f'"{name}": {_outline(value, definitions)}' for name, value in schema["properties"].items())
        return "{" + ", ".join(members) + "}"
    return {"string": "str", "null": "null", "object": "{}", "integer": "int", "boolean": "bool"}.get(str(kind), "any")


def _closed(schema: Mapping[str, Any], choices: Choices, definitions: Mapping[str, Any] | None = None) -> JsonObject:
    """A schema without references, defaults and titles, every object closed and every field required."""
    definitions = schema.get("$defs", {}) if definitions is None else definitions
    schema = {name: value for name, value in _resolved(schema, definitions).items() if name not in _DROPPED}
    if "pattern" in schema:
        schema = {"type": "string", "enum": [schema["pattern"]]}
    if "anyOf" in schema:
        schema["anyOf"] = [_closed(option, choices, definitions) for option in schema["anyOf"]]
    if "items" in schema:
        schema["items"] = _closed(schema["items"], choices, definitions)
    if "properties" in schema:
        members = {
            name: _chosen(_closed(value, choices, definitions), choices.get(name))
            for name, value in schema["properties"].items()
        }
        schema |= {"properties": members, "required": list(members), "additionalProperties": False}
    return schema


def _chosen(schema: JsonObject, texts: Sequence[str] | None) -> JsonObject:
    """A field that is one of some texts, or a list of them, or null where it may be; without texts, only null."""
    if texts is None:
        return schema
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if texts or option.get("type") == "null"]
        return {"anyOf": [_chosen(option, texts) for option in options]} if options else schema
    if "items" in schema:
        return {**schema, "items": _chosen(schema["items"], texts)}
    return {"type": "string", "enum": list(texts)} if texts and schema.get("type") == "string" else schema


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return dict(definitions[reference.rsplit("/", 1)[-1]] if reference else schema)


def _has_open_object(schema: Any) -> bool:  # noqa: ANN401 - any part of a schema
    if isinstance(schema, list):
        return any(map(_has_open_object, schema))
    if not isinstance(schema, dict):
        return False
    open_here = schema.get("type") == "object" and "properties" not in schema
    return open_here or any(map(_has_open_object, schema.values()))
