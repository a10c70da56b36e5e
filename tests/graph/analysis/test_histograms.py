import numpy as np
import pytest
from analysis_samples import ONSET, SAMPLES, START, WINDOW, noise, series
from hypothesis import given, settings
from hypothesis import strategies as st

from diag_graph.analysis.histograms import measured_by
from diag_graph.analysis.metric_changes import survey_metrics
from diag_graph.analysis.records import FloatArray, Series

BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, float("inf"))


def histogram(observed: list[FloatArray], bounds: tuple[float, ...] = BOUNDS) -> list[Series]:
    """A histogram's series, of what was observed before each sample."""
    counted = {bound: np.cumsum([(one <= bound).sum() for one in observed]) for bound in bounds}
    found = [series(counted[bound], "latency_seconds_bucket") for bound in bounds]
    found = [
        Series(
            one.service, one.metric, one.times, one.values, {"path": "/pay", "le": f"{bound:g}".replace("inf", "+Inf")}
        )
        for one, bound in zip(found, bounds, strict=True)
    ]
    for name, values in (("sum", [one.sum() for one in observed]), ("count", [one.size for one in observed])):
        one = series(np.cumsum(values), f"latency_seconds_{name}")
        found.append(Series(one.service, one.metric, one.times, one.values, {"path": "/pay"}))
    return found


def test_means_and_quantiles_are_those_of_what_was_observed_between_two_samples() -> None:
    """As Prometheus' rate of sum by rate of count, and its histogram_quantile over the rate of buckets."""
    observed = [np.full(10, 0.02), np.array([0.2] * 90 + [2.0] * 10), np.full(0, 1.0), np.full(4, 0.03)]
    found = {one.metric: one for one in measured_by(histogram(observed))}
    assert set(found) == {"latency_seconds_mean", "latency_seconds_p50", "latency_seconds_p95"}
    mean = found["latency_seconds_mean"]
    assert mean.times.tolist() == [START + 60, START + 180]  # nothing was observed before the third sample
    assert mean.values.tolist() == pytest.approx([0.38, 0.03])
    assert found["latency_seconds_p50"].values.tolist() == pytest.approx([0.1 + 0.15 * 50 / 90, 0.03])
    assert found["latency_seconds_p95"].values.tolist() == pytest.approx([1.0 + 1.5 * 5 / 10, 0.048])
    assert found["latency_seconds_p95"].labels == {"path": "/pay", "estimated": "from buckets"}
    assert mean.labels == {"path": "/pay"}


def test_a_restart_is_counted_from_zero() -> None:
    """All counters of a process begin anew at once: the mean goes on."""
    parts = histogram([np.full(10, 0.2)] * 6)
    for one in parts:
        one.values[3:] -= one.values[2]
    for one in measured_by(parts):
        assert np.ptp(one.values) == pytest.approx(0.0, abs=1e-9), one.metric


@given(
    values=st.lists(st.floats(1e-3, 2.5), min_size=1, max_size=200),
    share=st.sampled_from(["p50", "p95"]),
)
@settings(max_examples=60, deadline=None)
def test_an_estimate_lies_in_the_bucket_of_the_true_quantile(values: list[float], share: str) -> None:
    """No more can be known from buckets, and no less is promised."""
    observed = np.array(values)
    found = {one.metric: one for one in measured_by(histogram([np.full(3, 0.2), observed]))}
    true = np.quantile(observed, int(share[1:]) / 100, method="inverted_cdf")
    upper = next(bound for bound in BOUNDS if true <= bound)
    lower = max((bound for bound in (0.0, *BOUNDS) if bound < true), default=0.0)
    assert lower <= found[f"latency_seconds_{share}"].values[0] <= upper + 1e-9


def test_a_slower_service_is_told_by_mean_and_quantiles_and_not_bucket_by_bucket() -> None:
    """Ten counters that all say the same are one change, in words that a person understands."""
    rng = np.random.default_rng(4)
    slow = [rng.gamma(4.0, 0.02 if at < 40 else 0.2, 200) for at in range(SAMPLES)]
    calm = [series(noise(60 + n, 10.0, 1.0), f"calm{n}", "stock") for n in range(6)]
    parts = histogram(slow)
    found = survey_metrics([*parts, *measured_by(parts), *calm], WINDOW, ONSET).changes
    assert {one.series.metric for one in found} == {f"latency_seconds_{name}" for name in ("mean", "p50", "p95")}
    assert all(one.direction == "up" for one in found)


def test_more_traffic_is_more_traffic_and_no_latency() -> None:
    """Each bucket rises with the requests; what was observed does not."""
    rng = np.random.default_rng(5)
    busy = [rng.gamma(4.0, 0.02, 200 if at < 40 else 900) for at in range(SAMPLES)]
    parts = histogram(busy)
    found = survey_metrics([*parts, *measured_by(parts)], WINDOW, ONSET).changes
    assert [one.series.metric for one in found] == ["latency_seconds_count"]


def test_what_is_no_histogram_gives_nothing() -> None:
    """A sum a minute is no counter, buckets without the last one tell no quantile, and one sample no rate."""
    gauges = [series(noise(6, 50.0, 9.0), "requests_sum"), series(noise(7, 5.0, 1.0), "requests_count")]
    assert measured_by(gauges) == []
    open_ended = [one for one in histogram([np.full(5, 0.1)] * 4) if one.labels.get("le") != "+Inf"]
    assert {one.metric for one in measured_by(open_ended)} == {"latency_seconds_mean"}
    assert measured_by(histogram([np.full(5, 0.1)])) == []
    named = series(np.ones(4), "latency_seconds_mean")
    assert "latency_seconds_mean" not in {one.metric for one in measured_by([*histogram([np.full(5, 0.1)] * 4), named])}
