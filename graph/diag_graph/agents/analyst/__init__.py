"""The built-in analyst: the four agents as code. No model, no key, no network; the same texts, the same parsers."""

from __future__ import annotations

from collections.abc import Sequence

from diag_graph.agents.analyst.composer import AnalystComposer
from diag_graph.agents.analyst.executor import AnalystExecutor
from diag_graph.agents.analyst.planner import AnalystPlanner
from diag_graph.agents.analyst.verifier import AnalystVerifier
from diag_graph.agents.ports import AgentSet
from diag_graph.analysis.failure_signatures import Signature

LABEL = "built-in analyst"


def built_in_analyst(signatures: Sequence[Signature] = (), *, looks: bool = True) -> AgentSet:
    """The four agents of the built-in analyst.

    Args:
        signatures: Failure signatures of the user and of the incident, for what they advise.
        looks: Whether any evidence was named.
    """
    return AgentSet(
        planner=AnalystPlanner(),
        executor=AnalystExecutor(),
        verifier=AnalystVerifier(signatures),
        composer=AnalystComposer(looks=looks),
        label=LABEL,
    )
