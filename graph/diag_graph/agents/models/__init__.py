"""Agents that are language models, reached through LiteLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diag_graph.agents.models.settings import Budgets, ModelSettings, Support
from diag_graph.topology import Node

if TYPE_CHECKING:
    from diag_graph.agents.models.asking import Progress
    from diag_graph.agents.ports import AgentSet

__all__ = ["Budgets", "ModelSettings", "Support", "model_agents"]


def model_agents(settings: ModelSettings, progress: Progress) -> AgentSet:
    """The four agents of a run.

    Args:
        settings: Which models, and how they are reached.
        progress: Hears what each request used.

    Raises:
        ConfigError: the command for the key fails.
    """
    from diag_graph.agents.models.asking import Asker
    from diag_graph.agents.models.client import ChatModel
    from diag_graph.agents.models.composer import ModelComposer
    from diag_graph.agents.models.executor import ModelExecutor
    from diag_graph.agents.models.keys import key_from_command
    from diag_graph.agents.models.loading import begin_import
    from diag_graph.agents.models.planner import ModelPlanner
    from diag_graph.agents.models.verifier import ModelVerifier
    from diag_graph.agents.ports import AgentSet

    begin_import()
    key = key_from_command(settings.api_key_command) if settings.api_key_command else None
    models: dict[str, ChatModel] = {}

    def asker(role: Node) -> Asker:
        name = settings.model_of(role)
        model = models.setdefault(name, ChatModel(name, settings, key=key))
        return Asker(role, model, progress)

    return AgentSet(
        planner=ModelPlanner(asker(Node.PLANNER)),
        executor=ModelExecutor(asker(Node.EXECUTOR), settings.budgets),
        verifier=ModelVerifier(asker(Node.VERIFIER)),
        composer=ModelComposer(asker(Node.COMPOSER)),
        label=settings.label(),
    )
