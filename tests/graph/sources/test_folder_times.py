from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from diag_graph.analysis.records import TimeRange, utc
from diag_graph.sources.errors import FolderError
from diag_graph.sources.folder.times import TimeReader
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

NOON = 1796040000.0
"""2026-11-30T12:00:00Z."""


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-30T12:00:00Z", "2026-11-30T13:00:00+01:00", "2026-11-30 12:00:00,000", "2026-11-30 12:00:00 UTC",
        "2026-11-30 12:00:00 +0000", "20261130T120000Z", "2026-11-30T12:00:00.000000000Z", "2026/11/30 12:00:00",
        "30/Nov/2026:12:00:00 +0000", "Mon Nov 30 12:00:00 2026", "Mon, 30 Nov 2026 12:00:00 GMT",
        "Nov 30, 2026 12:00:00",
        "1796040000", "1796040000.0", "1796040000000", "1796040000000000", "1796040000000000000", "1.79604e9",
        1796040000, 1796040000.0, 1796040000000,
    ],
)  # fmt: skip
def test_times_are_read_however_they_are_written(value: object) -> None:
    """Section 13: ISO 8601, epoch numbers of any unit, and the times of common logs."""
    assert TimeReader(UTC).read(value) == NOON


@pytest.mark.parametrize(
    "value", ["", "soon", "0001-01-01T00:00:00Z", 0, 42, -1, 1e30, True, None, "2026-13-45", float("nan"), "x" * 99]
)
def test_what_is_no_time_is_none(value: object) -> None:
    """Zero times, counters and words are no times of an incident."""
    assert TimeReader(UTC).read(value) is None


def test_times_without_a_zone_are_in_the_folders(opened: OpenFiles, entry: Entry) -> None:
    """The manifest's zone goes before the caller's, and UTC is the last; the inventory says which."""
    table = "time,service,metric,value\n2026-11-30 12:00:00,a,b,1\n"
    for files, zone, name, shift in (
        ({"m.csv": table}, None, "UTC", 0),
        ({"m.csv": table}, "Asia/Tokyo", "Asia/Tokyo", 9),
        ({"m.csv": table, "incident.toml": 'timezone = "Europe/Berlin"'}, "Asia/Tokyo", "Europe/Berlin", 1),
    ):
        evidence = opened(files, zone)
        assert evidence.metrics is not None
        assert evidence.metrics.series()[0].times.tolist() == [NOON - 3600 * shift]
        assert evidence.zone == name
        assert entry(evidence, "m.csv").assumption == f"times without a zone read as {name}"


def test_summer_time_is_that_of_the_zone() -> None:
    """A zone is more than an offset."""
    assert TimeReader(ZoneInfo("Europe/Berlin")).read("2026-07-16 08:05:00") == TimeReader(UTC).read(
        "2026-07-16T06:05:00Z"
    )


def test_a_whole_number_of_hours_apart_is_noted(opened: OpenFiles) -> None:
    """Logs in local time beside metrics in UTC: the notes say by how much, and what to do."""
    log = "".join(f"2026-11-30 20:{minute:02d}:00 INFO tick\n" for minute in range(30))
    table = "time,service,metric,value\n2026-11-30T12:00:00Z,a,b,1\n2026-11-30T12:30:00Z,a,b,1\n"
    notes = opened({"a.log": log, "m.csv": table}).notes
    assert list(notes) == ["a.log"]
    assert "carry no zone and lie 8 hours after those of m.csv" in notes["a.log"]
    evidence = opened({"a.log": log, "m.csv": table, "incident.toml": 'timezone = "Asia/Shanghai"'})
    assert dict(evidence.notes) == {}


def test_the_manifest_names_window_onset_and_odd_files(opened: OpenFiles, entry: Entry) -> None:
    """Section 13: `incident.toml` names the window, the time zone, or how to read an odd file."""
    evidence = opened(
        {
            "incident.toml": "[window]\nstart = 2026-11-30T11:00:00Z\nend = '2026-11-30 13:00'\n"
            "onset = 2026-11-30T12:00:00Z\n"
            '[files."odd.csv"]\nkind = "metrics"\ntime_column = "when"\nservice = "till"\ntimezone = "Europe/Berlin"\n'
            '[files."old.log"]\nkind = "ignore"\n[files."plain.log"]\nkind = "document"\n',
            "odd.csv": "id,count,level,when\n1796040001,7,3,2026-11-30 13:00:00\n",
            "old.log": "2026-11-30T12:00:00Z ERROR x\n",
            "plain.log": "2026-11-30T12:00:00Z ERROR x\n",
        }
    )
    assert evidence.window_hint == TimeRange(NOON - 3600, NOON + 3600)
    assert evidence.notes["onset"] == utc(NOON)
    assert evidence.metrics is not None
    found = {(one.service, one.metric): one.times.tolist() for one in evidence.metrics.series()}
    assert found["till", "level"] == [NOON]
    assert entry(evidence, "old.log").problem == "left out, as incident.toml says"
    assert entry(evidence, "plain.log").kind == "document"
    assert evidence.logs is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timezone = Berlin", r"not valid TOML: .*line 1"),
        ('\ntimezone = "Mars/Olympus"', r"line 2, timezone: no time zone is called 'Mars/Olympus'"),
        ("[window]\nstart = 2026-11-30T11:00:00Z", r"line 2, start: start and end"),
        ('[window]\nstart = "soon"\nend = "later"', r"line 2, start: 'soon' is no time"),
        ("[window]\nstart = 2026-11-30T11:00:00Z\nend = 2026-11-30T10:00:00Z", r"line 3, end: the window ends before"),
        ("[window]\nbegin = 1", r"line 2, begin: there is no setting window.begin; there are start, end, onset"),
        ('[files."a.csv"]\nkind = "table"', r"line 2, kind: 'table' is none of metrics, logs"),
        ("files = 3", r"line 1, files: files must be a table"),
    ],
)
def test_a_wrong_manifest_is_refused_by_line_and_key(opened: OpenFiles, text: str, message: str) -> None:
    """A manifest that is wrong is one clear error: reading on would read something else than was meant."""
    with pytest.raises(FolderError, match=message):
        opened({"incident.toml": text})


def test_an_unknown_zone_is_refused(opened: OpenFiles) -> None:
    """The caller's zone is checked too."""
    with pytest.raises(FolderError, match="no time zone is called 'Nowhere'"):
        opened({"a.md": "x"}, "Nowhere")


def test_one_old_record_does_not_stretch_what_was_recorded(opened: OpenFiles) -> None:
    """A deploy of last month and a stray old line say nothing of when samples were taken."""
    samples = "\n".join(f"2026-11-30T10:{minute:02d}:00Z,pay,cpu,1" for minute in range(30))
    evidence = opened(
        {
            "metrics.csv": f"timestamp,service,metric,value\n{samples}\n",
            "changes.json": '{"deploys": [{"service": "pay", "version": "1", "time": "2026-09-20T10:00:00Z"}]}',
            "pay.log": "2026-10-31T10:00:00Z INFO pay started\n2026-11-30T10:20:00Z INFO pay works\n",
        }
    )
    span = evidence.inventory.span()
    assert span is not None
    assert span.end - span.start < 7 * 3600
