"""Numeric series in JSON: Prometheus' HTTP API, CloudWatch, parallel lists of times and values, and single samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from diag_graph.analysis.records import Series
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.columns import SeriesName, from_labels
from diag_graph.sources.folder.times import TimeReader

_POINT = 2
_METRIC = ("metric_name", "metric", "label", "name", "id")
_STATISTICS = ("Average", "Sum", "Minimum", "Maximum", "SampleCount")


def make_series(name: SeriesName, points: Sequence[tuple[float, float]], source: str) -> Series | None:
    """A series of points in any order; of two at one time the later one stays. None without a finite point."""
    by_time = {time: value for time, value in points if np.isfinite(value)}
    if not by_time:
        return None
    times = np.array(sorted(by_time), np.float64)
    values = np.array([by_time[time] for time in times.tolist()], np.float64)
    return Series(name.service, name.metric, times, values, name.labels, source)


def prometheus_series(data: Mapping[str, Any], times: TimeReader, source: str) -> Iterator[Series]:
    """The series of a `query_range` (matrix) or `query` (vector) answer's `data`."""
    for item in fields.items_of(data.get("result")):
        if not isinstance(item, dict) or not isinstance(item.get("metric"), dict):
            continue
        raw = item.get("values") or [item.get("value")]
        points = []
        for point in raw if isinstance(raw, list) else ():
            time = times.read(point[0]) if isinstance(point, list) and len(point) == _POINT else None
            if time is not None:
                points.append((time, fields.number_of(point[1])))
        labels = {str(key): str(value) for key, value in item["metric"].items()}
        series = make_series(from_labels(labels), points, source)
        if series is not None:
            yield series


def parallel_lists(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """The keys of an object's list of times and list of as many values; None when it holds no such pair."""
    lists = {fields.plain(key): key for key, value in record.items() if isinstance(value, list)}
    times = next((lists[name] for name in ("timestamps", "times", "time", "x") if name in lists), None)
    values = next((lists[name] for name in ("values", "data", "datapoints", "y") if name in lists), None)
    if times is None or values is None or len(record[times]) != len(record[values]) or not record[times]:
        return None
    return (times, values) if all(isinstance(value, (int, float, type(None))) for value in record[values]) else None


def series_of_lists(record: Mapping[str, Any], key: str, service: str, times: TimeReader, source: str) -> Series | None:
    """The series of an object with parallel lists, as CloudWatch's GetMetricData gives them.

    Args:
        record: The object.
        key: The key under which it stands; its metric's name when it has none of its own.
        service: What the objects around it belong to.
        times: Reads its times.
        source: The file.
    """
    pair = parallel_lists(record)
    if pair is None:
        return None
    points = [
        (time, fields.number_of(value))
        for raw, value in zip(record[pair[0]], record[pair[1]], strict=True)
        if (time := times.read(raw)) is not None
    ]
    return make_series(_named(record, key, service), points, source)


def series_of_datapoints(record: Mapping[str, Any], service: str, times: TimeReader, source: str) -> Iterator[Series]:
    """The series of CloudWatch's GetMetricStatistics: one a statistic."""
    points = [point for point in fields.items_of(record.get("Datapoints")) if isinstance(point, dict)]
    for statistic in _STATISTICS:
        found = [
            (time, fields.number_of(point[statistic]))
            for point in points
            if statistic in point and (time := times.read(point.get("Timestamp"))) is not None
        ]
        name = _named(record, "", service)
        series = make_series(SeriesName(name.service, name.metric, {**name.labels, "stat": statistic}), found, source)
        if series is not None:
            yield series


def _named(record: Mapping[str, Any], key: str, service: str) -> SeriesName:
    values = {fields.plain(name): value for name, value in record.items()}
    metric = next((fields.text_of(values[name]) for name in _METRIC if fields.text_of(values.get(name))), key)
    labels = {name: fields.text_of(values[name]) for name in ("stat", "unit") if fields.text_of(values.get(name))}
    dimensions = values.get("dimensions")
    if isinstance(dimensions, list):
        named = {str(one.get("Name")): str(one.get("Value")) for one in dimensions if isinstance(one, dict)}
        if named:
            first, *_ = named.values()
            own = from_labels(named, metric)
            return SeriesName(own.service or first, metric, {**own.labels, **labels})
    own_service = fields.text_of(fields.pick(record, fields.SERVICE))
    return SeriesName(own_service or service, metric, labels)


def looks_like_sample(record: Mapping[str, Any]) -> bool:
    """Whether an object is one sample: a metric's name, a number and a time."""
    keys = tuple(record)
    metric, value = fields.key_of(keys, fields.METRIC[:5]), fields.key_of(keys, fields.VALUE)
    if metric is None or value is None or fields.key_of(keys, fields.TIME) is None:
        return False
    return isinstance(record[metric], str) and not np.isnan(fields.number_of(record[value]))


def series_of_samples(records: Sequence[Mapping[str, Any]], times: TimeReader, source: str) -> Iterator[Series]:
    """The series of objects that are one sample each."""
    points: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for record in records:
        time = times.read(fields.pick(record, fields.TIME))
        if time is not None:
            metric = fields.text_of(fields.pick(record, fields.METRIC[:5]))
            service = fields.text_of(fields.pick(record, (*fields.SERVICE, *fields.WEAK_SERVICE[:5])))
            points.setdefault((service, metric), []).append((time, fields.number_of(fields.pick(record, fields.VALUE))))
    for (service, metric), found in points.items():
        series = make_series(SeriesName(service, metric), found, source)
        if series is not None:
            yield series
