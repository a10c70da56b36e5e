"""What a file is, told from its beginning, and how it will be read when somebody asks.

Opening a folder looks at the first kilobytes of each file; JSON that is one value is parsed at once, for nothing less
tells what it holds. All else is read on first use, once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import cached_property
from typing import Any

from diag_graph.sources.folder import fields
from diag_graph.sources.folder.documents import document_lines, json_lines
from diag_graph.sources.folder.encodings import NotTextError
from diag_graph.sources.folder.exposition import (
    first_time,
    looks_like_exposition,
    read_exposition,
    service_in_name,
)
from diag_graph.sources.folder.json_file import JsonFile, kind_of_record, spans_detail
from diag_graph.sources.folder.log_file import Keeping, LogFile
from diag_graph.sources.folder.log_json import JsonLogReader
from diag_graph.sources.folder.log_text import TextLogReader, looks_like_log
from diag_graph.sources.folder.manifest import FileRule
from diag_graph.sources.folder.progress import FolderProgress
from diag_graph.sources.folder.reading import Kind, Reading, Tally, count, parse_json
from diag_graph.sources.folder.record_tables import kind_of_table, rows_of_table
from diag_graph.sources.folder.spans import UNIT_ASSUMED, SpanReader
from diag_graph.sources.folder.table_layout import layout_of
from diag_graph.sources.folder.tables import read_table
from diag_graph.sources.folder.text import TextFile, open_text
from diag_graph.sources.folder.times import TimeReader
from diag_graph.sources.folder.walk import MANIFEST, Found, Refused

MAX_JSON_BYTES = 256 << 20
"""JSON of one value is parsed as a whole; larger is shown as a document only."""
_LINES_JUDGED = 50
_JSON_LINES_OF = 3
"""Of so many lines one must be an object, that they are lines of JSON with something else between."""
_BEGINS_LIKE_JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]0-9-])")
"""What broken JSON begins with, and a line of text in brackets does not."""


@dataclass
class FolderFile:
    """One file of the folder.

    Attributes:
        name: Its path within the folder.
        kinds: What it holds, as far as its beginning tells.
        services: Services that its beginning names.
        moment: A time that its beginning names.
    """

    name: str
    kinds: frozenset[Kind]
    _load: Callable[[], Reading] = field(repr=False)
    services: frozenset[str] = frozenset()
    moment: float | None = None

    @cached_property
    def reading(self) -> Reading:
        """What it gave; read on first use. A file that vanishes meanwhile gives its problem."""
        try:
            return self._load()
        except NotTextError as error:
            return Reading(problems=(str(error),))


@dataclass(frozen=True, slots=True)
class Context:
    """What the folder knows that a file does not say."""

    zone: tzinfo
    zone_name: str
    rules: Mapping[str, FileRule]
    known_services: Callable[[], Collection[str]]
    near: Callable[[], float | None]
    keeping: Keeping
    progress: FolderProgress

    def times_for(self, name: str) -> TimeReader:
        """A reader of a file's times, in the zone that the manifest gives for it."""
        rule = self.rules.get(name)
        return TimeReader((rule.zone if rule else None) or self.zone, self.near)


def look_at(item: Found | Refused, context: Context) -> FolderFile:
    """Say what a file is."""
    if isinstance(item, Refused):
        return _unreadable(item.name, item.why)
    if item.name in context.rules and context.rules[item.name].kind == "ignore":
        return _unreadable(item.name, f"left out, as {MANIFEST} says")
    try:
        file = open_text(item, context.progress.advance)
    except NotTextError as error:
        return _unreadable(item.name, str(error))
    return _Look(file, context).file()


def _unreadable(name: str, why: str) -> FolderFile:
    reading = Reading(problems=(why,))
    return FolderFile(name, frozenset({Kind.UNREADABLE}), lambda: reading)


class _Look:
    """One file being looked at."""

    def __init__(self, text: TextFile, context: Context) -> None:
        self._text = text
        self._context = context
        self._times = context.times_for(text.name)
        self._rule = context.rules.get(text.name, FileRule())
        self._service = self._rule.service or fields.service_of_file(text.name)

    def file(self) -> FolderFile:
        """Say what it is: what the manifest says, or else what its beginning looks like."""
        forced: dict[str, Callable[[], FolderFile | None]] = {
            "document": self._document,
            "metrics": self._table,
            "logs": lambda: self._json_lines(Kind.LOGS) or self._lazily(Kind.LOGS, self._read_text_log),
        }
        if self._rule.kind in forced:
            found = forced[self._rule.kind]()
            return found or self._document(f"{MANIFEST} calls it {self._rule.kind}, and it does not read as that")
        head = self._text.head.lstrip()
        if head.startswith("$ "):  # a recorded command and its output
            return self._document()
        if head[:1] in {"{", "["}:
            found = self._json_lines() or self._json()
            if found:
                return found
        found = self._exposition() or self._table() or self._table_of_records()
        if found:
            return found
        return self._lazily(Kind.LOGS, self._read_text_log) if self._looks_like_log() else self._document()

    def _exposition(self) -> FolderFile | None:
        if not looks_like_exposition(self._text.head):
            return None
        service = self._rule.service or service_in_name(self._text.name)
        moment = first_time(self._text, self._context.times_for(self._text.name))
        kind = Kind.DOCUMENT if moment is None else Kind.METRICS
        return self._lazily(kind, lambda: read_exposition(self._text, self._times, service), moment=moment)

    def _looks_like_log(self) -> bool:
        return looks_like_log(self._text.head, self._context.times_for(self._text.name))

    def _table(self) -> FolderFile | None:
        times = self._context.times_for(self._text.name)
        layout = layout_of(self._text.head, times, self._rule.columns)
        if layout is None:
            return None
        return self._lazily(
            Kind.METRICS,
            lambda: read_table(
                self._text,
                layout,
                self._times,
                self._context.known_services,
                self._rule.service,
                fields.stem_of(self._text.name),
            ),
            moment=None if times.year_assumed else layout.moment,
        )

    def _table_of_records(self) -> FolderFile | None:
        kind = kind_of_table(self._text.head)
        if kind is None:
            return None

        def load() -> Reading:
            content = JsonFile(self._text.name, self._times, self._rule.service or self._service)
            tally = Tally()
            rows = list(rows_of_table(self._text, tally))
            content.take(kind, rows)
            reading = content.reading(None)
            return replace(
                reading, problems=(*tally.sentences(len(rows) + sum(tally.counts.values()), "row"), *reading.problems)
            )

        return self._lazily(kind, load)

    def _lazily(
        self, kind: Kind, load: Callable[[], Reading], services: Collection[str] = (), moment: float | None = None
    ) -> FolderFile:
        text, progress = self._text, self._context.progress
        progress.expect(text.size)

        def read() -> Reading:
            with progress.reading(text.name, text.size):
                return self._noted(load())

        return FolderFile(text.name, frozenset({kind}), read, frozenset(services), moment)

    def _noted(self, reading: Reading) -> Reading:
        """The reading, with what had to be assumed about times and encoding."""
        assumed = list(self._text.assumptions)
        for encoding, lines in sorted(self._text.strays.items()):
            assumed.append(f"{count(lines, 'line')} in another encoding read as {encoding.upper()}")
        if self._times.zone_assumed:
            zone = self._context.zone_name if self._rule.zone is None else self._rule.zone
            assumed.append(f"times without a zone read as {zone}")
        if self._times.year_assumed:
            assumed.append("times without a year: the year nearest to the other evidence was taken")
        return replace(
            reading,
            problems=(*reading.problems, *self._text.notes),
            assumptions=(*reading.assumptions, *assumed),
            zone_assumed=self._times.zone_assumed and not self._rule.zone,
        )

    def _document(self, problem: str | None = None) -> FolderFile:
        def load() -> Reading:
            lines = document_lines(self._text)
            detail = count(len(lines), "line of text", "lines of text") if len(lines) else "empty"
            return Reading(lines=lines, details=(detail,), problems=(problem,) if problem else ())

        return self._lazily(Kind.DOCUMENT, load)

    def _read_text_log(self) -> Reading:
        tally = Tally()
        reader = TextLogReader(self._times, self._service, tally, self._context.known_services)
        logs = LogFile(self._text, reader, self._context.keeping, inherit_times=True)
        return Reading(logs=logs, details=(logs.index.detail(),), problems=tally.sentences(len(logs.index), "event"))

    # --- JSON -------------------------------------------------------------------------------------------------

    def _json_lines(self, forced: Kind | None = None) -> FolderFile | None:
        """A file of JSON lines; None when it is none."""
        lines = [line for line in self._text.head.splitlines() if line.strip()][:_LINES_JUDGED]
        records = [record for record in map(_object, lines) if record is not None]
        # One object alone is one value, and so is what begins with a bracket on a line of its own.
        if len(lines) < 2 or lines[0].strip() in {"{", "["} or len(records) * _JSON_LINES_OF < len(lines):  # noqa: PLR2004
            return None
        kinds = [forced or kind_of_record(record) for record in records]
        times = self._context.times_for(self._text.name)
        moment = times.read(fields.pick(records[0], (*fields.TIME, *fields.START)))
        services = {fields.text_of(fields.pick(record, fields.SERVICE)) for record in records} - {""}
        if kinds.count(Kind.SPANS) * 2 > len(kinds):
            return self._lazily(Kind.SPANS, self._read_span_lines, services, moment)
        timed = sum(fields.key_of(tuple(record), fields.TIME) is not None for record in records)
        if kinds.count(Kind.LOGS) * 2 > len(kinds) or (kinds.count(None) * 2 > len(kinds) and timed * 2 > len(kinds)):
            return self._lazily(Kind.LOGS, self._read_log_lines, services, moment)
        tally = Tally()
        return self._json_value([record for _, record in self._objects(tally)], tally)

    def _objects(self, tally: Tally) -> Sequence[tuple[int, dict[str, Any]]]:
        found = []
        for number, (_, line) in enumerate(self._text.lines(), start=1):
            record = _object(line)
            if record is not None:
                found.append((number, record))
            elif line.strip():
                tally.miss("are no JSON objects and were left out", number)
        return found

    def _read_span_lines(self) -> Reading:
        tally, reader, found = Tally(), SpanReader(self._times), []
        number = 0
        for number, (_, line) in enumerate(self._text.lines(), start=1):
            if not line.strip():
                continue
            record = _object(line)
            span = reader.span(record) if record is not None else None
            if span is not None:
                found.append(span)
            else:
                tally.miss("are not JSON" if record is None else "are spans without an id or a start", number)
        return Reading(
            spans=tuple(found),
            details=(spans_detail(found),),
            problems=tally.sentences(number),
            assumptions=(UNIT_ASSUMED,) if reader.unit_assumed else (),
        )

    def _read_log_lines(self) -> Reading:
        tally = Tally()
        logs = LogFile(self._text, JsonLogReader(self._times, self._service, tally), self._context.keeping)
        return Reading(logs=logs, details=(logs.index.detail(),), problems=tally.sentences(len(logs.index)))

    def _json(self) -> FolderFile | None:
        """A file that is one JSON value; None when it only begins like one."""
        if self._text.size > MAX_JSON_BYTES:
            return self._document(f"one JSON value of {self._text.size >> 20:,} MB is not parsed: make it JSON lines")
        try:
            value = parse_json(self._text.text())
        except ValueError as error:
            if not _BEGINS_LIKE_JSON.match(self._text.head) or self._looks_like_log():
                return None
            return self._document(f"broken JSON, kept as text: {error}")
        return self._json_value(value)

    def _json_value(self, value: Any, tally: Tally | None = None) -> FolderFile:  # noqa: ANN401 (foreign JSON)
        content = JsonFile(self._text.name, self._times, self._rule.service or fields.service_of_file(self._text.name))
        whole = content.read(value, self._rule.service) and content.found_any()
        reading = content.reading(None if whole else json_lines(value, self._text.text()))
        if tally is not None and tally.counts:
            total = self._text.text().count("\n")
            reading = replace(reading, problems=(*tally.sentences(total), *reading.problems))
        reading = self._noted(reading)
        services = {
            *(span.service for span in reading.spans),
            *(alert.service for alert in reading.alerts),
            *(change.service for change in reading.changes),
            *(end for edge in reading.edges for end in (edge.caller, edge.callee)),
        } - {""}
        span = reading.span()
        return FolderFile(
            self._text.name, reading.kinds(), lambda: reading, frozenset(services), span.end if span else None
        )


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = parse_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
