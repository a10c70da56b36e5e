"""Series that come in pieces: a file a scrape, a file an hour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from diag_graph.analysis.records import Series


def joined(series: Iterable[Series]) -> list[Series]:
    """The series, those of one name in files of one folder as one where each begins after the one before it ended.

    Series that overlap stay apart: they are two things of one name. A joined series says the first of its files.
    """
    pieces: dict[tuple[object, ...], list[Series]] = defaultdict(list)
    for one in series:
        folder = one.source.rpartition("/")[0]
        pieces[one.service, one.metric, folder, *sorted(one.labels.items())].append(one)
    found: list[Series] = []
    for some in pieces.values():
        found.extend(_joined(some) if len(some) > 1 else some)
    return found


def _joined(pieces: Sequence[Series]) -> Sequence[Series]:
    if not all(one.times.size for one in pieces):
        return pieces
    ordered = sorted(pieces, key=lambda one: float(one.times[0]))
    if any(one.times[-1] >= other.times[0] for one, other in pairwise(ordered)):
        return pieces
    first = ordered[0]
    sources = dict.fromkeys(one.source for one in ordered)
    source = first.source if len(sources) == 1 else f"{first.source} and {len(sources) - 1} more"
    times, values = (np.concatenate([getattr(one, part) for one in ordered]) for part in ("times", "values"))
    return [Series(first.service, first.metric, times, values, first.labels, source)]
