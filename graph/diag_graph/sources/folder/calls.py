"""Who calls whom: call graphs as JSON, and what spans show of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from diag_graph.analysis.records import Edge, Span
from diag_graph.sources.folder import fields

_CALLER = ("caller", "source", "from", "parent", "upstream_of", "src", "client", "consumer")
_CALLEE = ("callee", "target", "to", "child", "dst", "destination", "server", "dependency", "producer")
_GRAPH_KEYS = frozenset({"edges", "links", "calls", "dependencies", "topology", "graph", "adjacency", "call_graph"})
_NODE_KEYS = frozenset({"nodes", "services", "vertices"})
_PAIR = 2
_GRAPH_FILE = re.compile(r"topolog|graph|depend|edges|calls|service.?map", re.IGNORECASE)


def names_a_graph(file: str) -> bool:
    """Whether a file's name says that it holds a call graph."""
    return _GRAPH_FILE.search(file) is not None


def edges_of(value: object, *, hinted: bool = False) -> tuple[Edge, ...]:
    """The calls in a JSON value that is a call graph; none when it is no call graph.

    Args:
        value: Parsed JSON.
        hinted: Whether it is called a call graph: then any map of lists of names is taken for one.
    """
    if isinstance(value, list):
        return _edges_of_list(value)
    if not isinstance(value, dict):
        return ()
    for key, inner in value.items():
        if fields.plain(key) in _GRAPH_KEYS:
            found = edges_of(inner, hinted=True)
            if found:
                names = _names_of_nodes(value)
                return tuple(
                    Edge(names.get(edge.caller, edge.caller), names.get(edge.callee, edge.callee)) for edge in found
                )
    return _adjacency(value, hinted=hinted)


def edges_of_spans(spans: Iterable[Span]) -> tuple[Edge, ...]:
    """The calls that parents and children of different services show, by name."""
    spans = list(spans)
    service_of = {(span.trace_id, span.span_id): span.service for span in spans if span.service}
    found = set()
    for span in spans:
        if span.parent_id and span.service:
            caller = service_of.get((span.trace_id, span.parent_id), "")
            if caller and caller != span.service:
                found.add(Edge(caller, span.service))
    return tuple(sorted(found, key=lambda edge: (edge.caller, edge.callee)))


def _edges_of_list(items: Sequence[Any]) -> tuple[Edge, ...]:
    edges = []
    for item in items:
        if isinstance(item, (list, tuple)) and len(item) == _PAIR and all(isinstance(end, str) for end in item):
            edges.append(Edge(item[0], item[1]))
        elif isinstance(item, dict):
            caller, callee = fields.text_of(fields.pick(item, _CALLER)), fields.text_of(fields.pick(item, _CALLEE))
            if caller and callee:
                edges.append(Edge(caller, callee))
    return tuple(dict.fromkeys(edges)) if len(edges) * 2 > len(items) else ()


def _adjacency(value: Mapping[str, Any], *, hinted: bool) -> tuple[Edge, ...]:
    """Calls of `{"a": ["b", "c"]}`; none where the object is only one with lists of words in it.

    Every value must be a list of names; and some name in them a key as well, unless it is called a call graph.
    """
    lists = {key: item for key, item in value.items() if isinstance(item, list)}
    if len(lists) != len(value) or not all(isinstance(name, str) for item in lists.values() for name in item):
        return ()
    if not hinted and not any(name in lists for item in lists.values() for name in item):
        return ()
    return tuple(dict.fromkeys(Edge(caller, callee) for caller, item in lists.items() for callee in item))


def _names_of_nodes(graph: Mapping[str, Any]) -> dict[str, str]:
    """What the ends of edges are called, where a graph numbers its nodes."""
    names: dict[str, str] = {}
    for key, nodes in graph.items():
        if fields.plain(key) in _NODE_KEYS and isinstance(nodes, list):
            for node in nodes:
                if isinstance(node, dict):
                    identifier, name = node.get("id"), fields.pick(node, ("name", "label", "service", "app"))
                    if isinstance(identifier, (str, int)) and isinstance(name, str):
                        names[str(identifier)] = name
    return names
