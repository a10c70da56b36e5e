"""D2 and D4 with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from store_samples import started

from diag_graph.outcome import RunStatus
from diag_graph.store import Store
from diag_graph.store.process import ProcessIdentity, is_alive, start_of, this_process

HERE = Path(__file__).parent

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from store_samples import finished, invocation, started, step
from diag_graph.events import AgentFinished, RunFinished, RunStarted, ToolFinished
from diag_graph.store import Store, StoreListener
name, mode = sys.argv[3], sys.argv[4]
with Store.open(Path(sys.argv[2])) as store:
    for number in range(5):
        listener = StoreListener(store)
        row = started(f"{name}-{number}", session_id=f"s-{number}")
        listener(RunStarted(row))
        for call in range(1, 6):
            listener(ToolFinished(invocation(f"inv-{call}")))
        listener(AgentFinished(step("executor")))
        if mode == "hang":
            print("written", flush=True)
            sys.stdin.read()
        listener(RunFinished(finished(row)))
        if listener.problem:
            sys.exit(str(listener.problem))
"""


def writer(path: Path, name: str, mode: str = "finish") -> subprocess.Popen[str]:
    """Start a process that writes five runs, or hangs within the first."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(HERE), str(path), name, mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_several_processes_create_and_write_one_store_at_once(path: Path) -> None:
    """D4: four processes race for a file that is not there yet; every run is there, whole."""
    writers = [writer(path, f"p{number}") for number in range(4)]
    for process in writers:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    with Store.open(path, create=False) as store:
        runs = store.runs()
        assert len(runs) == 20
        assert {run.status for run in runs} == {RunStatus.SUCCESS}
        assert all(len(store.run(run.run_id).invocations) == 5 for run in runs)


def test_a_killed_process_loses_nothing_that_had_happened(path: Path) -> None:
    """D2: after kill -9 the run reads as interrupted, with all its calls; before, as running."""
    process = writer(path, "victim", "hang")
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    with Store.open(path, create=False) as store:
        assert store.run("victim-0").run.status is RunStatus.RUNNING
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        document = store.run("victim-0")
    assert document.run.status is RunStatus.INTERRUPTED
    assert len(document.invocations) == 5
    assert [step.agent for step in document.steps] == ["executor"]


def test_a_process_id_that_was_given_out_again_is_not_the_same_process(store: Store) -> None:
    """D2: the owner is known by its id and its start."""
    store.begin_run(started())
    store._db.execute("UPDATE diagnosis_run SET owner_started = 'another boot:1'")
    assert store.run("run-1").run.status is RunStatus.INTERRUPTED


def test_this_process_is_alive_and_an_ended_one_is_not() -> None:
    """A child that ended is gone, even while its parent has not asked how."""
    assert is_alive(this_process())
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    identity = ProcessIdentity(child.pid, start_of(child.pid) or "")
    assert is_alive(identity)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and still a zombie
    assert not is_alive(identity)
    child.wait()
    assert not is_alive(identity)


def test_opening_a_store_loads_neither_frameworks_nor_arrays(path: Path) -> None:
    """`trace` and `runs` start fast: no langgraph, litellm, polars or numpy comes in with the store."""
    code = (
        "import sys; from pathlib import Path; from diag_graph.store import Store\n"
        "Store.open(Path(sys.argv[1])).close()\n"
        "print([name for name in ('langgraph', 'litellm', 'polars', 'numpy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
