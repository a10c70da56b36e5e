"""How OTLP's JSON nests and writes values (JSON mapping of protobuf)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diag_graph.sources.folder import fields


def leaves(
    request: Mapping[str, Any], root: str, scopes: tuple[str, ...], leaf: str
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each innermost object with its service and its resource's other attributes."""
    for resource in _objects(request.get(root)):
        inner = resource.get("resource")
        attributes = attributes_of(inner.get("attributes")) if isinstance(inner, dict) else {}
        service = str(attributes.pop("service.name", "") or "")
        for key in scopes:
            for scope in _objects(resource.get(key)):
                for raw in _objects(scope.get(leaf)):
                    yield service, attributes, raw


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def attributes_of(pairs: object) -> dict[str, Any]:
    """A list of keys and values as a mapping."""
    return {str(pair.get("key")): value_of(pair.get("value")) for pair in _objects(pairs)}


def value_of(value: object) -> Any:  # noqa: ANN401 (any JSON)
    """An `AnyValue` as what it holds."""
    if not isinstance(value, dict):
        return value
    for key, inner in value.items():
        if key == "arrayValue" and isinstance(inner, dict):
            return [value_of(item) for item in fields.items_of(inner.get("values"))]
        if key == "kvlistValue" and isinstance(inner, dict):
            return attributes_of(inner.get("values"))
        if key == "intValue":
            return whole_number(inner)
        return inner
    return None


def whole_number(value: object) -> object:
    """A whole number, also one written as text, as protobuf's JSON writes 64-bit integers; else the value as it is."""
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() and len(value) < 20 else value  # noqa: PLR2004
