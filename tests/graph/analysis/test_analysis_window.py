from collections.abc import Sequence

import pytest
from analysis_samples import MINUTE, ONSET, START, WINDOW

from diag_graph.analysis.question_times import parse_time, stated_time
from diag_graph.analysis.records import Alert, TimeRange, Window, utc
from diag_graph.analysis.window import choose_window

NOW = WINDOW.end + 600.0


def window(
    question: str = "what is wrong?", alerts: Sequence[Alert] = (), data: TimeRange = WINDOW, **more: object
) -> Window:
    """Choose a window."""
    return choose_window(question, NOW, alerts, data, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("why did checkout latency jump at 06:25?", "2026-07-16T06:25:00Z"),
        ("slow since 06:25:30 UTC", "2026-07-16T06:25:30Z"),
        ("fired at 06:06 UTC on 2026-07-16: error rate is 0.61", "2026-07-16T06:06:00Z"),
        ("what broke at 6:25 am?", "2026-07-16T06:25:00Z"),
        ("since 2026-07-16T06:31:07Z nothing works", "2026-07-16T06:31:07Z"),
        ("since 2026-07-16 08:31+02:00 nothing works", "2026-07-16T06:31:00Z"),
        ("why did it break 20 minutes ago?", "2026-07-16T06:49:00Z"),
    ],
)
def test_a_time_in_the_question_is_read_on_the_day_of_the_evidence(question: str, expected: str) -> None:
    """A clock time has no day: the evidence has."""
    found = stated_time(question, NOW, WINDOW)
    assert found is not None
    assert utc(found.time) == expected


@pytest.mark.parametrize(
    "question", ["p99 is 2.31 s", "12 of 15 pods fail", "version 1.14:2 of", "ratio 3:4", "host 10.0.0.5:8080", ""]
)
def test_numbers_that_are_no_times_are_not_read_as_times(question: str) -> None:
    """A port, a ratio and a version are no clock."""
    assert stated_time(question, NOW, WINDOW) is None


def test_a_clock_without_a_zone_is_read_in_the_given_one() -> None:
    """Times without a zone are the user's or the folder's."""
    found = stated_time("at 08:25", NOW, WINDOW, "Europe/Berlin")
    assert found is not None
    assert utc(found.time) == "2026-07-16T06:25:00Z"
    assert parse_time("2026-07-16T08:25", "Europe/Berlin") == found.time
    assert parse_time("yesterday") is None


def test_a_given_start_bounds_the_onset_and_does_not_make_it() -> None:
    """`--since` says where to look from: an alert within counts, one before does not, nor does a change before it."""
    alert = Alert("Slow", "firing", ONSET, None)
    within = window("why?", since=ONSET - 300.0, alerts=[alert], detect=lambda _range, _stated: START)
    assert within.onset == ONSET
    after = window("why?", since=ONSET + 300.0, alerts=[alert], detect=lambda _range, _stated: None)
    assert (after.onset, after.origin) == (ONSET + 300.0, f"the given start ({utc(ONSET + 300.0)})")


def test_the_alert_goes_before_the_question_and_says_so() -> None:
    """The start of the earliest firing alert, with the alert's name in words."""
    alerts = [Alert("Slow", "firing", ONSET, None), Alert("Old", "resolved", START + 60.0, None)]
    chosen = window("at 06:10?", alerts=alerts)
    assert chosen.onset == ONSET
    assert "alert Slow (2026-07-16T06:40:00Z)" in chosen.origin


def test_an_alert_is_moved_to_the_change_before_it() -> None:
    """Alerts fire minutes late: the data says when it began, and the words say both."""
    seen: list[float | None] = []

    def detect(_range: TimeRange, stated: float | None) -> float:
        seen.append(stated)
        return ONSET - 4 * MINUTE

    chosen = window(alerts=[Alert("Slow", "firing", ONSET, None)], detect=detect)
    assert (chosen.onset, seen) == (ONSET - 4 * MINUTE, [ONSET])
    assert "first lasting change" in chosen.origin
    assert "alert Slow" in chosen.origin


def test_an_alert_from_another_day_does_not_date_this_evidence() -> None:
    """A time that the evidence cannot speak of is passed over."""
    chosen = window("at 06:25?", alerts=[Alert("Slow", "firing", ONSET - 9 * 86_400.0, None)])
    assert chosen.onset == START + 25 * MINUTE


def test_the_data_dates_what_nobody_does_and_silence_is_admitted() -> None:
    """The strongest common change; when none stands out, no onset is invented."""
    assert window(detect=lambda _range, _stated: ONSET).origin.startswith("the strongest common change")
    nothing = window(detect=lambda _range, _stated: None)
    assert (nothing.onset, nothing.start, nothing.end) == (None, WINDOW.start, WINDOW.end)
    assert "no alert or question names a time" in nothing.origin


def test_the_evidences_own_window_dates_it_before_a_search() -> None:
    """`incident.toml` names the window."""
    hint = TimeRange(ONSET, ONSET + 600.0)
    assert window(hint=hint).onset == ONSET


def test_the_window_is_bounded_about_the_onset_and_by_the_evidence() -> None:
    """Days of data are not compared whole: at most six hours before the onset and two after."""
    days = TimeRange(START - 5 * 86_400.0, START + 5 * 86_400.0)
    chosen = window(since=ONSET, data=days)
    assert (chosen.start, chosen.end) == (ONSET - 6 * 3_600.0, ONSET + 2 * 3_600.0)
    assert window(since=ONSET, until=ONSET + 60.0).end == ONSET + 60.0
    assert window(since=ONSET).start == WINDOW.start
