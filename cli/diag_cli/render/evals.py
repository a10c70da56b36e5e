"""The report of an evaluation as tables: quality, what it took, each case, and what changed since a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from diag_cli.render.progress import case_words
from diag_cli.render.safe import one_line, shortened
from diag_cli.render.streams import READABLE_WIDTH, put, put_drawn
from diag_cli.render.words import counted, seconds

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from diag_graph.evals.comparison import Comparison
    from diag_graph.evals.documents import Figures, Ranking, Share
    from diag_graph.evals.report import Report, SetReport

LEGEND = """\
AC@k: a true cause is among the first k that are named; Avg@5: mean of AC@1 to AC@5. WORDS: keywords found;
ALL: cases with all of theirs. COMMIT: the guilty one is blamed, or rightly none. HEALTHY: no cause is named
where nothing is wrong. FALSE: wrong causes among PASS answers with a cause. VERDICTS: PASS/LOW_CONFID/REJECT/
none (fallback). CITED: statements whose every citation was verified. More: docs/evaluation.md"""

_NOTHING = "-"
_SHOWN_NAMES = 60

_QUALITY: dict[str, Callable[[Figures], str]] = {
    "CASES": lambda of: str(of.cases),
    "AC@1": lambda of: _ratio(of.ac1),
    "AC@3": lambda of: _ratio(of.ac3),
    "Avg@5": lambda of: _ratio(of.avg5),
    "WORDS": lambda of: _fraction(of.keywords),
    "ALL": lambda of: _fraction(of.keyword_cases),
    "COMMIT": lambda of: _fraction(of.commit, of.no_commit),
    "HEALTHY": lambda of: _fraction(of.abstention),
    "FALSE": lambda of: _fraction(of.false_confidence),
    "VERDICTS": lambda of: "/".join(map(str, of.verdicts.values())),
    "CITED": lambda of: _percent(of.cited),
    "FORBIDDEN": lambda of: str(of.forbidden or _NOTHING),
    "CRASHED": lambda of: str(of.crashed or _NOTHING),
}
"""Columns of the first table; those that say nothing of any set are left out."""

_EFFORT: dict[str, Callable[[Figures], str]] = {
    "MEDIAN SECONDS": lambda of: _seconds(of.seconds_median),
    "MAX": lambda of: _seconds(of.seconds_max),
    "MODEL CALLS": lambda of: f"{of.model_calls:,}" if of.model_calls else _NOTHING,
    "TOKENS IN": lambda of: f"{of.prompt_tokens:,}" if of.prompt_tokens else _NOTHING,
    "OUT": lambda of: f"{of.completion_tokens:,}" if of.completion_tokens else _NOTHING,
    "COST USD": lambda of: _NOTHING if of.cost_usd is None else f"{of.cost_usd:.4f}",
}
"""Columns of the second table."""

_BASELINES: dict[str, Callable[[Ranking], str]] = {
    "AC@1": lambda of: _ratio(of.ac1),
    "AC@3": lambda of: _ratio(of.ac3),
    "Avg@5": lambda of: _ratio(of.avg5),
}


def print_report(report: Report, comparison: Comparison | None, *, per_case: bool, explain: bool) -> None:
    """Print a report to stdout.

    Args:
        report: What to print; nothing is printed of a report without cases.
        comparison: What changed since a baseline, if there is one.
        per_case: Print each case, too.
        explain: Print what the columns mean.
    """
    done = sum(one.figures.cases for one in report.sets)
    if not done:
        return
    took = seconds(round(report.seconds * 1000))
    put(f"{counted(done, 'case')} with {one_line(report.model)} in {took}, {report.jobs} at a time\n")
    if per_case:
        _draw(_cases(report.sets))
    _draw(_figures(report.sets, _QUALITY, baselines=True))
    _draw(_figures(report.sets, _EFFORT))
    if comparison is not None:
        put("\n".join(_compared(comparison)) + "\n")
    if explain:
        put(LEGEND)


def _draw(table: Table) -> None:
    def at_full_width(console: Console) -> Table:
        console.width = READABLE_WIDTH  # also in a pipe; what is narrower wraps
        return table

    put_drawn(at_full_width)
    put("")


def _table(*headers: str) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", show_edge=False)
    for header in headers:
        table.add_column(header, justify="left" if header == headers[0] else "right", no_wrap=True)
    return table


def _figures(
    sets: Sequence[SetReport], columns: Mapping[str, Callable[[Figures], str]], *, baselines: bool = False
) -> Table:
    """A row a set, in columns that say something; under it what the same cases give to who knows nothing of them."""
    rows = {one.name: {name: read(one.figures) for name, read in columns.items()} for one in sets}
    shown = [name for name in columns if any(row[name] != _NOTHING for row in rows.values())]
    table = _table("SET", *shown)
    for one in sets:
        table.add_row(one_line(one.name), *(rows[one.name][name] for name in shown))
        known = {"always the commonest": one.baselines.constant, "random order": one.baselines.random}
        for name, ranking in known.items():
            if baselines and ranking is not None:
                cells = [_BASELINES[column](ranking) if column in _BASELINES else "" for column in shown]
                table.add_row(f"  {name}", *cells, style="dim")
    return table


def _cases(sets: Sequence[SetReport]) -> Table:
    table = _table("CASE", "SECONDS")
    for name in ("HOW IT WENT", "MISSING"):
        table.add_column(name, overflow="fold")
    for one in sets:
        for score in one.cases:
            missing = [group[0] for group in score.missing_keywords] + [f"has: {phrase}" for phrase in score.forbidden]
            if False in {score.commit_right, score.none_right}:
                missing.append(f"blames commit {score.run.commit[:12]}")
            table.add_row(
                one_line(f"{one.name}/{score.case}"),
                _seconds(score.run.seconds),
                case_words(score),
                shortened(one_line(", ".join(missing)), _SHOWN_NAMES),
            )
    return table


def _compared(comparison: Comparison) -> Iterator[str]:
    """What changed, a line each, the worst first."""
    yield f"Compared on {counted(comparison.cases, 'case')}, tolerance {comparison.tolerance:g}:"
    for one in sorted(comparison.differences, key=lambda one: not one.regression):
        mark = "  REGRESSION" if one.regression else ""
        step = f"{one.before:.3f} -> {one.after:.3f} ({one.after - one.before:+.3f})"
        yield f"  {one_line(one.set)} {one.figure} {step}{mark}"
    for moved in comparison.changed:
        ranks = " -> ".join(f"rank {rank}" if rank else "not named" for rank in (moved.before, moved.after))
        yield f"  {one_line(moved.set)}/{one_line(moved.case)}: true cause {ranks}"
    if not comparison.differences and not comparison.changed:
        yield "  no figure changed"
    if comparison.left_out:
        yield f"  {counted(comparison.left_out, 'case')} not in both, left out"


def _ratio(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3f}"


def _fraction(*shares: Share) -> str:
    of = sum(share.of for share in shares)
    return f"{sum(share.n for share in shares)}/{of}" if of else _NOTHING


def _percent(share: Share) -> str:
    """A share as per cent, rounded down: 100% means all."""
    return f"{share.n * 100 // share.of}%" if share.of else _NOTHING


def _seconds(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.2f}"
