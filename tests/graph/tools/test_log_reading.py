"""Logs are read once, near the onset first where they are too long, and counted without reading all of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from tools_samples import MINUTE, ONSET, SPAN, START, Recorded, call, context, evidence, item, texts

from diag_graph.analysis.records import LogRecord, TimeRange
from diag_graph.tools import log_reading, search_logs
from diag_graph.tools.find_log_patterns import FIND_LOG_PATTERNS
from diag_graph.tools.list_evidence import LIST_EVIDENCE
from diag_graph.tools.log_reading import count_lines, patterns_about, read_patterns
from diag_graph.tools.orientation import orient
from diag_graph.tools.search_logs import SEARCH_LOGS
from diag_graph.tools.traced_lines import LOOKED_AT


@dataclass(frozen=True)
class Counting(Recorded):
    """Recorded logs that remember how many of them were handed out."""

    given: list[LogRecord] = field(default_factory=list)

    def records(self, window: TimeRange | None = None) -> Iterator[LogRecord]:
        """Lines in the window."""
        for record in super().records(window):
            self.given.append(record)
            yield record


def long_log(per_minute: int = 60, minutes: int = 60) -> Counting:
    """Two services at a steady rate, one of which also fails after the onset."""
    step = MINUTE / per_minute
    lines = [
        LogRecord(f"handled {n}", START + n * step, ("shop", "mail")[n % 2], "INFO")
        for n in range(per_minute * minutes)
    ]
    failed = [LogRecord(f"disk full on sd{n}", ONSET + 7.0 * n, "mail", "ERROR") for n in range(100)]
    return Counting(log_records=sorted([*lines, *failed], key=lambda one: one.time or 0.0))


def test_lines_are_read_once_for_all_tools() -> None:
    """Orientation reads them; listing and comparing, also of a part, read none again but a few, to see their traces."""
    recorded = long_log(minutes=59)
    held = context(recorded)
    orient(held.evidence, "what is wrong?", SPAN.end, ONSET)
    read = len(recorded.given)
    for tool, arguments in ((LIST_EVIDENCE, {}), (FIND_LOG_PATTERNS, {}), (FIND_LOG_PATTERNS, {"since": "06:20"})):
        tool.run(tool.arguments(**arguments), held)
    assert read == len(recorded.log_records)
    assert len(recorded.given) <= read + LOOKED_AT


def test_a_level_that_begins_with_the_trouble_is_still_compared() -> None:
    """The log's own beginning is the baseline, not that of the chosen lines."""
    found = call(FIND_LOG_PATTERNS, long_log(), level="ERROR")
    assert item(found, change="new")["before"] == 0


def test_a_log_that_is_too_long_is_read_about_the_onset_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """X4: a cut is stated with the time that was read, and both sides of the onset are in it."""
    monkeypatch.setattr(log_reading, "MAX_LINES", 2_000)
    found = call(FIND_LOG_PATTERNS, long_log())
    assert "reading stopped after" in found.summary
    cut = found.extra["cut"]
    assert "2026-07-16T06:1" < cut["since"] < "2026-07-16T06:40:00Z" < cut["until"]
    assert f"those from {cut['since']} to {cut['until']}" in found.summary
    assert item(found, level="ERROR")["direction"] == "new"


def test_a_short_log_is_counted_and_a_long_one_sampled_over_all_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing what is there must not read it all."""
    assert count_lines(evidence(long_log())).services == {"shop": 1_800, "mail": 1_900}
    monkeypatch.setattr(log_reading, "COUNTED", 200)
    monkeypatch.setattr(log_reading, "SAMPLED", 10)
    recorded = long_log()
    counted = count_lines(evidence(recorded))
    assert counted.sampled == 200
    assert set(counted.services) == {"shop", "mail"}
    assert len(recorded.given) < 500
    assert any("looked at" in text for text in texts(call(LIST_EVIDENCE, long_log(), section="services")))


def test_lines_without_a_time_are_read_once_in_any_case() -> None:
    """They come with every window."""
    recorded = Recorded(log_records=[LogRecord("boom", service="shop", level="ERROR") for _ in range(3)])
    window = TimeRange(SPAN.start, SPAN.end)
    assert patterns_about(evidence(recorded), window, ONSET).lines == 3
    assert read_patterns(evidence(recorded), window).lines == 3


def test_the_causes_of_a_failure_are_citable_with_where_it_was_logged_first() -> None:
    """Each is a text of its own in the result, by patterns as by lines."""
    thrown = "shop.PayError: no answer\n\tat a.B(C.java:1)\nCaused by: java.io.IOException: gone\n\t... 3 more"
    trace = f"charge failed\n{thrown}"
    recorded = Recorded(
        log_records=[
            *(LogRecord(f"handled {n}", START + n * MINUTE, "shop", "INFO", source=f"a.log:{n}") for n in range(59)),
            *(LogRecord(trace, ONSET + n, "shop", "ERROR", source=f"a.log:{100 + n}") for n in range(9)),
        ]
    )
    chain = ["shop.PayError: no answer", "java.io.IOException: gone"]
    pattern = item(call(FIND_LOG_PATTERNS, recorded), level="ERROR")
    assert (pattern["source"], pattern["causes"]) == ("a.log:100", chain)
    assert "java.io.IOException: gone" in pattern["text"]
    line = item(call(SEARCH_LOGS, recorded, query="charge failed", limit=1), change="line")
    assert (line["source"], line["causes"]) == ("a.log:100", chain)


def test_a_search_that_stops_early_has_read_what_came_since_the_onset(monkeypatch: pytest.MonkeyPatch) -> None:
    """X4: the cut is stated; lines since the onset are searched first, and no line twice."""
    undated = LogRecord("disk full, no time", service="mail", level="ERROR")
    recorded = Recorded(log_records=[undated, *long_log().log_records])
    everything = call(SEARCH_LOGS, recorded, query="disk full")
    assert everything.extra["matched"] == 101
    monkeypatch.setattr(search_logs, "MAX_LINES", 2_000)
    found = call(SEARCH_LOGS, recorded, query="disk full")
    assert "searching stopped after 2,000 lines" in found.summary
    assert found.extra["matched"] == 101
