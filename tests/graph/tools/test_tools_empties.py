"""A search that found nothing says how much it looked at: silence about nothing compared is no good news (X5)."""

import numpy as np
import pytest
from tools_samples import MINUTE, ONSET, START, Recorded, call, incident, series, spans, texts

from diag_graph.analysis.records import LogRecord, Series, Span
from diag_graph.sources.ports import SourceEntry
from diag_graph.tools import log_reading
from diag_graph.tools.definition import AnyTool, ToolOutput
from diag_graph.tools.find_log_patterns import FIND_LOG_PATTERNS
from diag_graph.tools.find_metric_anomalies import FIND_METRIC_ANOMALIES
from diag_graph.tools.find_span_anomalies import FIND_SPAN_ANOMALIES
from diag_graph.tools.list_evidence import LIST_EVIDENCE

WINDOW = "from 2026-07-16T06:00:00Z to 2026-07-16T06:59:00Z"
AT = "onset 2026-07-16T06:40:00Z"


def lines(first: int, last: int, level: str = "INFO") -> list[LogRecord]:
    """Four lines a minute of the same kind."""
    return [LogRecord(f"handled {n}", START + 15.0 * n, "shop", level) for n in range(4 * first, 4 * last)]


def thin(samples: int) -> Series:
    """A series that has few samples."""
    return Series("batch", "jobs", START + 600.0 * np.arange(samples), np.ones(samples))


STEADY = series("shop", "cpu_usage_percent", 35.0, 35.0, 4)

CASES: tuple[tuple[AnyTool, Recorded, float | None, str, tuple[int, int]], ...] = (
    (
        FIND_METRIC_ANOMALIES,
        Recorded(metric_series=[STEADY, thin(2)]),
        ONSET,
        (
            f"No series changed notably at the onset: 1 series compared {WINDOW}, {AT}; "
            "1 series had too few samples to compare."
        ),
        (1, 1),
    ),
    (
        FIND_METRIC_ANOMALIES,
        Recorded(metric_series=[thin(2)]),
        ONSET,
        (
            f"No series could be compared at the onset: 0 series compared {WINDOW}, {AT}; "
            "1 series had too few samples to compare."
        ),
        (0, 1),
    ),
    (
        FIND_METRIC_ANOMALIES,
        Recorded(metric_series=[STEADY, thin(2)]),
        None,
        (
            f"No common change stands out in 1 series {WINDOW}, and no onset is known to compare with; "
            "1 series had too few samples to compare."
        ),
        (1, 1),
    ),
    (
        FIND_LOG_PATTERNS,
        Recorded(log_records=lines(0, 59)),
        ONSET,
        (
            "No log pattern is new, gone or notably more frequent: 1 pattern compared, 236 lines in 1 pattern, "
            f"160 before the onset and 76 since {WINDOW}, {AT}."
        ),
        (1, 0),
    ),
    (
        FIND_LOG_PATTERNS,
        Recorded(log_records=lines(41, 59)),
        ONSET,
        (
            "No log pattern is new, gone or notably more frequent: 0 patterns compared, 72 lines in 1 pattern, "
            f"0 before the onset and 72 since {WINDOW}, {AT}."
        ),
        (0, 1),
    ),
    (
        FIND_LOG_PATTERNS,
        Recorded(log_records=lines(0, 59)),
        None,
        (
            "No log pattern is new, gone or notably more frequent: 0 patterns compared, 236 lines in 1 pattern "
            f"{WINDOW}, no onset known."
        ),
        (0, 1),
    ),
    (
        FIND_SPAN_ANOMALIES,
        Recorded(trace_spans=spans(range(60), 4.0)),
        ONSET,
        (
            "No operation got notably slower, fails or stopped since the onset: 2 operations of 2 compared, "
            f"120 spans before and 57 since, {WINDOW}, {AT}."
        ),
        (2, 0),
    ),
    (
        FIND_SPAN_ANOMALIES,
        Recorded(trace_spans=[Span("t", "a", None, "shop", "GET /", ONSET + MINUTE, 5.0)]),
        ONSET,
        (
            "No operation is found to fail, and none could be compared with before: 0 operations of 1 compared, "
            f"0 spans before and 1 since, {WINDOW}, {AT}; there is no span before the onset to compare with."
        ),
        (0, 1),
    ),
)


@pytest.mark.parametrize(("tool", "recorded", "onset", "text", "extent"), CASES)
def test_nothing_found_says_how_much_was_compared(
    tool: AnyTool, recorded: Recorded, onset: float | None, text: str, extent: tuple[int, int]
) -> None:
    """In one regular grammar, which code that reads sentences can rely on, and in fields."""
    output = call(tool, recorded, known=onset)
    assert texts(output) == [text]
    assert (output.items[0]["compared"], output.items[0]["skipped"], output.items[0]["cut"]) == (*extent, None)
    assert_extent_stands_at_the_top(output)


def assert_extent_stands_at_the_top(output: ToolOutput) -> None:
    """The same fields, where code looks that reads no item."""
    assert {name: output.extra[name] for name in ("compared", "skipped", "cut")} == {
        name: output.items[0][name] for name in ("compared", "skipped", "cut")
    }


def test_nothing_found_in_a_part_says_that_reading_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """X4: and which part of the time was read."""
    monkeypatch.setattr(log_reading, "MAX_LINES", 100)
    output = call(FIND_LOG_PATTERNS, Recorded(log_records=lines(0, 59)))
    (text,) = texts(output)
    cut = output.items[0]["cut"]
    assert text.endswith(
        f"reading stopped after {output.extra['lines']} lines, those from {cut['since']} to {cut['until']}: "
        "name a shorter window for the rest."
    )
    assert_extent_stands_at_the_top(output)


@pytest.mark.parametrize("tool", [FIND_METRIC_ANOMALIES, FIND_SPAN_ANOMALIES, FIND_LOG_PATTERNS])
def test_what_was_found_says_how_much_was_compared_too(tool: AnyTool) -> None:
    """The fields stand at the top of every result."""
    assert call(tool, incident()).extra["compared"] > 0


def test_what_was_assumed_is_told_from_what_could_not_be_read() -> None:
    """An assumption is no loss."""
    entries = [
        SourceEntry("a.log", "logs", "12 log lines", assumption="times without a zone read as UTC"),
        SourceEntry("b.log", "logs", "12 log lines", problem="3 of 12 lines are cut"),
    ]
    found = texts(call(LIST_EVIDENCE, Recorded(source_entries=entries), section="sources"))
    assert [("could be read" in text, "zone read as UTC" in text) for text in found] == [(True, False), (False, True)]
