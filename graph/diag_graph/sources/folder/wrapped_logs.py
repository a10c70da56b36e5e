"""Log events that tools hand out in JSON of their own: Kubernetes events, Loki's streams, a pod's log as one text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from diag_graph.analysis.records import LogRecord
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.levels import level_in, level_of
from diag_graph.sources.folder.log_text import TextLogReader
from diag_graph.sources.folder.reading import Tally
from diag_graph.sources.folder.times import TimeReader

_EVENT_OBJECT = ("involved_object", "regarding", "object")
_EVENT_TIME = (
    "last_timestamp",
    "last_time",
    "event_time",
    "last_seen",
    "first_timestamp",
    "first_time",
    "creation_timestamp",
)
_TEXT_KEYS = ("logs", "log", "output", "stdout", "text")
_POINT = 2


def looks_like_kubernetes_event(record: Mapping[str, Any]) -> bool:
    """Whether an object is an event of the Kubernetes API, or of a tool that renames its fields."""
    keys = tuple(record)
    return (
        fields.key_of(keys, ("reason",)) is not None
        and fields.key_of(keys, ("message", "note")) is not None
        and fields.key_of(keys, _EVENT_OBJECT) is not None
    )


def kubernetes_event(record: Mapping[str, Any], times: TimeReader, source: str) -> LogRecord:
    """The event as a log record of the object that it is about, at the time it was last seen."""
    target = fields.pick(record, _EVENT_OBJECT)
    name = str(target.get("name") or "") if isinstance(target, dict) else str(target).rpartition("/")[2]
    metadata = record.get("metadata")
    time = times.read(fields.pick(record, _EVENT_TIME))
    if time is None and isinstance(metadata, dict):
        time = times.read(metadata.get("creationTimestamp"))
    reason = fields.text_of(record.get("reason"))
    message = fields.text_of(fields.pick(record, ("message", "note")))
    left = {"metadata", "message", "note", "type"}
    attributes = {key: value for key, value in record.items() if key not in left and value is not None}
    return LogRecord(f"{reason}: {message}", time, name, level_of(record.get("type") or ""), "", attributes, source)


def loki_streams(
    data: Mapping[str, Any], times: TimeReader, source: str, known: Collection[str]
) -> Iterator[LogRecord]:
    """The lines of a Loki `query_range` answer's `data`."""
    for stream in fields.items_of(data.get("result")):
        if not isinstance(stream, dict) or not isinstance(stream.get("stream"), dict):
            continue
        labels = {str(key): str(value) for key, value in stream["stream"].items()}
        service = fields.text_of(fields.pick(labels, (*fields.SERVICE, *fields.WEAK_SERVICE)))
        reader = TextLogReader(times, service, Tally(), lambda: known)
        for point in fields.items_of(stream.get("values")):
            if not isinstance(point, list) or len(point) < _POINT:
                continue
            record = reader.event(str(point[1]), 0)
            own = level_of(fields.pick(labels, ("level", "severity", "detected_level")) or "")
            time = times.read(point[0])
            yield LogRecord(
                record.message, time if time is not None else record.time, service or record.service,
                record.level or own, record.trace_id, {**labels, **record.attributes}, source,
            )  # fmt: skip


def text_within(record: Mapping[str, Any]) -> str | None:
    """The key of an object's text of several log lines, when the object says whose they are; None without one."""
    if fields.key_of(tuple(record), fields.SERVICE) is None:
        return None
    for key in _TEXT_KEYS:
        text = record.get(key)
        if isinstance(text, str) and "\n" in text.strip():
            return key
    return None


def lines_within(record: Mapping[str, Any], key: str, times: TimeReader, source: str) -> Iterator[LogRecord]:
    """The events of such a text."""
    service = fields.text_of(
        fields.pick({name: value for name, value in record.items() if name != key}, fields.SERVICE)
    )
    reader = TextLogReader(times, service, Tally(), frozenset)
    event: list[str] = []
    time: float | None = None
    for line in (*str(record[key]).splitlines(), None):
        begins = line is None or reader.starts(line)
        if event and begins:
            found = reader.event("\n".join(event), 0)
            time = time if found.time is None else found.time
            yield LogRecord(
                found.message, time, service, found.level or level_in(found.message), found.trace_id,
                found.attributes, source,
            )  # fmt: skip
            event = []
        if line is not None and line.strip():
            event.append(line)
