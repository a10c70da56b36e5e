"""The planner that is a language model."""

from __future__ import annotations

import json

from diag_graph.agents.models.asking import Asker, section
from diag_graph.agents.models.prompts import DataBlocks, prompt
from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import Plan
from diag_graph.state import PlannerInput
from diag_graph.topology import PlannerMode

NO_SKILL = "none, so `selected_skill` is null"


class ModelPlanner:
    """Plans by asking a model."""

    def __init__(self, asker: Asker) -> None:
        """Ask this model."""
        self._asker = asker

    def plan(self, request: PlannerInput) -> AgentReply:
        """A plan as JSON text. Raises AgentFailure when none comes."""
        choices = {
            "tool": [tool.name for tool in request.tools],
            "selected_skill": [skill.name for skill in request.skills],
        }
        task = task_of(request, self._asker.new_blocks())
        return self._asker.ask_once(Plan, task, request.format_reminder, choices)


def task_of(request: PlannerInput, blocks: DataBlocks) -> str:
    """All that a planner may know, as a message."""
    parts = [
        section("Tools", "\n".join(f"- {tool.name}: {tool.summary}" for tool in request.tools)),
        section("Skills", _skills(request, blocks)),
        section("Runbook domains", _domains(request, blocks)),
        section("Earlier in this conversation", _history(request, blocks)),
        section("Now", request.now),
        section("Question", request.question),
    ]
    if request.mode is PlannerMode.EVIDENCE_GAP_ONLY:
        parts += [
            prompt("planner_gaps") + "\n\n",
            section("Gaps", blocks.block("\n".join(f"- {gap.fact} ({gap.reason})" for gap in request.evidence_gaps))),
            section("Confirmed", blocks.block("\n".join(f"- {fact}" for fact in request.confirmed_facts))),
            section("Completed queries", _queries(request)),
        ]
    return "".join(parts).strip()


def _skills(request: PlannerInput, blocks: DataBlocks) -> str:
    """Descriptions come out of files, and so are data."""
    cards = "\n".join(f"- {skill.name}: {skill.description}" for skill in request.skills)
    return blocks.block(cards) if cards else NO_SKILL


def _domains(request: PlannerInput, blocks: DataBlocks) -> str:
    """Titles come out of files, and so are data."""
    lines = "\n".join(f"- {domain}" for domain in request.knowledge_domains)
    return blocks.block(lines) if lines else ""


def _history(request: PlannerInput, blocks: DataBlocks) -> str:
    """Earlier answers quote tools, and so are data."""
    if not request.history:
        return ""
    told = "\n\n".join(f"Asked: {turn.question}\nAnswered: {turn.answer}" for turn in request.history)
    return "\n".join([blocks.block(told), prompt("planner_history")])


def _queries(request: PlannerInput) -> str:
    queries = (
        f"- {query.tool} {json.dumps(query.arguments, ensure_ascii=False)}" for query in request.completed_queries
    )
    return "\n".join(queries)
