"""The one border to LiteLLM: a request goes out, a completion or an `AgentFailure` comes back.

One call is one HTTP request: LiteLLM's and OpenAI's own retries are off, for the graph alone retries. A deadline stands
around each request, because the library's own limit holds for each read and a server that trickles never meets it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from diag_graph.agents.models import failures
from diag_graph.agents.models.keys import without_keys
from diag_graph.agents.models.loading import load_litellm
from diag_graph.agents.models.replies import Completion, read_completion
from diag_graph.agents.models.settings import ModelSettings, Support, provider_of
from diag_graph.contracts import JsonObject
from diag_graph.errors import AgentFailure
from diag_graph.usage import Usage

Message = dict[str, Any]

UNKNOWN_CONTEXT = 8_192
"""Tokens that a model is taken to hold when neither LiteLLM nor the user says."""
MAX_OUTPUT = 16_000
TAKES_OPEN_OBJECTS = frozenset({"openai", "azure"})
"""Providers that take a schema with an object of any shape, such as a tool's arguments in a plan; others refuse it."""
LONGEST_PAUSE = 30.0
_OUTPUT_SHARE = 4


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model can do.

    Attributes:
        json_schema: Replies can be held to a JSON schema.
        tools: It calls tools natively.
        context_tokens: How much it holds.
        context_known: Whether somebody said so.
        output_tokens: Limit of one reply.
        temperature: Whether it can be told one.
        priced: Whether a price is known.
    """

    json_schema: bool
    tools: bool
    context_tokens: int
    context_known: bool
    output_tokens: int
    temperature: bool
    priced: bool


class ChatModel:
    """One model behind LiteLLM.

    Attributes:
        name: As LiteLLM names it.
    """

    def __init__(
        self,
        name: str,
        settings: ModelSettings,
        *,
        key: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Reach a model; nothing is imported or sent before it is asked.

        Args:
            name: As LiteLLM names it.
            settings: How.
            key: The provider's key; None: LiteLLM finds it in the environment.
            sleep: Waits some seconds before a retry that was told to wait.
        """
        self.name = name
        self._settings = settings
        self._key = key
        self._sleep = sleep
        self._not_before = 0.0
        self._abilities: Abilities | None = None

    @property
    def abilities(self) -> Abilities:
        """What it can do. This imports LiteLLM."""
        if self._abilities is None:
            self._abilities = abilities_of(self.name, self._settings)
        return self._abilities

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonObject | None = None,
        tools: Sequence[JsonObject] = (),
        may_call: bool = True,
    ) -> Completion:
        """Send one request.

        Args:
            messages: The conversation.
            schema: What the reply is held to, `{"name", "schema", "strict"}`; left out for a model that cannot be.
            tools: Tools that it may call natively.
            may_call: False: the tools are named, for the conversation speaks of them, but must not be called.

        Returns:
            What came back, whatever it is worth.

        Raises:
            AgentFailure: nothing usable came back: the request failed, or was refused or filtered.
        """
        self._wait()
        arguments = self._arguments(messages, schema, tools, may_call=may_call)
        response = self._send(arguments)
        completion = read_completion(response, self.name, load_litellm())
        if completion.fault is not None:
            detail = f": {without_keys(completion.detail, self._keys())}" if completion.detail else ""
            raise AgentFailure(completion.fault.kind, f"{completion.fault.name}{detail}", completion.usage)
        return completion

    def _arguments(
        self, messages: Sequence[Message], schema: JsonObject | None, tools: Sequence[JsonObject], *, may_call: bool
    ) -> dict[str, Any]:
        settings, abilities = self._settings, self.abilities
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": list(messages),
            "timeout": settings.request_seconds,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
            "max_tokens": abilities.output_tokens,
        }
        if settings.temperature is not None and abilities.temperature:
            arguments["temperature"] = settings.temperature
        if settings.is_home(self.name):
            given = {"api_base": settings.api_base, "api_key": self._key}
            arguments |= {name: value for name, value in given.items() if value}
        if schema is not None and abilities.json_schema and self._takes(schema):
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        if tools:
            arguments |= {"tools": list(tools), "tool_choice": "auto" if may_call else "none"}
        return arguments

    def _takes(self, schema: JsonObject) -> bool:
        """Whether the provider takes this very schema: some refuse objects of any shape, and a choice at the root."""
        if schema["strict"] or self._settings.json_schema is Support.ON:
            return True
        return provider_of(self.name) in TAKES_OPEN_OBJECTS and "anyOf" not in schema["schema"]

    def _send(self, arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - LiteLLM's response
        """Send, on a thread of its own: a request that is past its deadline is left behind."""
        litellm = load_litellm()
        ended: list[tuple[Any, BaseException | None]] = []

        def work() -> None:
            try:
                ended.append((litellm.completion(**arguments), None))
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is judged below, on the caller's thread
                ended.append((None, error))

        thread = threading.Thread(target=work, name="model-request", daemon=True)
        thread.start()
        seconds = self._settings.request_seconds
        thread.join(seconds)
        if not ended:
            fault = failures.DEADLINE
            raise AgentFailure(
                fault.kind, f"{fault.name}: no answer within {seconds:g} s; {fault.advice}", self._spent()
            )
        response, error = ended[0]
        if error is not None:
            raise self._failure(error) from None
        return response

    def _failure(self, error: BaseException) -> AgentFailure:
        fault = failures.fault_of(error)
        if fault in {failures.BUSY, failures.DOWN}:
            said = failures.retry_after(error)
            pause = self._settings.pause_seconds if said is None else min(said, LONGEST_PAUSE)
            self._not_before = time.monotonic() + pause
        return AgentFailure(fault.kind, without_keys(failures.account(fault, error), self._keys()), self._spent())

    def _wait(self) -> None:
        """Give a provider the time that it asked for, before it is asked again."""
        pause = self._not_before - time.monotonic()
        if pause > 0:
            self._sleep(pause)

    def _spent(self) -> Usage:
        """Of a request that failed nobody says what it used."""
        return Usage(model=self.name)

    def _keys(self) -> tuple[str, ...]:
        return (self._key,) if self._key else ()


def abilities_of(name: str, settings: ModelSettings) -> Abilities:
    """What a model can do, by what the user says, else by LiteLLM's table. This imports LiteLLM."""
    litellm = load_litellm()
    try:
        known = litellm.get_model_info(name)
    except Exception:  # noqa: BLE001 - it raises a bare Exception for a model that is not in its table
        known = {}
    said = settings.context_tokens or known.get("max_input_tokens") or known.get("max_tokens")
    context = said or UNKNOWN_CONTEXT
    most = min(MAX_OUTPUT, known.get("max_output_tokens") or MAX_OUTPUT, context // _OUTPUT_SHARE)
    return Abilities(
        json_schema=_can(settings.json_schema, litellm.supports_response_schema, name),
        tools=_can(settings.tool_calls, litellm.supports_function_calling, name),
        context_tokens=context,
        context_known=said is not None,
        output_tokens=settings.output_tokens or most,
        temperature=_takes_temperature(litellm, name),
        priced=known.get("input_cost_per_token") is not None,
    )


def _can(support: Support, told: Callable[[str], bool], name: str) -> bool:
    if support is not Support.AUTO:
        return support is Support.ON
    try:
        return bool(told(name))
    except Exception:  # noqa: BLE001 - as above: a name that it cannot read is a model that it does not know
        return False


def _takes_temperature(litellm: Any, name: str) -> bool:  # noqa: ANN401 - the module
    try:
        return "temperature" in (litellm.get_supported_openai_params(name) or ())
    except Exception:  # noqa: BLE001 - as above
        return True
