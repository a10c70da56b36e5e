"""What an alert saw: the series that it is about, summed up, when nothing shows a fault.

Somebody was woken by it all the same: normal values beside the alert say why it fired, or that it is stale.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.agents.analyst.sightings import Sighting, sightings
from diag_graph.agents.ports import Toolbox

MAX_ALERTS = 2
MAX_SERIES = 60
"""Series of the alert's subject that are looked through."""
_PARTS = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|p\d+")
_NTH = re.compile(r"\b(\d\d)th percentile", re.IGNORECASE)


def alerted_series(seen: Sequence[Sighting], tools: Toolbox) -> list[Sighting]:
    """For each firing alert the series that it is about, as far as one is recorded, with what it was before and since.

    Args:
        seen: All statements.
        tools: The way to `query_metrics`.
    """
    alerts = [one for one in seen if one.field("signal") == "alert" and one.entity and not one.field("annotation")]
    if not any(one.tool == "find_metric_anomalies" for one in seen):
        return []
    found: list[Sighting] = []
    for alert in [one for one in alerts if one.field("status") == "firing"][:MAX_ALERTS]:
        call = tools.call("query_metrics", {"service": alert.entity, "limit": MAX_SERIES})
        series = [one for one in sightings([call]) if one.field("change") == "summary" and one.entity == alert.entity]
        metric = _metric_of(alert, [str(one.field("metric")) for one in series])
        found.extend([one for one in series if one.field("metric") == metric][:1])
    return found


def _metric_of(alert: Sighting, names: Sequence[str]) -> str:
    """The metric that an alert names, or the one whose name shares most with the alert's words; two at least."""
    named = alert.field("metric")
    if isinstance(named, str) and named in names:
        return named
    text = _NTH.sub(r"p\1", alert.text)
    said = {part.lower() for part in _PARTS.findall(text)}
    shared = {name: len(said & {part.lower() for part in _PARTS.findall(name)}) for name in names}
    best = max(names, key=lambda name: (shared[name], -len(name)), default="")
    return best if best and shared[best] > 1 else ""
