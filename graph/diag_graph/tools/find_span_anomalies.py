"""`find_span_anomalies`: which service and operation got slower or fails, by self time, and who calls it.

And whose work ends early, and which calls do not arrive, are repeated, or come from nowhere.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from diag_graph.analysis.numbers import count, number, plural, quantity, rounded
from diag_graph.analysis.peers import Wait, named_peer
from diag_graph.analysis.records import utc
from diag_graph.analysis.span_changes import SpanChange, SpanKind, SpanSurvey, survey_spans
from diag_graph.analysis.span_courses import FlowSurvey, survey_flows
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import Evidence
from diag_graph.tools.course_statements import flow_item, span_course_item
from diag_graph.tools.definition import Tool, ToolContext, ToolOutput
from diag_graph.tools.metric_statements import entity_of
from diag_graph.tools.scope import OnsetArguments, asked_for, clip, cut_to, matches, names, nothing, scope_of

_SHOWN_CALLERS = 4

_DIRECTION = {
    SpanKind.SLOWER: "slower",
    SpanKind.SLOWER_TAIL: "slower",
    SpanKind.CALLS_SLOWER: "slower",
    SpanKind.FAILING: "failing",
    SpanKind.STOPPED: "stopped",
}


class SpanAnomalyArguments(OnsetArguments):
    """Which operations to compare with their baseline."""

    service: str | None = Field(default=None, description="Only operations of these: names or parts, comma-separated.")
    operation: str | None = Field(default=None, description="Only operations whose name holds this text.")
    limit: int = Field(default=20, ge=1, le=200, description="How many to give, most telling first.")


def _run(arguments: SpanAnomalyArguments, context: ToolContext) -> ToolOutput:
    scope = scope_of(arguments, context)
    spans = list(context.evidence.spans.spans(scope.range)) if context.evidence.spans else []
    asked = asked_for(service=arguments.service, operation=arguments.operation)
    if not spans:
        text = f"No span{asked} is recorded {scope.words}."
        return ToolOutput(nothing(text, "span", compared=0, skipped=0, cut=None), "no spans", empty=True)
    # Without an onset there is no baseline: all spans count as later, and only failures can be told.
    survey = survey_spans(spans, scope.onset if scope.onset is not None else min(span.start for span in spans))
    services, operations = names(arguments.service), names(arguments.operation)
    chosen = [
        change
        for change in _with_peers(survey, context.evidence)
        if matches(services, change.service) and matches(operations, change.operation)
    ]
    summary = _summary(survey, scope.words_with_onset)
    found = [_item(change, scope.onset) for change in chosen]
    if scope.onset is not None:
        found += [
            item
            for item in _flow_items(survey_flows(spans, scope.onset), scope.onset)
            if matches(services, item["entity"]) and matches(operations, item["operation"])
        ]
    if not found:
        found_none = "got notably slower, fails or stopped since the onset"
        if not survey.before:
            found_none = "is found to fail, and none could be compared with before"
        text = f"No operation{asked} {found_none}: {summary}."
        return ToolOutput(nothing(text, "span", **_extent(survey)), summary, empty=True, extra=_extent(survey))
    items, truncated = cut_to(
        sorted(found, key=lambda item: -item["score"]),
        arguments.limit,
        "name a service or operation, or raise limit",
    )
    return ToolOutput(items, summary, truncated=truncated, extra=_extent(survey))


def _flow_items(flows: FlowSurvey, onset: float) -> list[JsonObject]:
    return [
        *(span_course_item(course, onset) for course in flows.courses),
        *(flow_item(flow, onset) for flow in flows.flows),
    ]


def _extent(survey: SpanSurvey) -> JsonObject:
    """How much was compared, in fields."""
    return {
        "compared": survey.compared,
        "skipped": survey.operations - survey.compared,
        "cut": None,
        "before": survey.before,
        "after": survey.after,
    }


def _with_peers(survey: SpanSurvey, evidence: Evidence) -> list[SpanChange]:
    """The changes, waits for something unrecorded with its name as other evidence has it, where that can be told."""
    if not any(change.wait for change in survey.changes):
        return list(survey.changes)
    edges = evidence.topology.edges() if evidence.topology else ()
    known = {entity_of(series) for series in evidence.metrics.series()} if evidence.metrics else set()
    known.update(end for edge in edges for end in (edge.caller, edge.callee))
    return [
        replace(change, wait=named_peer(change.wait, change.service, edges, known - {""}, survey.recording))
        if change.wait
        else change
        for change in survey.changes
    ]


def _summary(survey: SpanSurvey, words: str) -> str:
    thin = "; there is no span before the onset to compare with" if survey.before == 0 else ""
    return (
        f"{plural(survey.compared, 'operation')} of {survey.operations:,} compared, "
        f"{count(survey.before)} spans before and {count(survey.after)} since, {words}{thin}"
    )


def _item(change: SpanChange, onset: float | None) -> JsonObject:
    share = change.kind is SpanKind.FAILING
    unit = "share" if share else "calls" if change.kind is SpanKind.STOPPED else "ms"
    return {
        "text": clip(_statement(change, onset)),
        "entity": change.service,
        "signal": "span",
        "operation": change.operation,
        "direction": _DIRECTION[change.kind],
        "change": str(change.kind),
        "before": None if change.before is None else rounded(change.before),
        "after": rounded(change.after),
        "unit": unit,
        "count_before": change.count_before,
        "count_after": change.count_after,
        "failures": change.failures,
        "callers": list(change.callers),
        "waits_for": change.wait.peer if change.wait else None,
        "database": bool(change.wait and change.wait.database),
        "onset": utc(change.onset),
        "score": change.score,
    }


def _statement(change: SpanChange, onset: float | None) -> str:
    since = utc(change.onset if onset is None else onset)
    name = f"Operation {clip(change.operation, 90)} of {change.service}"
    callers = f"; called by {', '.join(change.callers[:_SHOWN_CALLERS])}" if change.callers else ""
    spans = f"({change.count_after:,} and {change.count_before:,} spans)"
    waiting = f", waiting for {_call_to(change.wait)}" if change.wait else ""
    before, after = quantity(change.before or 0.0, "ms"), quantity(change.after, "ms")
    match change.kind:
        case SpanKind.SLOWER:
            compared = f"median {after} since {since} against {before} before {spans}"
            return f"{name} got slower by self time{waiting}: {compared}{callers}."
        case SpanKind.SLOWER_TAIL:
            return (
                f"{name} got slower by self time in part of its calls{waiting}: "
                f"median {after} of the slow ones since {since} "
                f"against {before} (95th percentile) before {spans}{callers}."
            )
        case SpanKind.CALLS_SLOWER:
            return (
                f"Calls from {change.callers[0]} to {change.service} got slower outside of its own spans "
                f"(network, queue or connection): median {after} since {since} against {before} before {spans}."
            )
        case SpanKind.FAILING:
            return _failing_statement(change, name, since, callers)
        case SpanKind.STOPPED:
            ended = f"{change.count_before:,} spans before {since}, none since; last at {utc(change.onset)}"
            return f"{name} stopped: {ended}{callers}."


def _call_to(wait: Wait) -> str:
    """What is called, in words: `a database call to accounts-db`."""
    to = f" to {clip(wait.peer, 60)}" if wait.peer else ""
    return f"a database call{to}" if wait.database else f"a call{to}, which records no spans"


def _failing_statement(change: SpanChange, operation: str, since: str, callers: str) -> str:
    failed = f"{change.failures:,} of {plural(change.count_after, 'span')} since {since}"
    percent = number(round(100.0 * change.after, 1))
    if change.count_before:
        failed_before = round((change.before or 0.0) * change.count_before)
        earlier = f", against {failed_before:,} of {change.count_before:,} before"
    else:
        earlier = "; there are no spans of it before"
    said = f', error: "{clip(change.message, 120)}"' if change.message else ""
    call = f", {_call_to(change.wait)}," if change.wait else ""
    return (
        f"{operation}{call} is failing: {failed} ({percent}%) failed with no failed call beneath{earlier}; "
        f"first at {utc(change.onset)}{said}{callers}."
    )


def _offered(context: ToolContext) -> bool:
    return context.evidence.spans is not None


FIND_SPAN_ANOMALIES = Tool(
    name="find_span_anomalies",
    summary="Operations that got slower by self time, fail at their origin, stopped or end early since the onset.",
    arguments=SpanAnomalyArguments,
    run=_run,
    offered=_offered,
)
