"""What is passed on of runbooks: the passages that a lookup found to be about what fails."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from diag_graph.agents.analyst.claims import Suspicion
from diag_graph.agents.analyst.guidance import runbook_advice
from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.contracts import Invocation, InvocationStatus
from diag_graph.tools.definition import LOOKUP_KNOWLEDGE

PASSAGE = "pools.md, 'Mitigation': End the sessions that hold a connection."


class Runbooks:
    """A toolbox with one passage, which only a question for the pool is really about."""

    def specs(self) -> Sequence[Any]:
        """The tools on offer."""
        return [SimpleNamespace(name=LOOKUP_KNOWLEDGE)]

    def call_many(self, asked: Sequence[tuple[str, dict[str, Any]]]) -> list[Invocation]:
        """Find the passage each time, and say how well it fits."""
        return [
            Invocation(
                id=f"inv-{arguments['query']}",
                tool=tool,
                arguments=arguments,
                status=InvocationStatus.OK,
                result={"items": [{"text": PASSAGE, "relevance": "high" if "pool" in arguments["query"] else "low"}]},
            )
            for tool, arguments in asked
        ]


def test_a_passage_that_one_lookup_finds_by_chance_is_passed_on_when_another_is_about_it() -> None:
    """One runbook that was just added is found by every lookup; what counts is the one that it fits best."""
    signs = [
        Sighting("inv-1", "find_metric_anomalies", number, {"text": metric, "metric": metric, "entity": "orders"})
        for number, metric in enumerate(("latency_p95_seconds", "pool_waiting"))
    ]
    suspected = Suspicion("orders", signs[0], support=(signs[1],))
    (found,) = runbook_advice("why?", [suspected], [], Runbooks())  # type: ignore[arg-type]
    assert found.text == PASSAGE
    assert found.field("relevance") == "high"
