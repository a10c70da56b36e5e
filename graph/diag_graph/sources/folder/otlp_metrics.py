"""Metrics of OTLP in JSON: all kinds of points, gathered over the requests of a file.

Data model: https://opentelemetry.io/docs/specs/otel/metrics/data-model/. A histogram becomes what Prometheus makes of
one (`..._count`, `..._sum`, `..._bucket` with `le`), an exponential histogram too, on the bounds of its buckets, so
that there is one way to means and quantiles (`analysis.histograms`). Sums of delta temporality are added up to a
counter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diag_graph.analysis.records import Series
from diag_graph.analysis.series_groups import COUNTER_TYPE, TYPE_LABEL, counts_by_name
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.columns import SeriesName
from diag_graph.sources.folder.otlp_values import attributes_of, leaves, whole_number
from diag_graph.sources.folder.samples import make_series
from diag_graph.sources.folder.times import TimeReader

_KINDS = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")
_DELTA = frozenset({1, "1", "AGGREGATION_TEMPORALITY_DELTA"})
_NO_VALUE = 1
"""Flag of a point that says that there is no value."""
_INSTANCES = {"k8s.pod.name": "pod", "service.instance.id": "instance", "host.name": "host"}
"""Attributes of a resource that tell the instances of a service apart, the first that is there, and its label."""
_UNITS = {"By": "bytes", "1": "", "Cel": "C"}
"""Units of UCUM that are written otherwise; those in braces name what is counted, and are none."""
MAX_BUCKETS = 160
"""Buckets of an exponential histogram; more are put together two by two (as SDKs do, whose limit this is)."""

_Labels = tuple[tuple[str, str], ...]
_Key = tuple[str, str, _Labels]


@dataclass
class _Points:
    """The points of one series-to-be: time and value, and whether a value is the increase since the point before."""

    delta: bool
    values: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class _Exponential:
    """The points of one exponential histogram: time, scale, number of values up to zero, and numbers by bucket."""

    delta: bool
    points: list[tuple[float, int, float, dict[int, float]]] = field(default_factory=list)


@dataclass
class MetricPoints:
    """Gathers the points of export requests.

    Attributes:
        times: Reads their times.
        source: The file.
    """

    times: TimeReader
    source: str
    _plain: dict[_Key, _Points] = field(default_factory=dict)
    _exponential: dict[_Key, _Exponential] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._plain or self._exponential)

    def take(self, request: Mapping[str, Any]) -> int:
        """Take the metrics of a request; returns how many are of no kind that is known."""
        unknown = 0
        for service, resource, raw in leaves(
            request, "resourceMetrics", ("scopeMetrics", "instrumentationLibraryMetrics"), "metrics"
        ):
            kind = next((one for one in _KINDS if isinstance(raw.get(one), dict)), None)
            if kind is None:
                unknown += 1
                continue
            instance = next(({label: str(resource[key])} for key, label in _INSTANCES.items() if resource.get(key)), {})
            metric = _Metric(self, service, str(raw.get("name") or ""), _unit(raw.get("unit")), instance, raw[kind])
            for point in fields.items_of(raw[kind].get("dataPoints")):
                time = self.times.read(point.get("timeUnixNano")) if isinstance(point, dict) else None
                if time is not None and not _flags(point) & _NO_VALUE:
                    metric.take(kind, point, time)
        return unknown

    def add(self, key: _Key, time: float, value: float, *, delta: bool) -> None:
        """Add a value of a series."""
        self._plain.setdefault(key, _Points(delta)).values.append((time, value))

    def add_exponential(self, key: _Key, point: Mapping[str, Any], time: float, *, delta: bool) -> None:
        """Add a point of an exponential histogram."""
        scale, below = whole_number(point.get("scale")), fields.number_of(point.get("zeroCount", 0))
        if not isinstance(scale, int) or abs(scale) > 20:  # noqa: PLR2004 - the data model's bounds are -10 and 20
            return
        negative, positive = (fields.table_of(point.get(side)) for side in ("negative", "positive"))
        below += sum(fields.number_of(one) for one in fields.items_of(negative.get("bucketCounts")))
        offset = whole_number(positive.get("offset", 0))
        counts = {
            (offset if isinstance(offset, int) else 0) + at: fields.number_of(one)
            for at, one in enumerate(fields.items_of(positive.get("bucketCounts")))
        }
        held = self._exponential.setdefault(key, _Exponential(delta))
        held.points.append((time, scale, below, {index: number for index, number in counts.items() if number > 0}))

    def series(self) -> Iterator[Series]:
        """All series, in the order in which they first came."""
        for key, held in self._exponential.items():
            self._spread(key, held)
        for (service, metric, labels), points in self._plain.items():
            values = sorted(points.values)
            if points.delta:
                total = np.cumsum([value for _, value in values]).tolist()
                values = [(time, value) for (time, _), value in zip(values, total, strict=True)]
            made = make_series(SeriesName(service, metric, dict(labels)), values, self.source)
            if made is not None:
                yield made

    def _spread(self, key: _Key, held: _Exponential) -> None:
        """An exponential histogram's buckets on common bounds: those of the coarsest scale, or coarser."""
        scale = min(scale for _, scale, _, _ in held.points)
        points = [(time, below, _coarser(counts, own - scale)) for time, own, below, counts in held.points]
        while len(indices := {index for _, _, counts in points for index in counts}) > MAX_BUCKETS:
            scale -= 1
            points = [(time, below, _coarser(counts, 1)) for time, below, counts in points]
        service, metric, labels = key
        bounds = {0.0: -1, **{_upper(index, scale): index for index in sorted(indices)}}
        for time, below, counts in points:
            reached = below
            for bound, index in bounds.items():
                reached += counts.get(index, 0.0) if bound else 0.0
                self.add(_bucket_key(service, metric, labels, bound), time, reached, delta=held.delta)
            self.add(_bucket_key(service, metric, labels, np.inf), time, reached, delta=held.delta)


@dataclass(frozen=True, slots=True)
class _Metric:
    """One metric of a request, whose points are taken."""

    into: MetricPoints
    service: str
    name: str
    unit: str
    instance: Mapping[str, str]
    held: Mapping[str, Any]

    @property
    def _delta(self) -> bool:
        return self.held.get("aggregationTemporality") in _DELTA

    def take(self, kind: str, point: Mapping[str, Any], time: float) -> None:
        """Take one point."""
        own = {key: str(value) for key, value in attributes_of(point.get("attributes")).items()}
        labels = {**self.instance, **own}
        measured = {**labels, "unit": self.unit} if self.unit else labels
        if kind in {"gauge", "sum"}:
            counter = kind == "sum" and (self.held.get("isMonotonic") is True or self._delta)
            typed = {TYPE_LABEL: COUNTER_TYPE} if counter and not counts_by_name(self.name) else {}
            number = fields.number_of(point.get("asDouble", point.get("asInt")))
            self._add("", {**measured, **typed}, time, number, delta=kind == "sum" and self._delta)
            return
        delta = kind != "summary" and self._delta
        self._add("_count", labels, time, fields.number_of(point.get("count")), delta=delta)
        self._add("_sum", measured, time, fields.number_of(point.get("sum")), delta=delta)
        if kind == "summary":
            for one in fields.items_of(point.get("quantileValues")):
                told = fields.table_of(one)
                share = {"quantile": str(told.get("quantile", 0))}
                self._add("", {**measured, **share}, time, fields.number_of(told.get("value")), delta=False)
        elif kind == "histogram":
            self._add_buckets(point, measured, time, delta=delta)
        else:
            key = (self.service, self.name, tuple(sorted(measured.items())))
            self.into.add_exponential(key, point, time, delta=delta)

    def _add(self, suffix: str, labels: Mapping[str, str], time: float, value: float, *, delta: bool) -> None:
        if not np.isnan(value):
            self.into.add((self.service, self.name + suffix, tuple(sorted(labels.items()))), time, value, delta=delta)

    def _add_buckets(self, point: Mapping[str, Any], labels: Mapping[str, str], time: float, *, delta: bool) -> None:
        bounds = [fields.number_of(one) for one in fields.items_of(point.get("explicitBounds"))]
        counts = [fields.number_of(one) for one in fields.items_of(point.get("bucketCounts"))]
        if len(counts) != len(bounds) + 1 or np.isnan([*bounds, *counts]).any():
            return
        key = tuple(sorted(labels.items()))
        for bound, reached in zip([*bounds, np.inf], np.cumsum(counts).tolist(), strict=True):
            self.into.add(_bucket_key(self.service, self.name, key, bound), time, reached, delta=delta)


def _bucket_key(service: str, metric: str, labels: _Labels, bound: float) -> _Key:
    le = "+Inf" if np.isinf(bound) else f"{bound:g}"
    return (service, f"{metric}_bucket", tuple(sorted((*labels, ("le", le)))))


def _coarser(counts: Mapping[int, float], scales: int) -> dict[int, float]:
    """Buckets put together: two by two a scale."""
    found: dict[int, float] = defaultdict(float)
    for index, number in counts.items():
        found[index >> scales] += number
    return dict(found)


def _upper(index: int, scale: int) -> float:
    """The upper bound of a bucket: a power of the base, which is 2 ** (2 ** -scale)."""
    exponent = (index + 1) * 2.0**-scale
    return float(2.0 ** min(max(exponent, -1_000.0), 1_000.0))


def _unit(value: object) -> str:
    text = value if isinstance(value, str) else ""
    return "" if text.startswith("{") else _UNITS.get(text, text)


def _flags(point: Mapping[str, Any]) -> int:
    flags = whole_number(point.get("flags", 0))
    return flags if isinstance(flags, int) else 0
