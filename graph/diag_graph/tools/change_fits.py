"""What `list_changes` says of how changes fit a failure: one statement a change, and one when none fits."""

from __future__ import annotations

from collections.abc import Sequence

from diag_graph.analysis.change_fit import Failure, Fit, Standing, weigh
from diag_graph.analysis.numbers import plural, span_of_time
from diag_graph.analysis.records import Change, utc
from diag_graph.contracts import JsonObject
from diag_graph.tools.definition import ToolOutput
from diag_graph.tools.scope import Scope, clip, cut_to

SHORT_COMMIT = 12
"""Digits of a commit in a statement; its item has all of them."""
_TITLE, _WHY = 100, 120


def fits(changes: Sequence[Change], failure: Failure, scope: Scope, limit: int) -> ToolOutput:
    """Weigh changes against a failure.

    Args:
        changes: Everything that is recorded in the window.
        failure: What fails, where and since when.
        scope: The window, in whose words the result speaks.
        limit: How many changes to give.

    Returns:
        The changes that fit, best first, or a statement that none does; then those that do not, nearest first.
    """
    weighed = weigh(changes, failure)
    items = [_item(fit, failure) for fit in weighed]
    counted = counts(changes)
    where = failure.places[0] if failure.places else "the place of the failure"
    if not any(item["fit"] != Standing.MISFIT for item in items):
        text = (
            f"No recorded change fits what fails at {where}: {counted} weighed by time, place and content"
            f" against a failure since {utc(failure.since)}, {scope.words}."
        )
        items.insert(0, {"text": clip(text), "signal": "change", "empty": True, "entity": "", "fit": "none"})
    shown, truncated = cut_to(items, limit, "raise limit")
    return ToolOutput(shown, f"{counted} weighed against a failure since {utc(failure.since)}", truncated=truncated)


def counts(changes: Sequence[Change]) -> str:
    """`39 commits, 4 deploys and 2 flags`."""
    kinds = sorted({change.kind for change in changes})
    parts = [plural(sum(change.kind == kind for change in changes), kind) for kind in kinds]
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part) if parts else "no change"


def _item(fit: Fit, failure: Failure) -> JsonObject:
    change = fit.change
    commit = fit.commit.identifier if fit.commit else named_commit(change)
    return {
        "text": clip(_statement(fit, commit, failure)),
        "entity": change.service or short_name(change),
        "signal": "change",
        "change": change.kind,
        "fit": str(fit.standing),
        "onset": None if change.time is None else utc(change.time),
        "score": round(fit.score, 3),
        "service": change.service,
        "identifier": change.identifier,
        "commit": commit,
    }


def _statement(fit: Fit, commit: str, failure: Failure) -> str:
    change = fit.change
    name = f" {short_name(change)}" if change.identifier else ""
    about = f" of {change.service}" if change.service else ""
    brought = f" (commit {commit[:SHORT_COMMIT]})" if commit and commit != change.identifier else ""
    when = "" if change.time is None else f" at {utc(change.time)}{_far(change.time, failure.since)}"
    title = (fit.commit or change).title
    subject = f'"{clip(title, _TITLE)}"' if title else "it"
    verdict = {
        Standing.FITS: "fits what fails",
        Standing.POSSIBLE: "may be behind what fails",
        Standing.MISFIT: "shows no tie with what fails" if fit.unproven else "does not fit what fails",
    }[fit.standing]
    why = "; it ".join(clip(one, _WHY) for one in fit.why)
    return f"{change.kind.capitalize()}{name}{about}{brought}{when} {verdict}: {subject} {why}."


def _far(time: float, since: float) -> str:
    if abs(time - since) < 1:
        return " (as the failure began)"
    return f" ({span_of_time(time - since)} {'before' if time < since else 'after'} the failure began)"


def short_name(change: Change) -> str:
    """The identifier as statements give it: a commit by its first digits."""
    return change.identifier[:SHORT_COMMIT] if change.kind == "commit" else change.identifier


def named_commit(change: Change) -> str:
    """The commit that a change is, or that it says it brought; empty when it names none."""
    if change.kind == "commit":
        return change.identifier
    return next((str(change.details[key]) for key in _COMMITS if change.details.get(key)), "")


_COMMITS = ("commit_sha", "commit", "sha", "revision")
