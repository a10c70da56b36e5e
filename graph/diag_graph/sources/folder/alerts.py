"""Alerts: Alertmanager's webhook (version 4) and API, Prometheus' alerts, and single objects of the same kind.

Alarms of CloudWatch, incidents of PagerDuty and the like are brought into that shape first (`alert_forms`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diag_graph.analysis.records import Alert
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.alert_forms import usual_form
from diag_graph.sources.folder.times import TimeReader

_NAME = ("alertname", "alert_name", "alert", "monitor", "monitor_name", "rule", "rule_name", "title", "name", "check")
_STARTS = (
    "starts_at", "startsat", "fired_at", "firedat", "active_at", "activeat", "triggered_at", "started_at", "start",
    "start_time", "onset", "timestamp", "time", "created_at", "date",
)  # fmt: skip
_ENDS = ("ends_at", "endsat", "resolved_at", "ended_at", "end", "end_time")
_SUMMARY = ("summary", "description", "message", "title", "text")
_SEVERITY = ("severity", "priority", "level", "urgency")
_RESOLVED = frozenset({"resolved", "ok", "inactive", "normal", "closed", "recovered", "suppressed", "expired"})
_FIRED = ("starts_at", "startsat", "fired_at", "firedat", "active_at", "activeat", "triggered_at")
_OBSERVED = ("threshold", "observed", "monitor", "alert", "alertname", "alert_name", "rule")
_TABLES = frozenset({"labels", "annotations"})


def looks_like_alert(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an alert."""
    if usual_form(record) is not None:
        return True
    keys = tuple(record)
    labels = record.get("labels")
    if fields.key_of(keys, _FIRED) is not None:
        return isinstance(labels, dict) or fields.key_of(keys, (*_NAME, *_SUMMARY, "metric")) is not None
    if isinstance(labels, dict) and "alertname" in labels:
        return True
    return (
        fields.key_of(keys, _OBSERVED) is not None
        and fields.key_of(keys, _SEVERITY) is not None
        and fields.key_of(keys, ("status", "state", *_STARTS)) is not None
        and fields.key_of(keys, ("trace_id", "logger")) is None
    )


def alert_of(record: Mapping[str, Any], times: TimeReader, common: Mapping[str, Any] | None = None) -> Alert:
    """The alert that an object holds.

    Args:
        record: The object.
        times: Reads its times.
        common: The webhook around it, whose status holds for alerts without one.
    """
    record = usual_form(record) or record
    labels = _texts(record.get("labels"))
    annotations = _texts(record.get("annotations"))
    values = {fields.plain(key): value for key, value in record.items() if value not in (None, "")}
    named = {**{fields.plain(key): value for key, value in labels.items()}}
    consumed = {
        *_STARTS,
        *_ENDS,
        "status",
        "state",
        "fingerprint",
        "generator_url",
        "summary",
        "description",
        "message",
        *_TABLES,
    }
    # What a flat object says about itself (its metric, threshold, observed value) is what labels are elsewhere.
    extra = {
        key: fields.text_of(value)
        for key, value in record.items()
        if fields.plain(key) not in consumed and not isinstance(value, (dict, list)) and fields.text_of(value)
    }
    status = _status(values) or fields.text_of((common or {}).get("status")).lower()
    ends_at = times.read(_first(values, _ENDS))
    return Alert(
        name=fields.text_of(_first(named, _NAME[:2])) or fields.text_of(_first(values, _NAME)) or "(unnamed alert)",
        status="resolved" if status in _RESOLVED else "firing",
        starts_at=times.read(_first(values, _STARTS)),
        ends_at=ends_at,
        severity=fields.text_of(_first(named, _SEVERITY)) or fields.text_of(_first(values, _SEVERITY)),
        service=fields.text_of(_first(named, fields.SERVICE))
        or fields.text_of(_first(values, fields.SERVICE))
        or _weak(named),
        summary=fields.text_of(_first(annotations, _SUMMARY)) or fields.text_of(_first(values, _SUMMARY)),
        labels={**extra, **labels} if extra else labels,
        annotations=annotations,
    )


def _status(values: Mapping[str, Any]) -> str:
    for key in ("status", "state", "overall_state"):
        value = values.get(key)
        if isinstance(value, dict):
            value = value.get("state")
        if isinstance(value, str):
            return value.lower()
    return ""


def _weak(labels: Mapping[str, Any]) -> str:
    return fields.text_of(_first(labels, ("host", "hostname", "instance", "node", "node_name")))


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:  # noqa: ANN401 (a value of foreign JSON)
    for name in names:
        if name in values:
            return values[name]
    return None


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(key): item if isinstance(item, str) else str(item) for key, item in value.items() if item is not None}
