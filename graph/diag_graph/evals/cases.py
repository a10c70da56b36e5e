"""Where cases lie: a case is a folder of evidence with a question, its truth stands in `labels.json` outside of it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from diag_graph.analysis.records import Alert, utc
from diag_graph.errors import InputError
from diag_graph.evals.documents import Label

LABELS, CASES, QUESTION, ALERT = "labels.json", "cases", "question.txt", "alert.json"
_MAX_ALERTS = 5
"""Alerts that a question made of them names."""


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Cases that belong together.

    Attributes:
        name: The name of its folder.
        folder: Where the case folders lie.
        labels: The truth, by case.
    """

    name: str
    folder: Path
    labels: Mapping[str, Label]


def find_sets(folder: Path) -> list[CaseSet]:
    """The sets in a folder: the folder itself, when it holds `labels.json`, else those of its folders that do.

    Case folders lie in `cases/` beside `labels.json`, or beside it themselves.

    Raises:
        InputError: there is none, or a set cannot be used.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder", f"Name a folder with {LABELS} and case folders.")
    if (folder / LABELS).is_file():
        return [_read_set(folder)]
    sets = [_read_set(path) for path in sorted(folder.iterdir()) if (path / LABELS).is_file()]
    if not sets:
        raise InputError(
            f"neither {folder} nor a folder in it holds {LABELS}", "docs/evaluation.md says what a set of cases is."
        )
    return sets


def chosen(sets: Sequence[CaseSet], names: Sequence[str]) -> list[CaseSet]:
    """The sets with no other cases than these, which are named as `case` or `set/case`.

    Raises:
        InputError: a name is unknown.
    """
    known = {name for one in sets for case in one.labels for name in (case, f"{one.name}/{case}")}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1)
            raise InputError(f'there is no case "{name}"', f'Did you mean "{near[0]}"?' if near else "")
    cut = [
        replace(one, labels={c: v for c, v in one.labels.items() if {c, f"{one.name}/{c}"} & {*names}}) for one in sets
    ]
    return [one for one in cut if one.labels]


def question_of(folder: Path) -> str | None:
    """The question of a case as its file says it; None when there is no such file."""
    path = folder / QUESTION
    return path.read_text(encoding="utf-8").strip() if path.is_file() else None


def question_from(alerts: Sequence[Alert]) -> str:
    """The question that alerts ask, those that fire first.

    Raises:
        InputError: there is no alert.
    """
    if not alerts:
        raise InputError(f"the case has no {QUESTION}, and no alert that could be read", f"Write a {QUESTION}.")
    told = sorted(alerts, key=lambda alert: alert.status != "firing")[:_MAX_ALERTS]
    return " ".join([*map(_told, told), "What is the root cause, if anything is wrong?"])


def _told(alert: Alert) -> str:
    verb = "fired" if alert.status == "firing" else "fired and is resolved now"
    about = f" for {alert.service}" if alert.service else ""
    since = f" at {utc(alert.starts_at)}" if alert.starts_at is not None else ""
    summary = f": {alert.summary.rstrip('.')}" if alert.summary else ""
    return f"{alert.name} {verb}{about}{since}{summary}."


def _read_set(folder: Path) -> CaseSet:
    path = folder / LABELS
    try:
        labels = TypeAdapter(dict[str, Label]).validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{path}{f', {where}' if where else ''}: {first['msg']}", "It holds an object by case."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    home = folder / CASES if (folder / CASES).is_dir() else folder
    missing = [case for case in labels if not any((home / case / name).is_file() for name in (QUESTION, ALERT))]
    if missing or not labels:
        what = f"no case {missing[0]} with {QUESTION} or {ALERT} in {home}" if missing else "no case in it"
        raise InputError(f"{path}: there is {what}", "Every label needs its case folder.")
    return CaseSet(folder.resolve().name, home, labels)
