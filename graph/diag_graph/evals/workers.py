"""Work in several processes that survives the death of any of them.

An exception is the work's own to report. What this module is for is the rest: a process that is killed, runs out of
memory or falls inside native code costs the task that it was at, and no other.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

_GRACE = 2.0
"""Seconds that a process has to end when it is told to."""


@dataclass(frozen=True, slots=True)
class Died:
    """A process ended before it had done its task."""

    how: str


@dataclass(slots=True)
class _Worker(Generic[Task]):
    process: SpawnProcess
    connection: Connection[Any, Any]
    task: Task


def results(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Generator[tuple[Task, Result | Died], None, None]:
    """Do the tasks, so many at a time, and yield each with its result as it is done.

    Args:
        work: A function that can be pickled. It raises nothing.
        tasks: What to do; can be pickled too.
        jobs: How many processes.

    Closing the generator, as by an exception in whoever reads it, ends all processes.
    """
    waiting = deque(tasks)
    busy: dict[Connection[Any, Any], _Worker[Task]] = {}
    idle: list[_Worker[Task]] = []

    def begin(worker: _Worker[Task] | None) -> None:
        """Hand out the next task, to this worker or a new one; send the worker home when there is none."""
        if worker is not None and not waiting:
            worker.connection.close()
            idle.append(worker)
        elif waiting:
            task = waiting.popleft()
            now_busy = _started(work, task) if worker is None else _Worker(worker.process, worker.connection, task)
            busy[now_busy.connection] = now_busy
            with suppress(BrokenPipeError):  # it died in between: its pipe then reads as closed, and tells
                now_busy.connection.send((task,))

    try:
        for _ in range(min(jobs, len(tasks))):
            begin(None)
        while busy:
            for connection in wait(list(busy)):
                worker = busy.pop(connection)  # type: ignore[call-overload]
                result = _received(worker)
                begin(None if isinstance(result, Died) else worker)
                yield worker.task, result
    finally:
        for worker in busy.values():
            worker.process.terminate()
        for worker in (*busy.values(), *idle):
            _end(worker)


def _started(work: Callable[[Task], Result], task: Task) -> _Worker[Task]:
    """A new process, fresh and not forked: a fork would copy the locks of threads that it does not copy."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    # Ctrl-C reaches every process of a terminal. Here it is one process that decides: the others are born deaf to it.
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, heard)
    theirs.close()
    return _Worker(process, ours, task)


def _received(worker: _Worker[Task]) -> Any:  # noqa: ANN401 - a Result, or Died
    try:
        return worker.connection.recv()
    except (EOFError, ConnectionResetError):
        worker.connection.close()
        worker.process.join()
        status = worker.process.exitcode or 0
        return Died(f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}")


def _end(worker: _Worker[Task]) -> None:
    worker.connection.close()
    worker.process.join(_GRACE)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


def _serve(work: Callable[[Task], Result], connection: Connection[Any, Any]) -> None:
    """What a worker process does: task after task, until nobody hands it one."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # what libraries print would stand in the middle of a table or a progress bar
        os.dup2(nowhere, stream)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            (task,) = connection.recv()
            connection.send(work(task))
