from dataclasses import fields

import numpy as np
import pytest
from analysis_samples import MINUTE, ONSET, SAMPLES, START, WINDOW, noise, series, stepped
from hypothesis import given, settings
from hypothesis import strategies as st

from diag_graph.analysis.change_kinds import ChangeKind, MetricChange
from diag_graph.analysis.departures import BLOCK, Departures, departures
from diag_graph.analysis.metric_changes import survey_metrics
from diag_graph.analysis.records import Series, TimeRange
from diag_graph.analysis.series_groups import counter_rate


def changes(*items: Series, onset: float = ONSET) -> tuple[MetricChange, ...]:
    """The changes of these series."""
    return survey_metrics(items, WINDOW, onset).changes


def test_a_level_that_rises_at_the_onset_is_found_with_its_medians_and_time() -> None:
    """A step is described by the medians of both states and the first sample of the new one."""
    (change,) = changes(series(stepped(1, 0.12, 1.9)))
    assert (change.kind, change.direction, change.onset) == (ChangeKind.LEVEL, "up", ONSET)
    assert change.before == pytest.approx(0.12, rel=0.1)
    assert change.after == pytest.approx(1.9, rel=0.1)
    assert change.ended is None


def test_a_level_that_falls_is_found_as_well() -> None:
    """Both directions count: requests that stop coming are as telling as latency."""
    (change,) = changes(series(stepped(2, 900.0, 120.0), "requests_per_second"))
    assert (change.direction, change.onset) == ("down", ONSET)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_found_where_nothing_happened(seed: int) -> None:
    """Stationary noise, lone spikes, a warm-up, rare events, a daily drift: no anomaly at default thresholds."""
    generator = np.random.default_rng(seed)
    spiky = noise(seed, 100.0, 5.0)
    spiky[generator.choice(SAMPLES, 5, replace=False)] *= 6.0
    rare = (generator.random(SAMPLES) < 0.08).astype(np.float64)
    warm = 200.0 + 4.0 * np.arange(SAMPLES) + noise(seed + 100, 10.0, 2.0)
    settling = 500.0 - 300.0 * np.exp(-np.arange(SAMPLES) / 12.0) + noise(seed + 200, 10.0, 2.0)
    many = [series(noise(seed * 1_000 + n, 10.0 ** (n % 5), 0.1 * 10.0 ** (n % 5)), f"m{n}") for n in range(150)]
    calm = [series(spiky, "spiky"), series(rare, "errors"), series(warm, "memory"), series(settling, "heap")]
    assert changes(*calm, *many, series(np.full(SAMPLES, 5.0), "pool_size")) == ()


def test_one_sample_alone_is_no_change_where_others_could_confirm_it() -> None:
    """A spike at the onset that no second sample confirms is what healthy series do."""
    values = noise(3, 0.2, 0.01)
    values[40] = 9.0
    assert changes(series(values)) == ()


def test_a_series_that_never_moved_is_reported_once_it_does() -> None:
    """A constant has no scale to measure by; moving at all, and staying there, is the news."""
    (change,) = changes(series([50.0] * 40 + [10.0] * 20, "db_pool_max_connections"))
    assert (change.before, change.after, change.onset) == (50.0, 10.0, ONSET)


def test_a_single_error_among_zeros_is_no_change_but_lasting_errors_are() -> None:
    """Tiny counts do not decide: one event in a count of zeros is chance."""
    once, lasting = np.zeros(SAMPLES), np.zeros(SAMPLES)
    once[45] = 1.0
    lasting[41:] = 7.0
    found = changes(series(once, "errors_a"), series(lasting, "errors_b"))
    assert [(change.series.metric, change.onset) for change in found] == [("errors_b", ONSET + MINUTE)]


def test_units_do_not_decide_the_ranking() -> None:
    """The same change in seconds and in nanoseconds scores the same."""
    values = stepped(4, 0.2, 1.0)
    small, large = changes(series(values, "a"), series(values * 1e9, "b"))
    assert small.score == pytest.approx(large.score, rel=1e-6)


def test_three_times_as_much_outranks_a_quarter_more_from_a_calmer_baseline() -> None:
    """Relative size weighs, not the calm of the baseline alone."""
    tiny = stepped(5, 1_000.0, 1_250.0, spread=0.001)
    first, second = changes(series(tiny, "calm"), series(stepped(6, 1.0, 3.0), "doubled"))
    assert (first.series.metric, second.series.metric) == ("doubled", "calm")


def test_a_ramp_is_dated_by_where_it_starts() -> None:
    """Causes precede symptoms: a slow climb begins with its first sample outside the baseline, not at its top."""
    values = noise(7, 40.0, 0.5)
    values[42:] += 3.0 * np.arange(1, SAMPLES - 41)
    (change,) = changes(series(values, "disk_used_percent"))
    assert START + 41 * MINUTE <= change.onset <= START + 44 * MINUTE


def test_an_earlier_blip_that_returned_does_not_date_a_later_change() -> None:
    """The stretch that reached the level counts, not a disturbance that was over before."""
    values = stepped(8, 0.15, 6.0, at=48)
    values[41:43] = 0.4
    (change,) = changes(series(values))
    assert change.onset == START + 48 * MINUTE


def test_a_change_that_passes_says_when_it_was_back() -> None:
    """A fault that heals is described until it was back within its baseline."""
    values = noise(9, 0.2, 0.01)
    values[40:50] += 2.0
    (change,) = changes(series(values))
    assert (change.onset, change.ended) == (ONSET, START + 50 * MINUTE)
    assert change.after == pytest.approx(2.2, rel=0.1)


def test_a_series_that_stops_and_one_that_appears_are_told_apart() -> None:
    """Samples that end, or begin, at the onset are changes of their own kind."""
    going_on = series(noise(10, 5.0, 0.2), "steady")
    whole = series(noise(11, 5.0, 0.2), "gone")
    gone = Series("checkout", "gone", whole.times[:40], whole.values[:40])
    new = Series("checkout", "new", whole.times[41:], whole.values[41:])
    found = {change.series.metric: change for change in changes(going_on, gone, new)}
    assert {name: change.direction for name, change in found.items()} == {"gone": "stopped", "new": "appeared"}
    assert found["gone"].onset == ONSET - MINUTE
    assert found["new"].onset == ONSET + MINUTE


def test_a_counter_is_compared_by_its_rate_and_survives_a_reset() -> None:
    """A restart sets a counter back to zero: its rate goes on."""
    steps = np.full(SAMPLES, 600.0) + noise(12, 10.0, 3.0)
    steps[40:] *= 3.0
    counted = np.cumsum(steps)
    counted[50:] -= counted[49]
    (change,) = changes(series(counted, "requests_total"))
    assert change.rate
    assert change.before == pytest.approx(10.2, rel=0.05)
    assert change.after == pytest.approx(30.5, rel=0.05)
    assert counter_rate(np.array([0.0, 10.0]), np.array([500.0, 20.0])).tolist() == [2.0]


def test_a_share_of_successes_is_compared_as_its_share_of_failures() -> None:
    """From 100 % to 97 % available is a change, though it is only 3 % less."""
    values = [100.0] * 40 + [97.0, 96.2, 97.4, 96.8] * 5
    (change,) = changes(series(values, "availability_average"))
    assert (change.direction, change.before) == ("down", 100.0)
    assert change.after == pytest.approx(96.9, abs=0.2)


def test_missing_and_few_samples_are_skipped_and_counted() -> None:
    """NaN is no value, and three samples are no baseline."""
    holed = stepped(13, 1.0, 9.0)
    holed[5::7] = np.nan
    short = series(noise(14, 1.0, 0.1, 50), "short")
    few = Series("checkout", "few", short.times[37:50], short.values[37:50])
    survey = survey_metrics([series(holed), few], WINDOW, ONSET)
    assert [change.series.metric for change in survey.changes] == ["request_latency_p95_seconds"]
    assert (survey.compared, survey.skipped) == (1, 1)


def test_an_onset_that_is_a_few_minutes_off_finds_the_same() -> None:
    """An onset is never exactly known: earlier or later by two samples, the change and its time stay."""
    values = stepped(15, 0.2, 2.0)
    for shift in (-2, 0, 2):
        (change,) = changes(series(values), onset=ONSET + shift * MINUTE)
        assert change.onset == ONSET


def test_a_window_that_ends_with_the_alert_tells_where_its_series_drifted() -> None:
    """An alert often comes with just the minutes that led to it: no onset lies in them, but a direction does."""
    climbing = series([5.0 + 40.0 * n for n in range(20)], "replica_lag_seconds", "replica")
    calm = series(noise(17, 50.0, 4.0, 20), "connections")
    (change,) = survey_metrics([climbing, calm], WINDOW, START + 20 * MINUTE).changes
    assert (change.series.metric, change.kind, change.direction) == ("replica_lag_seconds", ChangeKind.DRIFT, "up")
    assert (change.before, change.after) == (45.0, 585.0)
    assert survey_metrics([calm], WINDOW, START + 20 * MINUTE).skipped == 1


def test_an_empty_window_and_no_series_give_an_empty_survey() -> None:
    """Nothing to look at is an answer, not an error."""
    assert survey_metrics([], WINDOW, ONSET).changes == ()
    elsewhere = TimeRange(START - 900.0, START - 60.0)
    assert survey_metrics([series(noise(16, 1.0, 0.1))], elsewhere, START - 300.0).compared == 0


def test_rows_that_are_compared_in_blocks_give_what_they_give_at_once() -> None:
    """Thousands of series are compared some at a time, which is fast and must change nothing."""
    rows = np.stack([stepped(n, 10.0, 10.0 + n % 7) for n in range(BLOCK // SAMPLES + 50)])
    before, since = np.split(rows, [38], axis=1)
    whole, last = departures(before, since, 3), departures(before[-50:], since[-50:], 3)
    for one in fields(Departures):
        assert np.array_equal(getattr(whole, one.name)[-50:], getattr(last, one.name)), one.name
    assert whole.z.size == rows.shape[0]


def without(one: Series, *samples: int) -> Series:
    """The series without these samples."""
    keep = np.setdiff1d(np.arange(one.times.size), samples)
    return Series(one.service, one.metric, one.times[keep], one.values[keep], one.labels)


def of_a_system(service: str = "stock") -> list[Series]:
    """Calm series of another service, which go on."""
    return [series(noise(50 + n, 10.0, 1.0), f"calm{n}", service) for n in range(6)]


def test_a_spike_in_the_last_sample_is_told_as_what_it_is() -> None:
    """The trouble has just begun: no second sample can confirm it, so that it must be far out."""
    values = noise(20, 0.2, 0.01)
    values[-1] = 9.0
    (change,) = changes(*of_a_system(), series(values), onset=WINDOW.end)
    assert (change.kind, change.direction, change.after, change.samples_after) == (ChangeKind.SPIKE, "up", 9.0, 1)


def test_a_spike_long_before_the_onset_is_none_of_it() -> None:
    """An onset is not known to the sample; but what a gap parts from it lies before it all the same."""
    values = noise(20, 0.2, 0.01)
    values[38] = 9.0
    rare = series(values)
    kept = [*range(39), 59]
    rare = Series(rare.service, rare.metric, rare.times[kept], rare.values[kept])
    assert changes(*of_a_system(), rare, onset=START + 58 * MINUTE) == ()


def test_a_dropout_says_when_it_was_back() -> None:
    """A series that falls to nothing for a while and comes back is a change with an end."""
    values = noise(21, 300.0, 9.0)
    values[40:46] = 0.0
    (change,) = changes(series(values, "requests_per_second"))
    assert (change.direction, change.after, change.ended) == ("down", 0.0, START + 46 * MINUTE)


def test_a_service_that_sends_nothing_for_a_while_is_told_with_when_it_came_back() -> None:
    """Missing data is evidence: a process that is gone or too busy to be scraped sends nothing."""
    silent = [without(series(noise(n, 5.0, 0.5), f"m{n}"), *range(41, 47)) for n in (22, 23)]
    found = changes(*of_a_system(), *silent)
    assert {one.series.metric for one in found} == {"m22", "m23"}
    for one in found:
        assert (one.kind, one.direction) == (ChangeKind.GAP, "stopped")
        assert (one.onset, one.ended) == (ONSET, START + 47 * MINUTE)


def test_empty_cells_are_missing_data_too() -> None:
    """A value that is not a number says as little as none."""
    values = noise(24, 5.0, 0.5)
    values[41:47] = np.nan
    (change,) = changes(*of_a_system(), series(values))
    assert (change.kind, change.ended) == (ChangeKind.GAP, START + 47 * MINUTE)


def test_a_pause_says_nothing_where_its_service_goes_on_or_the_recorder_paused_or_it_often_pauses() -> None:
    """A latency without calls has no value; when all is silent it is the recorder; what has gaps has one more."""
    paused = without(series(noise(25, 5.0, 0.5), "latency"), *range(41, 47))
    assert changes(*of_a_system("checkout"), paused) == ()
    assert changes(*(without(one, *range(41, 47)) for one in of_a_system())) == ()
    gappy = without(series(noise(26, 5.0, 0.5), "m"), *range(10, 15), *range(25, 30), *range(41, 47))
    assert changes(*of_a_system(), gappy) == ()


def test_a_series_that_freezes_is_told_and_one_that_often_rests_is_not() -> None:
    """An exporter that hangs repeats its last value: nothing leaves its band, but nothing moves either."""
    stuck, resting = noise(27, 5.0, 0.5), np.round(noise(28, 2.0, 0.4))
    stuck[42:], resting[42:] = stuck[41], 2.0
    (change,) = changes(*of_a_system(), series(stuck, "stuck"), series(resting, "resting"))
    assert (change.series.metric, change.kind, change.direction) == ("stuck", ChangeKind.FROZEN, "frozen")
    assert (change.onset, change.after, change.samples_after) == (START + 41 * MINUTE, stuck[41], 19)


@given(
    factor=st.floats(1e-9, 1e9),
    seeds=st.lists(st.integers(0, 10_000), min_size=4, max_size=4, unique=True),
    ratio=st.floats(1.5, 50.0),
)
@settings(max_examples=40, deadline=None)
def test_no_unit_decides_what_is_found_nor_in_which_order(factor: float, seeds: list[int], ratio: float) -> None:
    """Seconds or milliseconds, bytes or gigabytes, a share or a percentage: the same changes, times and scores."""
    rows = [stepped(seed, 10.0, 10.0 * ratio**place) for place, seed in enumerate(seeds)]
    rows[0][40:] = 10.0
    plain = changes(*(series(row, f"m{place}") for place, row in enumerate(rows)))
    scaled = changes(*(series(row * (factor if place % 2 else 1.0), f"m{place}") for place, row in enumerate(rows)))
    assert [(one.series.metric, one.kind, one.onset, one.ended) for one in scaled] == [
        (one.series.metric, one.kind, one.onset, one.ended) for one in plain
    ]
    assert [one.score for one in scaled] == pytest.approx([one.score for one in plain], abs=0.0011)


@given(
    length=st.integers(0, 80),
    holes=st.lists(st.integers(0, 79), max_size=60),
    level=st.sampled_from([0.0, 1e-12, 5.0, -3.0, 1e15]),
    spread=st.sampled_from([0.0, 1e-13, 0.5, 1e14]),
    split=st.integers(-5, 85),
)
@settings(max_examples=150, deadline=None)
def test_few_samples_many_holes_and_constants_are_answered_without_a_nan(
    length: int, holes: list[int], level: float, spread: float, split: int
) -> None:
    """Whatever there is of a series, it is compared or counted as skipped, and what is said of it is finite."""
    values = level + spread * np.random.default_rng(length).normal(size=length)
    values[[hole for hole in holes if hole < length]] = np.nan
    whole = TimeRange(START, START + 80 * MINUTE)
    survey = survey_metrics([series(values), *of_a_system()], whole, START + split * MINUTE)
    assert survey.compared + survey.skipped <= 7
    for one in survey.changes:
        assert np.isfinite([one.z, one.score, one.onset, one.step]).all()
        assert one.score >= 0.0
