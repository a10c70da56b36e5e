from __future__ import annotations

from collections.abc import Callable

import pytest

from diag_graph.analysis.records import Series
from diag_graph.sources.folder.exposition import looks_like_exposition, service_in_name
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

NOON = 1796040000.0
"""2026-11-30T12:00:00Z."""
SCRAPE = """# HELP http_requests_total All requests.
# TYPE http_requests_total counter
http_requests_total{{method="GET",path="/pay \\"now\\"\\n"}} {total}
http_requests_total{{method="POST",path="C:\\\\x"}} 3e2
# TYPE queue_depth gauge
queue_depth {depth}
# TYPE legacy_hits counter
legacy_hits 7
process_start_time_seconds NaN
"""


def found_in(evidence: Evidence) -> dict[str, list[Series]]:
    """All series by metric."""
    assert evidence.metrics is not None
    by_metric: dict[str, list[Series]] = {}
    for one in evidence.metrics.series():
        by_metric.setdefault(one.metric, []).append(one)
    return by_metric


def points(one: Series) -> list[tuple[float, float]]:
    """A series' points, in seconds after noon."""
    return list(zip((one.times - NOON).tolist(), one.values.tolist(), strict=True))


@pytest.mark.parametrize("stamp", ["20261130T12{minute:02d}00Z", "2026-11-30_12-{minute:02d}-00Z", "{epoch}"])
def test_a_file_a_scrape_becomes_series_by_the_times_in_their_names(
    opened: OpenFiles, entry: Entry, stamp: str
) -> None:
    """Section 13: text exposition; an exporter states no times, and whoever saves scrapes names files by them."""
    names = [stamp.format(minute=minute, epoch=int(NOON) + 60 * minute) for minute in range(3)]
    files = {
        f"checkout/metrics-{name}.prom": SCRAPE.format(total=100 + minute, depth=minute)
        for minute, name in enumerate(names)
    }
    evidence = opened(files)
    found = found_in(evidence)
    (depth,) = found["queue_depth"]
    assert points(depth) == [(0, 0), (60, 1), (120, 2)]
    assert (depth.service, depth.source) == ("checkout", f"checkout/metrics-{names[0]}.prom and 2 more")
    get, post = sorted(found["http_requests_total"], key=lambda one: one.labels["method"])
    assert get.labels == {"method": "GET", "path": '/pay "now"\n'}
    assert post.labels["path"] == "C:\\x"
    assert points(post)[0] == (0, 300)
    assert found["legacy_hits"][0].labels == {"__type__": "counter"}
    assert "process_start_time_seconds" not in found
    assumed = entry(evidence, f"checkout/metrics-{names[0]}.prom").assumption or ""
    assert "taken at 2026-11-30T12:00:00Z, as the file's name says" in assumed


@pytest.mark.parametrize(
    "line", ["{iso}", "# {iso}", "# scraped at {iso}", "Mon Nov 30 12:0{minute}:00 UTC 2026", "{epoch}"]
)
def test_scrapes_in_a_row_are_dated_by_the_line_before_each(opened: OpenFiles, line: str) -> None:
    """`while sleep 60; do date; curl .../metrics; done >> scrapes.txt` is what a person has at hand."""
    text = "".join(
        line.format(iso=f"2026-11-30T12:0{minute}:00Z", minute=minute, epoch=int(NOON) + 60 * minute)
        + "\n"
        + SCRAPE.format(total=minute, depth=10 - minute)
        for minute in range(4)
    )
    assert points(found_in(opened({"scrapes.txt": text}))["queue_depth"][0]) == [(0, 10), (60, 9), (120, 8), (180, 7)]


def test_times_of_samples_are_milliseconds_or_in_openmetrics_seconds(opened: OpenFiles) -> None:
    """Federation and OpenMetrics state times; exemplars, units and the end are no samples."""
    evidence = opened(
        {
            "federate.txt": f'# TYPE up untyped\nup{{job="api",instance="a:80"}} 1 {int(NOON * 1000)}\n',
            "open.txt": "# TYPE latency_seconds histogram\n# UNIT latency_seconds seconds\n"
            f'latency_seconds_bucket{{le="0.1",service="pay"}} 8 {NOON + 0.5} # {{trace_id="ab}}c"}} 0.05 {NOON}\n'
            f'{{"http.server.active", service="pay"}} 5 {NOON}\n# EOF\n',
        }
    )
    found = found_in(evidence)
    assert (found["up"][0].service, points(found["up"][0])) == ("api", [(0, 1)])
    assert points(found["latency_seconds_bucket"][0]) == [(0.5, 8)]
    assert (found["http.server.active"][0].service, points(found["http.server.active"][0])) == ("pay", [(0, 5)])


def test_a_scrape_without_any_time_stays_text_and_says_what_would_help(opened: OpenFiles, entry: Entry) -> None:
    """A number without a time is no series, and when a file was copied says nothing about it."""
    evidence = opened({"metrics.prom": SCRAPE.format(total=1, depth=2)})
    assert evidence.metrics is None
    found = entry(evidence, "metrics.prom")
    assert (found.kind, "no sample has a time" in (found.problem or "")) == ("document", True)
    assert evidence.documents is not None
    assert "queue_depth 2" in evidence.documents.lines("metrics.prom")


def test_a_damaged_line_is_counted_and_the_rest_is_read(opened: OpenFiles, entry: Entry) -> None:
    """A torn line costs itself."""
    torn = ['a{x="2} 1', "a{x=3} 4", "not a sample"]
    text = "\n".join(["# TYPE a gauge", f'a{{x="1"}} 1 {int(NOON)}000', *torn, f"a 1.2.3 {int(NOON)}000", "a 2"])
    evidence = opened({"m.prom": text})
    assert [points(one) for one in found_in(evidence)["a"]] == [[(0, 1)]]
    problem = entry(evidence, "m.prom").problem or ""
    assert "3 of 7 lines are no samples: first at line 3" in problem
    assert "1 sample without a time" in problem


@pytest.mark.parametrize(
    "text",
    [
        "MemTotal:       16384 kB\nMemFree:         1024 kB\n",
        "nr_free_pages 1234\nnr_dirty 17\n",
        "2026-11-30T12:00:00Z INFO started {port=80}\n",
        "server {\n  listen 80;\n}\n",
        "# TYPE of thing\nhello\n",
    ],
)
def test_other_texts_of_words_and_numbers_are_none(text: str) -> None:
    """What has neither types nor labels is not taken for metrics."""
    assert not looks_like_exposition(text)


def test_series_of_one_name_that_overlap_stay_apart(opened: OpenFiles) -> None:
    """Two things of one name are not one, and files of different folders are of different things."""
    rows = {
        name: "timestamp,service,metric,value\n" + "".join(f"{NOON + 60 * n:.0f},web,cpu,{n}\n" for n in minutes)
        for name, minutes in {"a.csv": range(4), "b.csv": range(2, 6), "c/d.csv": range(10, 12)}.items()
    }
    assert sorted(one.source for one in found_in(opened(rows))["cpu"]) == ["a.csv", "b.csv", "c/d.csv"]


@pytest.mark.parametrize(
    ("name", "service"),
    [
        ("checkout-metrics.prom", "checkout"),
        ("metrics-checkout-20261130T120000Z.txt", "checkout"),
        ("1796040000.prom", ""),
        ("checkout/2026-11-30_12-00.prom", "checkout"),
        ("scrapes.txt", ""),
    ],
)
def test_a_scrape_belongs_to_whom_its_file_names(name: str, service: str) -> None:
    """An exporter does not say who it is: that is the scraper's knowledge, and here the file's name."""
    assert service_in_name(name) == service
