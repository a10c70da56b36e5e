"""Isolation (S1): a word planted in every field that an agent must not see is found in no agent's input."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from watching import Watch

from diag_graph import state
from diag_graph.contracts import Frozen, Turn
from diag_graph.outcome import RunDocument
from diag_graph.state import ComposerInput, ExecutorInput, PlannerInput, VerifierInput
from diag_graph.topology import Reason
from recordings import (
    POOL,
    SLOW,
    UNBOUND,
    bind,
    call,
    claim,
    composer,
    executor,
    fact,
    plan,
    play,
    reasons_of,
    says,
    verifier,
)

PLAN = plan(
    intent="SECRET-intent",
    steps=[{"step_id": "SECRET-step", "goal": "SECRET-goal", "tool": "SECRET-tool", "arguments": {"SECRET-key": 1}}],
    reasoning="SECRET-planner-reasoning",
)
CALLS = [
    call("inv-1", POOL, "SECRET-neighbour"),
    call("inv-2", "SECRET-uncited", arguments={"text": "SECRET-argument"}),
    call("inv-3", status="error", error="SECRET-tool-error"),
]
DOCUMENT = executor(
    claim(),
    UNBOUND | {"claim": "SECRET-unbound-claim", "entity": "SECRET-unbound-entity"},
    claim("claim-3", "SECRET-failed-claim", bind("SECRET-tool-error", "inv-3"), entity="SECRET-failed-entity"),
    claim("claim-4", "The pool was the only trouble", bind(), {"source_invocation_id": "inv-1", "raw_path": 3}),
    calls=CALLS,
    missing_info=["SECRET-missing"],
    reasoning="SECRET-executor-reasoning",
    notes={"deep": ["SECRET-note"]},
)
RESULT = verifier(
    "LOW_CONFID",
    fact(reason="SECRET-reason"),
    fact("contradicted", "claim-4", "SECRET-contradicted", "SECRET-why"),
    missing_info=["when the pool filled"],
    recommended_actions=["enlarge the pool"],
    reasoning="SECRET-verifier-reasoning",
)
MARK = re.compile(r"SECRET-[\w-]+")


def seen(inputs: list[Any]) -> set[str]:
    """The planted words in these inputs, wherever in them."""
    return {word for each in inputs for word in MARK.findall(each.model_dump_json())}


@pytest.fixture
def watch() -> Watch:
    """A run in one round, with a word in every field that somebody must not see."""
    return Watch(
        [
            PLAN,
            DOCUMENT,
            RESULT,
            composer(limitations=["It is not known when the pool filled."]),
        ]
    )


def test_one_round_shows_each_agent_its_own_and_nothing_else(watch: Watch) -> None:
    """S1: planner nothing, executor the plan, verifier what passed bindings cite, composer the allowed claims."""
    document = watch.run()
    assert document.run.status == "SUCCESS"
    assert len(watch.composer) == 1
    assert seen(watch.planner) == set()
    assert seen(watch.executor) == {
        "SECRET-intent",
        "SECRET-step",
        "SECRET-goal",
        "SECRET-tool",
        "SECRET-key",
    }
    assert seen(watch.verifier) == set()
    assert seen(watch.composer) == set()


def test_no_planted_word_reaches_trace_or_answer(watch: Watch) -> None:
    """T1: the trace holds codes alone, and the answer what was verified."""
    document = watch.run()
    assert document.run.answer
    shown = json.dumps([document.run.orchestration_trace, document.run.answer, document.run.failure_reason])
    assert MARK.findall(shown) == []
    assert MARK.findall(str(document.findings)) == []


def test_the_verifier_sees_matched_texts_of_passed_bindings_alone(watch: Watch) -> None:
    """S1: of all results it sees what a passed binding cites, and of the document the claims that have one."""
    watch.run()
    (request,) = watch.verifier
    assert {entry.matched_text for entry in request.evidence} == {POOL}
    assert [entry.claim_id for entry in request.verified_output.claims] == ["claim-1", "claim-4"]
    assert all(row.matched_text is None for row in request.audit.checked_bindings if row.status == "fail")


def test_the_composer_sees_allowed_claims_alone(watch: Watch) -> None:
    """S1: the contradicted claim is not among them; what is missing and what is advised are."""
    watch.run()
    (request,) = watch.composer
    assert [entry.claim_id for entry in request.allowed_claims] == ["claim-1"]
    assert request.missing_info == ("when the pool filled",)
    assert request.recommended_actions == ("enlarge the pool",)


def test_a_skill_that_is_not_registered_reaches_no_executor() -> None:
    """Section 4: it is read as null."""
    watch = Watch([plan(selected_skill="no-such"), executor(), verifier(), composer()])
    watch.run()
    assert watch.executor[0].plan.selected_skill is None


@pytest.fixture
def second() -> Watch:
    """A run in two rounds. Its first gate passes whole, for only then is there a second round."""
    first = executor(
        claim("claim-1", "The pool was exhausted", kind="observation"),
        claim("claim-2", "SECRET-contradicted-claim"),
        claim("claim-3", "SECRET-unsupported-claim"),
        calls=CALLS,
        missing_info=["SECRET-missing"],
        reasoning="SECRET-executor-reasoning",
    )
    result = verifier(
        "LOW_CONFID",
        fact(reason="SECRET-reason"),
        fact("contradicted", "claim-2", "SECRET-contradicted-fact", "SECRET-why"),
        fact("no_evidence", "claim-3", "when the pool filled", "nothing shows it"),
        missing_info=["SECRET-missing-info"],
        recommended_actions=["SECRET-action"],
        reasoning="SECRET-verifier-reasoning",
    )
    again = executor(claim("claim-1", "The pool was exhausted"), calls=[call("inv-4", SLOW)])
    return Watch([PLAN, first, result, plan(), again, verifier(), composer()])


def test_the_planner_in_round_two_sees_gaps_queries_and_confirmed_facts(second: Watch) -> None:
    """E1: and neither what was contradicted, nor what was not supported, nor the first plan."""
    second.run()
    first, again = second.planner
    assert (first.mode, first.evidence_gaps, first.completed_queries, first.confirmed_facts) == ("NORMAL", (), (), ())
    assert again.mode == "EVIDENCE_GAP_ONLY"
    assert [(gap.claim_id, gap.fact, gap.reason) for gap in again.evidence_gaps] == [
        ("claim-3", "when the pool filled", "nothing shows it")
    ]
    assert [query.tool for query in again.completed_queries] == ["search_logs", "search_logs"]
    assert again.confirmed_facts == ("The pool was exhausted",)
    assert seen([again]) == {"SECRET-argument"}  # its own query, which it must not plan again


def test_the_executor_in_round_two_sees_the_prior_verified_output(second: Watch) -> None:
    """Section 6: verified claims and evidence, gaps and queries; no verifier reasoning, no raw result."""
    second.run()
    first, again = second.executor
    assert first.retry_context is None
    context = again.retry_context
    assert context is not None
    assert [entry.claim_id for entry in context.prior_verified_output.claims] == ["claim-1", "claim-2", "claim-3"]
    assert {entry.matched_text for entry in context.prior_verified_evidence} == {POOL}
    assert seen([again]) == {"SECRET-argument", "SECRET-contradicted-claim", "SECRET-unsupported-claim"}


def test_verifier_and_composer_in_round_two_see_the_new_round_alone(second: Watch) -> None:
    """S1, G4: nothing of the first round's document or verdict."""
    document = second.run()
    assert document.run.verdict == "PASS"
    assert seen(second.verifier[1:]) == set()
    assert seen(second.composer) == set()


def test_a_technical_retry_has_the_same_input_and_the_reminder() -> None:
    """R3: the same business input; only the fixed reminder is new."""
    steps = [
        says("planner", "no plan"),
        plan(),
        executor(),
        says("verifier", "{"),
        verifier(),
        says("composer", "{}"),
        composer(),
    ]
    watch = Watch(steps)
    watch.run(history=(Turn(question="is it up?", answer="yes"),))
    for first, again in (watch.planner, watch.verifier, watch.composer):
        assert first.format_reminder is None
        assert again.format_reminder
        assert again.model_copy(update={"format_reminder": None}) == first


def test_two_runs_of_a_session_share_what_history_says_alone() -> None:
    """R5: the second run knows the first one's question and answer, and no claim or result."""
    Watch([PLAN, DOCUMENT, RESULT, composer()]).run()
    watch = Watch([plan(), executor(), verifier(), composer()])
    watch.run(history=(Turn(question="before?", answer="before."),))
    everything = [*watch.planner, *watch.executor, *watch.verifier, *watch.composer]
    assert seen(everything) == set()
    assert watch.planner[0].history == (Turn(question="before?", answer="before."),)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (
            PlannerInput,
            {
                "question",
                "history",
                "now",
                "mode",
                "evidence_gaps",
                "completed_queries",
                "confirmed_facts",
                "tools",
                "skills",
                "knowledge_domains",
                "format_reminder",
            },
        ),
        (ExecutorInput, {"question", "now", "plan", "retry_context"}),
        (VerifierInput, {"question", "verified_output", "audit", "evidence", "format_reminder"}),
        (
            ComposerInput,
            {"question", "allowed_claims", "verdict", "missing_info", "recommended_actions", "format_reminder"},
        ),
    ],
)
def test_each_input_is_frozen_and_has_just_these_fields(model: type[Frozen], fields: set[str]) -> None:
    """S1: isolation is by type; a new field is a decision, and shows here."""
    assert set(model.model_fields) == fields
    assert model.model_config["frozen"] is True


CONTROL = {
    "planner_retry_count",
    "verifier_retry_count",
    "composer_retry_count",
    "evidence_retry_count",
    "orchestration_events",
}


@pytest.mark.parametrize(
    ("channels", "forbidden"),
    [
        (state.PlannerChannels, {"executor_output", "gatekeeper_result", "verifier_output", "verified_evidence"}),
        (state.ExecutorChannels, {"verifier_output", "gatekeeper_result", "executor_output"}),
        (state.GatekeeperChannels, {"planner_plan", "diagnosis_context"}),
        (state.VerifierChannels, {"planner_plan", "executor_output"}),
        (state.ComposerChannels, {"planner_plan", "executor_output", "gatekeeper_result"}),
        (state.FallbackChannels, {"planner_plan", "executor_output", "gatekeeper_result"}),
    ],
)
def test_langgraph_hands_no_node_what_it_must_not_see(channels: type, forbidden: set[str]) -> None:
    """Section 3: what is not among a node's channels cannot reach it, whatever its body does."""
    keys = set(channels.__annotations__) | CONTROL
    assert not keys & forbidden


def test_the_state_holds_no_raw_tool_result_and_no_prompt() -> None:
    """Section 3: tool invocations and agent steps stand beside the state, in the run's document."""
    document: RunDocument = Watch([plan(), executor(), verifier(), composer()]).run()
    assert document.invocations
    assert not {"invocations", "steps", "messages", "prompt"} & set(state.DiagnosisState.__annotations__)


def test_the_reasons_of_a_run_are_codes() -> None:
    """T1: reason codes are words of the vocabulary."""
    assert set(reasons_of(play(plan(), executor(), verifier(), composer()))) <= {str(reason) for reason in Reason}
