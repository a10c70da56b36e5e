import math

import pytest

from diag_graph.analysis.numbers import factor, number, quantity, rounded, span_of_time, unit_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.123456, "0.1235"),
        (1204.4, "1,204"),
        (1_234_567.0, "1,235,000"),
        (99_999.0, "99,999"),
        (-2.5, "-2.5"),
        (0.00001234, "0.00001234"),
        (100.0, "100"),
        (99.954, "99.95"),
    ],
)
def test_numbers_have_four_significant_digits_and_no_exponent(value: float, text: str) -> None:
    """The same rounding in texts and fields, with thousands separators in texts."""
    assert number(value) == text
    assert float(text.replace(",", "")) == pytest.approx(rounded(value))


def test_what_is_no_number_is_handed_back() -> None:
    """NaN and infinity cannot be rounded."""
    assert math.isnan(rounded(float("nan")))
    assert rounded(float("inf")) == float("inf")


@pytest.mark.parametrize(
    ("metric", "stated", "unit"),
    [
        ("request_latency_p95_seconds", "", "s"),
        ("http_server_duration_p99_ms", "", "ms"),
        ("process_resident_memory_bytes", "", "bytes"),
        ("CpuUsageRate(%)", "", "%"),
        ("disk_used_percent", "", "%"),
        ("requests_per_sec", "", "/s"),
        ("http_request_duration_seconds_sum", "", "s"),
        ("FreeStorageSpace", "Bytes", "bytes"),
        ("CPUUtilization", "Percent", "%"),
        ("WriteIOPS", "Count/Second", "/s"),
        ("error_ratio", "", ""),
        ("items", "", ""),
    ],
)
def test_a_unit_is_stated_or_ends_the_name(metric: str, stated: str, unit: str) -> None:
    """A source's own unit goes first, then the name's suffix; none is invented."""
    assert unit_of(metric, stated) == unit


def test_quantities_lengths_of_time_and_factors_in_words() -> None:
    """The words of statements."""
    assert (quantity(95.2, "%"), quantity(12.0, "/s"), quantity(1.9, "s"), quantity(7.0, "")) == (
        "95.2%",
        "12/s",
        "1.9 s",
        "7",
    )
    assert [span_of_time(s) for s in (9, 130, -3_900, 180_000, 60)] == [
        "9 s",
        "2 min 10 s",
        "1 h 5 min",
        "2 d 2 h",
        "1 min",
    ]
    assert factor(0.12, 1.9) == "15.8 times as much"
    assert factor(0.001, 5.0) == "5,000 times as much"
    assert (factor(0.0, 1.0), factor(1.0, 0.0), factor(-1.0, 1.0)) == ("", "", "")


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (44_110_000, "bytes", "44.11 MB"),
        (-2.5e9, "bytes", "-2.5 GB"),
        (1.2e13, "bytes/s", "12 TB/s"),
        (99_999, "bytes", "99,999 bytes"),
        (250_000, "bytes", "250 kB"),
    ],
)
def test_many_bytes_are_written_as_a_person_reads_them(value: float, unit: str, said: str) -> None:
    """SI prefixes, and few bytes as they are."""
    assert quantity(value, unit) == said
