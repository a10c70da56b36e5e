"""`diag eval`: cases with known answers, run side by side and scored."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.model_settings import usable_model
from diag_cli.options import ApiBase, Asked, Debug, Model, Shown
from diag_cli.render.streams import complain, put, say
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from diag_cli.settings import Display
    from diag_graph.evals.cases import CaseSet
    from diag_graph.evals.comparison import Comparison
    from diag_graph.evals.documents import CaseScore
    from diag_graph.evals.report import Report
    from diag_graph.evals.runner import Setup

EXAMPLES = """\b
  diag eval fixtures/incidents
  diag eval ./incidents --save before.json
  diag eval ./incidents --compare before.json --tolerance 0
  diag eval ./incidents --cases friday,shop/monday --per-case
"""


def evaluate(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A set of cases, or a folder of sets.")],
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="How many cases at a time. [default: cores]")
    ] = None,
    cases: Annotated[
        str | None, typer.Option("--cases", metavar="A,B", help="Only these cases: case or set/case, with commas.")
    ] = None,
    model: Model = None,
    api_base: ApiBase = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="FILE", help="Compare with a report that --save wrote.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="SHARE", min=0, max=1, help="By how much a share may worsen.")
    ] = 0.0,
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Also write the JSON to a file.")] = None,
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="FILE", help="Write the answers, a JSON object a line.")
    ] = None,
    per_case: Annotated[bool, typer.Option("--per-case", help="Show each case, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    display: Shown = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but the figures, and errors.")] = False,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="FILE",
            help="Keep the runs in this SQLite file; without it, whatever DIAG_DB says, none is kept.",
        ),
    ] = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Run cases with known answers, and say how good the diagnosis is.

    DIR holds labels.json, the truth, and beside it a folder for each case: evidence with question.txt or alert.json.
    What each figure means: docs/evaluation.md. Runs are not kept, unless --db says where.

    Exit status: 0 done, 1 a figure is worse than in --compare or a case crashed, 2 the command, a setting or a case
    cannot be used, 130 interrupted (what is done is shown).
    """
    from diag_graph.evals.cases import chosen, find_sets
    from diag_graph.evals.report import read_report, save_predictions, save_report
    from diag_graph.evals.runner import Setup

    given = settings.resolve({"model": model, "api_base": api_base, "display": display})
    sets = find_sets(folder)
    if cases is not None:
        sets = chosen(sets, [name.strip() for name in cases.split(",") if name.strip()])
    baseline = read_report(compare) if compare else None
    for path in (save, predictions):
        _check_place(path)
    cores = os.cpu_count() or 1
    jobs = jobs or cores
    setup = Setup(usable_model(given), db=_store(db), threads=max(1, cores // jobs))
    report = _run(sets, setup, jobs, given["display"], quiet=quiet)
    if save:
        save_report(report, save)
    if predictions:
        save_predictions(report, predictions)
    comparison = _compared(baseline, report, tolerance)
    if as_json:
        _print_json(report, comparison)
    else:
        from diag_cli.render.evals import print_report

        print_report(report, comparison, per_case=per_case, explain=not quiet)
    return _status(report, comparison, debug=context.ensure_object(Asked).debug)


def _run(sets: list[CaseSet], setup: Setup, jobs: int, display: Display | None, *, quiet: bool) -> Report:
    """Run all cases; at Ctrl-C, the report is of those that are done."""
    import time
    from datetime import UTC, datetime

    from diag_cli.render.progress import progress_for
    from diag_graph import __version__
    from diag_graph.evals.report import Report, set_reports
    from diag_graph.evals.runner import evaluate as run_cases
    from diag_graph.run import iso

    started, begun = datetime.now(UTC), time.perf_counter()
    scores: dict[str, list[CaseScore]] = {one.name: [] for one in sets}
    interrupted = False
    try:
        with (
            progress_for(display, sum(len(one.labels) for one in sets), quiet=quiet) as progress,
            closing(run_cases(sets, setup, jobs)) as done,
        ):
            for name, score in done:
                scores[name].append(score)
                progress.advance(name, score)
    except KeyboardInterrupt:
        interrupted = True
    return Report(
        version=__version__,
        model=setup.label,
        started_at=iso(started),
        seconds=round(time.perf_counter() - begun, 3),
        jobs=jobs,
        interrupted=interrupted,
        sets=set_reports(sets, scores),
    )


def _compared(baseline: Report | None, report: Report, tolerance: float) -> Comparison | None:
    if baseline is None:
        return None
    from diag_graph.evals.comparison import compare

    comparison = compare(baseline, report, tolerance)
    if not comparison.cases and not report.interrupted:
        raise InputError(
            "the baseline has none of these cases: nothing can be compared", "Name the report of this set."
        )
    return comparison


def _status(report: Report, comparison: Comparison | None, *, debug: bool) -> Exit:
    """The exit status, and a line for every reason that it is not 0."""
    status = Exit.OK
    if comparison is not None and comparison.regressed:
        worse = sum(one.regression for one in comparison.differences)
        complain(f"{worse} of the figures got worse than in the baseline")
        status = Exit.RUN_FAILED
    for one in report.sets:
        for score in one.cases:
            if score.run.crash is not None:
                error, *where = score.run.crash.splitlines()
                complain(f"{one.name}/{score.case} crashed: {error}")
                if debug and where:
                    say("\n".join(where))
                status = Exit.RUN_FAILED
    if report.interrupted:
        complain("interrupted", "The figures are of the cases that were done.")
        status = Exit.INTERRUPTED
    return status


def _print_json(report: Report, comparison: Comparison | None) -> None:
    from diag_cli.envelope import as_text
    from diag_graph.evals.documents import as_document

    put(as_text({**as_document(report), "comparison": as_document(comparison) if comparison else None}))


def _store(db: str | None) -> Path | None:
    """The store to keep runs in; opened once here, so that one which cannot be used is found out at once."""
    if db is None:
        return None
    from diag_graph.store import Store

    path = Path(db).expanduser()
    Store.open(path).close()
    return path


def _check_place(path: Path | None) -> None:
    """Find out before the runs, and not after them, that a file cannot be written there."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise InputError(f"{path} cannot be written: {what}", "Name a file in a folder that exists.")
