"""`find_log_patterns`: message templates that are new, gone or far more frequent since the onset.

And where lines say their trace: what always followed a line of a service, and no longer does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from pydantic import Field

from diag_graph.analysis.courses import changed_courses
from diag_graph.analysis.log_changes import PatternChange, PatternKind, changed_patterns, recorded_about
from diag_graph.analysis.log_patterns import FAILURES, PatternCount, PatternSurvey
from diag_graph.analysis.numbers import number, plural, span_of_time
from diag_graph.analysis.records import utc
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import Evidence
from diag_graph.tools.course_statements import log_course_item
from diag_graph.tools.definition import Tool, ToolContext, ToolOutput
from diag_graph.tools.log_reading import patterns_about
from diag_graph.tools.metric_statements import entity_of
from diag_graph.tools.scope import (
    OnsetArguments,
    Scope,
    asked_for,
    clip,
    cut_to,
    found_of,
    matches,
    names,
    nothing,
    scope_of,
)
from diag_graph.tools.traced_lines import read_traced

_TEMPLATE_CHARS = 140
_EXAMPLE_CHARS = 150

_DIRECTION = {
    PatternKind.NEW: "new",
    PatternKind.GONE: "stopped",
    PatternKind.MORE: "more frequent",
    PatternKind.LESS: "less frequent",
    PatternKind.VOLUME_MORE: "more frequent",
    PatternKind.VOLUME_GONE: "stopped",
}


PAUSES, LEAST_PAUSE, MIN_ENDED = 3.0, 60.0, 4
"""A kind of line is over after this many of its longest pauses without one, and no fewer seconds; from fewer lines, its
pauses are not known."""


class LogPatternArguments(OnsetArguments):
    """Which lines to mine for patterns."""

    service: str | None = Field(default=None, description="Only these: names or parts of names, comma-separated.")
    level: str | None = Field(default=None, description="Only these levels: ERROR, WARN, ..., comma-separated.")
    limit: int = Field(default=20, ge=1, le=200, description="How many to give, most telling first.")


def _run(arguments: LogPatternArguments, context: ToolContext) -> ToolOutput:
    scope = scope_of(arguments, context)
    survey = _chosen(arguments, patterns_about(context.evidence, scope.range, scope.onset))
    if survey.lines == 0:
        asked = asked_for(service=arguments.service, level=arguments.level)
        text = f"No log line{asked} is recorded {scope.words}{_stopped(survey)}."
        extent = _extent(survey, scope)
        return ToolOutput(nothing(text, "log", **extent), "no log line", empty=True, extra=extent)
    asked = asked_for(
        service=found_of(arguments.service, {pattern.service for pattern in survey.patterns}),
        level=found_of(arguments.level, {pattern.level for pattern in survey.patterns}),
    )
    summary = f"{_compared(survey, scope)}{asked} {scope.words_with_onset}{_stopped(survey)}"
    entities = _known_entities(context.evidence) | {pattern.service for pattern in survey.patterns if pattern.service}
    changes = [] if scope.onset is None else changed_patterns(survey, survey.cut or scope.range, scope.onset)
    end = survey.recorded.end if survey.recorded else scope.range.end
    found = [*(_item(change, scope, entities, end) for change in changes), *_courses(arguments, context, scope)]
    items = sorted(found, key=lambda item: -item["score"]) or list(_uncompared(survey, scope, entities))
    if not items:
        text = f"No log pattern is new, gone or notably more frequent: {summary}."
        extent = _extent(survey, scope)
        return ToolOutput(nothing(text, "log", **extent), summary, empty=True, extra=extent)
    shown, truncated = cut_to(items, arguments.limit, "name a service or a level, or raise limit")
    return ToolOutput(shown, summary, truncated=truncated, extra=_extent(survey, scope))


def _chosen(arguments: LogPatternArguments, survey: PatternSurvey) -> PatternSurvey:
    services, levels = names(arguments.service), names(arguments.level)
    return replace(
        survey,
        patterns=tuple(
            pattern
            for pattern in survey.patterns
            if matches(services, pattern.service) and (not levels or pattern.level.lower() in levels)
        ),
    )


def _courses(arguments: LogPatternArguments, context: ToolContext, scope: Scope) -> Iterator[JsonObject]:
    """Services that no longer log what they always logged next in a trace, or log an error there."""
    if scope.onset is None:
        return
    services, levels = names(arguments.service), names(arguments.level)
    for course in changed_courses(read_traced(context.evidence, scope.range, scope.onset), scope.onset):
        shown = course.failure or course.missing or course.after
        if matches(services, course.service) and (not levels or shown.level.lower() in levels):
            yield log_course_item(course, scope.onset)


def _halves(survey: PatternSurvey, onset: float) -> tuple[int, int]:
    """Lines with a time before the onset, and since."""
    before = sum(int(np.searchsorted(pattern.times, onset, "left")) for pattern in survey.patterns)
    return before, sum(int(pattern.times.size) for pattern in survey.patterns) - before


def _compared(survey: PatternSurvey, scope: Scope) -> str:
    """How much was looked at, in words: lines, patterns, and how many of the lines lie on each side of the onset."""
    words = f"{plural(survey.lines, 'line')} in {plural(len(survey.patterns), 'pattern')}"
    words = f"{plural(_compared_patterns(survey, scope), 'pattern')} compared, {words}"
    if scope.onset is None or survey.recorded is None:
        return words + ("" if survey.recorded else ", none with a time")
    before, since = _halves(survey, scope.onset)
    return f"{words}, {before:,} before the onset and {since:,} since"


def _compared_patterns(survey: PatternSurvey, scope: Scope) -> int:
    """How many patterns could be compared: none without an onset, or with too little time recorded before it."""
    if scope.onset is None or recorded_about(survey, survey.cut or scope.range, scope.onset) is None:
        return 0
    return sum(pattern.times.size > 0 for pattern in survey.patterns)


def _extent(survey: PatternSurvey, scope: Scope) -> JsonObject:
    """The same in fields; `cut` is from when to when was read, when not all of it was."""
    before, since = (None, None) if scope.onset is None else _halves(survey, scope.onset)
    cut = None if survey.cut is None else {"since": utc(survey.cut.start), "until": utc(survey.cut.end)}
    compared = _compared_patterns(survey, scope)
    return {
        "compared": compared,
        "skipped": len(survey.patterns) - compared,
        "cut": cut,
        "lines": survey.lines,
        "lines_before": before,
        "lines_since": since,
    }


def _stopped(survey: PatternSurvey) -> str:
    if survey.cut is None:
        return ""
    return (
        f"; reading stopped after {survey.lines:,} lines, those from {utc(survey.cut.start)} to {utc(survey.cut.end)}: "
        "name a shorter window for the rest"
    )


def _known_entities(evidence: Evidence) -> frozenset[str]:
    """Names of services as other evidence knows them, to see whom a message speaks of."""
    known = {entity_of(series) for series in evidence.metrics.series()} if evidence.metrics else set()
    for edge in evidence.topology.edges() if evidence.topology else ():
        known.update((edge.caller, edge.callee))
    known.update(span.service for span in evidence.spans.spans()) if evidence.spans else None
    return frozenset(name for name in known if name)


def mentioned(text: str, own: str, entities: Iterable[str]) -> list[str]:
    """Other known services that a text names as a word."""
    lowered = text.lower()
    return sorted(
        name
        for name in entities
        if name != own
        and name.lower() in lowered
        and re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", lowered)
    )


def _fields(pattern: PatternCount, onset: float | None, entities: frozenset[str]) -> JsonObject:
    example = pattern.example(onset)
    return {
        "entity": pattern.service,
        "signal": "log",
        "level": pattern.level,
        "template": pattern.template,
        "example": clip(example.text),
        "mentions": mentioned(example.text, pattern.service, entities),
        "source": example.source,
        "causes": [clip(cause) for cause in example.causes],
    }


def _item(change: PatternChange, scope: Scope, entities: frozenset[str], end: float) -> JsonObject:
    return {
        "text": clip(_statement(change, scope.onset or 0.0, end)),
        **_fields(change.pattern, scope.onset, entities),
        "direction": _DIRECTION[change.kind],
        "change": str(change.kind),
        "before": change.before,
        "after": change.after,
        "unit": "lines",
        "onset": utc(change.onset),
        "score": change.score,
    }


def _ended(pattern: PatternCount, onset: float, end: float) -> str:
    """When the last line was, where the log goes on for far longer than these lines ever paused: `, last at ...`."""
    since = pattern.times[np.searchsorted(pattern.times, onset, "left") :]
    if since.size < MIN_ENDED:
        return ""
    pause = max(PAUSES * float(np.max(np.diff(since))), LEAST_PAUSE)
    return f", last at {utc(since[-1])}" if end - since[-1] > pause else ""


def _statement(change: PatternChange, onset: float, end: float) -> str:
    pattern, since = change.pattern, utc(onset)
    level = f" ({pattern.level})" if pattern.level else ""
    what = f' like "{clip(pattern.template, _TEMPLATE_CHARS)}"{level}'
    if not pattern.template:
        what = f" of level {pattern.level}" if pattern.level else ""
    lines = f"{pattern.service or 'an unnamed source'} logged {plural(change.after, 'line')}{what} since {since}"
    per_minute = (
        f"{_rate(change.after, change.seconds_after)} per min against {_rate(change.before, change.seconds_before)}"
    )
    earlier = f"{plural(change.before, 'line')} in the {span_of_time(change.seconds_before)} before"
    example = f'example: "{_example(pattern, onset)}"'
    match change.kind:
        case PatternKind.NEW:
            return f"{lines}, new: none before; first at {utc(change.onset)}{_ended(pattern, onset, end)}, {example}."
        case PatternKind.MORE | PatternKind.VOLUME_MORE:
            return f"{lines}, more frequent: {per_minute} ({earlier}), {example}."
        case PatternKind.LESS:
            return f"{lines}, less frequent: {per_minute} ({earlier})."
        case PatternKind.GONE | PatternKind.VOLUME_GONE:
            who = pattern.service or "an unnamed source"
            return f"{who} stopped logging lines{what}: {earlier} {since}, none since; last at {utc(change.onset)}."


def _rate(lines: int, seconds: float) -> str:
    return number(60.0 * lines / max(seconds, 1.0))


def _example(pattern: PatternCount, onset: float | None) -> str:
    """The example, cut so that what was thrown is seen."""
    first, mark, thrown = pattern.example(onset).text.partition(" | ")
    return clip(f"{clip(first, _EXAMPLE_CHARS // 2)}{mark}{thrown}" if mark else first, _EXAMPLE_CHARS)


def _uncompared(survey: PatternSurvey, scope: Scope, entities: frozenset[str]) -> Iterator[JsonObject]:
    """Failures in a log that cannot be compared: no onset is known, no line is older, or none has a time."""
    recorded = survey.recorded
    if scope.onset is not None and recorded is not None and recorded.start < scope.onset:
        return
    why = (
        "no line has a time" if recorded is None else "no onset is known" if scope.onset is None else "no line is older"
    )
    failures = [pattern for pattern in survey.patterns if pattern.level in FAILURES]
    for pattern in sorted(failures, key=lambda one: (-one.lines, one.service, one.template)):
        total = pattern.lines
        when = f" between {utc(pattern.times[0])} and {utc(pattern.times[-1])}" if pattern.times.size else ""
        text = (
            f"{pattern.service or 'an unnamed source'} logged {plural(total, 'line')} like "
            f'"{clip(pattern.template, _TEMPLATE_CHARS)}" ({pattern.level}){when} (not compared with before: {why}), '
            f'example: "{_example(pattern, scope.onset)}".'
        )
        yield {
            "text": clip(text),
            **_fields(pattern, scope.onset, entities),
            "direction": "logged",
            "change": "not compared",
            "before": None,
            "after": total,
            "unit": "lines",
            "onset": utc(pattern.times[0]) if pattern.times.size else None,
            "score": 0.1,
        }


def _offered(context: ToolContext) -> bool:
    return context.evidence.logs is not None


FIND_LOG_PATTERNS = Tool(
    name="find_log_patterns",
    summary="Log templates that are new, gone or far more frequent since the onset, with counts and an example.",
    arguments=LogPatternArguments,
    run=_run,
    offered=_offered,
)
