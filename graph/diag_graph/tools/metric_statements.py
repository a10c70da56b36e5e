"""A changed series as one citable statement, and the same in fields."""

from __future__ import annotations

import math

from diag_graph.analysis.change_kinds import ChangeKind, MetricChange
from diag_graph.analysis.numbers import factor, plural, quantity, rounded, span_of_time, unit_of
from diag_graph.analysis.records import Series, utc
from diag_graph.contracts import JsonObject
from diag_graph.tools.scope import clip

_ENTITY_LABELS = ("service", "pod", "instance", "host", "node", "job")
_SHOWN_LABELS = 4
COARSE = 120.0
"""Seconds between samples from which a statement says how far apart they are."""


def entity_of(series: Series) -> str:
    """What a series belongs to; empty when neither its source nor its labels say."""
    return series.service or next((series.labels[key] for key in _ENTITY_LABELS if series.labels.get(key)), "")


def series_name(series: Series, *, rate: bool = False) -> str:
    """How statements name a series: `latency_p95{path="/pay"} of checkout`, a counter as `rate of ..._total`."""
    entity = entity_of(series)
    shown = [
        f'{key}="{value}"'
        for key, value in sorted(series.labels.items())
        if value and value not in (entity, series.service) and key != "unit" and not key.startswith("__")
    ][:_SHOWN_LABELS]
    labels = f"{{{', '.join(shown)}}}" if shown else ""
    prefix = "rate of " if rate else ""
    return f"{prefix}{series.metric}{labels}" + (f" of {entity}" if entity else "")


def unit_for(series: Series, *, rate: bool = False) -> str:
    """The unit of a series' values, or of their increase per second."""
    unit = unit_of(series.metric, series.labels.get("unit", ""))
    return (f"{unit}/s" if unit else "/s") if rate else unit


def change_item(change: MetricChange) -> JsonObject:
    """The item of one changed series."""
    series = change.series
    unit = unit_for(series, rate=change.rate)
    before, after = rounded(change.before), rounded(change.after)
    return {
        "text": clip(f"{series_name(series, rate=change.rate)} {_what_happened(change, before, after, unit)}"),
        "entity": entity_of(series),
        "signal": "metric",
        "metric": series.metric,
        "direction": change.direction,
        "change": str(change.kind),
        "before": None if math.isnan(before) else before,
        "after": None if math.isnan(after) else after,
        "unit": unit,
        "onset": utc(change.onset),
        "ended": None if change.ended is None else utc(change.ended),
        "score": change.score,
        "deviation": change.z,
        "step": change.step,
        "samples_before": change.samples_before,
        "samples_after": change.samples_after,
        "source": series.source,
    }


def _drift_words(change: MetricChange, before: float, after: float, unit: str) -> str:
    verb = "rose" if change.direction == "up" else "fell"
    times, last = factor(before, after), utc(float(change.series.times[-1]))
    return (
        f"{verb} from {quantity(before, unit)} (median of its first {change.samples_before} samples) to "
        f"{quantity(after, unit)} (median of its last {change.samples_after}, until {last}), leaving its first level "
        f"at {utc(change.onset)}{', ' + times if times else ''}."
    )


def _what_happened(change: MetricChange, before: float, after: float, unit: str) -> str:
    when = utc(change.onset)
    if change.kind is ChangeKind.STOPPED:
        samples = plural(change.samples_before, "sample")
        return f"stopped at {when}: {samples} until then with a median of {quantity(before, unit)}, none since."
    if change.kind is ChangeKind.GAP and change.ended is not None:
        samples = plural(change.samples_before, "sample")
        return (
            f"stopped at {when}: {samples} before the onset with a median of {quantity(before, unit)}, then none until "
            f"{utc(change.ended)}."
        )
    if change.kind is ChangeKind.FROZEN:
        samples = plural(change.samples_after, "sample")
        return f"froze at {when}: exactly {quantity(after, unit)} in all {samples} since, and never at rest before."
    if change.kind is ChangeKind.APPEARED:
        samples = plural(change.samples_after, "sample")
        return f"appeared at {when} with a median of {quantity(after, unit)} over {samples}, none before."
    if change.kind is ChangeKind.DRIFT:
        return _drift_words(change, before, after, unit)
    verb = "rose" if change.direction == "up" else "fell"
    measure = "one sample" if change.kind is ChangeKind.SPIKE else "median since"
    if change.ended is not None:
        measure = f"median until {utc(change.ended)}, when it was back"
    times = factor(before, after)
    return (
        f"{verb} from {quantity(before, unit)} (median before) to {quantity(after, unit)} ({measure}) at {when}"
        f"{', ' + times if times else ''}{_sampling(change.step)}."
    )


def _sampling(step: float) -> str:
    """How far apart the samples are, where that is so far that a time is not known to the minute."""
    return f"; one sample every {span_of_time(step)}" if step >= COARSE else ""
