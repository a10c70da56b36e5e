"""JSON files: what a parsed value holds, whoever wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diag_graph.analysis.records import Alert, Change, Edge, LogRecord, Series, Span, utc
from diag_graph.sources.folder import alerts, calls, changes, fields, otlp, samples, spans, wrapped_logs
from diag_graph.sources.folder.log_file import LogList
from diag_graph.sources.folder.log_json import JsonLogReader
from diag_graph.sources.folder.otlp_metrics import MetricPoints
from diag_graph.sources.folder.reading import Kind, Reading, Tally, count, series_detail
from diag_graph.sources.folder.times import TimeReader

_JUDGED = 20
"""Members of a list that are looked at to say what it is a list of."""

_SPAN_LISTS = frozenset({"spans", "traces", "trace"})
_LOG_LISTS = frozenset({"logs", "log_events", "entries", "hits", "records", "lines", "messages"})


def kind_of_record(record: Mapping[str, Any]) -> Kind | None:
    """What a single JSON object is: a span, an alert, a change or a log event; None for anything else."""
    if spans.looks_like_span(record):
        return Kind.SPANS
    if alerts.looks_like_alert(record):
        return Kind.ALERTS
    if changes.looks_like_change(record):
        return Kind.CHANGES
    return Kind.LOGS if looks_like_log(record) else None


def looks_like_log(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a log event: it has a message, and a time or a level."""
    keys = tuple(record)
    if fields.key_of(keys, fields.MESSAGE) is None:
        return isinstance(record.get("jsonPayload"), dict) or isinstance(record.get("_source"), dict)
    return fields.key_of(keys, (*fields.TIME, *fields.LEVEL)) is not None


def majority(records: Sequence[Any]) -> Kind | None:
    """The kind that more than half of the records are of."""
    kinds = Counter(kind_of_record(record) for record in records[:_JUDGED] if isinstance(record, dict))
    if not kinds:
        return None
    kind, votes = kinds.most_common(1)[0]
    return kind if votes * 2 > min(len(records), _JUDGED) else None


@dataclass
class JsonFile:
    """Collects what one JSON value holds.

    Attributes:
        name: The file's path within the folder.
        times: Reads its times.
        service: What the file's name says its content belongs to.
    """

    name: str
    times: TimeReader
    service: str
    tally: Tally = field(default_factory=Tally)
    series: list[Series] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    alerts: list[Alert] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    unit_assumed: bool = False
    points: MetricPoints = field(init=False)

    def __post_init__(self) -> None:
        """Points of OTLP are gathered over all requests of the file."""
        self.points = MetricPoints(self.times, self.name)

    def read(self, value: Any, service: str = "") -> bool:  # noqa: ANN401 (foreign JSON)
        """Take what the value holds.

        Args:
            value: Parsed JSON.
            service: What the objects around it belong to.

        Returns:
            Whether all of it was taken; what was not makes the file a document as well.
        """
        if isinstance(value, list):
            return self._read_list(value, None, service)
        if not isinstance(value, dict):
            return False
        for read in (self._read_answer, self._read_graph, self._read_webhook, self._read_text):
            taken = read(value)
            if taken:
                return True
        if kind_of_record(value) is not None:
            return self._read_list([value], None)
        return self._read_members(value, service)

    def _read_answer(self, value: Mapping[str, Any]) -> bool:
        """An OTLP export request, or what Prometheus or Loki answered to a query."""
        if otlp.ROOTS & value.keys():
            return self._read_otlp(value)
        if "resultType" not in value or not isinstance(value.get("result"), list):
            return False
        if value["resultType"] == "streams":
            self.logs.extend(wrapped_logs.loki_streams(value, self.times, self.name, ()))
        else:
            self.series.extend(samples.prometheus_series(value, self.times, self.name))
        return True

    def _read_graph(self, value: Mapping[str, Any]) -> bool:
        edges = calls.edges_of(value, hinted=calls.names_a_graph(self.name))
        self.edges.extend(edges)
        return bool(edges)

    def _read_webhook(self, value: Mapping[str, Any]) -> bool:
        alerts_given = value.get("alerts")
        return isinstance(alerts_given, list) and bool(alerts_given) and self._read_alerts(alerts_given, value)

    def _read_text(self, value: Mapping[str, Any]) -> bool:
        key = wrapped_logs.text_within(value)
        if key is not None:
            self.logs.extend(wrapped_logs.lines_within(value, key, self.times, self.name))
        return key is not None

    def _read_otlp(self, request: Mapping[str, Any]) -> bool:
        for span in otlp.spans_of(request, self.times):
            if span is None:
                self.tally.miss("spans lack an id or a start", 1)
            else:
                self.spans.append(span)
        self.logs.extend(otlp.logs_of(request, self.times, self.name))
        for _ in range(self.points.take(request)):
            self.tally.miss("metrics are of no known kind", 1)
        return True

    def _read_members(self, value: Mapping[str, Any], service: str) -> bool:
        """Lists under keys that say what they hold, series, and objects that wrap more of the same."""
        service = fields.text_of(fields.pick(value, fields.SERVICE)) or service
        if "Datapoints" in value:
            self.series.extend(samples.series_of_datapoints(value, service, self.times, self.name))
            return True
        whole = bool(value)
        for key, inner in value.items():
            if isinstance(inner, dict) and inner:
                whole = (self._read_lists_of_points(inner, key, service) or self.read(inner, service)) and whole
            elif isinstance(inner, list) and inner:
                whole = self._read_list(inner, fields.plain(key), service) and whole
        return whole and self.found_any()

    def _read_lists_of_points(self, record: Mapping[str, Any], key: str, service: str) -> bool:
        series = samples.series_of_lists(record, key, service, self.times, self.name)
        if series is not None:
            self.series.append(series)
        return series is not None

    def _read_list(self, items: Sequence[Any], key: str | None, service: str = "") -> bool:
        records = [item for item in items if isinstance(item, dict)]
        if key in _SPAN_LISTS or any(isinstance(item, dict) and isinstance(item.get("spans"), list) for item in items):
            return self._read_spans(items, key)
        if records and len(records) == len(items) and self._read_special(records, key or "", service):
            return True
        kind = majority(items)
        if key in changes.KIND_OF_LIST and kind in {None, Kind.CHANGES} and self._read_changes(items, key):
            return True
        if kind is not None:
            return self.take(kind, items, key)
        edges = calls.edges_of(list(items))
        self.edges.extend(edges)
        return bool(edges)

    def take(self, kind: Kind, items: Sequence[Any], key: str | None = None) -> bool:
        """Take objects that are all of one kind: spans, log events, changes or alerts."""
        readers: dict[Kind, Callable[[Sequence[Any], str | None], bool]] = {
            Kind.SPANS: self._read_spans,
            Kind.LOGS: self._read_logs,
            Kind.CHANGES: self._read_changes,
            Kind.ALERTS: lambda some, _: self._read_alerts(some, {}),
        }
        return readers[kind](items, key)

    def _read_special(self, records: Sequence[dict[str, Any]], key: str, service: str) -> bool:
        """Lists whose members are recognised one by one, by their shape rather than by a majority."""
        if all(map(wrapped_logs.looks_like_kubernetes_event, records)):
            self.logs.extend(
                wrapped_logs.kubernetes_event(record, self.times, f"{self.name}:{number}")
                for number, record in enumerate(records, start=1)
            )
            return True
        if all(map(samples.looks_like_sample, records)):
            self.series.extend(samples.series_of_samples(records, self.times, self.name))
            return True
        if all(samples.parallel_lists(record) for record in records):
            return all([self._read_lists_of_points(record, key, service) for record in records])  # noqa: C419 (take all)
        if any(otlp.ROOTS & record.keys() for record in records):
            return all([self.read(record) for record in records])  # noqa: C419 (take all)
        return False

    def _read_spans(self, items: Sequence[Any], _key: str | None) -> bool:
        reader = spans.SpanReader(self.times)
        before = len(self.spans)
        for number, item in enumerate(items, start=1):
            if isinstance(item, dict) and isinstance(item.get("spans"), list):
                jaeger = "processes" in item or any(
                    isinstance(span, dict) and "operationName" in span and "spanID" in span for span in item["spans"]
                )
                found = (
                    list(spans.jaeger_spans(item)) if jaeger else [_span(reader, raw, item) for raw in item["spans"]]
                )
            elif isinstance(item, list):  # Zipkin: a list of traces, each a list of spans
                found = [_span(reader, raw, {}) for raw in item]
            else:
                found = [_span(reader, item, {})]
            for span in found:
                if span is None:
                    self.tally.miss("spans lack an id or a start", number)
                else:
                    self.spans.append(span)
        self.unit_assumed = self.unit_assumed or reader.unit_assumed
        return len(self.spans) > before

    def _read_logs(self, items: Sequence[Any], _key: str | None) -> bool:
        reader = JsonLogReader(self.times, self.service, self.tally)
        for number, item in enumerate(items, start=1):
            if isinstance(item, dict):
                self.logs.append(reader.record(item, f"{self.name}:{number}"))
            else:
                self.tally.miss("log events are no objects", number)
        return True

    def _read_alerts(self, items: Sequence[Any], common: Mapping[str, Any]) -> bool:
        for number, item in enumerate(items, start=1):
            if isinstance(item, dict):
                self.alerts.append(alerts.alert_of(item, self.times, common))
            else:
                self.tally.miss("alerts are no objects", number)
        return True

    def _read_changes(self, items: Sequence[Any], key: str | None) -> bool:
        listed_as = changes.KIND_OF_LIST.get(key or "", "change")
        found = [changes.change_of(item, listed_as, self.times) if isinstance(item, dict) else None for item in items]
        if not any(found):
            return False
        for number, change in enumerate(found, start=1):
            if change is None:
                self.tally.miss(f"{key or 'changes'} say neither when nor what", number)
            else:
                self.changes.append(change)
        return True

    def found_any(self) -> bool:
        """Whether anything was found."""
        return any((self.series, self.points, self.logs, self.spans, self.alerts, self.changes, self.edges))

    def reading(self, lines: Sequence[str] | None) -> Reading:
        """All of it, with the words for the inventory.

        Args:
            lines: The file as a document, if it is one (as well).
        """
        logs = LogList(self.logs) if self.logs else None
        self.series.extend(self.points.series())
        return Reading(
            series=tuple(self.series),
            logs=logs,
            spans=tuple(self.spans),
            alerts=tuple(self.alerts),
            changes=tuple(self.changes),
            edges=tuple(dict.fromkeys(self.edges)),
            lines=lines,
            details=tuple(self._details(logs, lines)),
            problems=tuple(self.tally.items()),
            assumptions=(spans.UNIT_ASSUMED,) if self.unit_assumed else (),
        )

    def _details(self, logs: LogList | None, lines: Sequence[str] | None) -> list[str]:
        details = []
        if self.series:
            details.append(series_detail(self.series))
        if logs:
            details.append(logs.index.detail())
        if self.spans:
            details.append(spans_detail(self.spans))
        if self.alerts:
            names = ", ".join(dict.fromkeys(alert.name for alert in self.alerts[:3]))
            firing = sum(alert.status == "firing" for alert in self.alerts)
            details.append(f"{count(len(self.alerts), 'alert')} ({names}), {firing} firing")
        if self.changes:
            kinds = Counter(change.kind for change in self.changes)
            details.append(
                count(len(self.changes), "change") + f" ({', '.join(f'{n} {kind}' for kind, n in kinds.items())})"
            )
        if self.edges:
            details.append(count(len(set(self.edges)), "call") + " between services")
        if lines is not None:
            details.append(count(len(lines), "line of text", "lines of text"))
        return details


def spans_detail(found: Sequence[Span]) -> str:
    """What the inventory says about spans."""
    services = {span.service for span in found if span.service}
    failed = sum(span.error for span in found)
    words = f"{count(len(found), 'span')} of {count(len({span.trace_id for span in found}), 'trace')}"
    words += f" in {count(len(services), 'service')}, {failed:,} with an error"
    if found:
        begin, end = min(span.start for span in found), max(span.start for span in found)
        words += f", {utc(begin)} to {utc(end)}"
    return words


def _span(reader: spans.SpanReader, raw: object, trace: Mapping[str, Any]) -> Span | None:
    if not isinstance(raw, dict):
        return None
    inherited = {key: trace[key] for key in ("trace_id", "traceId", "traceID") if key in trace and key not in raw}
    return reader.span({**inherited, **raw})
