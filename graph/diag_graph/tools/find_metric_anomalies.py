"""`find_metric_anomalies`: series that changed at the onset, ranked."""

from __future__ import annotations

from pydantic import Field

from diag_graph.analysis.metric_changes import MetricSurvey, survey_metrics
from diag_graph.analysis.numbers import plural
from diag_graph.analysis.onset import can_date
from diag_graph.analysis.records import Series
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import MetricSource
from diag_graph.tools.definition import Tool, ToolContext, ToolOutput
from diag_graph.tools.metric_statements import change_item, entity_of
from diag_graph.tools.scope import OnsetArguments, Scope, asked_for, cut_to, matches, names, nothing, scope_of


class MetricAnomalyArguments(OnsetArguments):
    """Which series to compare with their baseline."""

    service: str | None = Field(default=None, description="Only these: names or parts of names, comma-separated.")
    metric: str | None = Field(default=None, description="Only these: names or parts of names, comma-separated.")
    limit: int = Field(default=20, ge=1, le=200, description="How many to give, strongest first.")


def _run(arguments: MetricAnomalyArguments, context: ToolContext) -> ToolOutput:
    scope = scope_of(arguments, context)
    source = context.evidence.metrics
    series = [] if source is None else select_series(source, scope, arguments.service, arguments.metric)
    asked = asked_for(service=arguments.service, metric=arguments.metric)
    if scope.onset is None:
        searched = sum(can_date(one) for one in series)
        thin = _thin(len(series) - searched)
        text = (
            f"No common change stands out in {plural(searched, 'series', 'series')}{asked} {scope.words}, and no onset "
            f"is known to compare with{thin}."
        )
        extent = {"compared": searched, "skipped": len(series) - searched, "cut": None}
        return ToolOutput(nothing(text, "metric", **extent), "no onset to compare with", empty=True, extra=extent)
    survey = survey_metrics(series, scope.range, scope.onset)
    if not survey.changes:
        text = _nothing_found(series, survey, scope, asked)
        return ToolOutput(
            nothing(text, "metric", **_extent(survey)), _summary(survey, scope), empty=True, extra=_extent(survey)
        )
    items, truncated = cut_to(
        [change_item(change) for change in survey.changes],
        arguments.limit,
        "name a service or a metric, or raise limit",
    )
    return ToolOutput(items, _summary(survey, scope), truncated=truncated, extra=_extent(survey))


def select_series(source: MetricSource, scope: Scope, service: str | None, metric: str | None) -> list[Series]:
    """The series in the window whose service (or entity) and metric match the lists."""
    services, metrics = names(service), names(metric)
    return [
        one
        for one in source.series(window=scope.range)
        if matches(services, one.service or entity_of(one)) and matches(metrics, one.metric)
    ]


def _nothing_found(series: list[Series], survey: MetricSurvey, scope: Scope, asked: str) -> str:
    if not series:
        return f"No series{asked} has samples {scope.words}."
    found_none = "changed notably" if survey.compared else "could be compared"
    return (
        f"No series{asked} {found_none} at the onset: {plural(survey.compared, 'series', 'series')} compared "
        f"{scope.words_with_onset}{_thin(survey.skipped)}."
    )


def _thin(skipped: int) -> str:
    return f"; {plural(skipped, 'series', 'series')} had too few samples to compare" if skipped else ""


def _extent(survey: MetricSurvey) -> JsonObject:
    """How much was compared, in fields."""
    return {"compared": survey.compared, "skipped": survey.skipped, "cut": None}


def _summary(survey: MetricSurvey, scope: Scope) -> str:
    return (
        f"{plural(len(survey.changes), 'series', 'series')} of {survey.compared + survey.skipped:,} changed "
        f"({scope.words_with_onset}; {survey.skipped:,} had too few samples to compare)"
    )


def _offered(context: ToolContext) -> bool:
    return context.evidence.metrics is not None


FIND_METRIC_ANOMALIES = Tool(
    name="find_metric_anomalies",
    summary="Metric series that changed at the onset, ranked: what changed, from what to what, when, by how much.",
    arguments=MetricAnomalyArguments,
    run=_run,
    offered=_offered,
)
