from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from pydantic import BaseModel
from store_samples import TRACE, finished, invocation, started, step

from diag_graph.contracts import Invocation, Turn
from diag_graph.events import AgentFinished, NodeStarted, RunFinished, RunStarted, ToolFinished
from diag_graph.outcome import INTERRUPTED_REASON, RECORDED, AgentStep, RunDocument, RunRow, RunStatus
from diag_graph.store import Store, StoreError, StoreListener, StoreProblem

TABLES = {"chat_session", "diagnosis_run", "agent_step", "tool_invocation", "self_evaluation"}


def record(store: Store, run_id: str, *, session_id: str = "s-1", question: str = "why?", answer: str = "so.") -> None:
    """Put a finished run into the store."""
    row = started(run_id, session_id, question)
    store.begin_run(row)
    store.finish_run(finished(row, answer))


def test_a_run_is_read_back_as_it_was_written(store: Store) -> None:
    """What the events of a run carry is what `run` gives: row, findings, audit, verdicts, steps, invocations."""
    row = started()
    document = finished(row)
    listener = StoreListener(store)
    for event in (
        RunStarted(row),
        NodeStarted("planner", 1, 1),
        AgentFinished(step("planner")),
        ToolFinished(invocation("inv-1")),
        ToolFinished(invocation("inv-1"), reused=True),
        AgentFinished(step("executor", output="<think>hm</think>{}")),
        RunFinished(document),
    ):
        listener(event)
    assert listener.problem is None
    expected = document.model_copy(
        update={
            "steps": (step("planner"), step("executor", output="<think>hm</think>{}")),
            "invocations": (invocation("inv-1"),),
        }
    )
    assert store.run("run-1") == expected


def test_the_tables_of_the_specification_can_be_queried_with_plain_sqlite(store: Store, path: Path) -> None:
    """Section 9's tables and their JSON are open to anyone with sqlite3."""
    record(store, "run-1")
    store.add_invocation("run-1", invocation())
    with sqlite3.connect(path) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        final = connection.execute(
            "SELECT json_extract(orchestration_trace, '$.final_node') FROM diagnosis_run WHERE run_id = 'run-1'"
        ).fetchone()
        text = connection.execute("SELECT json_extract(result, '$.items[0].text') FROM tool_invocation").fetchone()
    connection.close()
    assert names >= TABLES
    assert final == (TRACE["final_node"],)
    assert text == ("pool exhausted",)


@pytest.mark.parametrize(
    ("table", "contract"),
    [("diagnosis_run", RunRow), ("agent_step", AgentStep), ("tool_invocation", Invocation)],
)
def test_every_field_of_a_contract_has_its_column(store: Store, table: str, contract: type[BaseModel]) -> None:
    """A field that is added to a contract needs a migration; `id` of an invocation is half of its key."""
    columns = {column.name for column in store._db.table(table).columns}
    assert set(contract.model_fields) - {"id"} <= columns


@pytest.mark.parametrize("text", ["half \ud83d a face", "nul \0 byte", "\u202eبيجينغ 北京", "x" * 3_000_000])
def test_text_of_any_kind_can_be_kept(store: Store, text: str) -> None:
    """A lone surrogate, a NUL, any script and any length reach the store and come back legible."""
    row = started(question=text)
    store.begin_run(row)
    store.add_step("run-1", step(output=text))
    store.add_invocation("run-1", invocation(result={"items": [{"text": text}]}))
    store.finish_run(finished(row, answer=text))
    document = store.run("run-1")
    legible = text.replace("\ud83d", "\ufffd")
    assert (document.run.question, document.run.answer, document.steps[0].output) == (legible, legible, legible)
    assert document.invocations[0].result == {"items": [{"text": text}]}, "a result is kept to the letter"


def test_invocations_keep_their_order_and_not_that_of_their_names(store: Store) -> None:
    """inv-10 comes after inv-9."""
    store.begin_run(started())
    ids = [f"inv-{number}" for number in range(1, 12)]
    for invocation_id in ids:
        store.add_invocation("run-1", invocation(invocation_id))
    assert [found.id for found in store.run("run-1").invocations] == ids


def test_two_runs_may_have_invocations_of_the_same_id(store: Store) -> None:
    """Section 9: the key of an invocation is run id and invocation id."""
    for run_id in ("run-1", "run-2"):
        store.begin_run(started(run_id))
        store.add_invocation(run_id, invocation("inv-1", result=run_id))
    assert store.run("run-1").invocations[0].result == "run-1"
    assert store.run("run-2").invocations[0].result == "run-2"


def test_a_run_is_found_by_its_id_a_unique_beginning_or_as_the_last(store: Store) -> None:
    """Section 10: a unique prefix of the id will do, and `last` is the latest."""
    for run_id in ("abc", "abcdef", "b12"):
        record(store, run_id)
    assert store.resolve("abcd") == "abcdef"
    assert store.resolve("abc") == "abc", "a whole id is no prefix"
    assert store.resolve("last") == "b12"


@pytest.mark.parametrize(
    ("reference", "problem", "named"),
    [
        ("ab", StoreProblem.AMBIGUOUS, "abc2, abc1"),
        ("zz", StoreProblem.NO_SUCH_RUN, '"zz"'),
        ("", StoreProblem.NO_SUCH_RUN, '""'),
        ("a%", StoreProblem.NO_SUCH_RUN, '"a%"'),
        ("\ud800", StoreProblem.NO_SUCH_RUN, "no run"),
    ],
)
def test_a_reference_that_means_no_run_or_several_says_so(
    store: Store, reference: str, problem: StoreProblem, named: str
) -> None:
    """The error names the candidates, latest first, or what was asked for."""
    record(store, "abc1")
    record(store, "abc2")
    with pytest.raises(StoreError, match="run") as caught:
        store.resolve(reference)
    assert caught.value.problem is problem
    assert named in caught.value.message
    assert caught.value.advice


def test_the_last_run_of_an_empty_store_is_an_error_with_advice(store: Store) -> None:
    """`diag trace last` before anything was asked."""
    with pytest.raises(StoreError) as caught:
        store.resolve("last")
    assert caught.value.problem is StoreProblem.NO_RUNS


def test_runs_are_listed_latest_first_up_to_a_limit(store: Store) -> None:
    """What `diag runs` shows."""
    for run_id in ("run-1", "run-2", "run-3"):
        record(store, run_id, session_id=f"s-{run_id}")
    assert [run.run_id for run in store.runs(2)] == ["run-3", "run-2"]
    assert [run.run_id for run in store.runs(session_id="s-run-1")] == ["run-1"]


def test_history_holds_the_answered_questions_of_one_conversation_oldest_first(store: Store) -> None:
    """Replays, other conversations and what never got an answer are no part of it."""
    for number in (1, 2, 3):
        record(store, f"run-{number}", question=f"q{number}", answer=f"a{number}")
    record(store, "other", session_id="s-2")
    store.begin_run(started("open"))
    for name, sign in {
        "again": {"replay_of": "run-1"},
        "nameless": {"model": RECORDED},
        "if": {"what_if": True},
    }.items():
        replayed = started(name).model_copy(update=sign)
        assert replayed.is_replay
        store.begin_run(replayed)
        store.finish_run(finished(replayed))
    assert store.history("s-1", 2) == [Turn(question="q2", answer="a2"), Turn(question="q3", answer="a3")]


def test_a_run_reads_as_running_while_its_process_lives(store: Store) -> None:
    """D1: RUNNING is a status of its own until the run ends."""
    store.begin_run(started())
    assert store.run("run-1").run.status is RunStatus.RUNNING


def test_a_run_that_its_listener_gave_up_reads_as_interrupted(store: Store) -> None:
    """D2: Ctrl-C leaves the process alive for a moment, or for long when it is a notebook."""
    listener = StoreListener(store)
    listener(RunStarted(started()))
    listener.close()
    assert store.run("run-1").run.status is RunStatus.INTERRUPTED


@pytest.mark.parametrize(
    ("reason", "status"), [(INTERRUPTED_REASON, RunStatus.INTERRUPTED), ("graph_error: ValueError", RunStatus.FAILED)]
)
def test_a_run_that_its_user_ended_reads_as_interrupted_too(store: Store, reason: str, status: RunStatus) -> None:
    """D2: whether Ctrl-C or kill -9 ended it, it reads alike; with the trace as far as it got (T2)."""
    row = started()
    store.begin_run(row)
    ended = {"status": RunStatus.FAILED, "failure_reason": reason, "orchestration_trace": TRACE}
    store.finish_run(RunDocument(run=row.model_copy(update=ended)))
    for seen in (store.run("run-1").run, store.runs()[0]):
        assert seen.status is status
        assert seen.orchestration_trace == TRACE


def test_closing_the_listener_of_a_finished_run_changes_nothing(store: Store) -> None:
    """A run that ended stays ended."""
    listener = StoreListener(store)
    listener(RunStarted(started()))
    listener(RunFinished(finished(started())))
    listener.close()
    assert store.run("run-1").run.status is RunStatus.SUCCESS
