"""What a user can set about language models. Light: nothing here imports LiteLLM."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from diag_graph.topology import Node


class Support(StrEnum):
    """Whether a model is taken to support something: as LiteLLM's table says, or as the user does."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Budgets:
    """Limits of one executor round. At the first that is reached the model is asked, once, to conclude.

    Attributes:
        tool_calls: Calls that a model may ask for, repeated and broken ones included.
        tokens: Tokens in and out, over all requests.
        seconds: Wall clock.
    """

    tool_calls: int = 24
    tokens: int = 200_000
    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How the four agents reach their models.

    Attributes:
        model: The model of every role, as LiteLLM names it: `provider/name`.
        roles: Other models for some roles.
        api_base: Where the provider of `model` is reached; None: where LiteLLM's variables say, else its own place.
        api_key_command: Prints the key of the provider of `model`; None: the key is in the environment.
        json_schema: Whether replies can be held to a JSON schema.
        tool_calls: Whether the model calls tools natively; without, it asks for them in JSON.
        context_tokens: Tokens that the model can hold; None: as LiteLLM's table says.
        output_tokens: Limit of one reply; None: chosen by the context.
        temperature: Sampling temperature; None: the provider's default.
        request_seconds: Deadline of one request, however it trickles.
        pause_seconds: How long a retry waits after a rate limit or an outage that names no time of its own.
        budgets: Limits of an executor round.
    """

    model: str
    roles: dict[Node, str] = field(default_factory=dict)
    api_base: str | None = None
    api_key_command: str | None = None
    json_schema: Support = Support.AUTO
    tool_calls: Support = Support.AUTO
    context_tokens: int | None = None
    output_tokens: int | None = None
    temperature: float | None = 0.0
    request_seconds: float = 180.0
    pause_seconds: float = 2.0
    budgets: Budgets = Budgets()

    def model_of(self, role: Node) -> str:
        """The model of a role."""
        return self.roles.get(role, self.model)

    def is_home(self, model: str) -> bool:
        """Whether a model is of the provider that `api_base` and `api_key_command` are about."""
        return provider_of(model) == provider_of(self.model)

    def label(self) -> str:
        """How a run names who thinks."""
        others = [f"{role} {name}" for role, name in self.roles.items() if name != self.model]
        return f"{self.model} ({', '.join(others)})" if others else self.model


def provider_of(model: str) -> str:
    """The provider in a model's name; empty when it names none."""
    provider, slash, _ = model.partition("/")
    return provider if slash else ""
