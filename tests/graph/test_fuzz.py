"""Anything at all through the whole graph: never an exception, never a statement that is not bound to a tool's text.

Longer on demand: DIAG_FUZZ_EXAMPLES=5000 pytest tests/graph/test_fuzz.py
"""

from __future__ import annotations

import json
from collections import deque
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diag_graph.agents.ports import AgentReply, AgentSet, Toolbox
from diag_graph.contracts import Invocation
from diag_graph.errors import AgentFailure, RunFileError
from diag_graph.outcome import RunDocument, RunStatus
from diag_graph.parsing import InvalidReplyError, parse_object, strict_loads
from diag_graph.playback import replay, what_if
from diag_graph.run import Assignment, diagnose, execute
from diag_graph.runfile import RunFile, read_run_file, run_file_of, save_run_file
from diag_graph.sources.folder import open_folder
from diag_graph.tools.ledger import as_json
from diag_graph.topology import FailureKind, Node
from hostile import TEXTS, VALUES, as_recorded, calls, check_honest, examples, legal, replies, run_files, spoilt
from recordings import NOW, QUESTION

INCIDENT = Path(__file__).parents[2] / "fixtures" / "incidents" / "checkout-latency"
AGENTS = (Node.PLANNER, Node.EXECUTOR, Node.VERIFIER, Node.COMPOSER)
MOST_CALLS = {Node.PLANNER: 4, Node.EXECUTOR: 2, Node.VERIFIER: 4, Node.COMPOSER: 2}
"""How often the graph asks an agent at most."""
KINDS = {agent: [k for k in FailureKind if k != "tool_blocked" or agent == Node.EXECUTOR] for agent in AGENTS}
UNTIMED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]

Reply = str | FailureKind | None


class Scripted:
    """All four agents: each says what was drawn for it, in order; an executor makes its calls before."""

    def __init__(self, said: dict[str, list[Reply]], rounds: list[list[dict[str, Any]]]) -> None:
        self._said = {agent: deque(replies) for agent, replies in said.items()}
        self._rounds = deque(rounds)

    def _next(self, agent: str) -> AgentReply:
        reply = self._said[agent].popleft()
        if isinstance(reply, FailureKind):
            raise AgentFailure(reply, "it failed")
        return AgentReply(reply)

    def plan(self, request: object) -> AgentReply:
        """Plan as drawn."""
        return self._next(Node.PLANNER)

    def execute(self, request: object, tools: Toolbox) -> AgentReply:
        """Execute as drawn."""
        for call in self._rounds.popleft():
            tools.adopt(Invocation.model_validate(call))
        return self._next(Node.EXECUTOR)

    def verify(self, request: object) -> AgentReply:
        """Verify as drawn."""
        return self._next(Node.VERIFIER)

    def compose(self, request: object) -> AgentReply:
        """Compose as drawn."""
        return self._next(Node.COMPOSER)


@st.composite
def scripts(draw: st.DrawFn) -> Scripted:
    """Agents of whom some do what they should."""
    troubled = draw(st.sets(st.sampled_from(AGENTS), max_size=2))
    said: dict[str, list[Reply]] = {}
    for agent in AGENTS:
        replies_ = replies(agent) if agent in troubled else legal(agent).map(json.dumps)
        failure = st.sampled_from(KINDS[agent])
        said[agent] = [draw(failure if draw(st.integers(0, 15)) == 15 else replies_) for _ in range(MOST_CALLS[agent])]
    return Scripted(said, [draw(calls()), draw(calls(first=4))])


def run(agents: Scripted) -> RunDocument:
    """A run of these agents."""
    parts = AgentSet(planner=agents, executor=agents, verifier=agents, composer=agents, label="drawn")
    return execute(Assignment(question=QUESTION, agents=parts, now=NOW, session_id="s-1"))


@given(scripts())
@settings(max_examples=examples(120), suppress_health_check=UNTIMED)
def test_whatever_agents_say_the_answer_is_safe(tmp_path_factory: pytest.TempPathFactory, agents: Scripted) -> None:
    """Section 1: each statement is bound to text that a tool returned; and P2: the run replays to the same end."""
    document = run(agents)
    check_honest(document)
    path = tmp_path_factory.mktemp("fuzz") / "run.json"
    save_run_file(document, path)
    again = replay(read_run_file(path))
    assert (again.divergence, again.difference) == (None, None)
    assert again.document.run.answer == document.run.answer
    assert again.document.run.verdict == document.run.verdict
    assert again.document.findings == document.findings


@given(st.sampled_from(AGENTS).flatmap(replies))
@settings(max_examples=examples(300), suppress_health_check=UNTIMED)
def test_a_reply_is_an_object_or_says_why_not(text: str | None) -> None:
    """Section 4: nothing is repaired, and what was read can be written down again."""
    try:
        value = parse_object(text)
    except InvalidReplyError:
        return
    assert isinstance(value, dict)
    assert strict_loads(json.dumps(value, ensure_ascii=False)) == value


# --- run files -----------------------------------------------------------------------------------------------------


@given(run_files())
@settings(max_examples=examples(200), suppress_health_check=UNTIMED)
def test_a_run_file_is_played_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """P3: refused with where and why; P1: or it leaves its recording; or it comes to a safe answer."""
    path = tmp_path_factory.mktemp("fuzz") / "run.json"
    path.write_bytes(data)
    try:
        run_file = read_run_file(path)
    except RunFileError as error:
        refusal = error.message
    else:
        refusal = None
    if refusal is not None:
        assert str(path) in refusal
        assert refusal.isprintable()
        return
    result = replay(run_file)
    if result.divergence is None or result.document.run.status is RunStatus.SUCCESS:
        check_honest(result.document)
    else:
        assert result.document.run.failure_reason == "replay_diverged"


# --- tool results --------------------------------------------------------------------------------------------------

OUTPUTS = st.recursive(
    TEXTS | VALUES | st.binary(max_size=4) | st.dates() | st.complex_numbers() | st.sets(st.integers(), max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(OUTPUTS)
@settings(max_examples=examples(200), suppress_health_check=UNTIMED)
def test_what_a_tool_gives_is_recorded_as_json_that_reads_back_the_same(output: object) -> None:
    """P2: whatever a tool hands over, the record is strict JSON."""
    value = as_json(output)
    assert strict_loads(json.dumps(value, ensure_ascii=False)) == value


@cache
def analysed() -> str:
    """A run of the built-in analyst over a recorded incident, as a run file."""
    document = diagnose((INCIDENT / "question.txt").read_text(encoding="utf-8"), evidence=open_folder(INCIDENT))
    return json.dumps(run_file_of(document))


@given(st.data())
@settings(max_examples=examples(40), suppress_health_check=UNTIMED)
def test_the_analyst_over_damaged_results_gives_a_safe_answer(data: st.DataObject) -> None:
    """Section 1: whatever stands in the recorded results, nothing is said that they do not hold."""
    recorded = json.loads(analysed())
    made = [call for step in recorded["steps"] for call in step.get("invocations", [])]
    for call in data.draw(st.lists(st.sampled_from(made), max_size=3)):
        call["result"] = as_recorded(data.draw(spoilt(call["result"])))
    check_honest(what_if(RunFile.model_validate(recorded)))
