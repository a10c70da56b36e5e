"""What the agents have in common: a system prompt with its contract, one request, and telling what it used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from diag_graph.agents.models.client import ChatModel
from diag_graph.agents.models.prompts import DataBlocks, filled, prompt
from diag_graph.agents.models.replies import Completion
from diag_graph.agents.models.schema import NO_CHOICES, Choices, json_schema, outline
from diag_graph.agents.ports import AgentReply
from diag_graph.topology import Node
from diag_graph.usage import Usage

Progress = Callable[[Node, Usage], None]
"""Hears what an agent's call has used so far, after each answer of its model."""

CALLED_A_TOOL = "the model called a tool, and has none here"


@dataclass(frozen=True, slots=True)
class Asker:
    """One role's model and who hears of it.

    Attributes:
        role: Whose it is.
        model: The model.
        progress: Who hears what each request used.
        new_blocks: Makes the marks for tool text, anew for each agent call.
    """

    role: Node
    model: ChatModel
    progress: Progress
    new_blocks: Callable[[], DataBlocks] = DataBlocks

    def ask_once(
        self, contract: type[BaseModel], task: str, reminder: str | None, choices: Choices = NO_CHOICES
    ) -> AgentReply:
        """Ask for one document.

        Args:
            contract: What the reply is to be.
            task: The user message.
            reminder: What a technical retry adds (R3).
            choices: What some of its fields can only be in this run.

        Raises:
            AgentFailure: no reply came.
        """
        system = filled(self.role, contract=outline(contract), data=prompt("data"))
        user = f"{task}\n\n{reminder}" if reminder else task
        completion = self.model.complete(
            [{"role": "system", "content": system}, {"role": "user", "content": user}],
            schema=json_schema(self.role, contract, choices=choices),
        )
        self.progress(self.role, completion.usage)
        note = CALLED_A_TOOL if completion.calls else None
        return reply_of(completion, completion.usage, note)


def reply_of(completion: Completion, usage: Usage, note: str | None) -> AgentReply:
    """A completion as an agent's reply."""
    return AgentReply(text=completion.text, truncated=completion.truncated, note=note, usage=usage)


def section(title: str, text: str) -> str:
    """A part of a user message; nothing when there is nothing to say."""
    return f"{title}:\n{text}\n\n" if text else ""
