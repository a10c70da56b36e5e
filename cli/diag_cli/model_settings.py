"""The settings of language models: rows of the one table, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from diag_cli.setting import Setting, number, whole_number
from diag_graph.agents.models.settings import Budgets, ModelSettings, Support
from diag_graph.topology import Node

if TYPE_CHECKING:
    from collections.abc import Mapping

ROLES = (Node.PLANNER, Node.EXECUTOR, Node.VERIFIER, Node.COMPOSER)
_DEFAULTS = ModelSettings("")
_LEAST_CONTEXT, _LEAST_OUTPUT = 2_000, 100


def _support(text: str) -> Support:
    try:
        return Support(text.strip().lower())
    except ValueError:
        raise ValueError(f"it must be one of {', '.join(Support)}") from None


def _temperature(text: str) -> float | None:
    return None if text.strip().lower() == "default" else number(0)(text)


def _role(role: Node) -> Setting:
    purpose = f"The language model of the {role}, if it is to be another one."
    return _setting(f"{role}_model", str.strip, None, "`model`", purpose)


def _setting(
    name: str,
    read: Callable[[str], Any],
    default: object,
    default_text: str,
    purpose: str,
    flag: str | None = None,
    *,
    personal: bool = False,
) -> Setting:
    return Setting(name, flag, f"DIAG_{name.upper()}", read, lambda: default, default_text, purpose, personal)


MODEL_SETTINGS: tuple[Setting, ...] = (
    *map(_role, ROLES),
    _setting(
        "api_base",
        str.strip,
        None,
        "LiteLLM's variable for the provider, else the provider's own",
        "Where the model's provider is reached: http://127.0.0.1:8080/v1.",
        "--api-base",
        personal=True,
    ),
    _setting(
        "api_key_command",
        str.strip,
        None,
        "none: the key is in the environment",
        "A command that prints the provider's key, run without a shell.",
        personal=True,
    ),
    _setting("json_schema", _support, Support.AUTO, "`auto`", "Hold replies to a JSON schema: auto, on or off."),
    _setting("tool_calls", _support, Support.AUTO, "`auto`", "Let the model call tools natively: auto, on or off."),
    _setting(
        "context_tokens",
        whole_number(_LEAST_CONTEXT),
        None,
        "as LiteLLM knows, else 8192",
        "How many tokens the model holds.",
    ),
    _setting(
        "output_tokens",
        whole_number(_LEAST_OUTPUT),
        None,
        "a quarter of the context, at most 16000",
        "How long a reply may be.",
    ),
    _setting(
        "temperature", _temperature, _DEFAULTS.temperature, "`0`", "Sampling temperature; default: the provider's."
    ),
    _setting(
        "request_seconds",
        number(0.1),
        _DEFAULTS.request_seconds,
        f"`{_DEFAULTS.request_seconds:g}`",
        "Deadline of one request to a model.",
    ),
    _setting(
        "max_tool_calls",
        whole_number(1),
        _DEFAULTS.budgets.tool_calls,
        f"`{_DEFAULTS.budgets.tool_calls}`",
        "Budget of a round: tool calls that a model may ask for.",
    ),
    _setting(
        "max_tokens",
        whole_number(1_000),
        _DEFAULTS.budgets.tokens,
        f"`{_DEFAULTS.budgets.tokens}`",
        "Budget of a round: tokens, in and out.",
    ),
    _setting(
        "max_seconds",
        number(1),
        _DEFAULTS.budgets.seconds,
        f"`{_DEFAULTS.budgets.seconds:g}`",
        "Budget of a round: seconds.",
    ),
)


class _Given(Protocol):
    """Settings, resolved."""

    def __getitem__(self, name: str) -> Any: ...  # noqa: ANN401 - each setting has a type of its own


def usable_model(given: _Given | Mapping[str, Any]) -> ModelSettings | None:
    """The same as `model_settings`, where all that can be known before a model is asked is in order.

    Raises:
        ConfigError: a model has no key.
    """
    from diag_graph.agents.models.keys import check_keys

    thinks = model_settings(given)
    if thinks is not None:
        check_keys(thinks)
    return thinks


def model_settings(given: _Given | Mapping[str, Any]) -> ModelSettings | None:
    """How the agents reach their models; None when none is set, and the built-in analyst thinks."""
    if not given["model"]:
        return None
    return ModelSettings(
        model=given["model"],
        roles={role: name for role in ROLES if (name := given[f"{role}_model"])},
        api_base=given["api_base"] or None,
        api_key_command=given["api_key_command"] or None,
        json_schema=given["json_schema"],
        tool_calls=given["tool_calls"],
        context_tokens=given["context_tokens"],
        output_tokens=given["output_tokens"],
        temperature=given["temperature"],
        request_seconds=given["request_seconds"],
        budgets=Budgets(given["max_tool_calls"], given["max_tokens"], given["max_seconds"]),
    )
