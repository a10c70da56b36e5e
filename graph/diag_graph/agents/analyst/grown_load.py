"""Whether what an entity uses grew with what it is asked to do: then whoever asks more is the cause, and not it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from diag_graph.agents.analyst.reading import names_entity

AS_MUCH = 1.25
"""How much more than its requests a resource may grow and still have grown with them: both are medians, estimated."""
_GREW = re.compile(r"\A(?:rate of )?(?P<name>\S+) of (?P<whom>.+?) rose from .*, (?P<times>\d[\d,.]*) times as much\b")
_REQUESTS = re.compile(
    r"(?<![a-z])(?:requests?|rps|qps|throughput|traffic|calls?|invocations?)(?![a-z])", re.IGNORECASE
)
_NOT_REQUESTS = re.compile(
    r"err|fail|[45]xx|timeout|reject|drop|retr|latency|duration|(?<!per_)seconds|(?<![a-z])(?:ms|p\d\d)(?![a-z])|flight"
    r"|queue|wait|pending|bytes|size",
    re.IGNORECASE,
)


def grew_with_requests(entity: str, texts: Iterable[str], resources: Iterable[str]) -> bool:
    """Whether the requests of an entity grew, and all that it ran short of grew by no more.

    Args:
        entity: Whose.
        texts: Everything that is verified, of which statements on the entity's requests count.
        resources: The statements on what it ran short of.
    """
    known = [found for text in texts if (found := _GREW.match(text)) and names_entity(found["whom"], entity)]
    requests = [
        _times(found["times"])
        for found in known
        if _REQUESTS.search(found["name"]) and not _NOT_REQUESTS.search(found["name"])
    ]
    grown = [_GREW.match(text) for text in resources]
    return bool(requests and grown) and all(
        found is not None and _times(found["times"]) <= AS_MUCH * max(requests) for found in grown
    )


def _times(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))
