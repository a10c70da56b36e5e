"""Runs cases as a user would ask them: the same evidence folders, the same graph, the same answer."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from diag_graph.evals.cases import CaseSet, question_from, question_of
from diag_graph.evals.documents import CaseScore, Outcome
from diag_graph.evals.outcomes import outcome_of
from diag_graph.evals.scoring import judge
from diag_graph.evals.workers import Died, results
from diag_graph.events import Event, Listener, ModelAnswered

if TYPE_CHECKING:
    from diag_graph.agents.models import ModelSettings

_FRAMES = 3
"""Frames of a traceback, the innermost, that a crash is told with."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How cases are run.

    Attributes:
        model: The language model; None: the built-in analyst.
        db: A store that keeps the runs; None: they are not kept.
        threads: How many threads the engine for tables may use in each process.
    """

    model: str | ModelSettings | None = None
    db: Path | None = None
    threads: int = 1

    @property
    def label(self) -> str:
        """Who is evaluated."""
        if self.model is None:
            from diag_graph.agents.analyst import LABEL

            return LABEL
        return self.model if isinstance(self.model, str) else self.model.label()


@dataclass(frozen=True, slots=True)
class _Job:
    set_name: str
    case: str
    folder: Path


def evaluate(sets: Sequence[CaseSet], setup: Setup, jobs: int) -> Generator[tuple[str, CaseScore], None, None]:
    """Run the cases of some sets side by side.

    Args:
        sets: What to run.
        setup: With whom.
        jobs: How many processes.

    Yields:
        Each case as it is done: its set's name, and how it was judged. A case that crashed is wrong, and stops nothing.
        Closing the generator stops everything.
    """
    labels = {(one.name, case): label for one in sets for case, label in one.labels.items()}
    work = [_Job(one.name, case, one.folder / case) for one in sets for case in one.labels]
    done = results(partial(run_case, setup), work, jobs)
    try:
        for job, result in done:
            outcome = result
            if isinstance(outcome, Died):
                outcome = Outcome(case=job.case, crash=f"its process died ({outcome.how})")
            yield job.set_name, judge(labels[job.set_name, job.case], outcome)
    finally:
        done.close()


def run_case(setup: Setup, job: _Job) -> Outcome:
    """Run one case and say what it came to; never raises."""
    os.environ.setdefault("POLARS_MAX_THREADS", str(setup.threads))  # read when polars is loaded, which is below
    begun = time.perf_counter()
    try:
        _load(setup)
        begun = time.perf_counter()
        return _run(setup, job)
    except Exception as error:  # noqa: BLE001 - whatever one case meets, the others are still to be run
        where = traceback.format_exc(limit=-_FRAMES).strip().splitlines()[1:-1]
        crash = "\n".join([f"{type(error).__name__}: {error}", *where])
        return Outcome(case=job.case, crash=crash, seconds=time.perf_counter() - begun)


def _load(setup: Setup) -> None:
    """Load what every run needs, so that the first case of a process does not wait for it on its own account."""
    import drain3  # noqa: F401
    import polars as pl  # noqa: F401

    import diag_graph.build
    import diag_graph.sources.folder
    import diag_graph.tools.catalogue  # noqa: F401

    if setup.model is not None:
        from diag_graph.agents.models.loading import load_litellm

        load_litellm()


def _run(setup: Setup, job: _Job) -> Outcome:
    from diag_graph.run import diagnose
    from diag_graph.sources.folder import open_folder

    answered = 0

    def count(event: Event) -> None:
        nonlocal answered
        answered += isinstance(event, ModelAnswered)

    begun = time.perf_counter()
    evidence = open_folder(job.folder)
    question = question_of(job.folder)
    if question is None:
        question = question_from(evidence.alerts.alerts() if evidence.alerts else ())
    with ExitStack() as stack:
        listeners = [count, *_keeper(setup.db, stack)]
        document = diagnose(question, evidence=evidence, model=setup.model, listeners=listeners)
    return outcome_of(job.case, document, model_calls=answered, seconds=time.perf_counter() - begun)


def _keeper(db: Path | None, stack: ExitStack) -> list[Listener]:
    """Who keeps the run, if somebody is to."""
    if db is None:
        return []
    from diag_graph.store import Store, StoreListener

    keeper = StoreListener(stack.enter_context(Store.open(db)))
    stack.callback(keeper.close)
    return [keeper]
