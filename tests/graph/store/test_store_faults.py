"""D3: one clear line for a store that cannot be used, and a run that goes on without it."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from store_samples import finished, invocation, started, step

from diag_graph.database.problems import FileProblem
from diag_graph.events import AgentFinished, RunFinished, RunStarted, ToolFinished
from diag_graph.store import Store, StoreError, StoreListener, StoreProblem


def problem_of(path: Path, **options: float) -> StoreError:
    """The error that opening gives."""
    with pytest.raises(StoreError) as caught:
        Store.open(path, **options)  # type: ignore[arg-type]
    assert "\n" not in caught.value.message
    return caught.value


def test_every_problem_has_its_line() -> None:
    """The table of texts is total, and each names what it speaks of."""
    assert set(StoreError.texts) == {*FileProblem, *StoreProblem}
    assert all("{path}" in text.message or "{detail}" in text.message for text in StoreError.texts.values())


def test_a_new_store_is_private_to_its_owner(path: Path) -> None:
    """Section 9: file, WAL files and the folder that was made for them."""
    umask = os.umask(0)
    try:
        with Store.open(path) as store:
            store.begin_run(started())
            modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in (path.parent, *path.parent.iterdir())}
    finally:
        os.umask(umask)
    assert modes == {"data": 0o700, "diag.db": 0o600, "diag.db-wal": 0o600, "diag.db-shm": 0o600}


def test_a_store_is_in_wal_mode(store: Store, path: Path) -> None:
    """Section 9: readers and a writer do not wait for each other."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_reading_does_not_create_a_store(path: Path) -> None:
    """`diag runs` on a new machine leaves nothing behind."""
    with pytest.raises(StoreError) as caught:
        Store.open(path, create=False)
    assert caught.value.problem is FileProblem.MISSING
    assert not path.parent.exists()


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    """The error says what it found."""
    assert problem_of(tmp_path).problem is FileProblem.IS_A_FOLDER


def test_a_path_through_a_file(tmp_path: Path) -> None:
    """A folder of the path is a file."""
    (tmp_path / "file").write_text("x")
    assert problem_of(tmp_path / "file" / "diag.db").problem is FileProblem.UNREACHABLE


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """It is refused and left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("milk, eggs\n" * 400)
    assert problem_of(path).problem is FileProblem.NOT_A_DATABASE
    assert path.read_text() == "milk, eggs\n" * 400


def test_a_database_of_another_program(tmp_path: Path) -> None:
    """It is refused and gets no table of ours."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.commit()
    assert problem_of(path).problem is FileProblem.FOREIGN
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmark",)]
    connection.close()


def test_a_store_of_a_newer_version(store: Store, path: Path) -> None:
    """D3: a migration that we do not know has been applied, and the line says so."""
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO applied_migration VALUES ('m999_future', '2030-01-01')")
    connection.commit()
    connection.close()
    error = problem_of(path)
    assert error.problem is FileProblem.NEWER
    assert "Upgrade diag" in error.advice


def test_a_store_of_an_older_version_is_brought_up_to_date(path: Path) -> None:
    """Runs that were written before a column was there are read with what it means to have none."""
    with Store.open(path) as store:
        store.begin_run(started())
        store.finish_run(finished(started()))
    connection = sqlite3.connect(path)
    for column in ("now", "what_if"):
        connection.execute(f"ALTER TABLE diagnosis_run DROP COLUMN {column}")
    connection.execute("DELETE FROM applied_migration WHERE name = 'm003_replays'")
    connection.commit()
    connection.close()
    with Store.open(path) as store:
        document = store.run("run-1")
    assert (document.now, document.run.what_if) == (None, False)
    assert document == finished(started()).model_copy(update={"now": None})


def test_a_damaged_store(path: Path) -> None:
    """D3: pages overwritten with noise; what reads them says that the store is damaged."""
    with Store.open(path) as store:
        store.begin_run(started(question="q" * 20_000))
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xa5" * (len(raw) - 4096)
    path.write_bytes(raw)
    assert problem_of(path).problem is FileProblem.CORRUPT


def test_a_record_that_somebody_edited_is_called_damaged(store: Store, path: Path) -> None:
    """JSON that does not parse is an error with a name, not a traceback."""
    store.begin_run(started())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE diagnosis_run SET orchestration_trace = '{'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError) as caught:
        store.run("run-1")
    assert caught.value.problem is FileProblem.CORRUPT


def test_a_locked_store_is_waited_for_and_then_named(store: Store, path: Path) -> None:
    """D3: the wait is bounded; the line says that another process holds it."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with Store.open(path, wait_s=0.2) as waiting:
        with pytest.raises(StoreError) as caught:
            waiting.begin_run(started())
        assert caught.value.problem is FileProblem.LOCKED
        holder.execute("ROLLBACK")
        waiting.begin_run(started())
    holder.close()


def test_a_full_disk_stops_the_listener_and_not_the_run(store: Store) -> None:
    """D3: the first event that cannot be written is remembered; the rest of the run is heard in silence."""
    listener = StoreListener(store)
    listener(RunStarted(started()))
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    listener(ToolFinished(invocation(result="x" * 1_000_000)))
    assert listener.problem is not None
    assert listener.problem.problem is FileProblem.FULL
    listener(AgentFinished(step()))
    listener(RunFinished(finished(started())))
    assert store.run("run-1").steps == ()


READ_ONLY = """
import os, sys
from pathlib import Path
from diag_graph.store import Store, StoreError
path = Path(sys.argv[1])
with Store.open(path, create=False) as store:  # loads all that is needed while it may be read
    store.run("run-1")
os.setuid(int(sys.argv[2]))
with Store.open(path, create=False) as store:
    print(store.resolve("last"), len(store.run("run-1").steps))
    try:
        store.abandon_run("run-1")
    except StoreError as error:
        print(error.problem)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="becoming another user takes root")
def test_what_another_user_owns_can_be_read_and_not_written() -> None:
    """D3: a store on read-only ground can be looked at; writing to it is named."""
    nobody = 65534
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "diag.db"
        with Store.open(path) as store:
            store.begin_run(started())
            store.add_step("run-1", step())
        path.parent.chmod(0o755)
        path.chmod(0o444)
        command = [sys.executable, "-c", READ_ONLY, str(path), str(nobody)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["run-1 1", "read_only"], done.stderr
