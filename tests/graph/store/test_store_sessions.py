"""Conversations in the store: which there are, which one is meant, what they are about."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from store_samples import finished, started

from diag_graph.events import RunStarted
from diag_graph.outcome import RECORDED, SessionRow
from diag_graph.store import Store, StoreError, StoreListener, StoreProblem


def ask(store: Store, run_id: str, session_id: str, question: str = "why?", **more: str) -> None:
    """Put a finished run into the store."""
    row = started(run_id, session_id, question).model_copy(update=more)
    store.begin_run(row)
    ended = finished(row)
    store.finish_run(ended.model_copy(update={"run": ended.run.model_copy(update=more)}))


def test_conversations_are_listed_that_of_the_latest_question_first(store: Store) -> None:
    """What `diag sessions` shows: the first question, how many, the latest time and verdict; replays are none."""
    ask(store, "r1", "night", "why is\n checkout slow?", verdict="PASS")
    ask(store, "r2", "day", "is all well?", verdict="PASS")
    ask(store, "r3", "night", "and before?", verdict="LOW_CONFID", started_at="2026-07-16T07:00:00Z")
    ask(store, "r4", "playback", model=RECORDED)
    ask(store, "r5", "night", "again", replay_of="r1")
    first, second = store.sessions()
    assert first == SessionRow(
        session_id="night",
        title="why is checkout slow?",
        runs=2,
        created_at="2026-07-16T06:05:00Z",
        last_asked="2026-07-16T07:00:00Z",
        last_verdict="LOW_CONFID",
    )
    assert second.session_id == "day"
    assert [one.session_id for one in store.sessions(1)] == ["night"]
    assert store.session("day") == second


def test_a_conversation_is_found_by_its_id_a_unique_beginning_or_as_the_last(store: Store) -> None:
    """Section 10: as run ids are; a replay of a file that names no run does not come in between."""
    for number, session in enumerate(("abc", "abcdef", "b12")):
        ask(store, f"r{number}", session)
    ask(store, "played", "b-playback", model=RECORDED)
    assert store.resolve_session("abcd") == "abcdef"
    assert store.resolve_session("abc") == "abc", "a whole id is no beginning"
    assert store.resolve_session("b") == "b12"
    assert store.resolve_session("last") == "b12"


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("ni", StoreProblem.AMBIGUOUS_SESSION),
        ("zz", StoreProblem.NO_SUCH_SESSION),
        ("", StoreProblem.NO_SUCH_SESSION),
        ("%", StoreProblem.NO_SUCH_SESSION),
    ],
)
def test_a_reference_that_means_no_conversation_or_several_says_so(
    store: Store, reference: str, problem: StoreProblem
) -> None:
    """The error names the candidates, latest first, or what was asked for, and what to do."""
    ask(store, "r1", "night-1")
    ask(store, "r2", "night-2")
    with pytest.raises(StoreError, match="conversation") as caught:
        store.resolve_session(reference)
    assert caught.value.problem is problem
    assert caught.value.advice
    assert ("night-2, night-1" in caught.value.message) is (problem is StoreProblem.AMBIGUOUS_SESSION)


def test_without_a_conversation_there_is_none_to_go_on_with(store: Store) -> None:
    """`--continue` before anything was asked; what was replayed is no conversation."""
    ask(store, "played", "s-1", model=RECORDED)
    with pytest.raises(StoreError) as caught:
        store.resolve_session("last")
    assert caught.value.problem is StoreProblem.NO_SESSIONS
    with pytest.raises(StoreError):
        store.session("s-1")


def test_a_conversation_is_about_the_folder_that_it_was_last_asked_about(store: Store) -> None:
    """A question without a folder leaves it; another folder takes its place."""

    def begin(run_id: str, incident: str | None) -> str | None:
        StoreListener(store, incident)(RunStarted(started(run_id)))
        return store.session("s-1").incident

    assert begin("r1", None) is None
    assert begin("r2", "/incidents/one") == "/incidents/one"
    assert begin("r3", None) == "/incidents/one"
    assert begin("r4", "/incidents/two") == "/incidents/two"


def test_an_older_store_learns_what_conversations_are_about(path: Path) -> None:
    """Section 9: migrated in steps, and nothing that was kept is lost."""
    with Store.open(path) as store:
        ask(store, "r1", "night")
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE chat_session DROP COLUMN incident")
        connection.execute("DELETE FROM applied_migration WHERE name = 'm004_incidents'")
    connection.close()
    with Store.open(path) as store:
        assert store.session("night").incident is None
        StoreListener(store, "/incidents/one")(RunStarted(started("r2", "night")))
        assert store.session("night").incident == "/incidents/one"
