"""Planner: a question becomes a plan; in the evidence round, gaps become increments (E1)."""

from __future__ import annotations

from diag_graph.contracts import Plan
from diag_graph.nodes.agent_call import agent_status, ask_agent, format_reminder
from diag_graph.nodes.deps import NodeCall
from diag_graph.parsing import parse_model
from diag_graph.state import PlannerChannels, PlannerInput, ToolCard, Update
from diag_graph.tools.definition import READ_SKILL
from diag_graph.topology import Node, PlannerMode


def run(view: PlannerChannels, call: NodeCall) -> Update:
    """Ask the planner for a plan."""
    request = planner_input(view, call)
    skills = call.deps.skills
    known = None if skills is None else {skill.name for skill in skills}
    answer = ask_agent(
        Node.PLANNER, call, lambda: call.deps.agents.planner.plan(request), lambda text: read_plan(text, known)
    )
    return {"planner_plan": answer.value, "planner_status": agent_status(answer)}


def planner_input(view: PlannerChannels, call: NodeCall) -> PlannerInput:
    """All that the planner may know."""
    context, retry = view["diagnosis_context"], view.get("retry_context")
    return PlannerInput(
        question=context.question,
        history=context.history,
        now=context.now,
        mode=view.get("planner_mode", PlannerMode.NORMAL),
        evidence_gaps=retry.evidence_gaps if retry else (),
        completed_queries=retry.completed_queries if retry else (),
        confirmed_facts=retry.confirmed_facts if retry else (),
        tools=tuple(
            ToolCard(name=spec.name, summary=spec.summary)
            for spec in call.deps.ledger.specs()
            if spec.name != READ_SKILL  # a planner asks for a skill by selecting it
        ),
        skills=call.deps.skills or (),
        knowledge_domains=call.deps.knowledge_domains,
        format_reminder=format_reminder(call),
    )


def read_plan(text: str | None, skills: set[str] | None) -> tuple[Plan, str | None]:
    """Read a plan; a skill that is not registered is read as none, and noted.

    Args:
        text: The reply.
        skills: Names of the registered skills; None when they are not known, and the plan's word is taken.
    """
    plan = parse_model(text, Plan)
    if plan.selected_skill is None or skills is None or plan.selected_skill in skills:
        return plan, None
    note = f"the selected skill {plan.selected_skill[:80]!r} is not registered and was read as none"
    return plan.model_copy(update={"selected_skill": None}), note
