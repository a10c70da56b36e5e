"""Chooses a run's window: reads the sources that can date the trouble, and lets `analysis.window` decide."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from diag_graph.analysis.log_patterns import FAILURES
from diag_graph.analysis.onset import common_onset, earlier_onset, event_counts
from diag_graph.analysis.records import Alert, Series, TimeRange, Window
from diag_graph.analysis.window import choose_window
from diag_graph.sources.ports import Evidence
from diag_graph.tools.log_reading import read_patterns
from diag_graph.tools.metric_statements import entity_of

MIN_RECORDED = 300.0
"""Seconds of logs or spans below which their failures date nothing: a few bursts are no state."""


def orient(
    evidence: Evidence, question: str, now: float, since: float | None = None, until: float | None = None
) -> Window:
    """The window of a run, and the onset of the trouble with its origin in words.

    The logs of the window are read here, once, and kept for the tools, whose calls have a time limit.

    Args:
        evidence: The run's sources; metrics and spans are read only when nothing else settles the onset.
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

    window = choose_window(
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
    read_patterns(evidence, TimeRange(window.start, window.end))
    return window


def _dating_series(evidence: Evidence, within: TimeRange) -> list[Series]:
    """Metrics, and failures counted over time, so that logs and spans can date the trouble too."""
    series = list(evidence.metrics.series(window=within)) if evidence.metrics else []
    survey = read_patterns(evidence, within)
    logged: dict[str, list[float]] = defaultdict(list)
    for pattern in survey.patterns:
        if pattern.level in FAILURES:
            logged[pattern.service].extend(pattern.times.tolist())
    spans = evidence.spans.spans(within) if evidence.spans else ()
    failed: dict[str, list[float]] = defaultdict(list)
    for span in spans:
        if span.error:
            failed[span.service].append(span.start)
    starts = [span.start for span in spans]
    traced = TimeRange(min(starts), max(starts)) if starts else None
    return [
        *series,
        *_failures(logged, survey.recorded, "error_lines"),
        *_failures(failed, traced, "failed_spans"),
    ]


def _failures(events: Mapping[str, list[float]], recorded: TimeRange | None, name: str) -> Iterator[Series]:
    """Each service's failures as a series, over the time that is recorded: before the first event nobody looked."""
    if recorded is None or recorded.end - recorded.start < MIN_RECORDED:
        return
    for service in sorted(events):
        yield event_counts(events[service], recorded, service, name)


def _focus(question: str, alerts: Sequence[Alert], series: Sequence[Series]) -> frozenset[str]:
    """Services that an alert is about or that the question names."""
    named = {alert.service for alert in alerts if alert.service}
    words = set(re.findall(r"[\w.:/-]+", question.lower(), re.ASCII))
    named.update(entity for one in series if (entity := entity_of(one)) and entity.lower() in words)
    return frozenset(named)
