"""Alerts in other shapes than Alertmanager's, brought into the shape that all are read in.

Sources: Amazon CloudWatch API Reference, "MetricAlarm" (`describe-alarms`); CloudWatch User Guide, "Notifying users on
alarm changes" (through SNS) and "Alarm events and EventBridge"; PagerDuty "Webhooks V3 overview" and REST API v2
"Incident"; Grafana's webhook of legacy alerting (that of unified alerting has Alertmanager's shape).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from diag_graph.sources.folder import fields

MAX_MESSAGE = 1 << 20
"""Characters of a message within a message that are parsed."""
_SUBJECTS = (
    "ServiceName", "DBInstanceIdentifier", "DBClusterIdentifier", "FunctionName", "QueueName", "TableName",
    "TopicName", "Topic", "StreamName", "CacheClusterId", "DomainName", "ApiName", "ApiId", "LoadBalancer",
    "LoadBalancerName", "TargetGroup", "ClusterName", "Cluster Name", "AutoScalingGroupName", "NatGatewayId",
    "InstanceId", "VolumeId", "FileSystemId", "BucketName", "StateMachineArn", "DistributionId",
)  # fmt: skip
"""Dimensions that name what a metric is of, most telling first."""
_BALANCERS = frozenset({"LoadBalancer", "TargetGroup"})
"""Dimensions whose value is a path: `app/NAME/ID`."""
_ALARM, _OK, _NO_DATA = "ALARM", "OK", "INSUFFICIENT_DATA"
_STATES = {_ALARM: "firing", _OK: "resolved", _NO_DATA: "inactive"}
Record = Mapping[str, Any]


def usual_form(record: Record) -> dict[str, Any] | None:
    """The same alert with the keys that Alertmanager uses.

    Args:
        record: A JSON object.

    Returns:
        The alert; None for what has none of the shapes that this module knows.
    """
    return next((alert for read in _FORMS if (alert := read(record)) is not None), None)


def _cloudwatch(record: Record) -> dict[str, Any] | None:
    """An alarm as `describe-alarms` lists it."""
    state = fields.text_of(record.get("StateValue"))
    if not isinstance(record.get("AlarmName"), str) or state not in _STATES:
        return None
    when = record.get("StateTransitionedTimestamp") or record.get("StateUpdatedTimestamp")
    return _alarm(record, state, when, fields.text_of(record.get("StateReason")), record)


def _cloudwatch_notification(record: Record) -> dict[str, Any] | None:
    """An alarm as SNS sends it, with or without SNS' envelope."""
    record = _within_envelope(record)
    state = fields.text_of(record.get("NewStateValue"))
    if not isinstance(record.get("AlarmName"), str) or state not in _STATES:
        return None
    trigger = fields.table_of(record.get("Trigger"))
    reason = fields.text_of(record.get("NewStateReason"))
    return _alarm(record, state, record.get("StateChangeTime"), reason, trigger)


def _within_envelope(record: Record) -> Record:
    record = fields.table_of(record.get("Sns")) or record
    message = record.get("Message")
    if "TopicArn" not in record or not isinstance(message, str) or len(message) > MAX_MESSAGE:
        return record
    try:
        return fields.table_of(json.loads(message))
    except (ValueError, RecursionError):
        return record


def _cloudwatch_event(record: Record) -> dict[str, Any] | None:
    """An alarm as EventBridge sends it."""
    detail = fields.table_of(record.get("detail"))
    state = fields.table_of(detail.get("state"))
    value = fields.text_of(state.get("value"))
    if not isinstance(detail.get("alarmName"), str) or value not in _STATES:
        return None
    configuration = fields.table_of(detail.get("configuration"))
    metric = _first_metric(configuration.get("metrics"))
    named = {
        "AlarmName": detail["alarmName"],
        "AlarmDescription": configuration.get("description"),
        "MetricName": metric.get("name"),
        "Namespace": metric.get("namespace"),
        "Dimensions": metric.get("dimensions"),
    }
    reason = fields.text_of(state.get("reason"))
    return _alarm(named, value, state.get("timestamp") or record.get("time"), reason, named)


def _alarm(record: Record, state: str, when: object, reason: str, trigger: Record) -> dict[str, Any]:
    metric = trigger if "MetricName" in trigger else _first_metric(trigger.get("Metrics"))
    name = fields.text_of(metric.get("MetricName"))
    dimensions = _dimensions(metric.get("Dimensions"))
    key = next((one for one in _SUBJECTS if one in dimensions), None)
    said = [fields.text_of(record.get("AlarmDescription")).strip(), reason.strip()]
    labels = {
        "metric": name,
        "metric_namespace": fields.text_of(metric.get("Namespace")),
        "threshold": _whole(fields.text_of(trigger.get("Threshold"))),
        **dimensions,
    }
    return {
        "alertname": record["AlarmName"],
        "status": _STATES[state],
        ("starts_at" if state == _ALARM else "ends_at"): when,
        "service": _name(key, dimensions[key]) if key else "",
        "summary": ": ".join(part.rstrip(".") if part is said[0] else part for part in said if part),
        "labels": {label: value for label, value in labels.items() if value},
    }


def _whole(number: str) -> str:
    return number.removesuffix(".0")


def _first_metric(metrics: object) -> Record:
    """The first metric of an alarm on an expression, which names its metrics one level deeper."""
    for one in fields.items_of(metrics):
        found = fields.table_of(one)
        stat = fields.table_of(found.get("MetricStat") or found.get("metricStat"))
        metric = fields.table_of(stat.get("Metric") or stat.get("metric"))
        if metric:
            return metric
    return {}


def _dimensions(value: object) -> dict[str, str]:
    """A list of names and values, with capitals or without, or an object."""
    if isinstance(value, dict):
        return {str(name): fields.text_of(one) for name, one in value.items()}
    pairs = [fields.table_of(one) for one in fields.items_of(value)]
    texts = [
        (fields.text_of(one.get("Name") or one.get("name")), fields.text_of(one.get("Value") or one.get("value")))
        for one in pairs
    ]
    return {name: value for name, value in texts if name and value}


def _name(dimension: str, value: str) -> str:
    parts = value.split("/")
    return parts[1] if dimension in _BALANCERS and len(parts) > 1 and parts[1] else value


def _pagerduty(record: Record) -> dict[str, Any] | None:
    """An incident of PagerDuty, as its webhook sends it or its API lists it."""
    event = fields.table_of(record.get("event"))
    incident = fields.table_of(event.get("data")) if event else record
    status, service = fields.text_of(incident.get("status")), fields.table_of(incident.get("service"))
    if status not in {"triggered", "acknowledged", "resolved"} or not (service and "urgency" in incident):
        return None
    ended = incident.get("resolved_at") or (event.get("occurred_at") if status == "resolved" else None)
    return {
        "alertname": fields.text_of(incident.get("title")) or fields.text_of(incident.get("summary")),
        "status": "resolved" if status == "resolved" else "firing",
        "starts_at": incident.get("created_at"),
        "ends_at": ended,
        "severity": fields.text_of(incident.get("urgency")),
        "service": fields.text_of(service.get("summary")) or fields.text_of(service.get("name")),
        "summary": fields.text_of(incident.get("description")) or fields.text_of(incident.get("title")),
    }


def _grafana(record: Record) -> dict[str, Any] | None:
    """A rule of Grafana's legacy alerting, as its webhook sends it."""
    if not isinstance(record.get("ruleName"), str) or not isinstance(record.get("state"), str):
        return None
    matches = [fields.table_of(one) for one in fields.items_of(record.get("evalMatches"))]
    tags = {**fields.table_of(record.get("tags")), **(fields.table_of(matches[0].get("tags")) if matches else {})}
    return {
        "alertname": record["ruleName"],
        "status": "firing" if record["state"] in {"alerting", "pending", "no_data"} else "resolved",
        "summary": fields.text_of(record.get("message")) or fields.text_of(record.get("title")),
        "labels": {**tags, **({"metric": fields.text_of(matches[0].get("metric"))} if matches else {})},
    }


_FORMS: Sequence[Callable[[Record], dict[str, Any] | None]] = (
    _cloudwatch,
    _cloudwatch_notification,
    _cloudwatch_event,
    _pagerduty,
    _grafana,
)
