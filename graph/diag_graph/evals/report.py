"""The report of an evaluation: what is printed as JSON, saved, and compared with later; and predictions for others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from diag_graph.errors import InputError
from diag_graph.evals.cases import CaseSet
from diag_graph.evals.documents import Boundary, CaseScore, Figures, Ranking, as_document
from diag_graph.evals.scoring import constant_answer, figures, random_order

FORMAT: Literal["diag-eval/1"] = "diag-eval/1"


class Baselines(Boundary):
    """What knows nothing of the evidence scores on the same cases."""

    constant: Ranking | None
    """The set's most frequent causes, named in every case."""
    random: Ranking | None
    """A random order of the candidates, in expectation."""


class SetReport(Boundary):
    """One set."""

    name: str
    figures: Figures
    baselines: Baselines
    cases: tuple[CaseScore, ...]


class Report(Boundary):
    """One evaluation."""

    format: Literal["diag-eval/1"] = FORMAT
    version: str
    """Of diag."""
    model: str
    started_at: str
    seconds: float
    """Wall clock of the whole."""
    jobs: int
    interrupted: bool
    """Not all cases were run; the figures are of those that were."""
    sets: tuple[SetReport, ...]

    @property
    def crashed(self) -> bool:
        """Whether a case crashed."""
        return any(one.figures.crashed for one in self.sets)


def set_reports(sets: Sequence[CaseSet], scores: Mapping[str, Sequence[CaseScore]]) -> tuple[SetReport, ...]:
    """Each set with the figures of its cases that were run, in the order of their labels; sets without any left out."""
    return tuple(_set_report(one, scores[one.name]) for one in sets if scores.get(one.name))


def _set_report(one: CaseSet, scores: Sequence[CaseScore]) -> SetReport:
    by_case = {score.case: score for score in scores}
    run = [case for case in one.labels if case in by_case]
    labels = [one.labels[case] for case in run]
    ordered = tuple(by_case[case] for case in run)
    baselines = Baselines(constant=constant_answer(labels), random=random_order(labels))
    return SetReport(name=one.name, figures=figures(ordered), baselines=baselines, cases=ordered)


def save_report(report: Report, path: Path) -> None:
    """Write a report, for `read_report`.

    Raises:
        InputError: it cannot be written.
    """
    _write(path, json.dumps(as_document(report), ensure_ascii=False, indent=1) + "\n")


def read_report(path: Path) -> Report:
    """Read a saved report.

    Raises:
        InputError: it cannot be read, or is none.
    """
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", "Name a file that `--save` wrote.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{path} is no report of diag eval{f' ({where})' if where else ''}: {first['msg']}",
            "Name a file that `diag eval --save` wrote.",
        ) from None


def save_predictions(report: Report, path: Path) -> None:
    """Write what was predicted, a JSON object a line, for other scorers. A case that crashed predicted nothing.

    Raises:
        InputError: it cannot be written.
    """
    lines = [
        json.dumps(_prediction(one.name, score), ensure_ascii=False)
        for one in report.sets
        for score in one.cases
        if score.run.crash is None
    ]
    _write(path, "".join(f"{line}\n" for line in lines))


def _prediction(set_name: str, score: CaseScore) -> dict[str, Any]:
    run = score.run
    return {
        "set": set_name,
        "case": run.case,
        "ranked": list(run.ranked),
        "text": run.answer,
        "verdict": run.verdict,
        "degraded": run.degraded,
        "commit": run.commit,
        "seconds": round(run.seconds, 3),
    }


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
