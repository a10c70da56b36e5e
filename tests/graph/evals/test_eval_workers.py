from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from diag_graph.evals.workers import Died, results


def work(task: tuple[str, str]) -> str:
    """Answers in capitals; dies of some words, and waits at others."""
    word, folder = task
    Path(folder, f"{os.getpid()}").touch()
    if word == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "exit":
        os._exit(3)
    if word == "noise":
        os.write(1, b"noise\n")
    if word == "wait":
        time.sleep(600)
    return word.upper()


def test_a_process_that_dies_costs_its_own_task_alone(tmp_path: Path) -> None:
    """Killed or exited: the others are done, and how it died is told."""
    words = ["a", "kill", "b", "exit", "c"]
    done = {task[0]: result for task, result in results(work, [(word, str(tmp_path)) for word in words], 2)}
    assert done == {"a": "A", "b": "B", "c": "C", "kill": Died("signal SIGKILL"), "exit": Died("exit status 3")}


def test_processes_are_used_again(tmp_path: Path) -> None:
    """Six tasks, two processes; no more are started than there is to do."""
    assert len(list(results(work, [(word, str(tmp_path)) for word in "abcdef"], 2))) == 6
    assert len(list(tmp_path.iterdir())) == 2
    assert list(results(work, [], 2)) == []


def test_closing_ends_every_process(tmp_path: Path) -> None:
    """Whoever stops listening, as at Ctrl-C, leaves nobody working."""
    done = results(work, [("a", str(tmp_path)), ("wait", str(tmp_path)), ("wait", str(tmp_path))], 2)
    assert next(done)[1] == "A"
    done.close()
    for path in tmp_path.iterdir():
        assert not Path("/proc", path.name).exists()


def test_what_tasks_print_does_not_reach_the_screen(tmp_path: Path, capfd: object) -> None:
    """A library's chatter would stand in the middle of a table."""
    list(results(work, [("noise", str(tmp_path))], 1))
    assert capfd.readouterr() == ("", "")  # type: ignore[attr-defined]
