"""Which lines of plain documents tell of a failure: a first look, by the words that failures are reported with."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.analysis.document_subjects import read_subjects

MAX_LINES = 6
MAX_PER_DOCUMENT = 2

_FAILURE_WORDS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(words)
    for words in (
        (
            r"OOMKilled|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|CreateContainerConfigError|FailedScheduling"
            r"|Evicted|NotReady|BackOff|FailedMount|DeadlineExceeded"
            r"|(?i:no space left|out of memory|too many connections|deadlock)"
        ),
        r"(?i:\b(?:fatal|panic|critical|exception|traceback)\b)|\b\w+(?:Error|Exception)\b",
        r"(?i:\b(?:error|failed|failure|refused|denied|timed? ?out|unhealthy|unavailable|forbidden|not found)\b)",
    )
)
"""From words that name a failure to words that hint at one."""


def telling_lines(lines: Sequence[Sighting]) -> list[Sighting]:
    """The lines that name a failure, most telling first; few a document, so that one does not crowd out the others.

    Runbooks and alert rules tell of none: they say what may happen.
    """
    guides = _guides(lines)
    told = [line for line in lines if line.invocation_id not in guides]
    ranked = sorted(
        ((rank, order, line) for order, line in enumerate(told) if (rank := _rank(line.text)) is not None),
        key=lambda entry: entry[:2],
    )
    chosen: list[Sighting] = []
    for _, _, line in ranked:
        same = sum(one.invocation_id == line.invocation_id for one in chosen)
        if same < MAX_PER_DOCUMENT and len(chosen) < MAX_LINES:
            chosen.append(line)
    return chosen


def _guides(lines: Sequence[Sighting]) -> set[str]:
    """The calls that read what is advice, or what would be alerted on."""
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in lines:
        texts[line.invocation_id, str(line.field("document") or "")].append(line.text)
    return {call for (call, name), text in texts.items() if read_subjects(name, text).guidance}


_NONE = re.compile(
    r"\b(?:no|0|zero|without|never)\s+(?:\w+\s+)?(?:errors?|failures?|exceptions?|issues?|problems?|warnings?)\b"
    r"|\b\w*(?:error|fail|unavailable|refused|denied|timeout|unhealthy|restart|killed|pressure)\w*\"?\s*[:=]\s*"
    r"(?:\"?(?:0(?:\.0+)?|false|none|null|no|ok|off)\"?|\[\]|\{\}|\"\")\s*,?\s*\Z"
    r"|\A\s*\"?(?:name|title|query|expr|alert|description)\"?\s*:",
    re.IGNORECASE,
)
"""Lines that say that there was none, or that name what is watched for."""


def _rank(text: str) -> int | None:
    if _NONE.search(text):
        return None
    return next((rank for rank, words in enumerate(_FAILURE_WORDS) if words.search(text)), None)
