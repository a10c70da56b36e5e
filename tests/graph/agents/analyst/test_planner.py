"""The analyst's planner picks tools by what is offered, and in round two by what is missing."""

from __future__ import annotations

import json

from diag_graph.agents.analyst.planner import AnalystPlanner
from diag_graph.contracts import CompletedQuery, FactCheck, Plan, Verification
from diag_graph.state import PlannerInput, ToolCard
from diag_graph.topology import PlannerMode


def plan(question: str, *tools: str, **more: object) -> Plan:
    """What the analyst plans with these tools on offer."""
    cards = tuple(ToolCard(name=name, summary="") for name in tools)
    request = PlannerInput.model_validate({"question": question, "now": "2026-11-30T14:10:00Z", "tools": cards, **more})
    return Plan.model_validate(json.loads(AnalystPlanner().plan(request).text or ""))


def test_it_plans_only_what_is_offered() -> None:
    """A tool without a source is not planned."""
    steps = plan("why slow?", "list_evidence", "find_metric_anomalies", "read_document").steps
    assert [step.tool for step in steps] == ["list_evidence", "find_metric_anomalies"]


def test_words_in_quotes_are_looked_for_in_the_logs() -> None:
    """A person who quotes an error message wants to know where it stands."""
    steps = plan('why do we see "pool timeout after"?', "search_logs").steps
    assert [(step.tool, step.arguments) for step in steps] == [("search_logs", {"query": "pool timeout after"})]


def test_a_question_about_the_clock_is_answered_by_the_clock() -> None:
    """No survey for a question that needs none."""
    assert [step.tool for step in plan("what time is it in UTC?", "current_time", "list_evidence").steps] == [
        "current_time"
    ]


def test_with_no_tool_there_is_still_a_step_with_a_goal() -> None:
    """A plan needs at least one step with a goal."""
    assert plan("why slow?").steps[0].goal


def test_the_second_round_plans_increments_about_the_gap_alone() -> None:
    """E1: calls about what lacks support, and none that was made already."""
    gap = FactCheck(claim_id="c", fact="orders is where the trouble starts", verification=Verification.INDIRECT_SUPPORT)
    done = CompletedQuery(tool="list_changes", arguments={"service": "orders"})
    steps = plan(
        "why slow?",
        "find_metric_anomalies",
        "search_logs",
        "list_changes",
        mode=PlannerMode.EVIDENCE_GAP_ONLY,
        evidence_gaps=(gap,),
        completed_queries=(done,),
    ).steps
    assert {step.tool for step in steps} == {"find_metric_anomalies", "search_logs"}
    assert {step.arguments["service"] for step in steps} == {"orders"}
