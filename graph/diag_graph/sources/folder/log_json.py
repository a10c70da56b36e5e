"""Log events that are JSON objects: of applications, Docker, Fluent Bit, journald, Elastic, Google Cloud, Datadog."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diag_graph.analysis.records import LogRecord
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.levels import level_in, level_of
from diag_graph.sources.folder.log_event import ReadEvent
from diag_graph.sources.folder.reading import Tally, parse_json
from diag_graph.sources.folder.text import clean
from diag_graph.sources.folder.times import TimeReader

_MAX_LAYOUTS = 4096
_NESTED = ("kubernetes", "resource", "labels", "docker", "attributes", "fields", "metadata", "host", "agent")
"""Objects beside a message that may name the service it comes from."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which keys of records with the same keys hold what, most telling first."""

    time: tuple[str, ...]
    level: tuple[str, ...]
    message: tuple[str, ...]
    service: tuple[str, ...]
    weak_service: tuple[str, ...]
    trace: tuple[str, ...]
    rest: tuple[str, ...]


def _lay_out(keys: Sequence[str]) -> _Layout:
    by_name: dict[str, str] = {}
    for key in keys:
        by_name.setdefault(fields.plain(key), key)

    def present(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(by_name[name] for name in names if name in by_name)

    time, level, message = present(fields.TIME), present(fields.LEVEL), present(fields.MESSAGE)
    service, trace = present(fields.SERVICE), present(fields.TRACE_ID)
    spoken_for = {*time[:1], *level[:1], *message[:1], *service[:1], *trace[:1]}
    return _Layout(
        time,
        (*level, *present(("status", "type"))),
        message,
        service,
        present(fields.WEAK_SERVICE),
        trace,
        tuple(key for key in keys if key not in spoken_for),
    )


class JsonLogReader:
    """Reads log events from JSON objects, one a line or handed over parsed."""

    def __init__(self, times: TimeReader, service: str, tally: Tally) -> None:
        """Make a reader for one file.

        Args:
            times: Reads its times.
            service: What its name says the events are from; empty when it does not say.
            tally: Where lines that are no JSON objects are counted.
        """
        self._times = times
        self._service = service
        self._tally = tally
        self._layouts: dict[tuple[str, ...], _Layout] = {}

    def starts(self, line: str) -> bool:  # noqa: ARG002 (of the readers' protocol)
        """Every line is an event of its own."""
        return True

    def event(self, text: str, line: int) -> ReadEvent:
        """The event on a line. A line that is no JSON object is counted, and given as it stands."""
        try:
            value = parse_json(text)
        except ValueError:
            self._tally.miss("are not JSON and stand as plain text", line)
            value = None
        if isinstance(value, dict):
            return self.parsed(value)
        if value is not None:
            self._tally.miss("are no JSON objects and stand as plain text", line)
        message = clean(text).strip()
        return ReadEvent(message, None, self._service, level_in(message))

    def record(self, event: Mapping[str, Any], source: str) -> LogRecord:
        """The event that a parsed object holds, as a record that says where it stands."""
        return self.parsed(event).record(source)

    def parsed(self, event: Mapping[str, Any]) -> ReadEvent:
        """The event that a parsed object holds."""
        keys = tuple(event)
        layout = self._layouts.get(keys)
        if layout is None:
            if len(self._layouts) >= _MAX_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[keys] = _lay_out(keys)
        time = None
        for key in layout.time:
            time = self._times.read(event[key])
            if time is not None:
                break
        message, inner = _message(event, layout.message)
        level = ""
        for key in layout.level:
            value = event[key]
            level = level_of(value, key) if isinstance(value, str) or key not in {"status", "type"} else ""
            if level:
                break
        service = self._service_of(event, layout)
        trace = ""
        for key in layout.trace:
            trace = fields.text_of(event[key])
            if trace:
                break
        attributes = _attributes(event, layout.rest)
        if inner is not None:
            wrapped = self.parsed(inner)
            return ReadEvent(
                wrapped.message,
                time if time is not None else wrapped.time,
                service if service and service != self._service else wrapped.service or service,
                wrapped.level or level,
                wrapped.trace_id or trace,
                {**attributes, **wrapped.attributes},
            )
        return ReadEvent(message, time, service, level or level_in(message), trace, attributes)

    def _service_of(self, event: Mapping[str, Any], layout: _Layout) -> str:
        for key in layout.service:
            name = fields.text_of(event[key])
            if name:
                return name
        for key in layout.rest:
            inner = event[key]
            if isinstance(inner, dict) and fields.plain(key) in _NESTED:
                nested = inner.get("labels") if isinstance(inner.get("labels"), dict) else None
                name = fields.text_of(fields.pick(inner, fields.SERVICE)) or (
                    fields.text_of(fields.pick(nested, fields.SERVICE)) if nested else ""
                )
                if name:
                    return name
        if self._service:
            return self._service
        for key in layout.weak_service:
            name = fields.text_of(event[key])
            if name:
                return name
        return ""


def _message(event: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, dict[str, Any] | None]:
    """The message, and the object that it is itself, when a container's runtime wrapped a JSON line."""
    for key in keys:
        value = event[key]
        text = value if isinstance(value, str) else fields.text_of(value)
        if not text and isinstance(value, dict) and fields.pick(value, fields.MESSAGE) is not None:
            return "", value
        if not text:
            continue
        text = text.rstrip("\n")
        if text.startswith("{") and text.endswith("}"):
            try:
                inner = parse_json(text)
            except ValueError:
                return text, None
            if isinstance(inner, dict) and fields.key_of(tuple(inner), fields.MESSAGE):
                return text, inner
        return text, None
    payload = event.get("jsonPayload") or event.get("_source") or event.get("result")
    if isinstance(payload, dict) and fields.key_of(tuple(payload), fields.MESSAGE):
        return "", payload
    return json.dumps(event, ensure_ascii=False, default=str), None


def _attributes(event: Mapping[str, Any], rest: Sequence[str]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for key in rest:
        value = event[key]
        if isinstance(value, dict) and key.lower() in fields.ATTRIBUTES:
            attributes.update(value)
        elif value is not None:
            attributes[key] = value
    return attributes
