from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from diag_graph.analysis.records import Series
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

NOON = 1796040000
"""2026-11-30T12:00:00Z."""


def request(metrics: list[dict[str, Any]], pod: str = "pay-1") -> dict[str, Any]:
    """An export request of one pod."""
    attributes = [
        {"key": "service.name", "value": {"stringValue": "pay"}},
        {"key": "k8s.pod.name", "value": {"stringValue": pod}},
    ]
    return {"resourceMetrics": [{"resource": {"attributes": attributes}, "scopeMetrics": [{"metrics": metrics}]}]}


def point(minute: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """A data point some minutes after noon."""
    return {"timeUnixNano": str((NOON + 60 * minute) * 10**9), **values}


def found_in(evidence: Evidence) -> dict[str, Series]:
    """All series by metric."""
    assert evidence.metrics is not None
    return {one.metric: one for one in evidence.metrics.series()}


def lines(metrics_of: Callable[[int], list[dict[str, Any]]], minutes: int = 4) -> str:
    """A file of the collector: a request a line, a line a minute."""
    return "".join(json.dumps(request(metrics_of(minute))) + "\n" for minute in range(minutes))


def test_gauges_and_sums_are_gathered_over_the_lines_of_a_file(opened: OpenFiles) -> None:
    """Section 13: OTLP JSON; the collector writes a request a line, and a series is all of them together."""
    evidence = opened(
        {
            "metrics.json": lines(
                lambda minute: [
                    {"name": "memory", "unit": "By", "gauge": {"dataPoints": [point(minute, asInt=str(100 + minute))]}},
                    {
                        "name": "requests",
                        "unit": "{request}",
                        "sum": {
                            "aggregationTemporality": 2,
                            "isMonotonic": True,
                            "dataPoints": [point(minute, asDouble=7.0 * minute)],
                        },
                    },
                    {
                        "name": "sent",
                        "unit": "1",
                        "sum": {
                            "aggregationTemporality": "AGGREGATION_TEMPORALITY_DELTA",
                            "isMonotonic": True,
                            "dataPoints": [point(minute, asDouble=5.0)],
                        },
                    },
                    {"name": "idle", "gauge": {"dataPoints": [point(minute, flags=1)]}},
                ]
            )
        }
    )
    found = found_in(evidence)
    assert found["memory"].values.tolist() == [100, 101, 102, 103]
    assert (found["memory"].service, found["memory"].labels) == ("pay", {"pod": "pay-1", "unit": "bytes"})
    assert found["requests"].values.tolist() == [0, 7, 14, 21]
    assert found["requests"].labels == {"pod": "pay-1", "__type__": "counter"}
    assert found["sent"].values.tolist() == [5, 10, 15, 20]
    assert "idle" not in found


@pytest.mark.parametrize("delta", [False, True])
def test_histograms_give_mean_and_quantiles(opened: OpenFiles, delta: bool) -> None:
    """Both temporalities come to the same."""
    counts = np.array([[8, 2, 0], [0, 10, 0], [0, 5, 5]])
    told = counts if delta else counts.cumsum(axis=0)

    def metrics_of(minute: int) -> list[dict[str, Any]]:
        own = [str(one) for one in told[minute].tolist()]
        total = float((told[minute] * [50, 150, 300]).sum())
        held = point(minute, bucketCounts=own, explicitBounds=[100, 200], count=str(told[minute].sum()), sum=total)
        points = {"aggregationTemporality": 1 if delta else 2, "dataPoints": [held]}
        return [{"name": "http.server.duration", "unit": "ms", "histogram": points}]

    found = found_in(opened({"m.json": lines(metrics_of, 3)}))
    mean, middle = found["http.server.duration_mean"], found["http.server.duration_p50"]
    assert mean.values.tolist() == [150.0, 225.0]
    assert middle.values.tolist() == pytest.approx([150.0, 200.0])
    assert middle.labels == {"pod": "pay-1", "unit": "ms", "estimated": "from buckets"}
    assert found["http.server.duration_count"].labels == {"pod": "pay-1"}


@pytest.mark.parametrize("scales", [(3, 3, 3), (3, 2, 0)])
def test_exponential_histograms_give_mean_and_quantiles(opened: OpenFiles, scales: tuple[int, ...]) -> None:
    """The data model's base-2 buckets, at one scale or at several: an estimate lies within a bucket of the truth."""
    observed = [np.random.default_rng(seed).gamma(4.0, 30.0, 500) for seed in range(3)]

    def metrics_of(minute: int) -> list[dict[str, Any]]:
        index = np.ceil(np.log2(observed[minute]) * 2.0 ** scales[minute]).astype(int) - 1
        counts = [str(one) for one in np.bincount(index - index.min()).tolist()]
        positive = {"offset": int(index.min()), "bucketCounts": counts}
        total = float(observed[minute].sum())
        held = point(minute, scale=scales[minute], zeroCount="2", positive=positive, count="502", sum=total)
        return [{"name": "d", "exponentialHistogram": {"aggregationTemporality": 1, "dataPoints": [held]}}]

    found = found_in(opened({"m.json": lines(metrics_of, 3)}))
    assert found["d_mean"].values.tolist() == pytest.approx([values.sum() / 502 for values in observed[1:]])
    base = 2.0 ** (2.0 ** -min(scales))
    for got, values in zip(found["d_p95"].values, observed[1:], strict=True):
        assert np.quantile(values, 0.95) / base <= got <= np.quantile(values, 0.95) * base


def test_an_exponential_histogram_with_very_many_buckets_is_put_together(opened: OpenFiles) -> None:
    """No file makes thousands of series of one metric."""
    held = [
        point(minute, scale=10, positive={"offset": -2000, "bucketCounts": ["1"] * 4000}, count="4000", sum=1.0)
        for minute in range(3)
    ]
    evidence = opened(
        {"m.json": request([{"name": "d", "exponentialHistogram": {"aggregationTemporality": 1, "dataPoints": held}}])}
    )
    assert evidence.metrics is not None
    assert sum(one.metric == "d_bucket" for one in evidence.metrics.series()) <= 162


def test_summaries_keep_their_quantiles_and_unknown_kinds_are_counted(opened: OpenFiles, entry: Entry) -> None:
    """What a client computed is a series as it stands; nothing is swallowed."""
    held = point(0, count="4", sum=2.0, quantileValues=[{"quantile": 0.99, "value": 0.7}])
    evidence = opened(
        {"m.json": request([{"name": "gc", "summary": {"dataPoints": [held]}}, {"name": "new", "spline": {}}])}
    )
    assert found_in(evidence)["gc"].labels == {"pod": "pay-1", "quantile": "0.99"}
    assert "1 metrics are of no known kind" in (entry(evidence, "m.json").problem or "")
