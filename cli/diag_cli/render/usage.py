"""What language models used, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diag_cli.render.safe import one_line

if TYPE_CHECKING:
    from diag_graph.outcome import AgentStep, RunDocument
    from diag_graph.usage import Usage


def run_usage_words(document: RunDocument) -> str:
    """What a run's models used: tokens, and money where every price is known; empty when no model was called."""
    run = document.run
    if run.prompt_tokens is None and run.completion_tokens is None:
        return ""
    cached = sum(step.cached_tokens or 0 for step in document.steps)
    told = f"{one_line(run.model)}: {tokens_words(run.prompt_tokens, run.completion_tokens, cached)}"
    return f"{told}; {_cost(run.cost_usd, document.steps)}"


def tokens_words(prompt: int | None, completion: int | None, cached: int = 0) -> str:
    """Tokens in and out, such as `1,204 tokens in (512 cached), 96 out`."""
    kept = f" ({cached:,} cached)" if cached else ""
    return f"{prompt or 0:,} tokens in{kept}, {completion or 0:,} out"


def progress_words(usage: Usage) -> str:
    """What an agent that still thinks has used so far."""
    requests = f"{usage.requests} requests, " if usage.requests > 1 else ""
    return f"{requests}{tokens_words(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens or 0)}"


def _cost(cost: float | None, steps: Sequence[AgentStep]) -> str:
    if cost is not None:
        return f"$ {cost:.4f}"
    unpriced = {step.model for step in steps if step.model and step.prompt_tokens is not None and step.cost_usd is None}
    names = ", ".join(sorted(map(one_line, unpriced)))
    return f"cost not known: there is no price for {names}" if names else "cost not known"
