"""Which way runs go, over the real compiled graph: recorded agents, and scripted bodies where an agent cannot lead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from diag_graph import build, routing
from diag_graph.agents.ports import AgentSet
from diag_graph.build import Body, build_graph
from diag_graph.contracts import DiagnosisContext, FactCheck, VerifierResult
from diag_graph.events import Event, NodeFinished, NodeStarted, RunFinished
from diag_graph.nodes.deps import Deps, NodeCall
from diag_graph.playback import ReplayResult
from diag_graph.run import Assignment, execute
from diag_graph.runfile import FileStep
from diag_graph.state import OWN_KEYS, DiagnosisState
from diag_graph.tools.ledger import Ledger
from diag_graph.topology import RECURSION_LIMIT, RETRY_KEY, Node
from recordings import (
    FORGED,
    NOW,
    POOL,
    QUESTION,
    UNBOUND,
    call,
    claim,
    composer,
    executor,
    fact,
    fails,
    no_facts,
    path_of,
    plan,
    play,
    reasons_of,
    says,
    speechless,
    verifier,
)

GAP = fact("no_evidence", None, "why the pool filled up")
SECOND_ROUND = (plan(), executor(), verifier("LOW_CONFID", fact(), GAP))
"""The steps that lead into an evidence round."""
AGAIN = executor(calls=[call("inv-2")])

STRAIGHT = ["planner", "executor", "gatekeeper", "verified_input", "verifier", "composer"]
ROUND = STRAIGHT[:-1]

PATHS: dict[str, tuple[list[FileStep], list[str]]] = {
    "straight": ([plan(), executor(), verifier(), composer()], STRAIGHT),
    "verdict REJECT": ([plan(), executor(), no_facts("REJECT"), speechless()], STRAIGHT),
    "a passed gate with no claims": (
        [plan(), executor(claims=[]), no_facts("PASS"), speechless()],
        STRAIGHT,
    ),
    "gate LOW_CONFID with one passed": ([plan(), executor(claim(), UNBOUND), verifier(), composer()], STRAIGHT),
    "gate LOW_CONFID with none passed": ([plan(), executor(UNBOUND)], [*STRAIGHT[:3], "fallback"]),
    "gate REJECT": ([plan(), executor(claim(), claim("claim-2", "x", FORGED))], [*STRAIGHT[:3], "fallback"]),
    "planner repeated": (
        [says("planner", "no plan"), plan(), executor(), verifier(), composer()],
        ["planner", *STRAIGHT],
    ),
    "planner twice": ([fails("planner", "timeout"), says("planner", "no plan")], ["planner", "planner", "fallback"]),
    "planner not retryable": ([fails("planner", "auth")], ["planner", "fallback"]),
    "executor invalid": ([plan(), says("executor", "{")], ["planner", "executor", "fallback"]),
    "executor blocked": ([plan(), fails("executor", "tool_blocked")], ["planner", "executor", "fallback"]),
    "executor failed": ([plan(), fails("executor", "timeout")], ["planner", "executor", "fallback"]),
    "verifier repeated": (
        [plan(), executor(), fails("verifier", "rate_limit"), verifier(), composer()],
        [*ROUND, "verifier", "composer"],
    ),
    "verifier twice": (
        [plan(), executor(), fails("verifier"), says("verifier", None)],
        [*ROUND, "verifier", "fallback"],
    ),
    "verifier not retryable": ([plan(), executor(), fails("verifier", "config")], [*ROUND, "fallback"]),
    "LOW_CONFID without a gap": (
        [plan(), executor(), verifier("LOW_CONFID", fact("contradicted")), speechless()],
        STRAIGHT,
    ),
    "LOW_CONFID under the ceiling": (
        [plan(), executor(claim(), UNBOUND), verifier("LOW_CONFID", fact(), GAP), composer()],
        STRAIGHT,
    ),
    "a second round": (
        [*SECOND_ROUND, plan(), AGAIN, verifier(), composer()],
        [*ROUND, "evidence_retry", *STRAIGHT],
    ),
    "E4: a second LOW_CONFID": (
        [*SECOND_ROUND, plan(), AGAIN, verifier("LOW_CONFID", fact(), GAP), composer()],
        [*ROUND, "evidence_retry", *STRAIGHT],
    ),
    "a second round that falls": (
        [*SECOND_ROUND, plan(), says("executor", None)],
        [*ROUND, "evidence_retry", "planner", "executor", "fallback"],
    ),
    "composer repeated": (
        [plan(), executor(), verifier(), fails("composer"), composer()],
        [*STRAIGHT, "composer"],
    ),
    "composer twice": (
        [plan(), executor(), verifier(), says("composer", "{}"), fails("composer")],
        [*STRAIGHT, "composer", "fallback"],
    ),
    "composer not retryable": (
        [plan(), executor(), verifier(), fails("composer", "bad_request")],
        [*STRAIGHT, "fallback"],
    ),
    "the longest": (
        [
            fails("planner"),
            plan(),
            executor(),
            fails("verifier"),
            verifier("LOW_CONFID", fact(), GAP),
            fails("planner"),
            plan(),
            AGAIN,
            fails("verifier"),
            verifier("LOW_CONFID", fact(), GAP),
            fails("composer"),
            fails("composer"),
        ],
        [
            "planner",
            *ROUND,
            "verifier",
            "evidence_retry",
            "planner",
            *ROUND,
            "verifier",
            "composer",
            "composer",
            "fallback",
        ],
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_each_path(name: str) -> None:
    """SPEC section 2: these steps lead through these nodes, all steps are used up, and the run ends with an answer."""
    steps, path = PATHS[name]
    result = play(*steps)
    assert path_of(result) == path
    assert result.divergence is None
    assert result.document.run.status == "SUCCESS"
    assert (result.document.run.orchestration_trace or {})["degraded"] == (path[-1] == "fallback")


def test_the_longest_path_stays_far_from_the_recursion_limit() -> None:
    """R4: every agent fails once where it may, in both rounds, and the limit plays no part (start is a step too)."""
    _, path = PATHS["the longest"]
    assert len(path) == max(len(path) for _, path in PATHS.values()) == 18
    assert len(path) + 2 < RECURSION_LIMIT


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("timeout", "RETRYABLE_FAILED"),
        ("rate_limit", "RETRYABLE_FAILED"),
        ("unavailable", "RETRYABLE_FAILED"),
        ("auth", "NON_RETRYABLE_FAILED"),
        ("bad_request", "NON_RETRYABLE_FAILED"),
        ("context_length", "NON_RETRYABLE_FAILED"),
        ("config", "NON_RETRYABLE_FAILED"),
        ("other", "NON_RETRYABLE_FAILED"),
    ],
)
@pytest.mark.parametrize("agent", ["planner", "verifier", "composer"])
def test_what_a_failure_of_a_model_call_means(agent: str, kind: str, status: str) -> None:
    """SPEC section 4: retryable failures are tried once more, the others end in fallback at once."""
    before = {"planner": [], "verifier": [plan(), executor()], "composer": [plan(), executor(), verifier()]}[agent]
    twice = status == "RETRYABLE_FAILED"
    result = play(*before, *[fails(agent, kind)] * (2 if twice else 1))
    steps = [step for step in result.document.steps if step.agent == agent]
    assert [(step.status, step.attempt, step.error_kind) for step in steps] == [
        (status, attempt, kind) for attempt in ((1, 2) if twice else (1,))
    ]
    assert reasons_of(result)[-1] == f"{agent}_{status.lower()}"


@pytest.mark.parametrize("kind", ["timeout", "rate_limit", "unavailable", "auth", "config", "other", "context_length"])
def test_in_the_executor_every_failure_is_failed(kind: str) -> None:
    """SPEC section 4: an executor's failed call is FAILED and never retried."""
    result = play(plan(), fails("executor", kind, calls=[call()]))
    assert reasons_of(result)[-2:] == ["executor_failed", "executor_failed"]
    assert len(result.document.steps) == 2


@pytest.mark.parametrize("output", [None, "", " ", "no JSON", "[]", '{"claims": {}}', "{}", '{"claims": [', "null"])
def test_an_executor_that_answered_badly_is_invalid_output(output: str | None) -> None:
    """SPEC section 4: nothing, no JSON, broken JSON, a root that is no object, `claims` that is no array."""
    result = play(plan(), says("executor", output))
    assert reasons_of(result)[-1] == "executor_invalid_output"
    note = result.document.steps[-1].error or ""
    assert note.startswith("malformed" if output and output.strip() else "missing")


@pytest.mark.parametrize("status", ["error", "blocked", "empty"])
def test_a_tool_that_failed_does_not_change_the_executors_status(status: str) -> None:
    """SPEC section 4: a legal document is COMPLETED, however its tools fared."""
    result = play(plan(), executor(claims=[], calls=[call(status=status)]), no_facts("REJECT"), speechless())
    assert reasons_of(result)[1] == "executor_completed"


def test_a_skill_that_is_not_registered_is_read_as_none_and_noted() -> None:
    """SPEC section 4: the plan counts, the skill does not."""
    result = play(plan(selected_skill="no-such"), executor(), verifier(), composer())
    step = result.document.steps[0]
    assert step.status == "COMPLETED"
    assert "no-such" in (step.error or "")


@pytest.mark.parametrize(
    "output",
    [{"steps": []}, {"steps": [{"step_id": "s", "goal": " "}]}, {"intent": "x"}, {"steps": "s"}, {"steps": [3]}],
    ids=repr,
)
def test_a_plan_without_a_goal_is_invalid(output: dict[str, Any]) -> None:
    """SPEC section 4: a plan needs at least one step with a goal."""
    assert reasons_of(play(says("planner", output), fails("planner", "auth")))[0] == "planner_invalid_output"


# --- counters and events -----------------------------------------------------------------------------------------


def test_attempts_count_anew_in_each_phase() -> None:
    """R2: the planner's counter starts again in round two, and the verifier's with each new input."""
    heard: list[Event] = []
    result = play(*PATHS["the longest"][0], listeners=[heard.append])
    finished = [event for event in heard if isinstance(event, NodeFinished)]
    assert [(event.node, event.attempt) for event in finished] == [
        ("planner", 1),
        ("planner", 2),
        ("executor", 1),
        ("gatekeeper", 1),
        ("verified_input", 1),
        ("verifier", 1),
        ("verifier", 2),
        ("evidence_retry", 1),
        ("planner", 1),
        ("planner", 2),
        ("executor", 2),
        ("gatekeeper", 2),
        ("verified_input", 2),
        ("verifier", 1),
        ("verifier", 2),
        ("composer", 1),
        ("composer", 2),
        ("fallback", 2),
    ]
    started = [event for event in heard if isinstance(event, NodeStarted)]
    assert [event.round for event in started] == [1] * 8 + [2] * 10
    trace = result.document.run.orchestration_trace or {}
    assert trace["evidence_retry_count"] == 1
    assert [row["attempt"] for row in trace["transitions"]] == [event.attempt for event in finished[:-1]]


def test_a_retry_runs_no_earlier_node_and_no_tool() -> None:
    """R3: the verifier is asked again; nothing before it is, and no evidence round is counted."""
    result = play(plan(), executor(), fails("verifier"), verifier(), composer())
    assert [step.agent for step in result.document.steps] == ["planner", "executor", "verifier", "verifier", "composer"]
    assert len(result.document.invocations) == 1
    assert (result.document.run.orchestration_trace or {})["evidence_retry_count"] == 0


def test_a_retry_in_round_two_leaves_the_count_of_rounds() -> None:
    """R3: a technical retry never changes `evidence_retry_count`."""
    result = play(*SECOND_ROUND, fails("planner"), plan(), AGAIN, fails("verifier"), verifier(), composer())
    assert (result.document.run.orchestration_trace or {})["evidence_retry_count"] == 1
    assert result.document.run.verdict == "PASS"


def test_the_failure_reason_is_the_present_one() -> None:
    """A failure that was overcome leaves no reason; one that was not leaves its own."""
    assert play(fails("planner"), plan(), executor(), verifier(), composer()).document.run.failure_reason is None
    assert (
        play(fails("planner"), fails("planner", "auth")).document.run.failure_reason == "planner_non_retryable_failed"
    )


def test_transitions_join_neighbouring_events() -> None:
    """SPEC section 8: each transition has the reason and attempt of the earlier event; fallback has its cause's."""
    trace = play(plan(), executor(claim("claim-1", "x", FORGED))).document.run.orchestration_trace
    assert trace == {
        "version": "stategraph-v1",
        "transitions": [
            {"from": "planner", "to": "executor", "reason_code": "planner_completed", "attempt": 1},
            {"from": "executor", "to": "gatekeeper", "reason_code": "executor_completed", "attempt": 1},
            {"from": "gatekeeper", "to": "fallback", "reason_code": "gatekeeper_reject", "attempt": 1},
        ],
        "final_node": "fallback",
        "termination_reason": "gatekeeper_reject",
        "degraded": True,
        "evidence_retry_count": 0,
    }


# --- scripted bodies ---------------------------------------------------------------------------------------------


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
    """SPEC section 8: an exception that a node let through is its event, and fallback answers."""

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


def test_every_node_owns_the_keys_that_its_real_body_writes() -> None:
    """The table of keys covers the whole state but for what the graph itself keeps."""
    kept = {"diagnosis_context", "orchestration_events", "evidence_retry_count", "planner_mode", "failure_reason"}
    owned = {key for keys in OWN_KEYS.values() for key in keys}
    everything = {key for kind in DiagnosisState.__mro__[:1] for key in kind.__annotations__}
    assert owned | kept | set(RETRY_KEY.values()) == everything


# --- deaths ------------------------------------------------------------------------------------------------------


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
        if source is Node.GATEKEEPER and len(state["orchestration_events"]) > 1:
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

    steps, path = PATHS["straight"]
    assert path_of(play(*steps, listeners=[faulty])) == path


def test_an_answer_that_a_node_forgot_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """D1: SUCCESS means that there is an answer."""
    steps, _ = PATHS["straight"]
    run = run_with(monkeypatch, Node.COMPOSER, always(composer_status="COMPLETED"), *steps[:3]).document.run
    assert (run.status, run.failure_reason) == ("FAILED", "no_answer")


# --- the run's thread, and the drawing -----------------------------------------------------------------------------


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
    first = play(*PATHS["the longest"][0])
    second = play(*PATHS["straight"][0])
    assert path_of(second) == STRAIGHT
    assert first.document.run.run_id != second.document.run.run_id
    assert [call.result["items"][0]["text"] for call in second.document.invocations] == [POOL]


def test_the_drawing_is_current() -> None:
    """The drawing in the docs is what LangGraph draws of the graph."""
    docs = Path(__file__).parents[2] / "docs" / "architecture.md"
    drawing = docs.read_text(encoding="utf-8").split("```mermaid\n", 1)[1].split("```", 1)[0]
    assert drawing.strip() == build_graph().get_graph().draw_mermaid().strip()
