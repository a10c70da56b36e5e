"""Logs are told by kinds of lines while they are read, in as few looks at each line as it needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.analysis import log_patterns
from diag_graph.analysis.log_patterns import PatternSurvey, count_patterns, survey_of
from diag_graph.analysis.records import TimeRange
from diag_graph.sources.folder import log_file, log_formats, text
from diag_graph.sources.folder.log_text import TextLogReader
from diag_graph.sources.folder.reading import Tally
from diag_graph.sources.folder.times import TimeReader
from diag_graph.sources.folder.walk import Found, walk
from diag_graph.sources.ports import Evidence, FormSource

OpenFiles = Callable[..., Evidence]
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()

PAYMENT = "".join(
    f"2026-11-30 12:{minute:02d}:{second:02d},250 {level} [payment] {what} {second}\n"
    for minute in range(3)
    for second, level, what in (
        (1, "INFO", "paid order"),
        (7, "ERROR", "no money for order"),
        (7, "INFO", "paid order"),
    )
)
CART = "".join(
    f'{{"ts": "2026-11-30T12:0{n}:30Z", "level": "warn", "service": "cart", "msg": "slow {n}"}}\n' for n in range(4)
)
UNTIMED = "INFO paid order 3\nINFO something else\n"


def told(survey: PatternSurvey) -> list[tuple[object, ...]]:
    """All that a survey says, in a form that compares."""
    return [
        (one.service, one.level, one.template, one.times.tolist(), one.undated, one.first, one.latest)
        for one in survey.patterns
    ]


def both_ways(evidence: Evidence, window: TimeRange | None) -> tuple[PatternSurvey, PatternSurvey]:
    """The patterns in a window as the index tells them, and mined from the lines themselves."""
    logs = evidence.logs
    assert isinstance(logs, FormSource)
    return survey_of(logs.forms(window)), count_patterns(logs.records(window))


@pytest.mark.parametrize(
    "window", [None, TimeRange(NOON, NOON + 65), TimeRange(NOON + 61.5, NOON + 130), TimeRange(0, 1)]
)
def test_what_the_index_tells_is_what_the_lines_say(opened: OpenFiles, window: TimeRange | None) -> None:
    """Templates, counts, times and examples are those that come of reading each line of the window."""
    evidence = opened({"a.log": PAYMENT, "b/c.jsonl": CART, "c.log": UNTIMED + PAYMENT.replace(",250", ",300")})
    indexed, mined = both_ways(evidence, window)
    assert told(indexed) == told(mined)
    assert indexed.lines > 0


def test_batches_make_no_difference(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither to forms nor to the times that lines without one inherit."""
    files = {"a.log": PAYMENT.replace("INFO", "INFO\nno beginning here\n") + UNTIMED}
    whole = told(both_ways(opened(files), None)[0])
    monkeypatch.setattr(log_patterns, "BATCH", 3)
    monkeypatch.setattr("diag_graph.sources.folder.log_index.BATCH", 3)
    monkeypatch.setattr(text, "BLOCK_BYTES", 40)
    assert told(both_ways(opened(files), None)[0]) == whole


def test_varieties_beyond_the_limit_count_as_other_messages(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is bounded, and errors have room of their own."""
    monkeypatch.setattr(log_patterns, "MAX_VARIETY", 3)
    words = ("alpha", "beta", "gamma", "delta", "epsilon")
    lines = [f"2026-11-30 12:00:00 INFO [a] {word} {word} {word}" for word in words]
    evidence = opened({"a.log": "\n".join([*lines, "2026-11-30 12:00:00 ERROR [a] it broke", ""])})
    survey, _ = both_ways(evidence, None)
    found = {(one.level, one.template): one.lines for one in survey.patterns}
    assert found[("INFO", "(other messages)")] == 2
    assert found[("ERROR", "it broke")] == 1
    assert survey.lines == 6


def test_no_more_than_a_share_of_a_folder_is_kept_in_memory(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small files are as much as a large one; what is not kept is read again, and says the same."""
    files = {f"{name}.log": PAYMENT for name in "abc"}
    expected = list(opened(files).logs.records())  # type: ignore[union-attr]
    monkeypatch.setattr(log_file, "KEEP_TOTAL_BYTES", len(PAYMENT) + 10)
    evidence = opened(files)
    assert evidence.logs is not None
    assert list(evidence.logs.records()) == expected
    kept = [file.reading.logs._kept is not None for file in evidence.logs._files]  # type: ignore[attr-defined]
    assert kept == [True, False, False]


def test_an_event_that_is_read_again_is_the_same(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blank lines within it and carriage returns too."""
    trace = (
        '2026-11-30 12:00:00 ERROR boom\r\nTraceback (most recent call last):\r\n\r\n  File "x.py"\r\nValueError: é\r\n'
    )
    text = trace + "2026-11-30 12:00:01 INFO next\r\n"
    kept = list(opened({"a.log": text}).logs.records())  # type: ignore[union-attr]
    monkeypatch.setattr(log_file, "KEEP_BYTES", 1)
    again = list(opened({"a.log": text}).logs.records())  # type: ignore[union-attr]
    assert again == kept
    assert kept[0].message == 'boom\nTraceback (most recent call last):\n  File "x.py"\nValueError: é'


STAMPS = (
    "2026-11-30 12:00:05", "2026-11-30T12:00:05Z", "2026-11-30T12:00:05.123456789Z", "2026-11-30 12:00:05,7",
    "2026-11-30 12:00:05 UTC", "2026-11-30 12:00:05 +0200", "2026-11-30T12:00:05-07", "2026-11-30 12:00:05:",
    "2026-11-30 12:00:05 #42", "2026-11-30 12:00:05]", "2026-13-45 25:61:61", "0001-01-01T00:00:00Z",
    "2026-11-30 12:00:05 EST", "2026-11-30T12:00:05+02:00,", "2026-11-30t12:00:05z", "2026-11-30 12:00",
)  # fmt: skip
BEHIND = (
    " ERROR [pay] boom", " host1 app[7]: boom", " ERROR pay: boom", " stdout F boom",
    " [http-nio-1] WARN  c.s.P - boom",
    "  indented", "\tat a.B(C.java:1)", "", " - boom | bang", ' "GET /x HTTP/1.1" 200',
    " [a] [ERROR] [b] x", "-x", "|x",
    ' 127.0.0.1 [30/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1', " INFO INFO x", " ERROR: x", " [x", " 订单失败",
)  # fmt: skip


@pytest.mark.parametrize("zone", [UTC, ZoneInfo("America/New_York"), timezone(timedelta(hours=5, minutes=45))])
def test_the_short_way_reads_what_the_long_way_reads(zone: timezone, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most lines take it; whether they do must not be seen."""
    lines = [stamp + rest for stamp in STAMPS for rest in BEHIND]

    def read() -> tuple[list[object], bool]:
        times = TimeReader(zone)
        reader = TextLogReader(times, "", Tally(), lambda: ["pay"])
        return [(reader.starts(line), reader.event(line, 1)) for line in lines], times.zone_assumed

    short = read()
    monkeypatch.setattr(log_formats, "ISO_FIRST", re.compile("(?!)"))
    assert short == read()


@given(
    moment=st.datetimes(datetime(1990, 1, 1), datetime(2150, 1, 1)),  # noqa: DTZ001 - the zone is the reader's
    digits=st.text("0123456789", max_size=9),
    offset=st.sampled_from(["", "Z", "+02:00", "-0330"]),
)
def test_a_time_in_parts_is_the_time_of_the_whole(moment: datetime, digits: str, offset: str) -> None:
    """To the last bit of the float."""
    times = TimeReader(ZoneInfo("Europe/Berlin"))
    second = moment.strftime("%Y-%m-%dT%H:%M:%S")
    whole = second + (f".{digits}" if digits else "") + offset
    assert times.read_second(second + offset, digits or None) == times.read(whole)


def test_overlong_lines_come_in_pieces_with_the_right_offsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and pieces end anywhere; each line is found again at its offset."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 7)
    monkeypatch.setattr(text, "MAX_LINE_BYTES", 20)
    raw = b"short\n" + b"x" * 47 + b"\n\r\n" + "é".encode() * 9 + b"\nlast"
    (tmp_path / "a.txt").write_bytes(raw)
    (found,) = walk(tmp_path)
    assert isinstance(found, Found)
    lines = list(text.open_text(found).lines())
    assert [line for _, line in lines] == ["short", "x" * 20, "x" * 20, "x" * 7, "", "é" * 9, "last"]
    for offset, line in lines:
        assert raw[offset:].startswith(line.encode())
    assert [offset for offset, _ in lines] == sorted({offset for offset, _ in lines})
