"""`list_alerts`: the alerts of the evidence, firing first."""

from __future__ import annotations

from pydantic import Field

from diag_graph.analysis.numbers import plural, span_of_time
from diag_graph.analysis.records import Alert, utc
from diag_graph.contracts import JsonObject
from diag_graph.tools.definition import Tool, ToolArguments, ToolContext, ToolOutput
from diag_graph.tools.scope import asked_for, clip, cut_to, matches, names, nothing

_SEVERITIES = ("critical", "page", "error", "high", "warning", "warn", "medium", "info", "low", "none")
_ANNOTATIONS = ("description", "message", "details")


class AlertArguments(ToolArguments):
    """Which alerts to list."""

    service: str | None = Field(default=None, description="Only alerts about these: names or parts, comma-separated.")
    status: str | None = Field(default=None, description="firing or resolved. Default: both.")
    limit: int = Field(default=30, ge=1, le=200, description="How many to give.")


def _run(arguments: AlertArguments, context: ToolContext) -> ToolOutput:
    source = context.evidence.alerts
    alerts = list(source.alerts()) if source is not None else []
    wanted = names(arguments.service)
    chosen = [
        alert
        for alert in alerts
        if (not wanted or any(matches(wanted, text) for text in (alert.service, alert.name, *alert.labels.values())))
        and (not arguments.status or alert.status == arguments.status.lower())
    ]
    if not chosen:
        asked = asked_for(service=arguments.service, status=arguments.status)
        text = f"No alert{asked} is among the {plural(len(alerts), 'alert')} of {context.evidence.inventory.name}."
        return ToolOutput(nothing(text, "alert"), "no alert", empty=True)
    chosen.sort(
        key=lambda alert: (alert.status == "resolved", _rank(alert.severity), alert.starts_at or 0.0, alert.name)
    )
    items = [item for alert in chosen for item in _items(alert, context)]
    shown, truncated = cut_to(items, arguments.limit, "name a service or a status, or raise limit")
    firing = sum(alert.status != "resolved" for alert in chosen)
    return ToolOutput(shown, f"{plural(len(chosen), 'alert')}, {firing:,} firing", truncated=truncated)


def _rank(severity: str) -> int:
    lowered = severity.lower()
    return _SEVERITIES.index(lowered) if lowered in _SEVERITIES else len(_SEVERITIES)


def _items(alert: Alert, context: ToolContext) -> list[JsonObject]:
    fields: JsonObject = {
        "entity": alert.service,
        "signal": "alert",
        "onset": None if alert.starts_at is None else utc(alert.starts_at),
        "score": round(1.0 - _rank(alert.severity) / (len(_SEVERITIES) + 1), 3),
        "name": alert.name,
        "status": alert.status,
        "severity": alert.severity,
        "metric": alert.labels.get("metric", ""),
    }
    items: list[JsonObject] = [{"text": clip(_statement(alert, context)), **fields, "labels": dict(alert.labels)}]
    for key in _ANNOTATIONS:
        said = alert.annotations.get(key, "")
        if said and said != alert.summary:
            items.append({"text": clip(f"Alert {alert.name} says ({key}): {said}"), **fields, "annotation": key})
    return items


def _statement(alert: Alert, context: ToolContext) -> str:
    about = f" of {alert.service}" if alert.service else ""
    severity = f"{alert.severity}, " if alert.severity else ""
    since = "" if alert.starts_at is None else f" since {utc(alert.starts_at)}"
    ended = "" if alert.ends_at is None or alert.status != "resolved" else f", resolved at {utc(alert.ends_at)}"
    onset = context.window.onset
    late = ""
    if alert.starts_at is not None and onset is not None and abs(alert.starts_at - onset) >= 1:
        side = "after" if alert.starts_at > onset else "before"
        late = f" ({span_of_time(alert.starts_at - onset)} {side} the onset)"
    summary = f": {alert.summary}" if alert.summary else ""
    shown = ", ".join(f"{k}={v}" for k, v in alert.labels.items() if k not in ("alertname", "severity", "service"))
    return f"Alert {alert.name} ({severity}{alert.status}{about}){since}{ended}{late}{summary}" + (
        f" [{shown}]" if shown else ""
    )


def _offered(context: ToolContext) -> bool:
    return context.evidence.alerts is not None


LIST_ALERTS = Tool(
    name="list_alerts",
    summary="Alerts, firing and most severe first: name, severity, subject, start, summary.",
    arguments=AlertArguments,
    run=_run,
    offered=_offered,
)
