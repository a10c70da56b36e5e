from __future__ import annotations

import pytest

from diag_graph.agents.models import failures
from diag_graph.agents.models.keys import without_keys


class ProviderError(Exception):
    """An exception with a body and a code, as client libraries have them."""

    def __init__(self, message: str, body: object = None, code: object = None) -> None:
        super().__init__(message)
        self.body = body
        self.code = code


def caused(outer: BaseException, inner: BaseException) -> BaseException:
    """An exception that another one led to."""
    outer.__cause__ = inner
    return outer


MISSING = (
    "OpenAIException - Missing credentials. Please pass an `api_key`",
    "Missing Anthropic API Key - A call is being made to anthropic but no key is set",
    "Missing Gemini API key. Set the GEMINI_API_KEY",
    "The api_key client option must be set either by passing api_key",
)


@pytest.mark.parametrize("words", MISSING)
def test_a_missing_key_is_known_by_its_words_for_no_class_tells(words: str) -> None:
    """Each provider raises something else."""
    assert failures.fault_of(ProviderError(words)) is failures.MISSING_KEY
    assert failures.fault_of(caused(ProviderError("x"), ProviderError(words))) is failures.MISSING_KEY


@pytest.mark.parametrize(
    "body",
    [
        {"code": "insufficient_quota"},
        {"type": "insufficient_quota"},
        {"error": {"code": "insufficient_quota"}},
        {"error": {"type": "insufficient_quota", "code": 429}},
    ],
)
def test_the_providers_own_code_is_found_wherever_it_stands(body: object) -> None:
    """Some wrap it, some call it type; a number there is no code of ours."""
    assert failures.fault_of(ProviderError("x", body)) is failures.QUOTA


def test_the_root_of_a_chain_tells_more_than_its_top() -> None:
    """LiteLLM wraps a refused connection three times, and calls it an internal server error."""
    error = caused(ProviderError("Connection error."), caused(RuntimeError("x"), ConnectionRefusedError(111, "no")))
    assert failures.fault_of(error).name == "connection_refused"


def test_a_chain_that_bites_its_tail_ends() -> None:
    """Exceptions can be made to point at each other."""
    one, other = ProviderError("a"), ProviderError("b")
    one.__cause__, other.__cause__ = other, one
    assert failures.fault_of(one) is failures.UNKNOWN


def test_an_account_leaves_out_a_traceback_and_what_only_names_classes() -> None:
    """One line for people."""
    error = ProviderError("litellm.APIConnectionError: Missing Gemini API key.\nTraceback (most recent call last):\n x")
    assert failures.account(failures.MISSING_KEY, error) == (
        f"missing_key: Missing Gemini API key.; {failures.MISSING_KEY.advice}"
    )


def test_an_account_is_bounded() -> None:
    """An HTML page is no message."""
    assert len(failures.account(failures.DOWN, ProviderError("<html>" * 10_000))) < 400


def test_a_key_is_taken_out_of_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The given one, those of the environment by their names, and what looks like one."""
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", "plain-words-as-a-key")
    monkeypatch.setenv("SHORT_TOKEN", "abc")
    text = without_keys(
        "given-0123456789 plain-words-as-a-key abc sk-proj-abcdefghijklmnopqrstuvwx", ["given-0123456789"]
    )
    assert text == "[masked] [masked] abc [masked]"
