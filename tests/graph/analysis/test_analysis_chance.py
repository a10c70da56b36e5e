import numpy as np
from analysis_samples import ONSET, WINDOW, noise, series, stepped

from diag_graph.analysis.chance import chance_of
from diag_graph.analysis.metric_changes import MIN_SWING, survey_metrics
from diag_graph.analysis.records import FloatArray, Series
from diag_graph.analysis.series_groups import group_by_times


def jumpy(seed: int) -> FloatArray:
    """A percentile of a rarely called operation: calm, with a jump of some minutes at any time."""
    values = noise(seed, 10.0, 0.05)
    at = int(np.random.default_rng(seed).integers(8, values.size - 3))
    values[at : at + 3] *= 40.0
    return values


def jumpy_system(count: int = 40) -> list[Series]:
    """Many services' series of a metric that jumps by itself."""
    return [series(jumpy(seed), "client_latency_p90_seconds", f"service-{seed}") for seed in range(count)]


def test_a_jump_that_any_series_of_its_metric_makes_is_no_change() -> None:
    """Some of forty series jump since any onset: that is what they do."""
    assert not [one for one in survey_metrics(jumpy_system(), WINDOW, ONSET).changes if one.z >= 60.0]


def test_a_jump_of_a_metric_that_does_not_jump_is_one() -> None:
    """The same size counts where the metric is calm, in the same survey."""
    calm = [series(noise(100 + n, 30.0, 0.02), "memory_bytes", f"service-{n}") for n in range(20)]
    failing = series(stepped(7, 30.0, 90.0), "memory_bytes", "leaky")
    first = survey_metrics([*jumpy_system(), *calm, failing], WINDOW, ONSET).changes[0]
    assert (first.series.service, first.series.metric) == ("leaky", "memory_bytes")


def test_what_is_expected_grows_with_the_series_and_the_time_and_falls_with_the_size() -> None:
    """A correction for many tests, measured instead of assumed."""
    chance = chance_of(group_by_times([(one, False) for one in jumpy_system()], ONSET), MIN_SWING)
    metric = "client_latency_p90_seconds"
    assert chance.expected(metric, 5.0, 20) >= chance.expected(metric, 40.0, 20) > chance.expected(metric, 40.0, 10) > 0
    assert chance.expected(metric, 1e9, 20) == chance.expected(metric, 60.0, 20)
    assert chance.expected("unknown", 5.0, 20) == 0.0
