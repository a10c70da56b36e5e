"""The built-in analyst: the four agents as code. No model, no key, no network; the same texts, the same parsers."""

from __future__ import annotations

from diag_graph.agents.analyst.composer import AnalystComposer
from diag_graph.agents.analyst.executor import AnalystExecutor
from diag_graph.agents.analyst.planner import AnalystPlanner
from diag_graph.agents.analyst.verifier import AnalystVerifier
from diag_graph.agents.ports import AgentSet

LABEL = "built-in analyst"


def built_in_analyst() -> AgentSet:
    """The four agents of the built-in analyst."""
    return AgentSet(
        planner=AnalystPlanner(),
        executor=AnalystExecutor(),
        verifier=AnalystVerifier(),
        composer=AnalystComposer(),
        label=LABEL,
    )
