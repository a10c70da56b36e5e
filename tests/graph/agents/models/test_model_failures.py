from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_runs import COMPOSED, KEY, PLAN, VERIFIED, end_of, errors_of, path_of, run_script, said, script

from diag_graph.agents.models import ModelSettings, failures
from diag_graph.agents.models.client import ChatModel
from diag_graph.agents.models.loading import load_litellm
from diag_graph.errors import AgentFailure
from diag_graph.nodes.agent_call import FORMAT_REMINDER
from diag_graph.topology import RETRYABLE_KINDS, FailureKind
from fake_model_server import Answer, completion, fails, says, serving

pytestmark = pytest.mark.xdist_group("litellm")

ROLES = ("planner", "executor", "verifier", "composer")
LEGAL = {"planner": PLAN, "verifier": VERIFIED, "composer": COMPOSED}

FAULTS: dict[str, tuple[Answer, FailureKind]] = {
    "timeout": (fails(504, "gateway timeout"), FailureKind.TIMEOUT),
    "rate_limited": (fails(429, "slow down", code="rate_limit_exceeded"), FailureKind.RATE_LIMIT),
    "unavailable": (fails(503, "overloaded"), FailureKind.UNAVAILABLE),
    "connection_reset": (Answer(misbehave="reset"), FailureKind.UNAVAILABLE),
    "connection_broken": (Answer("{", misbehave="cut"), FailureKind.UNAVAILABLE),
    "unreadable_reply": (Answer("<html>log in first</html>"), FailureKind.UNAVAILABLE),
    "no_choices": (Answer(completion([])), FailureKind.UNAVAILABLE),
    "not_allowed": (fails(401, "Incorrect API key provided", code="invalid_api_key"), FailureKind.AUTH),
    "quota_spent": (fails(429, "You exceeded your quota", code="insufficient_quota"), FailureKind.AUTH),
    "request_too_large": (fails(413, "Request too large"), FailureKind.CONTEXT_LENGTH),
    "context_too_long": (
        fails(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
        FailureKind.CONTEXT_LENGTH,
    ),
    "bad_request": (fails(400, "Invalid value"), FailureKind.BAD_REQUEST),
    "unknown_model": (fails(404, "The model does not exist", code="model_not_found"), FailureKind.CONFIG),
    "content_filter": (says(None, "content_filter"), FailureKind.BAD_REQUEST),
    "refused": (says(None, refusal="I cannot help with that"), FailureKind.BAD_REQUEST),
}
"""By the name that the step gives it: what the server does, and the kind."""

UNREADABLE: dict[str, tuple[Answer, str]] = {
    "cut off": (says('{"claims": [], "summary": "it w', "length"), "token limit cut the reply off"),
    "prose": (says("Sure! Let me look into that."), "no JSON object"),
    "nothing": (says(""), "missing: the agent returned nothing"),
    "null": (says(None), "missing: the agent returned nothing"),
    "broken": (says('{"claims": ['), "broken JSON"),
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", FAULTS)
def test_each_failure_takes_its_path_from_each_role(role: str, name: str, folder: Path) -> None:
    """Section 4: by kind retried once or not at all, in the executor never; an attempt is one request that arrives."""
    answer, kind = FAULTS[name]
    run, server = run_script(folder, script(**{role: [answer]}))
    attempts = 2 if kind in RETRYABLE_KINDS and role != "executor" else 1
    assert len(server.of(role)) == attempts
    steps = [step for step in run.steps if step.agent == role]
    assert [step.error_kind for step in steps] == [kind] * attempts
    assert all(step.error and step.error.startswith(f"{name}") for step in steps)
    retryable = "retryable" if kind in RETRYABLE_KINDS else "non_retryable"
    assert end_of(run) == ("executor_failed" if role == "executor" else f"{role}_{retryable}_failed")
    assert path_of(run)[-1] == "fallback"
    assert run.run.status == "SUCCESS"
    assert run.run.answer


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", UNREADABLE)
def test_each_unreadable_reply_is_invalid_output(role: str, name: str, folder: Path) -> None:
    """Section 4: nothing is repaired, also not what the token limit cut off; the executor is not asked again."""
    answer, reason = UNREADABLE[name]
    run, server = run_script(folder, script(**{role: [answer]}))
    assert len(server.of(role)) == (1 if role == "executor" else 2)
    assert end_of(run) == f"{role}_invalid_output"
    assert reason in errors_of(run, role)[-1]
    assert [step.truncated for step in run.steps if step.agent == role][-1] is (name == "cut off")


@pytest.mark.parametrize("role", ["planner", "verifier", "composer"])
@pytest.mark.parametrize("first", [FAULTS["unavailable"][0], UNREADABLE["prose"][0]], ids=["failed", "unreadable"])
def test_a_retry_has_the_same_input_and_a_reminder(role: str, first: Answer, folder: Path) -> None:
    """R3: the second attempt says the same again, plus the fixed reminder, and the run goes on."""
    run, server = run_script(folder, script(**{role: [first, says(LEGAL[role])]}))
    assert end_of(run) == "composer_completed"
    before, after = (request["messages"][1]["content"] for request in server.of(role))
    assert FORMAT_REMINDER in after
    plain = [re.sub(r"<<(data|end) \w+>>", "", text) for text in (before, after.replace(FORMAT_REMINDER, ""))]
    assert plain[0].strip() == plain[1].strip()


def test_a_trickling_server_meets_the_outer_deadline(folder: Path) -> None:
    """The library's limit holds for each read; ours for the whole."""
    answers = script(planner=[Answer("{}", misbehave="trickle")])
    run, server = run_script(folder, answers, request_seconds=0.4)
    assert len(server.of("planner")) == 2
    assert errors_of(run, "planner")[0].startswith("deadline: no answer within 0.4 s")
    assert end_of(run) == "planner_retryable_failed"


def test_nobody_listening_is_retried_and_says_so(folder: Path) -> None:
    """A refused connection is an outage, not a fault of the model."""
    run, _ = run_script(folder, script(), api_base="http://127.0.0.1:9/v1")
    assert all("connection_refused" in error for error in errors_of(run, "planner"))
    assert end_of(run) == "planner_retryable_failed"


def test_a_missing_key_is_not_retried_and_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is not there will not be there in a second."""
    monkeypatch.delenv("OPENAI_API_KEY")
    run, server = run_script(folder, script())
    assert errors_of(run, "planner")[0].startswith("missing_key")
    assert "api_key_command" in errors_of(run, "planner")[0]
    assert (end_of(run), len(server.requests)) == ("planner_non_retryable_failed", 0)


@pytest.mark.parametrize("model", ["nosuchprovider/x", "gibberish"])
def test_a_model_of_no_provider_is_a_setting_to_correct(model: str, folder: Path) -> None:
    """LiteLLM knows providers by the prefix."""
    run, _ = run_script(folder, script(), model=model)
    assert errors_of(run, "planner")[0].startswith("unknown_model")
    assert end_of(run) == "planner_non_retryable_failed"


def test_a_key_that_the_provider_repeats_is_masked(folder: Path) -> None:
    """X3: providers quote the key that they refuse; it stands nowhere in what is kept."""
    run, _ = run_script(folder, script(planner=[fails(401, f"Incorrect API key provided: {KEY}.")]))
    assert "[masked]" in errors_of(run, "planner")[0]
    assert KEY not in run.model_dump_json()


def test_a_pause_that_the_provider_asks_for_is_kept() -> None:
    """`retry-after` is waited for before the next attempt, and not in the one that failed."""
    waited: list[float] = []
    busy = Answer({"error": {"message": "busy"}}, 429, {"retry-after": "7"})
    with serving({"any": [busy, says("{}")]}) as server:
        model = ChatModel("openai/fake", ModelSettings("openai/fake", api_base=server.base), sleep=waited.append)
        with pytest.raises(AgentFailure):
            model.complete([{"role": "user", "content": "hi"}])
        assert waited == []
        model.complete([{"role": "user", "content": "hi"}])
    assert len(waited) == 1
    assert 6 < waited[0] <= 7


def test_what_the_model_says_when_it_refuses_is_told(folder: Path) -> None:
    """The refusal's words help to see what set it off."""
    run, _ = run_script(folder, script(verifier=[FAULTS["refused"][0]]))
    assert errors_of(run, "verifier") == ["refused: I cannot help with that"]


def _exceptions(module: object) -> set[type[BaseException]]:
    """The exception classes that a module has, without making it import what it has not."""
    classes = [value for value in list(vars(module).values()) if type(value) is type]
    return {cls for cls in classes if issubclass(cls, BaseException)}


def test_the_table_is_total_over_what_the_libraries_raise() -> None:
    """Every exception class of litellm and openai has a row of its own or of a class above it."""
    import openai

    raised = _exceptions(load_litellm().exceptions) | _exceptions(openai)
    assert len(raised) > 40
    assert sorted(cls.__name__ for cls in raised if failures.by_class(cls) is None) == []


@pytest.mark.parametrize("status", range(400, 600))
def test_every_error_status_has_a_kind(status: int) -> None:
    """What the table does not name is a bad request below 500, an outage above."""
    fault = failures._by_status(status)
    assert fault is not None
    assert (fault.kind in RETRYABLE_KINDS) is (status in {408, 409, 429} or status >= 500)


def test_an_exception_that_nobody_knows_is_not_retried() -> None:
    """Section 4: any other exception is a failure that is not retried."""
    assert failures.fault_of(ZeroDivisionError("x")).kind is FailureKind.OTHER
    assert FailureKind.OTHER not in RETRYABLE_KINDS


def test_the_legal_run_sends_one_request_a_role(folder: Path) -> None:
    """The happy path: what each role said is what it was asked for, once."""
    run, server = run_script(folder, script())
    assert [request["role"] for request in server.requests] == list(ROLES)
    assert end_of(run) == "composer_completed"
    assert run.run.verdict == "PASS"
    assert "why does checkout fail" in said(server.of("planner")[0])


def test_every_named_failure_stands_in_the_documentation() -> None:
    """The table of docs/models.md is what a step can say."""
    documented = (Path(__file__).parents[4] / "docs" / "models.md").read_text(encoding="utf-8")
    tables = (failures.BY_CODE, failures.BY_ROOT, failures.TELLING, failures.BY_STATUS, failures.BY_CLASS)
    named = {fault.name for table in tables for fault in table.values()}
    named |= {value.name for value in vars(failures).values() if isinstance(value, failures.Fault)}
    assert sorted(name for name in named if f"`{name}`" not in documented) == []
