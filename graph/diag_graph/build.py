"""Wires nodes and routes into a LangGraph graph. Owns the counters and the events; knows nothing of what nodes do.

`_wrapped` stands around every node. It counts (R2), checks the update's keys, turns an exception that a node let
through into a way to fallback, appends the event, and sends the run where the table says, as a `Command`: a conditional
edge would have LangGraph read the whole state again after each node. Nodes see their channels only (`input_schema`)
and reach the run's dependencies through LangGraph's runtime context.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from diag_graph import routing, state
from diag_graph.errors import RunAborted
from diag_graph.events import NodeFinished, NodeStarted
from diag_graph.nodes import (
    composer,
    evidence_retry,
    executor,
    fallback,
    gatekeeper,
    planner,
    verified_input,
    verifier,
)
from diag_graph.nodes.deps import Deps, NodeCall
from diag_graph.state import OWN_KEYS, DiagnosisState, Event, Update
from diag_graph.topology import RETRY_KEY, ROUTES, STATUS_KEY, Node, PlannerMode

_log = logging.getLogger(__name__)

Graph = CompiledStateGraph[DiagnosisState, Deps, DiagnosisState, DiagnosisState]
Body = Callable[[Any, NodeCall], Update]
"""A node's body: its channels and the call, to an update."""


class NodeSpec(NamedTuple):
    """A node's body, and the channels that LangGraph hands to it."""

    body: Body
    channels: type[state.Control]


NODES: dict[Node, NodeSpec] = {
    Node.PLANNER: NodeSpec(planner.run, state.PlannerChannels),
    Node.EXECUTOR: NodeSpec(executor.run, state.ExecutorChannels),
    Node.GATEKEEPER: NodeSpec(gatekeeper.run, state.GatekeeperChannels),
    Node.VERIFIED_INPUT: NodeSpec(verified_input.run, state.VerifiedInputChannels),
    Node.VERIFIER: NodeSpec(verifier.run, state.VerifierChannels),
    Node.EVIDENCE_RETRY: NodeSpec(evidence_retry.run, state.EvidenceRetryChannels),
    Node.COMPOSER: NodeSpec(composer.run, state.ComposerChannels),
    Node.FALLBACK: NodeSpec(fallback.run, state.FallbackChannels),
}


def build_graph(bodies: dict[Node, Body] | None = None) -> Graph:
    """The diagnosis graph, compiled. It keeps nothing between runs, so that all runs of a process share one.

    Args:
        bodies: Other bodies for some nodes, for tests of the wiring.
    """
    return _compiled() if bodies is None else _compile(bodies)


@cache
def _compiled() -> Graph:
    return _compile({})


def _compile(bodies: dict[Node, Body]) -> Graph:
    builder = StateGraph(DiagnosisState, context_schema=Deps)
    for node, spec in NODES.items():
        body = bodies.get(node, spec.body)
        action = _wrapped(node, body)
        targets = {route.target for route in ROUTES if route.source is node}
        if node is not Node.FALLBACK:
            targets.add(Node.FALLBACK)
        ends = tuple(sorted(str(target) for target in targets))
        builder.add_node(  # type: ignore[call-overload]
            node.value, action, input_schema=spec.channels, destinations=ends
        )
    builder.add_edge(START, Node.PLANNER.value)
    return builder.compile()


def _wrapped(node: Node, body: Body) -> Callable[[Any, Runtime[Deps]], Command[str]]:
    def attempt(view: Any, runtime: Runtime[Deps]) -> Command[str]:  # noqa: ANN401 - one of the channel types
        deps = runtime.context
        counters = _counters(node, view)
        now = {**view, **counters}
        round_ = view.get("evidence_retry_count", 0) + 1
        technical = now.get(RETRY_KEY[node], 0) + 1 if node in RETRY_KEY else 1
        deps.emit(NodeStarted(node, technical, round_))
        begun = deps.clock()
        update, reason = _run(node, body, now, NodeCall(deps, technical, round_))
        event = Event(
            node=node.value,
            outcome=_outcome(node, update, reason),
            reason_code=str(reason),
            attempt=technical if node in RETRY_KEY else round_,
        )
        elapsed = round((deps.clock() - begun) * 1000)
        deps.emit(NodeFinished(node, event["outcome"], event["reason_code"], event["attempt"], elapsed))
        done = {**update, **counters, "orchestration_events": [event]}
        target = routing.next_node(node, {**now, **done})
        failed = target in {node, Node.FALLBACK} or node is Node.FALLBACK
        return Command(update={**done, "failure_reason": event["reason_code"] if failed else None}, goto=str(target))

    return attempt


def _run(node: Node, body: Body, view: dict[str, Any], call: NodeCall) -> tuple[Update, str]:
    """The body's update and its reason code; an exception becomes an update that opens no way but fallback.

    After an exception in fallback itself the run ends, without an answer.
    """
    nothing: Update = dict.fromkeys(OWN_KEYS[node])
    try:
        update = body(view, call)
        foreign = set(update) - OWN_KEYS[node]
        if foreign:
            raise KeyError(f"{node} may not write {', '.join(sorted(foreign))}")
        whole = {**nothing, **update}
        return whole, routing.reason_code(node, {**view, **whole})
    except RunAborted:
        raise
    except Exception:  # noqa: BLE001 - a fault of one node must lead to fallback, whatever it is (T2)
        _log.exception("node %s failed", node)
        return nothing, routing.node_error(node)


def _counters(node: Node, view: dict[str, Any]) -> Update:
    """What entering a node does to the counters; no node body sets one (R2)."""
    if node is Node.EVIDENCE_RETRY:
        return {
            "evidence_retry_count": view.get("evidence_retry_count", 0) + 1,
            "planner_retry_count": 0,
            "planner_mode": PlannerMode.EVIDENCE_GAP_ONLY,
        }
    if node is Node.VERIFIED_INPUT:
        return {"verifier_retry_count": 0}
    events = view.get("orchestration_events") or []
    if node in RETRY_KEY and events and events[-1]["node"] == node:
        return {RETRY_KEY[node]: view.get(RETRY_KEY[node], 0) + 1}
    return {}


def _outcome(node: Node, update: Update, reason: str) -> str:
    if reason == f"{node}_error":
        return "ERROR"
    if reason == f"{node}_unknown_status":
        return "UNKNOWN"
    return str(update[STATUS_KEY[node]]) if node in STATUS_KEY else "COMPLETED"
