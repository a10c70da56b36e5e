"""What the diagnosis graph costs over a bare LangGraph of as many nodes that do nothing.

Three graphs take the straight path of six nodes, without a store:

- bare: LangGraph alone, nodes that do nothing, a conditional way out of each;
- wired: the diagnosis graph with its state, guards, counters and events, and bodies that do nothing. This against the
  bare graph is the overhead of the graph;
- replayed: a whole run with recorded agents: parsing, masking, citation checking, rendering, the run's document. This
  is work that a run is made for, and is shown beside it.

They take turns in blocks, so that a busy machine slows all alike; the median of the blocks' ratios counts.

    PYTHONPATH=graph python benchmarks/graph_overhead.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from diag_graph.agents.recorded import Recording
from diag_graph.build import Body, build_graph
from diag_graph.contracts import DiagnosisContext
from diag_graph.nodes.deps import Deps
from diag_graph.playback import replay
from diag_graph.runfile import read_run_file
from diag_graph.telemetry import tracing_as_configured
from diag_graph.tools.ledger import Ledger
from diag_graph.topology import RECURSION_LIMIT, RETRY_KEY, Node

REPLAY = Path(__file__).parents[1] / "fixtures" / "runs" / "graph" / "planner-completed.json"
BLOCK = 20
PATH = (Node.PLANNER, Node.EXECUTOR, Node.GATEKEEPER, Node.VERIFIED_INPUT, Node.VERIFIER, Node.COMPOSER)
UPDATES: dict[Node, dict[str, Any]] = {
    Node.PLANNER: {"planner_status": "COMPLETED"},
    Node.EXECUTOR: {"executor_status": "COMPLETED"},
    Node.GATEKEEPER: {"gatekeeper_status": "PASS"},
    Node.VERIFIED_INPUT: {},
    Node.VERIFIER: {"verifier_status": "COMPLETED", "effective_verdict": "PASS"},
    Node.COMPOSER: {"composer_status": "COMPLETED", "final_answer": "an answer"},
}


class BareState(TypedDict, total=False):
    """A state of one counter."""

    steps: int


def bare_run() -> Callable[[], None]:
    """One run of a bare graph."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(BareState)
    for node, following in zip(PATH, [*PATH[1:], END], strict=True):
        builder.add_node(node, lambda state: {"steps": state["steps"] + 1})
        builder.add_conditional_edges(node, lambda _state, way=following: way, [following])
    builder.add_edge(START, PATH[0])
    graph = builder.compile()

    def run() -> None:
        with tracing_as_configured():
            *_, last = graph.stream({"steps": 0}, {"recursion_limit": RECURSION_LIMIT}, stream_mode="values")
        if last["steps"] != len(PATH):
            raise RuntimeError("the bare graph went another way")

    return run


def wired_run() -> Callable[[], None]:
    """One run of the diagnosis graph with bodies that do nothing."""
    graph = build_graph({node: _body(update) for node, update in UPDATES.items()})
    deps = Deps(Recording(()).agents(), Ledger((), None, lambda _event: None), lambda _event: None)
    context = DiagnosisContext(question="why?", session_id="s", run_id="r", now="2026-07-16T14:20:00Z")
    counters = dict.fromkeys([*RETRY_KEY.values(), "evidence_retry_count"], 0)
    initial: Any = {"diagnosis_context": context, "orchestration_events": [], **counters}

    def run() -> None:
        with tracing_as_configured():
            stream = graph.stream(initial, {"recursion_limit": RECURSION_LIMIT}, context=deps, stream_mode="values")
            *_, last = stream
        if [event["node"] for event in last["orchestration_events"]] != [*PATH]:
            raise RuntimeError("the wired graph went another way")

    return run


def _body(update: dict[str, Any]) -> Body:
    return lambda _view, _call: update


def replayed_run() -> Callable[[], None]:
    """One whole run, played from a file that has been read."""
    run_file = read_run_file(REPLAY)

    def run() -> None:
        if not replay(run_file).matches:
            raise RuntimeError("the replay went another way")

    return run


def seconds(run: Callable[[], None], times: int) -> float:
    """Mean seconds of a run."""
    begun = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - begun) / times


def main() -> None:
    """Measure, and print the times of a run and their ratios to the bare graph."""
    parser = argparse.ArgumentParser(description="What the diagnosis graph costs over a bare LangGraph.")
    parser.add_argument("--runs", type=int, default=400, help="runs of each graph")
    blocks = max(1, parser.parse_args().runs // BLOCK)
    graphs = {"bare": bare_run(), "wired": wired_run(), "replayed": replayed_run()}
    for run in graphs.values():
        seconds(run, BLOCK)
    taken = [{name: seconds(run, BLOCK) for name, run in graphs.items()} for _ in range(blocks)]
    for name in graphs:
        milliseconds = statistics.median(block[name] for block in taken) * 1000
        ratio = statistics.median(block[name] / block["bare"] for block in taken)
        print(f"{name:<9} {milliseconds:6.2f} ms a run {ratio:6.2f} x bare")


if __name__ == "__main__":
    main()
