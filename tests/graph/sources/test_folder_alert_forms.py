"""Section 13: near relatives of Alertmanager's alerts, in the shapes in which their programs send and list them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from diag_graph.analysis.records import Alert
from diag_graph.sources.ports import Evidence

OpenFiles = Callable[..., Evidence]
NOON = 1796040000.0
"""2026-11-30T12:00:00Z."""
REASON = "Threshold Crossed: 1 datapoint [1.2E8 (30/11/26 11:59:00)] was less than the threshold (5.0E9)."
ALARM: dict[str, Any] = {
    "AlarmName": "db-free-storage-low",
    "AlarmArn": "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:db-free-storage-low",
    "AlarmDescription": "free storage under 5 GB.",
    "ActionsEnabled": True,
    "OKActions": [],
    "AlarmActions": ["arn:aws:sns:eu-west-1:123456789012:page"],
    "StateValue": "ALARM",
    "StateReason": REASON,
    "StateReasonData": '{"version":"1.0"}',
    "StateUpdatedTimestamp": "2026-11-30T12:05:00.000000+00:00",
    "StateTransitionedTimestamp": "2026-11-30T12:00:00.000000+00:00",
    "MetricName": "FreeStorageSpace",
    "Namespace": "AWS/RDS",
    "Statistic": "Average",
    "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "till-db"}],
    "Period": 60,
    "Threshold": 5.0e9,
    "ComparisonOperator": "LessThanThreshold",
}
NOTIFIED: dict[str, Any] = {
    "AlarmName": "db-free-storage-low",
    "AlarmDescription": None,
    "AWSAccountId": "123456789012",
    "NewStateValue": "ALARM",
    "NewStateReason": REASON,
    "StateChangeTime": "2026-11-30T12:00:00.000+0000",
    "OldStateValue": "OK",
    "Trigger": {
        "MetricName": "FreeStorageSpace",
        "Namespace": "AWS/RDS",
        "Dimensions": [{"value": "till-db", "name": "DBInstanceIdentifier"}],
        "Threshold": 5.0e9,
    },
}
ENVELOPE = {
    "Type": "Notification",
    "MessageId": "1",
    "TopicArn": "arn:aws:sns:eu-west-1:123456789012:page",
    "Subject": 'ALARM: "db-free-storage-low" in EU (Ireland)',
    "Message": json.dumps(NOTIFIED),
    "Timestamp": "2026-11-30T12:00:01.000Z",
}
EVENT = {
    "version": "0",
    "source": "aws.cloudwatch",
    "detail-type": "CloudWatch Alarm State Change",
    "time": "2026-11-30T12:00:00Z",
    "detail": {
        "alarmName": "db-free-storage-low",
        "state": {"value": "ALARM", "reason": REASON, "timestamp": "2026-11-30T12:00:00.000+0000"},
        "configuration": {
            "metrics": [
                {
                    "id": "m1",
                    "metricStat": {
                        "metric": {
                            "namespace": "AWS/RDS",
                            "name": "FreeStorageSpace",
                            "dimensions": {"DBInstanceIdentifier": "till-db"},
                        },
                        "period": 60,
                        "stat": "Average",
                    },
                }
            ]
        },
    },
}


def alerts_in(opened: OpenFiles, content: Any) -> list[Alert]:  # noqa: ANN401 (any JSON)
    """The alerts of a folder with this file."""
    evidence = opened({"alarm.json": content})
    assert evidence.alerts is not None
    return list(evidence.alerts.alerts())


@pytest.mark.parametrize(
    "content",
    [
        {"MetricAlarms": [ALARM], "CompositeAlarms": []},
        ALARM,
        NOTIFIED,
        ENVELOPE,
        {"Records": [{"EventSource": "aws:sns", "EventVersion": "1.0", "Sns": ENVELOPE}]},
        EVENT,
    ],
    ids=["describe-alarms", "one", "sns", "sns-envelope", "lambda", "eventbridge"],
)
def test_an_alarm_of_cloudwatch_is_an_alert(opened: OpenFiles, content: Any) -> None:  # noqa: ANN401 (any JSON)
    """Since when it has been in that state, of what, and why."""
    (alert,) = alerts_in(opened, content)
    assert (alert.name, alert.status, alert.service) == ("db-free-storage-low", "firing", "till-db")
    assert (alert.starts_at, alert.ends_at) == (NOON, None)
    assert alert.summary.endswith(REASON)
    assert alert.labels["metric"] == "FreeStorageSpace"


def test_an_alarm_that_is_in_order_again_is_resolved(opened: OpenFiles) -> None:
    """The time of its state is when it ended; the description and the reason are both told."""
    (alert,) = alerts_in(opened, {"MetricAlarms": [{**ALARM, "StateValue": "OK"}]})
    assert (alert.status, alert.starts_at, alert.ends_at) == ("resolved", None, NOON)
    assert alert.summary == f"free storage under 5 GB: {REASON}"


@pytest.mark.parametrize(
    ("dimensions", "service"),
    [
        ([("ClusterName", "prod"), ("ServiceName", "till")], "till"),
        ([("TargetGroup", "targetgroup/till-tg/0123"), ("LoadBalancer", "app/till-lb/4567")], "till-lb"),
        ([("AvailabilityZone", "eu-west-1a")], ""),
        ([], ""),
    ],
)
def test_what_an_alarm_is_of_is_its_most_telling_dimension(
    opened: OpenFiles, dimensions: list[tuple[str, str]], service: str
) -> None:
    """A service before its cluster, and a load balancer by its name."""
    named = [{"Name": name, "Value": value} for name, value in dimensions]
    (alert,) = alerts_in(opened, {"MetricAlarms": [{**ALARM, "Dimensions": named}]})
    assert alert.service == service


INCIDENT = {
    "id": "PGR0VU2",
    "type": "incident",
    "number": 2,
    "title": "Till is slow",
    "status": "triggered",
    "urgency": "high",
    "created_at": "2026-11-30T12:00:00Z",
    "service": {"id": "PF9KMXH", "summary": "till", "type": "service_reference"},
}


def test_an_incident_of_pagerduty_is_an_alert(opened: OpenFiles) -> None:
    """As the webhook (version 3) sends it, and resolved, as the API lists it."""
    sent = {"event": {"id": "1", "event_type": "incident.triggered", "resource_type": "incident", "data": INCIDENT}}
    listed = {"incidents": [{**INCIDENT, "status": "resolved", "resolved_at": "2026-11-30T12:10:00Z"}]}
    (alert,) = alerts_in(opened, sent)
    assert (alert.name, alert.status, alert.severity, alert.service) == ("Till is slow", "firing", "high", "till")
    assert alert.starts_at == NOON
    (alert,) = alerts_in(opened, listed)
    assert (alert.status, alert.ends_at) == ("resolved", NOON + 600)


def test_a_rule_of_grafanas_legacy_alerting_is_an_alert(opened: OpenFiles) -> None:
    """Its webhook says no time."""
    rule = {
        "dashboardId": 1,
        "evalMatches": [{"value": 100, "metric": "High value", "tags": {"service": "till"}}],
        "message": "Somebody waits",
        "ruleId": 1,
        "ruleName": "Till is slow",
        "state": "alerting",
        "title": "[Alerting] Till is slow",
    }
    (alert,) = alerts_in(opened, rule)
    assert (alert.name, alert.status, alert.service, alert.summary) == (
        "Till is slow",
        "firing",
        "till",
        "Somebody waits",
    )


@pytest.mark.parametrize("record", [ALARM, NOTIFIED, EVENT, INCIDENT], ids=["alarm", "sns", "event", "incident"])
def test_values_of_other_types_are_no_alert_and_no_error(opened: OpenFiles, record: dict[str, Any]) -> None:
    """Foreign JSON holds anything under any key."""
    for wrong in ([], {"a": []}, 7, None, [[{}]]):
        evidence = opened({"alarm.json": [{**record, **dict.fromkeys(record, wrong), "kept": 1}]})
        assert evidence.alerts is None
        for key in record:
            opened({"alarm.json": [{**record, key: wrong}]}).inventory.entries()


def test_a_notification_that_is_no_alarm_stays_what_it_is(opened: OpenFiles) -> None:
    """A message of SNS that holds other text, or broken JSON, is no alert."""
    for message in ("deployed", "{broken", "[" * 10):
        assert opened({"note.json": {**ENVELOPE, "Message": message}}).alerts is None
