"""Keys: from a command or the environment to the provider, and nowhere else."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping

from diag_graph.agents.models.settings import ModelSettings, provider_of
from diag_graph.errors import ConfigError
from diag_graph.tools.masking import MASK, mask_text

COMMAND_SECONDS = 60.0
_KEY_VARIABLE = re.compile(r"(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_CREDENTIALS)\Z")
_SHORTEST = 8
"""Values shorter than this are no keys, and would be found in innocent text."""

KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "xai": ("XAI_API_KEY",),
}
"""Where LiteLLM looks for the key of a provider that answers nobody without one. Of a provider that is not named here
(a local one, one that signs in by roles or files) nothing is known before it is asked."""


def check_keys(settings: ModelSettings) -> None:
    """Find out, without LiteLLM and without the network, that a model has no key.

    Raises:
        ConfigError: no key of a model's provider is set.
    """
    for model in dict.fromkeys((settings.model, *settings.roles.values())):
        if settings.api_key_command and settings.is_home(model):
            continue
        variables = KEY_VARIABLES.get(provider_of(model), ())
        if variables and not any(os.environ.get(name) for name in variables):
            raise ConfigError(
                f"there is no key for the model {model}: {' or '.join(variables)} is not set",
                "Set it (a local server takes any), or api_key_command; without --model the built-in analyst answers.",
            )


def key_from_command(command: str) -> str:
    """Run a command, without a shell, for the key that it prints.

    Raises:
        ConfigError: it cannot be run, fails, takes too long, or prints nothing. What it printed is never told.
    """
    advice = "api_key_command must print the key and nothing else, as in: pass show openai"
    try:
        words = shlex.split(command)
        done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)  # noqa: S603
    except (OSError, ValueError, IndexError) as error:
        raise ConfigError(f"api_key_command cannot be run: {type(error).__name__}", advice) from None
    except subprocess.TimeoutExpired:
        raise ConfigError(f"api_key_command gave no key within {COMMAND_SECONDS:g} s", advice) from None
    if done.returncode:
        raise ConfigError(f"api_key_command failed with status {done.returncode}", advice)
    key = done.stdout.strip()
    if not key or len(key.splitlines()) > 1:
        raise ConfigError("api_key_command printed no key" if not key else "api_key_command printed more lines", advice)
    return key


def without_keys(text: str, keys: Iterable[str] = ()) -> str:
    """A text without secrets: the given keys, those of the environment, and whatever looks like one (X3)."""
    known = [*keys, *(value for name, value in os.environ.items() if _KEY_VARIABLE.search(name))]
    for key in known:
        if len(key) >= _SHORTEST:
            text = text.replace(key, MASK)
    return mask_text(text)
