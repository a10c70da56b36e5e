"""The question as it is asked: words as they are, and a pasted alert as the question that it stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from diag_cli.render.safe import one_line, shortened

_OPENING = ("{", "[")
_MAX_NAMED, _MAX_WORDS = 5, 200
_SUBJECTS = ("service", "app", "job", "deployment", "pod", "instance")
"""Labels that name what an alert is about, most telling first."""


def as_question(text: str) -> str:
    """The question that a text asks.

    Args:
        text: What the user wrote or pasted.

    Returns:
        The text; in place of the JSON of alerts (Alertmanager's, or what a source reads as such), a question that names
        the alert, what it is about and since when it fires.
    """
    if not text.lstrip().startswith(_OPENING):
        return text
    try:
        alerts = list(_alerts(json.loads(text)))
    except (ValueError, RecursionError):
        return text
    alerts.sort(key=lambda alert: (_is_over(alert), str(alert.get("startsAt") or "")))
    return _asked_about(alerts) if alerts else text


def is_open(text: str) -> bool:
    """Whether a text is the beginning of JSON that goes on in the next line."""
    if not text.lstrip().startswith(_OPENING):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    except RecursionError:
        return False
    return False


def _alerts(found: object) -> Iterator[Mapping[str, Any]]:
    from diag_graph.sources.folder.alert_forms import usual_form

    for one in found if isinstance(found, list) else [found]:
        if not isinstance(one, dict):
            continue
        if isinstance(one.get("alerts"), list):
            yield from _alerts(one["alerts"])
        elif _table(one.get("labels")).get("alertname"):
            yield one
        elif (usual := usual_form(one)) is not None:
            yield usual


def _asked_about(alerts: list[Mapping[str, Any]]) -> str:
    first = alerts[0]
    fires = "did the alert {} fire" if _is_over(first) else "does the alert {} fire"
    name = _name(first)
    labels, notes = _table(first.get("labels")), _table(first.get("annotations"))
    about = next((f" for {one_line(str(labels[key]))}" for key in _SUBJECTS if labels.get(key)), "")
    since = f" since {one_line(str(first['startsAt']))}" if first.get("startsAt") else ""
    said = one_line(str(notes.get("summary") or notes.get("description") or ""))
    others = [other for other in dict.fromkeys(map(_name, alerts[1:])) if other != name]
    rest = f" Other alerts: {', '.join(others[:_MAX_NAMED])}." if others else ""
    told = f" {shortened(said, _MAX_WORDS)}" if said else ""
    return f"why {fires.format(name)}{about}{since}?{told}{rest}"


def _name(alert: Mapping[str, Any]) -> str:
    return shortened(one_line(str(_table(alert.get("labels")).get("alertname") or "without a name")), _MAX_WORDS)


def _is_over(alert: Mapping[str, Any]) -> bool:
    status = alert.get("status")
    state = status.get("state") if isinstance(status, dict) else status
    return state in {"resolved", "inactive"}


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
