"""Chooses a run's window: reads the sources that can date the trouble, and lets `analysis.window` decide."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from diag_graph.analysis.onset import common_onset, earlier_onset, event_counts
from diag_graph.analysis.records import Alert, LogRecord, Series, TimeRange, Window
from diag_graph.analysis.window import choose_window
from diag_graph.sources.ports import Evidence
from diag_graph.tools.metric_statements import entity_of

_FAILURES = frozenset({"ERROR", "FATAL"})
MIN_RECORDED = 300.0
"""Seconds of logs or spans below which their failures date nothing: a few bursts are no state."""


def orient(
    evidence: Evidence, question: str, now: float, since: float | None = None, until: float | None = None
) -> Window:
    """The window of a run, and the onset of the trouble with its origin in words.

    Args:
        evidence: The run's sources; metrics, logs and spans are read only when nothing else settles the onset.
        question: As typed.
        now: The run's clock, seconds since the epoch.
        since: Start of the trouble, as the user gave it.
        until: End of what is to be looked at, as the user gave it.
    """
    alerts = evidence.alerts.alerts() if evidence.alerts else ()

    def detect(within: TimeRange, stated: float | None) -> float | None:
        series = _dating_series(evidence, within)
        if stated is None:
            return common_onset(series, within)
        return earlier_onset(series, within, stated, _focus(question, alerts, series))

    return choose_window(
        question,
        now,
        alerts,
        evidence.inventory.span(),
        hint=evidence.window_hint,
        since=since,
        until=until,
        detect=detect,
        zone=evidence.zone,
    )


def _dating_series(evidence: Evidence, within: TimeRange) -> list[Series]:
    """Metrics, and failures counted over time, so that logs and spans can date the trouble too."""
    series = list(evidence.metrics.series(window=within)) if evidence.metrics else []
    lines = [
        (one.time, one.service, one.level in _FAILURES) for one in _lines(evidence, within) if one.time is not None
    ]
    spans = [(one.start, one.service, one.error) for one in (evidence.spans.spans(within) if evidence.spans else ())]
    return [*series, *_failures(lines, "error_lines"), *_failures(spans, "failed_spans")]


def _lines(evidence: Evidence, within: TimeRange) -> Iterable[LogRecord]:
    return evidence.logs.records(within) if evidence.logs else ()


def _failures(events: Sequence[tuple[float, str, bool]], name: str) -> Iterator[Series]:
    """Each service's failures as a series, over the time that is recorded: before the first event nobody looked."""
    times = [time for time, _, _ in events]
    recorded = TimeRange(min(times, default=0.0), max(times, default=0.0))
    if recorded.end - recorded.start < MIN_RECORDED:
        return
    failed: dict[str, list[float]] = defaultdict(list)
    for time, service, failure in events:
        if failure:
            failed[service].append(time)
    for service, moments in failed.items():
        yield event_counts(moments, recorded, service, name)


def _focus(question: str, alerts: Sequence[Alert], series: Sequence[Series]) -> frozenset[str]:
    """Services that an alert is about or that the question names."""
    named = {alert.service for alert in alerts if alert.service}
    words = set(re.findall(r"[\w.:/-]+", question.lower()))
    named.update(entity for one in series if (entity := entity_of(one)) and entity.lower() in words)
    return frozenset(named)
