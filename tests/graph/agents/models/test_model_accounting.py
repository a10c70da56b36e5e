from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from model_runs import KEY, ask, errors_of, run_script, said, script

from diag_graph.agents.models import ModelSettings, Support
from diag_graph.agents.models.client import UNKNOWN_CONTEXT, ChatModel, abilities_of
from diag_graph.agents.models.keys import key_from_command
from diag_graph.agents.models.schema import AskedCalls, EvidenceDocument, json_schema
from diag_graph.contracts import Plan, VerifierResult
from diag_graph.errors import ConfigError
from diag_graph.topology import Node
from diag_graph.usage import Usage
from fake_model_server import says, serving

pytestmark = pytest.mark.xdist_group("litellm")


def test_tokens_are_counted_a_step_and_a_run(folder: Path) -> None:
    """What the provider says of each request adds up."""
    run, _ = run_script(folder, script())
    assert [(step.prompt_tokens, step.completion_tokens) for step in run.steps] == [(100, 10)] * 4
    assert (run.run.prompt_tokens, run.run.completion_tokens) == (400, 40)
    assert {step.model for step in run.steps} == {"openai/fake"}


def test_a_model_without_a_price_costs_null(folder: Path) -> None:
    """Unknown is not free."""
    run, _ = run_script(folder, script())
    assert [step.cost_usd for step in run.steps] == [None] * 4
    assert run.run.cost_usd is None


def test_a_model_with_a_price_costs_what_it_costs(folder: Path) -> None:
    """By LiteLLM's own list."""
    run, _ = run_script(folder, script(), model="openai/gpt-4o-mini")
    assert run.run.cost_usd == pytest.approx(4 * (100 * 0.15e-6 + 10 * 0.6e-6))


def test_a_run_is_priced_only_when_all_of_it_is(folder: Path) -> None:
    """Half a price misleads: with one role's model unpriced, the run's cost is null."""
    roles = {Node.COMPOSER: "openai/gpt-4o-mini"}
    run, server = run_script(folder, script(), roles=roles)
    assert [step.cost_usd is None for step in run.steps] == [True, True, True, False]
    assert run.run.cost_usd is None
    assert [request["model"] for request in server.requests] == ["fake", "fake", "fake", "gpt-4o-mini"]
    assert run.run.model == "openai/fake (composer openai/gpt-4o-mini)"


def test_cached_tokens_are_counted_where_the_provider_tells(folder: Path) -> None:
    """They stand in the step, as a part of the prompt's tokens."""
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    run, _ = run_script(folder, script(planner=[says({"steps": [{"goal": "look"}]}, usage=usage)]))
    assert [step.cached_tokens for step in run.steps[:2]] == [64, None]


def test_a_reply_without_usage_is_counted_as_unknown(folder: Path) -> None:
    """Some servers say nothing; that is not zero."""
    step = run_script(folder, script(planner=[says({"steps": [{"goal": "look"}]}, usage={})]))[0].steps[0]
    assert step.cost_usd is None


def test_adding_up_keeps_what_is_unknown_unknown() -> None:
    """A price that is missing once is missing in the sum; a request that never answered adds nothing."""
    priced = Usage("a", 1, 10, None, 5, 0.5)
    assert (priced + priced).cost_usd == 1.0
    assert (priced + Usage("b", 1, 10, 3, 5, None)) == Usage("b", 2, 20, 3, 10, None)
    assert priced + Usage("b") == priced


def test_what_litellm_knows_of_a_model_decides() -> None:
    """Schema, tools and context by its table; a model that it does not know is taken to do little."""
    known = abilities_of("anthropic/claude-sonnet-4-5", ModelSettings("anthropic/claude-sonnet-4-5"))
    assert (known.json_schema, known.tools, known.priced, known.context_known) == (True, True, True, True)
    assert known.context_tokens >= 100_000
    unknown = abilities_of("openai/local", ModelSettings("openai/local"))
    assert (unknown.json_schema, unknown.tools, unknown.priced, unknown.context_known) == (False, False, False, False)
    assert unknown.context_tokens == UNKNOWN_CONTEXT


def test_the_user_knows_better_than_the_table() -> None:
    """For a model on one's own machine, its owner says what it can do."""
    settings = ModelSettings("openai/x", json_schema=Support.ON, tool_calls=Support.ON, context_tokens=32_000)
    able = abilities_of("openai/x", settings)
    assert (able.json_schema, able.tools, able.context_tokens, able.context_known) == (True, True, 32_000, True)


def test_a_schema_is_sent_to_models_that_take_one_and_to_no_other(folder: Path) -> None:
    """Without it the prompt alone says what is wanted; the parser is the same either way."""
    _, without = run_script(folder, script())
    assert not [request for request in without.requests if "response_format" in request]
    _, with_schema = run_script(folder, script(), json_schema=Support.ON)
    sent = {request["role"]: request["response_format"]["json_schema"] for request in with_schema.requests}
    assert set(sent) == {"planner", "executor", "verifier", "composer"}
    assert sent["verifier"]["strict"] is True
    assert '"verdict": "PASS" | "LOW_CONFID" | "REJECT"' in said(with_schema.of("verifier")[0])


@pytest.mark.parametrize(
    ("model", "support", "sent"),
    [
        ("anthropic/claude-sonnet-4-5", Support.AUTO, {"verifier"}),
        ("openai/gpt-4o", Support.AUTO, {"verifier", "planner"}),
        ("openai/local", Support.AUTO, set()),
        ("openai/local", Support.ON, {"verifier", "planner", "executor"}),
        ("openai/gpt-4o", Support.OFF, set()),
    ],
)
def test_a_schema_is_sent_only_to_a_provider_that_takes_it(model: str, support: Support, sent: set[str]) -> None:
    """Some refuse objects of any shape (a plan's arguments), and a choice at the root (calls, or a document)."""
    schemas = {
        "verifier": json_schema("verifier", VerifierResult),
        "planner": json_schema("planner", Plan),
        "executor": json_schema("executor", EvidenceDocument, AskedCalls),
    }
    chat = ChatModel(model, ModelSettings(model, json_schema=support))
    requests = {name: chat._arguments([], schema, (), may_call=True) for name, schema in schemas.items()}
    assert {name for name, request in requests.items() if "response_format" in request} == sent


def test_the_key_of_a_command_is_used_and_stands_nowhere_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reaches the provider; the run holds neither it nor what looks like it."""
    monkeypatch.delenv("OPENAI_API_KEY")
    command = f"{sys.executable} -c \"print('{KEY}')\""
    run, server = run_script(folder, script(), api_key_command=command)
    assert {request["headers"]["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert KEY not in run.model_dump_json()


def test_a_base_and_a_key_are_for_their_own_provider_alone(folder: Path) -> None:
    """A role's model of another provider must not be sent this one's key, nor be looked for at its place."""
    run, server = run_script(
        folder, script(), roles={Node.COMPOSER: "mistral/mistral-small"}, api_key_command=f"echo {KEY}"
    )
    assert [request["role"] for request in server.requests] == ["planner", "executor", "verifier"]
    assert errors_of(run, "composer")


@pytest.mark.parametrize(
    ("command", "said_of_it"),
    [
        ("no-such-program-here", "cannot be run"),
        ("sh -c 'exit 3'", "failed with status 3"),
        ("true", "printed no key"),
        ("printf 'a\\nb'", "printed more lines"),
        ("echo 'unbalanced", "cannot be run"),
        ("", "cannot be run"),
    ],
)
def test_a_command_that_gives_no_key_says_why(command: str, said_of_it: str) -> None:
    """The message never holds what the command printed."""
    with pytest.raises(ConfigError, match=said_of_it):
        key_from_command(command)


def test_importing_litellm_connects_to_nothing_and_reads_no_env_file(tmp_path: Path) -> None:
    """X6: no price list is downloaded, no `.env` that happens to lie about is obeyed, and its log is quiet."""
    (tmp_path / ".env").write_text("OPENAI_API_BASE=http://192.0.2.1/v1\n")
    program = (
        "import sys, os\n"
        "seen = []\n"
        "sys.addaudithook(lambda e, a: seen.append(a) if e in ('socket.connect', 'socket.getaddrinfo') else None)\n"
        "from diag_graph.agents.models.loading import begin_import, load_litellm\n"
        "begin_import()\n"
        "litellm = load_litellm()\n"
        "print(seen, os.environ.get('OPENAI_API_BASE'), litellm.success_callback, litellm.callbacks)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert (done.stdout, done.stderr) == ("[] None [] []\n", "")


def test_openai_api_base_is_followed_as_litellm_users_expect(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a setting of ours, LiteLLM's own variable says where the model is."""
    with serving(script()) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        run = ask(server, folder, api_base=None)
    assert len(server.requests) == 4
    assert run.run.verdict == "PASS"


def test_azure_is_reached_by_its_own_variables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment's name is the model's; base, version and key are the variables that LiteLLM users know."""
    with serving(script()) as server:
        monkeypatch.setenv("AZURE_API_BASE", server.base.removesuffix("/v1"))
        monkeypatch.setenv("AZURE_API_VERSION", "2024-10-21")
        monkeypatch.setenv("AZURE_API_KEY", KEY)
        run = ask(server, folder, model="azure/my-deployment", api_base=None)
    paths = {request["path"] for request in server.requests}
    assert paths == {"/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"}
    assert {request["headers"]["api-key"] for request in server.requests} == {KEY}
    assert run.run.verdict == "PASS"


def test_a_proxy_of_the_environment_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request for a model elsewhere arrives at the proxy, in full."""
    with serving(script()) as server:
        monkeypatch.setenv("HTTP_PROXY", server.base.removesuffix("/v1"))
        run = ask(server, folder, api_base="http://models.example.org/v1")
    assert {request["path"] for request in server.requests} == {"http://models.example.org/v1/chat/completions"}
    assert run.run.verdict == "PASS"


def test_the_first_request_of_a_diagnosis_stays_small() -> None:
    """Under 3,000 tokens with all built-in tools, for every agent; the benchmark prints them by part."""
    path = Path(__file__).parents[4] / "benchmarks" / "prompt_tokens.py"
    spec = importlib.util.spec_from_file_location("prompt_tokens", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main() == 0
