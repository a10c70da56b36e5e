"""Which way runs go, over the real compiled graph with recorded agents."""

from __future__ import annotations

from typing import Any

import pytest
from watching import Watch

from diag_graph.events import Event, NodeFinished, NodeStarted
from diag_graph.runfile import FileStep
from diag_graph.topology import RECURSION_LIMIT
from recordings import (
    FORGED,
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
    """Section 2: these steps lead through these nodes, all steps are used up, and the run ends with an answer."""
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
    """Section 4: retryable failures are tried once more, the others end in fallback at once."""
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
    """Section 4: an executor's failed call is FAILED and never retried."""
    result = play(plan(), fails("executor", kind, calls=[call()]))
    assert reasons_of(result)[-2:] == ["executor_failed", "executor_failed"]
    assert len(result.document.steps) == 2


@pytest.mark.parametrize("output", [None, "", " ", "no JSON", "[]", '{"claims": {}}', "{}", '{"claims": [', "null"])
def test_an_executor_that_answered_badly_is_invalid_output(output: str | None) -> None:
    """Section 4: nothing, no JSON, broken JSON, a root that is no object, `claims` that is no array."""
    result = play(plan(), says("executor", output))
    assert reasons_of(result)[-1] == "executor_invalid_output"
    note = result.document.steps[-1].error or ""
    assert note.startswith("malformed" if output and output.strip() else "missing")


@pytest.mark.parametrize("status", ["error", "blocked", "empty"])
def test_a_tool_that_failed_does_not_change_the_executors_status(status: str) -> None:
    """Section 4: a legal document is COMPLETED, however its tools fared."""
    result = play(plan(), executor(claims=[], calls=[call(status=status)]), no_facts("REJECT"), speechless())
    assert reasons_of(result)[1] == "executor_completed"


def test_a_skill_that_is_not_registered_is_read_as_none_and_noted() -> None:
    """Section 4: the plan counts, the skill does not."""
    watch = Watch([plan(selected_skill="no-such"), executor(), verifier(), composer()])
    step = watch.run().steps[0]
    assert step.status == "COMPLETED"
    assert "no-such" in (step.error or "")
    assert watch.executor[0].plan.selected_skill is None


def test_a_replay_takes_the_plans_word_for_its_skill() -> None:
    """P2: nobody knows which skills there were when it was recorded; the step is noted no worse than it was then."""
    result = play(plan(selected_skill="latency"), executor(), verifier(), composer())
    assert result.document.steps[0].error is None


@pytest.mark.parametrize(
    "output",
    [{"steps": []}, {"steps": [{"step_id": "s", "goal": " "}]}, {"intent": "x"}, {"steps": "s"}, {"steps": [3]}],
    ids=repr,
)
def test_a_plan_without_a_goal_is_invalid(output: dict[str, Any]) -> None:
    """Section 4: a plan needs at least one step with a goal."""
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
    """Section 8: each transition has the reason and attempt of the earlier event; fallback has its cause's."""
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
