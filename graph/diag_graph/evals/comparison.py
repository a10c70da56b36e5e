"""Holds an evaluation against an earlier one, on the cases that both ran. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from diag_graph.evals.documents import Boundary, CaseScore, Figures
from diag_graph.evals.report import Report, SetReport
from diag_graph.evals.scoring import figures

_ROUNDING = 1e-9
"""What two shares may differ by that are equal."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """A figure that is compared: how it is read, and which way is better."""

    read: Callable[[Figures], float | None]
    more_is_better: bool = True


MEASURES: dict[str, _Measure] = {
    "ac1": _Measure(lambda of: of.ac1),
    "ac3": _Measure(lambda of: of.ac3),
    "avg5": _Measure(lambda of: of.avg5),
    "keywords": _Measure(lambda of: of.keywords.share),
    "keywordCases": _Measure(lambda of: of.keyword_cases.share),
    "abstention": _Measure(lambda of: of.abstention.share),
    "commit": _Measure(lambda of: of.commit.share),
    "noCommit": _Measure(lambda of: of.no_commit.share),
    "cited": _Measure(lambda of: of.cited.share),
    "falseConfidence": _Measure(
        lambda of: of.false_confidence.n / of.cases if of.cases else None, more_is_better=False
    ),
    "forbidden": _Measure(lambda of: of.forbidden / of.cases if of.cases else None, more_is_better=False),
    "crashed": _Measure(lambda of: of.crashed / of.cases if of.cases else None, more_is_better=False),
}
"""Seconds and tokens are not among them: they depend on the machine and on the provider's day."""


class Difference(Boundary):
    """A figure that is not what it was."""

    set: str
    figure: str
    before: float
    after: float
    regression: bool
    """It is worse by more than the tolerance."""


class Changed(Boundary):
    """A case whose first true cause stands elsewhere than it did; null: it is not named."""

    set: str
    case: str
    before: int | None
    after: int | None


class Comparison(Boundary):
    """What changed since the baseline."""

    tolerance: float
    cases: int
    """How many cases both ran."""
    left_out: int
    """How many only one of them ran."""
    differences: tuple[Difference, ...]
    changed: tuple[Changed, ...]

    @property
    def regressed(self) -> bool:
        """Whether any figure is worse by more than the tolerance."""
        return any(one.regression for one in self.differences)


def compare(baseline: Report, report: Report, tolerance: float) -> Comparison:
    """What changed since the baseline, on the cases that both ran.

    Args:
        baseline: The earlier report.
        report: The later one.
        tolerance: By how much a share may worsen without being called a regression.
    """
    earlier = {one.name: one for one in baseline.sets}
    pairs = [(one.name, *_common(earlier[one.name], one)) for one in report.sets if one.name in earlier]
    both = sum(len(before) for _, before, _ in pairs)
    everything = sum(len(one.cases) for source in (baseline, report) for one in source.sets)
    return Comparison(
        tolerance=tolerance,
        cases=both,
        left_out=everything - 2 * both,
        differences=tuple(
            one for name, before, after in pairs if before for one in _differences(name, before, after, tolerance)
        ),
        changed=tuple(
            Changed(set=name, case=old.case, before=old.rank, after=new.rank)
            for name, before, after in pairs
            for old, new in zip(before, after, strict=True)
            if old.rank != new.rank
        ),
    )


def _common(before: SetReport, after: SetReport) -> tuple[list[CaseScore], list[CaseScore]]:
    """The judged cases that both have, in the same order."""
    known = {score.case: score for score in before.cases}
    new = [score for score in after.cases if score.case in known]
    return [known[score.case] for score in new], new


def _differences(name: str, before: list[CaseScore], after: list[CaseScore], tolerance: float) -> list[Difference]:
    old, new = figures(before), figures(after)
    found = []
    for figure, measure in MEASURES.items():
        was, now = measure.read(old), measure.read(new)
        if was is None or now is None or was == now:
            continue
        worse = was - now if measure.more_is_better else now - was
        found.append(
            Difference(set=name, figure=figure, before=was, after=now, regression=worse > tolerance + _ROUNDING)
        )
    return found
