from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from diag_graph.analysis.records import Series, TimeRange
from diag_graph.sources.folder.columns import split_names
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

NOON = 1796040000.0
"""2026-11-30T12:00:00Z."""


def series_of(evidence: Evidence) -> dict[tuple[str, str], Series]:
    """All series by service and metric."""
    assert evidence.metrics is not None
    return {(one.service, one.metric): one for one in evidence.metrics.series()}


def samples(one: Series) -> list[tuple[float, float]]:
    """A series' points, in seconds after noon."""
    return list(zip((one.times - NOON).tolist(), one.values.tolist(), strict=True))


def test_long_rows_become_series_sorted_by_time(opened: OpenFiles) -> None:
    """Section 13: long CSV; rows in any order, extra columns as labels."""
    found = series_of(
        opened(
            {
                "m.csv": "timestamp,service,metric,value,zone\n2026-11-30T12:01:00Z,cart,cpu,2,eu\n"
                "2026-11-30T12:00:00Z,cart,cpu,1,eu\n2026-11-30T12:00:00Z,web,cpu,7,us\n"
            }
        )
    )
    assert samples(found["cart", "cpu"]) == [(0, 1), (60, 2)]
    assert found["cart", "cpu"].labels == {"zone": "eu"}
    assert found["web", "cpu"].source == "m.csv"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("header", ["time,pod,name,value", "ts,instance,__name__,val", "date,entity,kpi,metric_value"])
def test_headers_have_synonyms_and_separators_vary(opened: OpenFiles, separator: str, header: str) -> None:
    """Section 13: read by content: other tools call the same columns otherwise."""
    text = f"{header}\n2026-11-30T12:00:00Z,a-1,cpu,1.5\n1796040060,a-1,cpu,2.5\n".replace(",", separator)
    assert samples(series_of(opened({"m.csv": text}))["a-1", "cpu"]) == [(0, 1.5), (60, 2.5)]


def test_wide_columns_are_split_by_what_recurs(opened: OpenFiles) -> None:
    """Section 13: wide CSV; services and metrics are told apart by the grid that they form."""
    found = series_of(
        opened(
            {
                "m.csv": "time,cart_cpu,cart_latency_p99,cart_db_cpu,web_cpu,web_latency_p99,cart_db_latency_p99\n"
                "2026-11-30T12:00:00Z,1,2,3,4,5,6\n"
            }
        )
    )
    assert sorted(found) == [
        ("cart", "cpu"), ("cart", "latency_p99"), ("cart_db", "cpu"), ("cart_db", "latency_p99"),
        ("web", "cpu"), ("web", "latency_p99"),
    ]  # fmt: skip


def test_services_that_other_files_name_split_columns(opened: OpenFiles) -> None:
    """A name that nothing in the table explains is explained by the call graph."""
    found = series_of(
        opened({"m.csv": "time,cart_db_x\n2026-11-30T12:00:00Z,1\n", "topology.json": {"edges": [["web", "cart-db"]]}})
    )
    assert list(found) == [("cart-db", "x")]


@pytest.mark.parametrize(
    ("name", "service", "metric"),
    [
        ("checkout/cpu", "checkout", "cpu"),
        ("checkout.latency.p99", "checkout", "latency.p99"),
        ("checkout_error_rate", "checkout", "error_rate"),
        ('http_requests_total{job="api",code="500"}', "api", "http_requests_total"),
        ("http_requests_total", "", "http_requests_total"),
        ("temperature", "", "temperature"),
    ],
)
def test_a_lone_name_is_split_where_it_says_so(name: str, service: str, metric: str) -> None:
    """Names that say nothing of a service get none."""
    found = split_names([name])[0]
    assert (found.service, found.metric) == (service, metric)


def test_an_entity_with_a_column_a_metric(opened: OpenFiles) -> None:
    """Rows of one pod at one time hold all of its metrics."""
    found = series_of(opened({"m.tsv": "timestamp\tpod\tcpu\tmem\n1796040000\ta-1\t1\t2\n1796040060\ta-1\t3\t4\n"}))
    assert samples(found["a-1", "mem"]) == [(0, 2), (60, 4)]


def test_nothing_odd_in_a_table_is_swallowed(opened: OpenFiles, entry: Entry) -> None:
    """Empty cells, infinities, words, a bad time, a torn line and a time given twice: counted, and the rest is read."""
    evidence = opened(
        {
            "m.csv": "\ufeff# exported by hand\n\ntime,service,metric,value\n2026-11-30T12:00:00Z,a,cpu,1\n"
            "2026-11-30T12:00:00Z,a,cpu,2\n2026-11-30T12:01:00Z,a,cpu,\n2026-11-30T12:02:00Z,a,cpu,NaN\n"
            "2026-11-30T12:03:00Z,a,cpu,inf\n2026-11-30T12:04:00Z,a,cpu,many\nyesterday,a,cpu,3\n"
            "2026-11-30T12:05:00Z,a,cpu,5\n2026-11-30T12:06:00Z,a,c"
        }
    )
    assert samples(series_of(evidence)["a", "cpu"]) == [(0, 2), (300, 5)]
    found = entry(evidence, "m.csv")
    assert "4 cells empty or not finite" in found.detail
    assert "1 sample replaced by a later row of the same time" in found.detail
    assert "1 of 9 rows have a value that is no number: first at line 9" in (found.problem or "")
    assert "1 of 9 rows have no time that can be read" in (found.problem or "")


def test_decimal_commas_are_read_between_semicolons(opened: OpenFiles) -> None:
    """A spreadsheet in half of Europe writes 1,5."""
    found = series_of(opened({"cpu.csv": "time;host;value\n2026-11-30 12:00:00;web1;1,5\n"}))
    assert samples(found["web1", "cpu"]) == [(0, 1.5)]


def test_an_unclosed_quote_does_not_stop_the_table(opened: OpenFiles) -> None:
    """One wrong quotation mark costs at most its row."""
    rows = "".join(f"2026-11-30T12:{minute:02d}:00Z,a,cpu,{minute}\n" for minute in range(10))
    found = series_of(opened({"m.csv": f'time,service,metric,value\n{rows}2026-11-30T12:10:00Z,"a,cpu,1\n'}))
    assert len(found["a", "cpu"].times) == 10


def test_series_are_chosen_and_cut(opened: OpenFiles) -> None:
    """Both ends of a window are in it; series without a sample there are left out."""
    rows = "".join(
        f"{NOON + 60 * n:.0f},{service},{metric},{n}\n" for n in range(5) for service in "ab" for metric in "xy"
    )
    metrics = opened({"m.csv": f"time,service,metric,value\n{rows}"}).metrics
    assert metrics is not None
    chosen = metrics.series(services=["a"], metrics=["x"], window=TimeRange(NOON + 60, NOON + 120))
    assert [(one.service, one.metric, samples(one)) for one in chosen] == [("a", "x", [(60, 1), (120, 2)])]
    assert metrics.series(window=TimeRange(0, 1)) == []
    assert [(one.service, one.metric) for one in metrics.series()] == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def test_thousands_of_series_stay_apart(opened: OpenFiles) -> None:
    """A table of 3,000 series is read to the last value."""
    rows = "".join(f"{NOON + 60 * n:.0f},s{k},m,{k + n}\n" for n in range(3) for k in range(3000))
    found = series_of(opened({"m.csv": f"time,service,metric,value\n{rows}"}))
    assert len(found) == 3000
    assert np.array_equal(found["s2999", "m"].values, [2999, 3000, 3001])


def test_a_table_of_text_is_a_document(opened: OpenFiles, entry: Entry) -> None:
    """A CSV without a number to plot is shown as it stands."""
    evidence = opened({"people.csv": "name,team\namy,payments\n"})
    assert entry(evidence, "people.csv").kind == "document"
    assert evidence.metrics is None


def test_prometheus_and_cloudwatch_answers_are_series(opened: OpenFiles) -> None:
    """Section 13: `query_range` JSON and CloudWatch JSON."""
    found = series_of(
        opened(
            {
                "range.json": {
                    "status": "success",
                    "data": {
                        "resultType": "matrix",
                        "result": [
                            {
                                "metric": {"__name__": "up", "job": "api"},
                                "values": [[NOON, "1"], [NOON + 60, "NaN"], [NOON + 120, "0"]],
                            }
                        ],
                    },
                },
                "cw.json": {
                    "MetricDataResults": [
                        {
                            "Id": "m1",
                            "Label": "CPUUtilization",
                            "Timestamps": ["2026-11-30T12:01:00Z", "2026-11-30T12:00:00Z"],
                            "Values": [9.0, 3.0],
                        }
                    ]
                },
                "insights.json": {
                    "db_instance_identifier": "orders-db",
                    "db_load": {"timestamps": ["2026-11-30T12:00:00Z"], "values": [4], "unit": "sessions"},
                    "top_sql": [{"statement": "SELECT 1", "load": 3.5}],
                },
            }
        )
    )
    assert samples(found["api", "up"]) == [(0, 1), (120, 0)]
    assert samples(found["", "CPUUtilization"]) == [(0, 3), (60, 9)]
    assert found["orders-db", "db_load"].labels == {"unit": "sessions"}


def test_what_a_json_file_holds_beside_its_series_stays_readable(opened: OpenFiles) -> None:
    """Nothing is swallowed: what was not read makes the file a document as well."""
    evidence = opened(
        {"i.json": {"load": {"timestamps": [NOON], "values": [4]}, "top_sql": [{"statement": "SELECT 1", "load": 3.5}]}}
    )
    assert evidence.metrics is not None
    assert evidence.documents is not None
    assert any("SELECT 1" in line for line in evidence.documents.lines("i.json"))


def test_parquet_is_read_as_csv_is(opened: OpenFiles, entry: Entry) -> None:
    """Section 13: metrics as CSV or Parquet; what a cell cannot hold is left out and named, and damage is said."""
    frame = pl.DataFrame(
        {
            "timestamp": [datetime.fromtimestamp(NOON, UTC), datetime.fromtimestamp(NOON + 60, UTC)],
            "service": ["cart", "cart"],
            "cpu": [1.5, None],
            "tags": [["a"], ["b"]],
        }
    )
    packed = io.BytesIO()
    frame.write_parquet(packed)
    evidence = opened({"m.parquet": packed.getvalue(), "torn.parquet": packed.getvalue()[:-30], "n.parquet": b"PAR1"})
    assert samples(series_of(evidence)["cart", "cpu"]) == [(0, 1.5)]
    assert entry(evidence, "m.parquet").problem == "columns of lists and structures were left out: tags"
    for name in ("torn.parquet", "n.parquet"):
        assert entry(evidence, name).kind == "unreadable"
        assert "looks like Parquet and cannot be read" in (entry(evidence, name).problem or "")
