import numpy as np
import pytest
from analysis_samples import MINUTE, ONSET, SAMPLES, START, WINDOW, noise, series, stepped

from diag_graph.analysis.onset import _average_ranks, common_onset, cusum_peaks, earlier_onset, event_counts
from diag_graph.analysis.records import TimeRange

CALM = [series(noise(n, 10.0, 1.0), f"calm{n}", "stock") for n in range(6)]


def test_an_alert_that_fires_late_is_moved_to_the_first_lasting_change() -> None:
    """An alert waits for its `for`: trouble began when the series of its subject did."""
    sick = series(stepped(1, 0.2, 2.0, at=35))
    assert earlier_onset([*CALM, sick], WINDOW, ONSET, frozenset({"checkout"})) == START + 35 * MINUTE


def test_a_cause_that_showed_before_its_symptom_dates_the_trouble() -> None:
    """A full pool shows before the latency that was alerted on."""
    symptom, cause = series(stepped(2, 0.2, 2.0, at=36)), series(stepped(3, 5.0, 50.0, at=33), "pool", "orders-db")
    found = earlier_onset([*CALM, symptom, cause], WINDOW, ONSET, frozenset({"checkout"}))
    assert found == START + 33 * MINUTE


def test_an_alert_whose_subject_changed_on_time_is_left_alone() -> None:
    """Something always changes somewhere: what the alert is about decides."""
    other = series(stepped(4, 5.0, 15.0, at=20), "load", "batch")
    assert earlier_onset([*CALM, other, series(stepped(5, 0.2, 2.0))], WINDOW, ONSET, frozenset({"checkout"})) is None


def test_without_a_subject_the_stated_time_stands() -> None:
    """Nobody says what it is about, so nothing can say that it began earlier."""
    assert earlier_onset([*CALM, series(stepped(6, 0.2, 2.0, at=35))], WINDOW, ONSET) is None


def test_the_common_change_is_found_with_no_hint() -> None:
    """With no alert and no time in the question, the change that series share is the onset."""
    sick = [series(stepped(n, 10.0, 30.0), f"s{n}", "checkout") for n in range(7, 11)]
    found = common_onset([*CALM, *sick], WINDOW)
    assert found is not None
    assert abs(found - ONSET) <= MINUTE


@pytest.mark.parametrize("seed", range(8))
def test_no_common_change_is_found_in_calm_series(seed: int) -> None:
    """Noise has no onset."""
    calm = [series(noise(100 * seed + n, 10.0, 1.0), f"calm{n}") for n in range(40)]
    assert common_onset(calm, WINDOW) is None


def test_a_burst_of_errors_in_logs_dates_trouble_as_a_series_does() -> None:
    """Counted events are a series, so that logs alone can date an incident."""
    lines = [START + 41 * MINUTE + 4.0 * n for n in range(200)]
    found = common_onset([event_counts(lines, WINDOW, "checkout", "error_lines")], WINDOW)
    assert found is not None
    assert abs(found - lines[0]) <= 2 * MINUTE


def test_a_recorder_that_begins_shortly_before_the_alert_dates_nothing() -> None:
    """Logs that were kept for the last minutes alone do not mean that errors began with them."""
    kept = TimeRange(ONSET - 9 * MINUTE, WINDOW.end)
    errors = event_counts(np.arange(kept.start, kept.end, 20.0), kept, "checkout", "error_lines")
    assert earlier_onset([*CALM, errors], WINDOW, ONSET, frozenset({"checkout"})) is None


def test_event_counts_cover_the_window_in_equal_parts() -> None:
    """Each event is counted once; a window of no length is no error."""
    counted = event_counts([START, START + 30.0, START + 3_000.0], TimeRange(START, START + 3_600.0), "a", "b")
    assert (counted.values.sum(), counted.times.size) == (3.0, 60)
    assert event_counts([START], TimeRange(START, START), "a", "b").values.sum() == 1.0


def test_the_cusum_peaks_where_the_level_changes_and_ignores_a_spike() -> None:
    """Ranks, not values: one huge sample is one largest value."""
    values = np.stack([stepped(12, 10.0, 20.0), noise(13, 10.0, 1.0)])
    values[1, 10] = 1e9
    heights, indices = cusum_peaks(values)
    assert abs(int(indices[0]) - 40) <= 3
    assert heights[0] > 2.2 > heights[1]
    assert values.shape[1] == SAMPLES


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    """Many series hold few distinct values: in what order these came must not look like a change of level."""
    assert _average_ranks(np.array([[5.0, 1.0, 5.0, 3.0, 1.0, 5.0]])).tolist() == [[4.0, 0.5, 4.0, 2.0, 0.5, 4.0]]
    heights, _ = cusum_peaks(np.zeros((2, 20)))
    assert heights.tolist() == [0.0, 0.0]
