"""`find_log_patterns`: message templates that are new, gone or far more frequent since the onset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pydantic import Field

from diag_graph.analysis.log_changes import PatternChange, PatternKind, changed_patterns
from diag_graph.analysis.log_patterns import PatternCount, PatternSurvey, count_patterns, exception_line
from diag_graph.analysis.numbers import number, plural, span_of_time
from diag_graph.analysis.records import LogRecord, utc
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import Evidence
from diag_graph.tools.definition import Tool, ToolContext, ToolOutput
from diag_graph.tools.metric_statements import entity_of
from diag_graph.tools.scope import OnsetArguments, Scope, asked_for, clip, cut_to, matches, names, nothing, scope_of

_TEMPLATE_CHARS = 140
_EXAMPLE_CHARS = 150
_FAILURES = ("ERROR", "FATAL")

_DIRECTION = {
    PatternKind.NEW: "new",
    PatternKind.GONE: "stopped",
    PatternKind.MORE: "more frequent",
    PatternKind.LESS: "less frequent",
    PatternKind.VOLUME_MORE: "more frequent",
    PatternKind.VOLUME_GONE: "stopped",
}


class LogPatternArguments(OnsetArguments):
    """Which lines to mine for patterns."""

    service: str | None = Field(default=None, description="Only these: names or parts of names, comma-separated.")
    level: str | None = Field(default=None, description="Only these levels: ERROR, WARN, ..., comma-separated.")
    limit: int = Field(default=20, ge=1, le=200, description="How many to give, most telling first.")


def _run(arguments: LogPatternArguments, context: ToolContext) -> ToolOutput:
    scope = scope_of(arguments, context)
    survey = count_patterns(_chosen(arguments, context.evidence, scope), scope.onset)
    asked = asked_for(service=arguments.service, level=arguments.level)
    summary = (
        f"{plural(survey.lines, 'line')} in {plural(len(survey.patterns), 'pattern')}{asked} {scope.words_with_onset}"
    )
    if survey.cut:
        summary += f"; reading stopped after {survey.lines:,} lines: name a service or a shorter window"
    if survey.lines == 0:
        return ToolOutput(nothing(f"No log line{asked} is recorded {scope.words}.", "log"), summary, empty=True)
    entities = _known_entities(context.evidence) | {pattern.service for pattern in survey.patterns if pattern.service}
    changes = [] if scope.onset is None else changed_patterns(survey, scope.range, scope.onset)
    items = [_item(change, scope, entities) for change in changes] or list(_uncompared(survey, scope, entities))
    if not items:
        text = f"No log pattern is new, gone or notably more frequent: {summary}."
        return ToolOutput(nothing(text, "log"), summary, empty=True)
    shown, truncated = cut_to(items, arguments.limit, "name a service or a level, or raise limit")
    return ToolOutput(shown, summary, truncated=truncated, extra={"lines": survey.lines, "reading_cut": survey.cut})


def _chosen(arguments: LogPatternArguments, evidence: Evidence, scope: Scope) -> Iterator[LogRecord]:
    services, levels = names(arguments.service), names(arguments.level)
    for record in evidence.logs.records(scope.range) if evidence.logs else ():
        if matches(services, record.service) and (not levels or record.level.lower() in levels):
            yield record


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


def _fields(pattern: PatternCount, entities: frozenset[str]) -> JsonObject:
    return {
        "entity": pattern.service,
        "signal": "log",
        "level": pattern.level,
        "template": pattern.template,
        "example": clip(pattern.example),
        "mentions": mentioned(pattern.example, pattern.service, entities),
        "source": pattern.source,
    }


def _item(change: PatternChange, scope: Scope, entities: frozenset[str]) -> JsonObject:
    return {
        "text": clip(_statement(change, scope.onset or 0.0)),
        **_fields(change.pattern, entities),
        "direction": _DIRECTION[change.kind],
        "change": str(change.kind),
        "before": change.before,
        "after": change.after,
        "unit": "lines",
        "onset": utc(change.onset),
        "score": change.score,
    }


def _statement(change: PatternChange, onset: float) -> str:
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
    example = f'example: "{_example(pattern)}"'
    match change.kind:
        case PatternKind.NEW:
            return f"{lines}, new: none before; first at {utc(change.onset)}, {example}."
        case PatternKind.MORE | PatternKind.VOLUME_MORE:
            return f"{lines}, more frequent: {per_minute} ({earlier}), {example}."
        case PatternKind.LESS:
            return f"{lines}, less frequent: {per_minute} ({earlier})."
        case PatternKind.GONE | PatternKind.VOLUME_GONE:
            who = pattern.service or "an unnamed source"
            return f"{who} stopped logging lines{what}: {earlier} {since}, none since; last at {utc(change.onset)}."


def _rate(lines: int, seconds: float) -> str:
    return number(60.0 * lines / max(seconds, 1.0))


def _example(pattern: PatternCount) -> str:
    first, _, rest = pattern.example.partition("\n")
    thrown = exception_line(rest)
    return clip(f"{clip(first, _EXAMPLE_CHARS // 2)} | {thrown}" if thrown else first, _EXAMPLE_CHARS)


def _uncompared(survey: PatternSurvey, scope: Scope, entities: frozenset[str]) -> Iterator[JsonObject]:
    """Failures in a log that cannot be compared: no onset is known, no line is older, or none has a time."""
    comparable = (
        scope.onset is not None and survey.first is not None and survey.last is not None and survey.first < scope.onset
    )
    if comparable:
        return
    why = (
        "no line has a time"
        if survey.first is None
        else "no onset is known"
        if scope.onset is None
        else "no line is older"
    )
    failures = [pattern for pattern in survey.patterns if pattern.level in _FAILURES]
    for pattern in sorted(failures, key=lambda one: (-len(one.times) - one.undated, one.service, one.template)):
        total = len(pattern.times) + pattern.undated
        when = f" between {utc(pattern.times[0])} and {utc(pattern.times[-1])}" if pattern.times else ""
        text = (
            f"{pattern.service or 'an unnamed source'} logged {plural(total, 'line')} like "
            f'"{clip(pattern.template, _TEMPLATE_CHARS)}" ({pattern.level}){when} (not compared with before: {why}), '
            f'example: "{_example(pattern)}".'
        )
        yield {
            "text": clip(text),
            **_fields(pattern, entities),
            "direction": "logged",
            "change": "not compared",
            "before": None,
            "after": total,
            "unit": "lines",
            "onset": utc(pattern.times[0]) if pattern.times else None,
            "score": 0.1,
        }


def _offered(evidence: Evidence) -> bool:
    return evidence.logs is not None


FIND_LOG_PATTERNS = Tool(
    name="find_log_patterns",
    summary="Log templates that are new, gone or far more frequent since the onset, with counts and an example.",
    arguments=LogPatternArguments,
    run=_run,
    offered=_offered,
)
