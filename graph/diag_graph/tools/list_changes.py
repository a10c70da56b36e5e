"""`list_changes`: deploys, commits, flags and configuration changes, those shortly before the onset first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from diag_graph.analysis.change_fit import Failure
from diag_graph.analysis.numbers import plural, span_of_time
from diag_graph.analysis.records import Change, TimeRange, utc
from diag_graph.contracts import JsonObject
from diag_graph.tools.change_fits import SHORT_COMMIT, fits, named_commit, short_name
from diag_graph.tools.definition import Tool, ToolContext, ToolError, ToolOutput
from diag_graph.tools.scope import OnsetArguments, Scope, asked_for, clip, cut_to, matches, names, nothing, scope_of

DEFAULT_REACH = 24 * 3_600.0
"""Seconds before the onset in which changes are listed when the call names no start."""
CLOCK_SKEW = 60.0
"""Seconds by which the clock of a deploy system and the first sample of a metric may disagree."""
_FILE_KEYS = ("files_changed", "files", "paths")
_SHOWN_FILES = 6
MAX_FAILURE = 8_000
"""Characters of a failure's description."""
_DIFFS = 10
"""Diffs of so many changes are given, those of the nearest first."""


class ChangeArguments(OnsetArguments):
    """Which changes to list."""

    kind: str | None = Field(default=None, description="deploy, commit, flag, config, change; comma-separated.")
    service: str | None = Field(default=None, description="Only changes of these: names or parts, comma-separated.")
    query: str | None = Field(default=None, description="Only changes whose title, files or diff hold this text.")
    failure: str | None = Field(
        default=None,
        max_length=MAX_FAILURE,
        description="What fails, in the evidence's words (messages, metrics, operations). With it, each change is"
        " weighed by time, place and content: does it fit the failure?",
    )
    place: str | None = Field(
        default=None,
        description="With failure: where the trouble starts, then what that calls or is called by; comma-separated.",
    )
    limit: int = Field(
        default=25, ge=1, le=200, description="How many changes to give, nearest before the onset first."
    )


def _run(arguments: ChangeArguments, context: ToolContext) -> ToolOutput:
    scope = _scope(arguments, context)
    source = context.evidence.changes
    known = list(source.changes()) if source is not None else []
    kinds, services = names(arguments.kind), names(arguments.service)
    query = (arguments.query or "").lower()
    chosen = [
        change
        for change in known
        if (change.time is None or change.time in scope.range)
        and (not kinds or change.kind in kinds)
        and (not services or (bool(change.service) and matches(services, change.service)))
        and (not query or query in _searchable(change))
    ]
    if not chosen:
        asked = asked_for(kind=arguments.kind, service=arguments.service, query=arguments.query)
        text = f"No change{asked} is recorded {scope.words}; {plural(len(known), 'change')} recorded in all."
        return ToolOutput(nothing(text, "change"), "no change", empty=True)
    if arguments.failure:
        if scope.onset is None:
            raise ToolError("a failure is weighed against when it began, which is not known; name it as onset")
        places = [name.strip() for name in (arguments.place or "").split(",") if name.strip()]
        return fits(chosen, Failure(arguments.failure, places, scope.onset), scope, arguments.limit)
    chosen.sort(key=lambda change: _nearness(change, scope.onset))
    shown, truncated = cut_to([_item(change, scope.onset) for change in chosen], arguments.limit, _HINT)
    diffs = [item for change in chosen[: min(_DIFFS, arguments.limit)] if (item := _diff_item(change)) is not None]
    counted = ", ".join(plural(sum(c.kind == kind for c in chosen), kind) for kind in sorted({c.kind for c in chosen}))
    return ToolOutput([*shown, *diffs], f"{counted} ({scope.words_with_onset})", truncated=truncated)


_HINT = "name a kind, a service, a query or a shorter window, or raise limit"


def _scope(arguments: ChangeArguments, context: ToolContext) -> Scope:
    scope = scope_of(arguments, context)
    if arguments.since is not None:
        return scope
    reference = scope.onset if scope.onset is not None else scope.range.start
    return Scope(TimeRange(min(scope.range.start, reference - DEFAULT_REACH), scope.range.end), scope.onset)


def _nearness(change: Change, onset: float | None) -> tuple[int, float]:
    """Before the onset, nearest first; then after it; then without a time. Without an onset, latest first."""
    if change.time is None:
        return 2, 0.0
    if onset is None:
        return 0, -change.time
    return (0, onset - change.time) if change.time <= onset + CLOCK_SKEW else (1, change.time - onset)


def _searchable(change: Change) -> str:
    return " ".join((change.title, change.identifier, change.author, str(dict(change.details)))).lower()


def distance(time: float, onset: float | None) -> str:
    """How far a time lies from the onset, in words: `2 min 10 s before the onset`."""
    if onset is None:
        return ""
    if abs(time - onset) < 1:
        return "at the onset"
    return f"{span_of_time(time - onset)} {'before' if time < onset else 'after'} the onset"


def _item(change: Change, onset: float | None) -> JsonObject:
    before = None if change.time is None or onset is None else round(onset - change.time, 3)
    return {
        "text": clip(_statement(change, onset)),
        "entity": change.service or short_name(change),
        "signal": "change",
        "change": change.kind,
        "onset": None if change.time is None else utc(change.time),
        "score": _score(before),
        "seconds_before_onset": before,
        "service": change.service,
        "identifier": change.identifier,
        "title": change.title,
        "author": change.author,
        "files": _files(change.details),
        "commit": named_commit(change),
    }


def _score(seconds_before: float | None) -> float:
    """1 just before the onset, one half 15 minutes before it, 0 after it or with no time."""
    if seconds_before is None or seconds_before < -CLOCK_SKEW:
        return 0.0
    return round(1.0 / (1.0 + max(seconds_before, 0.0) / 900.0), 3)


def _statement(change: Change, onset: float | None) -> str:
    name = f" {short_name(change)}" if change.identifier else ""
    about = f" of {change.service}" if change.service else ""
    commit = named_commit(change)
    of_commit = f" (commit {commit[:SHORT_COMMIT]})" if commit and commit != change.identifier else ""
    when = ""
    if change.time is not None:
        far = distance(change.time, onset)
        when = f" at {utc(change.time)}" + (f" ({far})" if far else "")
    by = f" by {change.author}" if change.author else ""
    turned = change.details.get("change")
    title = change.title or (turned if isinstance(turned, str) else "")
    files = _files(change.details)
    touched = ""
    if files:
        more = f" and {plural(len(files) - _SHOWN_FILES, 'more file')}" if len(files) > _SHOWN_FILES else ""
        touched = f"; files: {', '.join(files[:_SHOWN_FILES])}{more}"
    return (
        f"{change.kind.capitalize()}{name}{about}{of_commit}{when}{by}"
        + (f": {title}" if title else "")
        + touched
        + "."
    )


def _diff_item(change: Change) -> JsonObject | None:
    diff = change.details.get("diff") or change.details.get("patch")
    if not isinstance(diff, str) or not diff.strip():
        return None
    named = short_name(change) or change.title
    lines = " | ".join(line.strip() for line in diff.splitlines() if line.strip())
    return {
        "text": clip(f"Diff of {change.kind} {named}: {lines}"),
        "entity": change.service or short_name(change),
        "signal": "change",
        "change": "diff",
        "onset": None if change.time is None else utc(change.time),
        "score": 0.0,
        "identifier": change.identifier,
        "commit": named_commit(change),
    }


def _files(details: Mapping[str, Any]) -> list[str]:
    for key in _FILE_KEYS:
        value = details.get(key)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [
                one if isinstance(one, str) else str(one.get("filename", one)) if isinstance(one, dict) else str(one)
                for one in value
            ]
    return []


def _offered(context: ToolContext) -> bool:
    return context.evidence.changes is not None


LIST_CHANGES = Tool(
    name="list_changes",
    summary="Deploys, commits, flags and config changes, nearest before the onset first, with files and diffs.",
    arguments=ChangeArguments,
    run=_run,
    offered=_offered,
)
