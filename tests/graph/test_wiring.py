"""How the graph is wired: what a node may write, what becomes of one that breaks, and what a run leaves then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from diag_graph import build, routing
from diag_graph.agents.ports import AgentSet
from diag_graph.build import Body, build_graph
from diag_graph.contracts import DiagnosisContext, FactCheck, VerifierResult
from diag_graph.events import Event, RunFinished
from diag_graph.nodes.deps import Deps, NodeCall
from diag_graph.playback import ReplayResult
from diag_graph.run import Assignment, execute
from diag_graph.runfile import FileStep
from diag_graph.state import OWN_KEYS, DiagnosisState
from diag_graph.tools.ledger import Ledger
from diag_graph.topology import RECURSION_LIMIT, RETRY_KEY, Node
from recordings import (
    NOW,
    POOL,
    QUESTION,
    call,
    composer,
    executor,
    fails,
    path_of,
    plan,
    play,
    reasons_of,
    verifier,
)

STRAIGHT = ["planner", "executor", "gatekeeper", "verified_input", "verifier", "composer"]


class Silent:
    """Agents of a run in which no agent is reached."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        raise AssertionError(f"no agent is asked: {name}")


def scripted(bodies: dict[Node, Body]) -> DiagnosisState:
    """The final state of a graph with these bodies; nodes without one do nothing."""
    nothing: dict[Node, Body] = {node: lambda view, call: {} for node in Node}
    graph = build_graph({**nothing, Node.FALLBACK: lambda view, call: {"final_answer": "fixed text"}, **bodies})
    agents = AgentSet(Silent(), Silent(), Silent(), Silent(), "none")  # type: ignore[arg-type]
    deps = Deps(agents=agents, ledger=Ledger((), None, lambda event: None), emit=lambda event: None)
    context = DiagnosisContext(question=QUESTION, session_id="s", run_id="r", now=NOW)
    initial: DiagnosisState = {"diagnosis_context": context, "evidence_retry_count": 0, "orchestration_events": []}
    initial.update(dict.fromkeys(RETRY_KEY.values(), 0))  # type: ignore[typeddict-item]
    return graph.invoke(initial, {"recursion_limit": RECURSION_LIMIT}, context=deps)


def always(**update: object) -> Body:
    """A body that writes this."""
    return lambda view, call: dict(update)


FORWARD: dict[Node, Body] = {
    Node.PLANNER: always(planner_status="COMPLETED"),
    Node.EXECUTOR: always(executor_status="COMPLETED"),
    Node.GATEKEEPER: always(gatekeeper_status="PASS"),
    Node.VERIFIED_INPUT: always(verifier_verdict_ceiling="PASS"),
    Node.VERIFIER: always(verifier_status="COMPLETED", effective_verdict="PASS"),
    Node.COMPOSER: always(composer_status="COMPLETED", final_answer="an answer"),
}


def nodes_of(state: DiagnosisState) -> list[str]:
    """The nodes that ran."""
    return [event["node"] for event in state["orchestration_events"]]


def test_bodies_that_do_their_part_reach_the_end() -> None:
    """The scripted way forward, of which the tests below change one body each."""
    state = scripted(FORWARD)
    assert nodes_of(state) == STRAIGHT
    assert state["final_answer"] == "an answer"


@pytest.mark.parametrize("node", [node for node in Node if node not in (Node.FALLBACK, Node.EVIDENCE_RETRY)])
def test_an_exception_of_a_node_leads_to_fallback(node: Node) -> None:
    """Section 8: an exception that a node let through is its event, and fallback answers."""

    def broken(view: object, call: NodeCall) -> dict[str, Any]:
        raise ZeroDivisionError

    state = scripted({**FORWARD, node: broken})
    assert state["orchestration_events"][-2] == {
        "node": str(node),
        "outcome": "ERROR",
        "reason_code": f"{node}_error",
        "attempt": 1,
    }
    assert nodes_of(state)[-1] == "fallback"
    assert state["final_answer"] == "fixed text"
    assert state["failure_reason"] == f"{node}_error"


@pytest.mark.parametrize(
    ("node", "key"),
    [(node, key) for node in FORWARD for key in ("planer_plan", RETRY_KEY[Node.PLANNER], "evidence_retry_count")]
    + [(node, "planner_mode") for node in FORWARD]
    + [(node, "orchestration_events") for node in FORWARD]
    + [(Node.PLANNER, "effective_verdict"), (Node.EXECUTOR, "gatekeeper_status")],
)
def test_a_node_may_write_its_own_keys_and_no_others(node: Node, key: str) -> None:
    """R2: a misspelt key, a counter, the mode, events or another node's key are refused, not ignored."""

    def greedy(view: object, call: NodeCall) -> dict[str, Any]:
        return {**FORWARD[node](view, call), key: 1}

    state = scripted({**FORWARD, node: greedy})
    assert state["orchestration_events"][-2]["reason_code"] == f"{node}_error"
    assert nodes_of(state)[-1] == "fallback"


@pytest.mark.parametrize("node", FORWARD)
@pytest.mark.parametrize("odd", [None, [], "text", 3], ids=repr)
def test_a_body_that_returns_no_update_leads_to_fallback(node: Node, odd: object) -> None:
    """A node that breaks its own contract opens no way."""
    state = scripted({**FORWARD, node: lambda view, call: odd})
    assert nodes_of(state)[-1] == "fallback"


@pytest.mark.parametrize("node", [Node.PLANNER, Node.EXECUTOR, Node.GATEKEEPER, Node.VERIFIER])
def test_what_a_node_leaves_out_is_not_taken_from_the_first_round(node: Node) -> None:
    """R1: a status that is absent in round two does not lead on because round one had one."""
    gap = VerifierResult(verdict="LOW_CONFID", facts_checked=(FactCheck(fact="x", verification="no_evidence"),))
    low = always(verifier_status="COMPLETED", effective_verdict="LOW_CONFID", verifier_output=gap)
    bodies = {**FORWARD, Node.VERIFIER: low}
    first = bodies[node]
    bodies[node] = lambda view, call: first(view, call) if call.round == 1 else {}
    state = scripted(bodies)
    assert state["orchestration_events"][-2]["reason_code"] == f"{node}_unknown_status"
    assert state["orchestration_events"][-2]["outcome"] == "UNKNOWN"
    assert nodes_of(state)[-1] == "fallback"
    assert {key: state[key] for key in OWN_KEYS[node]} == dict.fromkeys(OWN_KEYS[node])


def test_every_node_owns_the_keys_that_its_real_body_writes() -> None:
    """The table of keys covers the whole state but for what the graph itself keeps."""
    kept = {"diagnosis_context", "orchestration_events", "evidence_retry_count", "planner_mode", "failure_reason"}
    owned = {key for keys in OWN_KEYS.values() for key in keys}
    everything = {key for kind in DiagnosisState.__mro__[:1] for key in kind.__annotations__}
    assert owned | kept | set(RETRY_KEY.values()) == everything


def run_with(monkeypatch: pytest.MonkeyPatch, node: Node, body: Body, *steps: FileStep) -> ReplayResult:
    """Replay these steps through a graph in which one node has another body."""
    compiled = build_graph({node: body})
    monkeypatch.setattr(build, "build_graph", lambda: compiled)
    return play(*steps)


def broken(view: object, call: NodeCall) -> dict[str, Any]:
    """A body that raises."""
    raise ZeroDivisionError


def test_an_exception_in_fallback_fails_the_run_and_keeps_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """T2, D1: no safe answer could be made, so the run is FAILED, and its trace shows how far it got."""
    run = run_with(monkeypatch, Node.FALLBACK, broken, fails("planner", "auth")).document.run
    assert (run.status, run.answer, run.verdict) == ("FAILED", None, None)
    assert run.failure_reason == "fallback_error"
    assert run.orchestration_trace["final_node"] == "fallback"
    assert run.orchestration_trace["termination_reason"] == "fallback_error"
    assert run.orchestration_trace["degraded"] is True


def test_a_death_of_the_graph_fails_the_run_and_keeps_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """T2: whatever kills the graph itself, the run ends, is told to listeners, and has its trace as far as it got."""
    original = routing.next_node

    def dies(source: Node, state: Mapping[str, Any]) -> str:
        if source is Node.GATEKEEPER:
            raise MemoryError
        return original(source, state)

    monkeypatch.setattr(routing, "next_node", dies)
    heard: list[Event] = []
    result = play(plan(), executor(), listeners=[heard.append])
    run = result.document.run
    assert run.status == "FAILED"
    assert run.failure_reason == "graph_error: MemoryError"
    assert reasons_of(result)[:2] == ["planner_completed", "executor_completed"]
    assert isinstance(heard[-1], RunFinished)
    assert len(result.document.invocations) == 1


def test_an_interrupt_ends_the_run_and_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """D2: listeners hear the end of an interrupted run before the interrupt goes on."""

    def interrupted(view: object, call: NodeCall) -> dict[str, Any]:
        raise KeyboardInterrupt

    heard: list[Event] = []
    compiled = build_graph({Node.GATEKEEPER: interrupted})
    monkeypatch.setattr(build, "build_graph", lambda: compiled)
    with pytest.raises(KeyboardInterrupt):
        play(plan(), executor(), listeners=[heard.append])
    last = heard[-1]
    assert isinstance(last, RunFinished)
    assert last.document.run.failure_reason == "interrupted"
    assert (last.document.run.orchestration_trace or {})["final_node"] == "executor"


def test_a_listener_that_fails_changes_nothing() -> None:
    """A fault in what shows or keeps a run never changes what the run does."""

    def faulty(event: Event) -> None:
        raise OSError("disk full")

    result = play(plan(), executor(), verifier(), composer(), listeners=[faulty])
    assert path_of(result) == STRAIGHT


def test_an_answer_that_a_node_forgot_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """D1: SUCCESS means that there is an answer."""
    steps = (plan(), executor(), verifier())
    run = run_with(monkeypatch, Node.COMPOSER, always(composer_status="COMPLETED"), *steps).document.run
    assert (run.status, run.failure_reason) == ("FAILED", "no_answer")


def test_the_thread_is_the_run_and_the_session_travels_as_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """R5: thread id is the run id; session and run id are metadata."""
    seen: dict[str, Any] = {}

    class Watched:
        def stream(self, initial: object, config: dict[str, Any], **options: object) -> Iterator[object]:
            seen.update(config)
            return iter(())

    monkeypatch.setattr(build, "build_graph", Watched)
    agents = AgentSet(Silent(), Silent(), Silent(), Silent(), "none")  # type: ignore[arg-type]
    run = execute(Assignment(question=QUESTION, agents=agents, now=NOW, session_id="session-7")).run
    assert seen["configurable"] == {"thread_id": run.run_id}
    assert seen["metadata"] == {"run_id": run.run_id, "session_id": "session-7"}
    assert seen["recursion_limit"] == RECURSION_LIMIT


def test_two_runs_share_nothing() -> None:
    """R5: a second run through the same compiled graph starts from nothing."""
    first = play(plan(), executor(calls=[call("inv-1", POOL, "more")]), fails("verifier"), fails("verifier"))
    second = play(plan(), executor(), verifier(), composer())
    assert path_of(second) == STRAIGHT
    assert first.document.run.run_id != second.document.run.run_id
    assert [call.result["items"][0]["text"] for call in second.document.invocations] == [POOL]


def test_the_drawing_is_current() -> None:
    """The drawing in the docs is what LangGraph draws of the graph."""
    docs = Path(__file__).parents[2] / "docs" / "architecture.md"
    drawing = docs.read_text(encoding="utf-8").split("```mermaid\n", 1)[1].split("```", 1)[0]
    assert drawing.strip() == build_graph().get_graph().draw_mermaid().strip()
