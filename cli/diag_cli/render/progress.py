"""How far something long has come: of an evaluation, a bar on a terminal and a line a case elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self

from diag_cli.render.safe import one_line
from diag_cli.render.streams import console_for, is_styled, is_terminal, say
from diag_cli.render.words import seconds
from diag_cli.settings import Display

if TYPE_CHECKING:
    from diag_graph.evals.documents import CaseScore


class EvalProgress(Protocol):
    """Hears of every case that is done."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *ended: object) -> None:
        """End, and leave the screen as it was."""

    def advance(self, set_name: str, score: CaseScore) -> None:
        """A case is done."""


def progress_for(wanted: Display | None, total: int, *, quiet: bool) -> EvalProgress:
    """The view that the user wants; without a wish, a bar on a terminal and lines elsewhere."""
    if quiet or wanted is Display.NONE:
        return _Silence()
    if wanted is Display.LIVE or (wanted is None and is_terminal(sys.stderr) and is_styled(sys.stderr)):
        return _Bar(total)
    return _Lines(total)


class _Silence:
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        pass

    def advance(self, set_name: str, score: CaseScore) -> None:
        pass


class _Lines(_Silence):
    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0

    def advance(self, set_name: str, score: CaseScore) -> None:
        self._done += 1
        took = seconds(round(score.run.seconds * 1000))
        say(f"[{self._done}/{self._total}] {one_line(set_name)}/{one_line(score.case)}: {case_words(score)}, {took}")


class _Bar:
    def __init__(self, total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("cases, time left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", style="dim", markup=False),
            console=console_for(sys.stderr),
            transient=True,
        )
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._progress.stop()

    def advance(self, set_name: str, score: CaseScore) -> None:
        said = f"{one_line(set_name)}/{one_line(score.case)}: {case_words(score)}"
        self._progress.update(self._task, advance=1, description=said)


@contextmanager
def counting(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, and nothing elsewhere; yields what is told how many of how many are done."""
    if quiet or not (is_terminal(sys.stderr) and is_styled(sys.stderr)):
        yield lambda _done, _total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn(f"{what}, time left"), TimeRemainingColumn())
    with Progress(*columns, console=console_for(sys.stderr), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def case_words(score: CaseScore) -> str:
    """How a case went, in a few words."""
    run = score.run
    if run.crash is not None:
        return "crashed"
    named = f"names {one_line(run.ranked[0])}" if run.ranked else "names no cause"
    if score.has_cause:
        how = "right" if score.rank == 1 else f"right at rank {score.rank}" if score.rank else named
    elif score.abstained is not None:
        how = "rightly names no cause" if score.abstained else f"{named}, though nothing is wrong"
    else:
        how = f"{named}, {score.keywords - len(score.missing_keywords)} of {score.keywords} keywords"
    return f"{how}, {run.verdict or f'no verdict ({run.ended})'}"
