"""Reading what LiteLLM hands back: text, tool calls, what it cost, and failures that raise nothing.

No choices, a content filter and a refusal all arrive as a success. They are failures of the call, by name. A reply that
the token limit cut off is a reply, but marked; one without text is one too, if a bad one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diag_graph.agents.models import failures
from diag_graph.usage import Usage

_CUT_OFF = frozenset({"length", "max_tokens"})
_FILTERED = frozenset({"content_filter", "content_filtered", "safety"})
_REFUSED = frozenset({"refusal"})


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A tool call as a model made it: the arguments are text, which may be anything."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What one request gave.

    Attributes:
        text: The reply's text; None when there is none.
        calls: The tools that it calls.
        truncated: The token limit cut it off.
        usage: What it cost.
        fault: Why it is no reply at all; None when it is one.
        detail: The model's or provider's words about the fault.
    """

    text: str | None
    calls: tuple[NativeCall, ...]
    truncated: bool
    usage: Usage
    fault: failures.Fault | None = None
    detail: str = ""


def read_completion(response: Any, model: str, litellm: Any) -> Completion:  # noqa: ANN401 - LiteLLM's own
    """Read a response.

    Args:
        response: LiteLLM's `ModelResponse`.
        model: The model that was asked.
        litellm: The module, for its price list.
    """
    usage = usage_of(response, model, litellm)
    choices = getattr(response, "choices", None)
    if not choices:
        return Completion(None, (), truncated=False, usage=usage, fault=failures.NO_CHOICES)
    choice = choices[0]
    message, finish = choice.message, str(choice.finish_reason or "")
    refusal = _refusal(message)
    fault = None
    if finish in _FILTERED:
        fault = failures.FILTERED
    elif finish in _REFUSED or refusal:
        fault = failures.REFUSED
    return Completion(
        text=message.content if isinstance(message.content, str) else None,
        calls=tuple(_calls(message)),
        truncated=finish in _CUT_OFF,
        usage=usage,
        fault=fault,
        detail=refusal[: failures.MAX_DETAIL],
    )


def usage_of(response: Any, model: str, litellm: Any) -> Usage:  # noqa: ANN401 - LiteLLM's own
    """What a response used. A model without a price costs None."""
    told = getattr(response, "usage", None)
    details = getattr(told, "prompt_tokens_details", None)
    return Usage(
        model=model,
        requests=1,
        prompt_tokens=_count(told, "prompt_tokens"),
        cached_tokens=_count(details, "cached_tokens"),
        completion_tokens=_count(told, "completion_tokens"),
        cost_usd=_cost(response, model, litellm),
    )


def _cost(response: Any, model: str, litellm: Any) -> float | None:  # noqa: ANN401 - LiteLLM's own
    try:
        return float(litellm.completion_cost(completion_response=response, model=model))
    except Exception:  # noqa: BLE001 - it raises a bare Exception for a model without a price
        return None


def _refusal(message: Any) -> str:  # noqa: ANN401 - LiteLLM's own
    """The model's refusal, where the provider has a field for it."""
    extra = getattr(message, "provider_specific_fields", None) or {}
    said = getattr(message, "refusal", None) or extra.get("refusal")
    return said if isinstance(said, str) else ""


def _calls(message: Any) -> Iterator[NativeCall]:  # noqa: ANN401 - LiteLLM's own
    for index, call in enumerate(getattr(message, "tool_calls", None) or (), 1):
        function = call.function
        yield NativeCall(call.id or f"call-{index}", function.name or "", function.arguments or "")


def _count(holder: Any, name: str) -> int | None:  # noqa: ANN401 - LiteLLM's own
    value = getattr(holder, name, None)
    return value if isinstance(value, int) else None
