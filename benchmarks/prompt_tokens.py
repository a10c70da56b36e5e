"""Tokens of the first request that each agent's model is sent, by part, with the built-in tools.

    python benchmarks/prompt_tokens.py

Counted with the tokeniser that LiteLLM carries (cl100k); others differ by some percent. The first request of a
diagnosis is to stay under 3,000 tokens: it is paid for in every run, and a small model has to read it slowly.
"""

from __future__ import annotations

import json
import sys

from diag_graph.agents.models import executor, planner
from diag_graph.agents.models.loading import load_litellm
from diag_graph.agents.models.prompts import DataBlocks, filled, prompt
from diag_graph.agents.models.schema import EvidenceDocument, json_schema, outline
from diag_graph.agents.models.toolcards import native_tools
from diag_graph.contracts import ComposedAnswer, Plan, PlanStep, VerifierResult
from diag_graph.state import ExecutorInput, PlannerInput, ToolCard
from diag_graph.tools.catalogue import ALL_TOOLS
from diag_graph.tools.definition import ToolSpec

LIMIT = 3_000
QUESTION = (
    "Since 14:05 UTC the alert CheckoutLatencyHigh fires: checkout takes far longer than usual. What is the cause?"
)
NOW = "2026-07-16T14:20:00.000Z"
SPECS = tuple(ToolSpec(tool.name, tool.summary, tool.arguments.model_json_schema()) for tool in ALL_TOOLS)
PLAN = Plan(intent="find the cause", steps=(PlanStep(goal="what changed", tool="find_metric_anomalies"),))


def parts() -> dict[str, dict[str, str]]:
    """By request: its parts."""
    blocks = DataBlocks("000000")
    cards = tuple(ToolCard(name=spec.name, summary=spec.summary) for spec in SPECS)
    plan_task = planner.task_of(PlannerInput(question=QUESTION, now=NOW, tools=cards), blocks)
    work_task = executor.task_of(ExecutorInput(question=QUESTION, now=NOW, plan=PLAN), blocks)
    shared = {"data": prompt("data")}
    return {
        "planner": {
            "system prompt": filled("planner", contract=outline(Plan), **shared),
            "tools and question": plan_task,
            "JSON schema": json.dumps(json_schema("planner", Plan, choices={"tool": [spec.name for spec in SPECS]})),
        },
        "executor, native tools": {
            "system prompt": executor.system_prompt(SPECS, native=True),
            "tools": json.dumps(native_tools(SPECS)),
            "plan and question": work_task,
        },
        "executor, tools in JSON": {
            "system prompt with tools": executor.system_prompt(SPECS, native=False),
            "plan and question": work_task,
        },
        "verifier": {"system prompt": filled("verifier", contract=outline(VerifierResult), **shared)},
        "composer": {"system prompt": filled("composer", contract=outline(ComposedAnswer), **shared)},
        "executor, concluding": {"JSON schema": json.dumps(json_schema("executor", EvidenceDocument))},
    }


def main() -> int:
    """Print the table; 1 when a first request is over the limit."""
    litellm = load_litellm()
    worst = 0
    for request, texts in parts().items():
        counts = {name: litellm.token_counter(model="gpt-4", text=text) for name, text in texts.items()}
        worst = max(worst, sum(counts.values()))
        print(f"{request:26}{sum(counts.values()):7,}  " + ", ".join(f"{name} {n:,}" for name, n in counts.items()))
    print(f"{'largest':26}{worst:7,}  of {LIMIT:,}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
