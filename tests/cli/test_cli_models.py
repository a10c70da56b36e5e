"""The command line with a language model, over real HTTP to a server of the tests' own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_samples import Command

from diag_cli.model_settings import MODEL_SETTINGS, model_settings
from diag_cli.settings import resolve
from diag_graph.agents.models import Budgets, ModelSettings, Support
from diag_graph.agents.models.keys import KEY_VARIABLES, check_keys
from diag_graph.agents.models.loading import load_litellm
from diag_graph.errors import ConfigError
from diag_graph.topology import Node
from fake_model_server import Answer, Request, Script, calls, fails, says, serving

pytestmark = pytest.mark.xdist_group("litellm")

KEY = "key-of-the-test-0123456789"
LINE = "connection pool exhausted: 20 of 20 in use"


@pytest.fixture
def incident(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one telling log line; the key is in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    folder = home / "incident"
    folder.mkdir()
    line = {"timestamp": "2026-07-16T14:05:12Z", "service": "payment", "level": "ERROR", "message": LINE}
    (folder / "logs.ndjson").write_text(json.dumps(line) + "\n")
    return folder


def legal(**others: Sequence[Any]) -> Script:
    """A script of legal replies."""
    binding = {"source_invocation_id": "inv-1", "raw_path": "/items/1/text", "evidence_excerpt": LINE}
    claim = {"claim_id": "c-1", "claim": "the pool ran out", "kind": "root_cause", "entity": "payment"}
    step = {"step_id": "s", "goal": "find errors", "tool": "search_logs", "arguments": {"level": "ERROR"}}
    fact = {"claim_id": "c-1", "fact": "the pool ran out", "verification": "direct_support", "reason": "it says so"}
    composed = {
        "summary": "payment ran out of connections.",
        "findings": [{"claim_ids": ["c-1"], "text": "It ran out."}],
    }
    script: dict[str, Sequence[Any]] = {
        "planner": [says({"steps": [step]})],
        "executor": [says({"claims": [{**claim, "evidence_bindings": [binding]}]})],
        "verifier": [says({"verdict": "PASS", "facts_checked": [fact]})],
        "composer": [says(composed)],
    }
    return {**script, **others}


def test_ask_with_a_model_answers_and_says_what_it_used(command: Command, incident: Path) -> None:
    """Stdout is the answer; tokens, and that no price is known, stand at the end on stderr."""
    with serving(legal()) as server:
        outcome = command("ask", "why?", "--incident", incident, "--model", "openai/fake", "--api-base", server.base)
    assert outcome.status == 0
    assert "payment ran out of connections." in outcome.out
    assert "openai/fake: 400 tokens in, 40 out; cost not known: there is no price for openai/fake" in outcome.err


def test_the_key_stands_in_no_file_that_is_kept(command: Command, incident: Path, home: Path) -> None:
    """Keys never reach the store, the trace, a saved run or the terminal, also when the provider repeats one."""
    with serving(legal(composer=[fails(401, f"Incorrect API key provided: {KEY}")])) as server:
        outcome = command(
            "ask",
            "why?",
            "--incident",
            incident,
            "--model",
            "openai/fake",
            "--api-base",
            server.base,
            "--save",
            "r.json",
        )
        traced = command("trace", "last", "--json")
    assert outcome.status == 0
    assert "not_allowed" in outcome.err
    assert KEY not in outcome.out + outcome.err + traced.out
    kept = [path for path in home.rglob("*") if path.is_file() and incident not in path.parents]
    assert {"r.json", "diag.db"} <= {path.name for path in kept}
    assert not [path.name for path in kept if KEY.encode() in path.read_bytes()]


def test_the_store_keeps_tokens_a_step(command: Command, incident: Path, home: Path) -> None:
    """Cached tokens too, where the provider tells."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 5}}
    cached = says({"steps": [{"goal": "look"}]}, usage={**usage, "total_tokens": 10})
    with serving(legal(planner=[cached])) as server:
        command("ask", "why?", "--incident", incident, "--model", "openai/fake", "--api-base", server.base)
    with sqlite3.connect(home / "diag.db") as db:
        rows = db.execute("select prompt_tokens, cached_tokens, completion_tokens, model from agent_step").fetchall()
    db.close()
    assert rows[0] == (7, 5, 3, "openai/fake")


def test_a_run_with_a_model_replays_without_one(command: Command, incident: Path) -> None:
    """P2: what the models said is in the file; nothing is asked again."""
    with serving(legal()) as server:
        asked = command(
            "ask",
            "why?",
            "--incident",
            incident,
            "--model",
            "openai/fake",
            "--api-base",
            server.base,
            "--save",
            "r.json",
        )
    replayed = command("replay", "r.json")
    assert replayed.status == 0
    assert replayed.out == asked.out


def _probe(request: Request) -> Answer:
    if request.get("tools"):
        return calls(("look_up_weather", {"city": "Oslo"}))
    return says({"colour": "blue", "warm": False}) if "response_format" in request else says("ready")


def test_doctor_probes_a_model_and_says_how_to_set_it(command: Command, incident: Path) -> None:
    """It can do more than LiteLLM's table says of a model that it does not know."""
    with serving({"any": [_probe]}) as server:
        outcome = command("doctor", "--probe", "--model", "openai/fake", "--api-base", server.base)
    assert len(server.requests) == 3
    assert outcome.status == 0
    told = " ".join(outcome.out.split())
    assert "openai/fake: text: works" in told
    assert 'Set json_schema = "on" (DIAG_JSON_SCHEMA)' in told
    assert 'Set tool_calls = "on" (DIAG_TOOL_CALLS)' in told
    assert "set context_tokens" in told


def test_doctor_names_a_model_that_does_not_answer_a_fault(command: Command, incident: Path) -> None:
    """Exit status 2, with what went wrong, after one request."""
    with serving({"any": [fails(401, "bad key")]}) as server:
        outcome = command("doctor", "--probe", "--model", "openai/fake", "--api-base", server.base)
    assert len(server.requests) == 1
    assert outcome.status == 2
    assert "not_allowed: HTTP 401" in outcome.out


def test_doctor_without_probe_asks_nothing(command: Command, incident: Path) -> None:
    """A look at what is set up costs no tokens."""
    with serving({"any": [_probe]}) as server:
        outcome = command("doctor", "--model", "openai/fake", "--api-base", server.base)
    assert server.requests == []
    assert "diag doctor --probe" in outcome.out


@pytest.mark.parametrize("more", [["-q"], ["--strict"], ["--json"]])
def test_a_model_without_a_key_is_found_before_the_run(
    command: Command, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    """Section 10: a configuration error, exit 2, with what to do; nothing is run or kept."""
    for names in KEY_VARIABLES.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    outcome = command("ask", "hi", "--model", "openai/gpt-4.1", *more)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("diag: there is no key for the model openai/gpt-4.1: OPENAI_API_KEY is not set\n")
    assert "api_key_command" in outcome.err
    assert "No runs yet" in command("runs").err
    doctor = command("doctor", "--model", "openai/gpt-4.1")
    assert (doctor.status, "OPENAI_API_KEY is not set" in doctor.out) == (2, True)


def test_a_model_that_needs_no_key_or_has_a_command_for_it_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a provider that signs in otherwise, nothing is known before it is asked."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    check_keys(ModelSettings("ollama/any"))
    check_keys(ModelSettings("openai/any", api_key_command="true"))
    with pytest.raises(ConfigError, match="MISTRAL_API_KEY is not set"):
        check_keys(ModelSettings("openai/any", {Node.COMPOSER: "mistral/any"}, api_key_command="true"))


@pytest.mark.parametrize("provider", sorted(KEY_VARIABLES))
def test_the_variables_of_keys_are_those_of_litellm(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is asked for that LiteLLM would not take."""
    for name in KEY_VARIABLES[provider]:
        monkeypatch.delenv(name, raising=False)
    missing = load_litellm().validate_environment(f"{provider}/any")["missing_keys"]
    assert set(missing) <= set(KEY_VARIABLES[provider])


@pytest.mark.parametrize("more", [[], ["-q"], ["-q", "--json"]])
def test_a_key_that_is_rejected_is_said_with_what_to_do(command: Command, incident: Path, more: list[str]) -> None:
    """Section 10: a fallback is a safe answer, exit 0; why it is one stands on stderr also when quiet."""
    with serving(legal(planner=[fails(401, "Incorrect API key provided")])) as server:
        outcome = command(
            "ask", "why?", "--incident", incident, "--model", "openai/fake", "--api-base", server.base, *more
        )
    assert outcome.status == 0
    assert "diag: the planner failed: not_allowed: HTTP 401; " in outcome.err
    assert "\n      is the key right, and may it use this model?\n" in outcome.err


def test_without_a_model_there_are_no_model_settings(home: Path) -> None:
    """The built-in analyst thinks."""
    assert model_settings(resolve({})) is None


def test_settings_say_the_same_as_the_engines_defaults(home: Path) -> None:
    """The command line and the library begin from the same numbers."""
    assert model_settings(resolve({"model": "openai/x"})) == ModelSettings("openai/x")


def test_every_setting_reaches_the_agents(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the environment here; files and flags take the same way."""
    said = {
        "MODEL": "openai/x",
        "PLANNER_MODEL": "openai/p",
        "EXECUTOR_MODEL": "openai/e",
        "VERIFIER_MODEL": "openai/v",
        "COMPOSER_MODEL": "openai/c",
        "API_BASE": "http://127.0.0.1:1/v1",
        "API_KEY_COMMAND": "pass show x",
        "JSON_SCHEMA": "on",
        "TOOL_CALLS": "OFF",
        "CONTEXT_TOKENS": "32,000",
        "OUTPUT_TOKENS": "900",
        "TEMPERATURE": "default",
        "REQUEST_SECONDS": "30",
        "MAX_TOOL_CALLS": "5",
        "MAX_TOKENS": "9_000",
        "MAX_SECONDS": "60",
    }
    for name, text in said.items():
        monkeypatch.setenv(f"DIAG_{name}", text)
    assert {f"DIAG_{name}" for name in said} == {"DIAG_MODEL", *(setting.variable for setting in MODEL_SETTINGS)}
    assert model_settings(resolve({})) == ModelSettings(
        "openai/x",
        roles={
            Node.PLANNER: "openai/p",
            Node.EXECUTOR: "openai/e",
            Node.VERIFIER: "openai/v",
            Node.COMPOSER: "openai/c",
        },
        api_base="http://127.0.0.1:1/v1",
        api_key_command="pass show x",
        json_schema=Support.ON,
        tool_calls=Support.OFF,
        context_tokens=32_000,
        output_tokens=900,
        temperature=None,
        request_seconds=30.0,
        budgets=Budgets(5, 9_000, 60.0),
    )


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("DIAG_JSON_SCHEMA", "perhaps"),
        ("DIAG_CONTEXT_TOKENS", "many"),
        ("DIAG_CONTEXT_TOKENS", "10"),
        ("DIAG_TEMPERATURE", "-1"),
        ("DIAG_REQUEST_SECONDS", "nan"),
        ("DIAG_MAX_TOOL_CALLS", "0"),
    ],
)
def test_a_value_that_cannot_be_used_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, text: str
) -> None:
    """Before anything runs."""
    monkeypatch.setenv(variable, text)
    with pytest.raises(ConfigError, match=variable):
        resolve({})


@pytest.mark.parametrize("name", ["api_key_command", "api_base"])
def test_a_project_file_cannot_run_a_program_or_redirect_a_key(home: Path, name: str) -> None:
    """The folder may be somebody else's; the user's own file may say so."""
    (home / "diag.toml").write_text(f'{name} = "http://192.0.2.1/v1"')
    with pytest.raises(ConfigError, match="no project file may"):
        resolve({})
    (home / "diag.toml").rename(home / "config.toml")
    assert resolve({})[name] == "http://192.0.2.1/v1"


def test_another_model_can_be_asked_about_the_same_evidence(command: Command, incident: Path) -> None:
    """`replay --agents live --model`: the tools answer from the recording, the model is really asked."""
    with serving(legal()) as server:
        address = ("--model", "openai/fake", "--api-base", server.base)
        command("ask", "why?", "--incident", incident, *address, "--save", "r.json")
        asked = len(server.requests)
        (incident / "logs.ndjson").unlink()
        replayed = command("replay", "r.json", "--agents", "live", *address)
    assert replayed.status == 0
    assert len(server.requests) == 2 * asked
    assert "payment ran out of connections." in replayed.out
    assert "openai/fake: 400 tokens in" in replayed.err
