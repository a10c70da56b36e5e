from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from eval_samples import LABELS, RUNS

from diag_graph.errors import InputError
from diag_graph.evals.cases import CaseSet
from diag_graph.evals.comparison import MEASURES, compare
from diag_graph.evals.documents import Outcome
from diag_graph.evals.report import Report, read_report, save_report, set_reports
from diag_graph.evals.scoring import judge


def report(runs: Mapping[str, Outcome] = RUNS, name: str = "toys") -> Report:
    """The report of the toy cases' runs."""
    one = CaseSet(name, Path("toys"), LABELS)
    scores = {name: [judge(LABELS[case], run) for case, run in runs.items()]}
    return Report(
        version="1",
        model="m",
        started_at="2026-07-16T14:20:00Z",
        seconds=1,
        jobs=1,
        interrupted=False,
        sets=set_reports([one], scores),
    )


WORSE = {**RUNS, "toy-deploy": Outcome(case="toy-deploy", ranked=("basket", "till"), verdict="PASS", commit="none")}


def test_equal_reports_have_no_differences() -> None:
    """Every figure that is compared is there to be compared."""
    same = compare(report(), report(), 0.0)
    assert (same.cases, same.left_out, same.differences, same.changed, same.regressed) == (3, 0, (), (), False)


def test_a_figure_that_got_worse_is_a_regression_and_says_by_how_much() -> None:
    """Less is worse for shares of what is right, more for false confidence."""
    found = compare(report(), report(WORSE), 0.0)
    by_name = {one.figure: one for one in found.differences}
    assert (by_name["ac1"].before, by_name["ac1"].after, by_name["ac1"].regression) == (0.5, 0.0, True)
    assert (by_name["commit"].before, by_name["commit"].after, by_name["commit"].regression) == (1.0, 0.0, True)
    assert by_name["falseConfidence"].regression
    assert not by_name["forbidden"].regression  # one fewer
    assert set(by_name) <= set(MEASURES)
    assert [(one.case, one.before, one.after) for one in found.changed] == [("toy-deploy", 1, 2)]
    assert found.regressed
    assert not any(one.regression for one in compare(report(WORSE), report(), 0.0).differences if one.figure == "ac1")


@pytest.mark.parametrize(("tolerance", "regressed"), [(0.49, True), (0.5, False)])
def test_what_is_worse_by_no_more_than_the_tolerance_is_none(tolerance: float, regressed: bool) -> None:
    """AC@1 falls from 0.5 to 0."""
    ac1 = next(one for one in compare(report(), report(WORSE), tolerance).differences if one.figure == "ac1")
    assert ac1.regression is regressed


def test_only_cases_that_both_ran_are_compared() -> None:
    """A part of a set is held against the same part of the baseline."""
    part = {"toy-deploy": RUNS["toy-deploy"]}
    found = compare(report(), report(part), 0.0)
    assert (found.cases, found.left_out, found.differences) == (1, 2, ())
    other = compare(report(name="others"), report(), 0.0)
    assert (other.cases, other.left_out, other.differences) == (0, 6, ())


def test_a_saved_report_reads_back_and_holds_no_answers(tmp_path: Path) -> None:
    """Answers may quote evidence; a baseline that is kept in a repository must not."""
    save_report(report(), tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    assert "CPU of the basket" not in text
    assert compare(read_report(tmp_path / "r.json"), report(), 0.0).differences == ()


@pytest.mark.parametrize("text", ["", "[]", '{"format": "diag-eval/9"}', '{"format": "diag-run/1"}'])
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    """Exit 2, with the file's name."""
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError, match=r"r\.json"):
        read_report(tmp_path / "r.json")
    with pytest.raises(InputError, match="nothing"):
        read_report(tmp_path / "nothing.json")
