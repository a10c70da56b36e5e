"""`query_metrics`: series summed up: min, median, max, last, and what changed at the onset."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from diag_graph.analysis.change_kinds import MetricChange
from diag_graph.analysis.metric_changes import survey_metrics
from diag_graph.analysis.numbers import plural, quantity, rounded
from diag_graph.analysis.records import FloatArray, Series, utc
from diag_graph.contracts import JsonObject
from diag_graph.tools.definition import Tool, ToolContext, ToolOutput
from diag_graph.tools.find_metric_anomalies import select_series
from diag_graph.tools.metric_statements import change_item, entity_of, series_name, unit_for
from diag_graph.tools.scope import OnsetArguments, Scope, asked_for, clip, nothing, scope_of


class MetricQueryArguments(OnsetArguments):
    """Which series to sum up."""

    metric: str | None = Field(default=None, description="Names or parts of names, comma-separated. Default: all.")
    service: str | None = Field(default=None, description="Names or parts of names, comma-separated. Default: all.")
    limit: int = Field(default=20, ge=1, le=200, description="How many series to give.")


def _run(arguments: MetricQueryArguments, context: ToolContext) -> ToolOutput:
    scope = scope_of(arguments, context)
    source = context.evidence.metrics
    series = [] if source is None else select_series(source, scope, arguments.service, arguments.metric)
    series = _exact_first(series, arguments)
    if not series:
        asked = asked_for(metric=arguments.metric, service=arguments.service)
        text = f"No series{asked} has samples {scope.words}."
        return ToolOutput(nothing(text, "metric"), "no series matched", empty=True)
    chosen, truncated = series[: arguments.limit], None
    if len(series) > arguments.limit:
        hint = "name a metric and a service, or raise limit"
        truncated = {"shown": arguments.limit, "total": len(series), "hint": hint}
    changes = {}
    if scope.onset is not None:
        survey = survey_metrics(chosen, scope.range, scope.onset)
        changes = {(c.series.service, c.series.metric, str(c.series.labels)): c for c in survey.changes}
    items: list[JsonObject] = []
    for one in chosen:
        items.append(_summary_item(one, scope))
        change: MetricChange | None = changes.get((one.service, one.metric, str(one.labels)))
        if change is not None:
            items.append(change_item(change))
    return ToolOutput(items, f"{plural(len(series), 'series', 'series')} {scope.words_with_onset}", truncated=truncated)


def _exact_first(series: list[Series], arguments: MetricQueryArguments) -> list[Series]:
    """Series whose metric and service are just what was asked for come before those that merely hold it."""
    metric, service = (arguments.metric or "").lower(), (arguments.service or "").lower()
    return sorted(series, key=lambda one: (one.metric.lower() != metric, entity_of(one).lower() != service))


def _summary_item(series: Series, scope: Scope) -> JsonObject:
    unit = unit_for(series)
    values = series.values[np.isfinite(series.values)]
    if not values.size:
        text = f"{series_name(series)} has {plural(series.values.size, 'sample')} {scope.words}, none of them a number."
        return {"text": clip(text), **_fields(series, unit)}
    low, middle, high, last = float(values.min()), float(np.median(values)), float(values.max()), float(values[-1])
    at_low = utc(float(series.times[int(np.nanargmin(series.values))]))
    at_high = utc(float(series.times[int(np.nanargmax(series.values))]))
    before, after = _medians(series.times, series.values, scope)
    compared = ""
    if before is not None and after is not None:
        compared = f"; median {quantity(before, unit)} before the onset and {quantity(after, unit)} since"
    text = (
        f"{series_name(series)} {scope.words}: min {quantity(low, unit)} (at {at_low}), "
        f"median {quantity(middle, unit)}, max {quantity(high, unit)} (at {at_high}), "
        f"last {quantity(last, unit)}{compared}; "
        f"{plural(values.size, 'sample')}."
    )
    return {
        "text": clip(text),
        **_fields(series, unit),
        "min": rounded(low),
        "median": rounded(middle),
        "max": rounded(high),
        "last": rounded(last),
        "before": before,
        "after": after,
        "samples": int(values.size),
    }


def _medians(times: FloatArray, values: FloatArray, scope: Scope) -> tuple[float | None, float | None]:
    """Median before and since the onset, where there are samples."""
    if scope.onset is None:
        return None, None
    finite = np.isfinite(values)
    before, after = values[finite & (times < scope.onset)], values[finite & (times >= scope.onset)]
    return (
        rounded(float(np.median(before))) if before.size else None,
        rounded(float(np.median(after))) if after.size else None,
    )


def _fields(series: Series, unit: str) -> JsonObject:
    return {
        "entity": entity_of(series),
        "signal": "metric",
        "metric": series.metric,
        "unit": unit,
        "change": "summary",
        "onset": None,
        "score": 0.0,
        "source": series.source,
    }


def _offered(context: ToolContext) -> bool:
    return context.evidence.metrics is not None


QUERY_METRICS = Tool(
    name="query_metrics",
    summary="Series by metric and service, summed up: min, median, max, last, and the change at the onset.",
    arguments=MetricQueryArguments,
    run=_run,
    offered=_offered,
)
