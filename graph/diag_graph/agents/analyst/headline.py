"""The first sentence of an answer: what fails where and since when, out of the words of the claim that blames.

The tools write their statements in one regular grammar; a headline takes the parts that a person asks for first, and
leaves the rest to the finding below it. What is written otherwise gives no headline, so that nothing is said wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.contracts import AllowedClaim, ClaimKind

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
_METRIC = (
    r"(?P<what>\S.*?) of .+? (?P<went>rose|fell) from (?P<old>\S+(?: \S+)?) \([^()]*\) to (?P<new>\S+(?: \S+)?) "
    rf"\((?:median until (?P<back>{_TIME}), when it was back|[^()]*)\),? "
    rf"(?:leaving its first level )?at (?P<time>{_TIME})"
)
_GONE = rf"(?P<what>\S.*?) of .+? (?P<went>appeared|stopped|froze) at (?P<time>{_TIME})"
_SLOWER = (
    r"Operation (?P<what>.+?) of .+? got slower by self time(?P<part> in part of its calls)?"
    rf"(?P<wait>, waiting for [^:]+?)?: median (?P<new>.+?) (?:of the slow ones )?since (?P<time>{_TIME}) "
    r"against (?P<old>.+?)(?: \(95th percentile\))? before\b"
)
_BETWEEN = (
    r"(?P<what>Calls from .+?) to .+? got slower outside of its own spans \([^()]*\): median (?P<new>.+?) "
    rf"since (?P<time>{_TIME}) against (?P<old>.+?) before\b"
)
_FAILING = (
    r"Operation (?P<what>.+?) of .+? is failing: (?P<some>[\d,]+) of (?P<all>[\d,]+) spans? "
    rf"since (?P<time>{_TIME}).*?(?:, error: (?P<said>\".*?\"))?(?:; called by [^\"]*)?\.\Z"
)
_LOGGED = (
    r".+? logged (?P<some>[\d,]+) lines? like (?P<template>\".*\") \((?P<level>[A-Z]+)\) since "
    rf"(?P<since>{_TIME}), new: .*?first at (?P<time>{_TIME})(?:, last at (?P<last>{_TIME}))?"
)
_NAMED = (
    rf"(?:Document|Log line) .*?(?: at (?P<time>{_TIME}))?: (?:.*?: )?"
    r"(?P<what>[^:()]+?(?: \([^()]*\))?) \(cause\): (?P<means>.+?)\. (?:[\d,]+ lines say so\. )?It reads: "
)
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), words)
    for pattern, words in (
        (_METRIC, "{what} {went} from {old} to {new} at {time}{back}"),
        (_GONE, "{what} {went} at {time}"),
        (_SLOWER, "{what} takes {new}{part} since {time}, before {old}{wait}"),
        (_BETWEEN, "{what} take {new} since {time}, before {old}"),
        (_FAILING, "{what} fails in {some} of {all} spans since {time}{said}"),
        (_LOGGED, "{some} lines like {template} ({level}) since {time}{last}"),
        (_NAMED, "{what}: {means}{seen}"),
    )
)
"""How a statement begins, and what of it is the news."""
MAX_LEAD = 1_000
"""Characters of a claim that are looked at: a statement of a tool is shorter."""
MAX_NEWS = 320
"""Characters of the news: longer news is no headline."""
_CHANGE = re.compile(
    rf" (?:Just before|About then): (?P<change>(?:Deploy|Commit|Flag|Config|Change)\b.*? at {_TIME}) \([^()]*\) "
    r"(?P<fit>fits what fails|may be behind what fails): (?:\".*?\"|it) (?P<why>.+?)"
    r"(?:, and what fails|, and a metric|, which the failure|, as does what|, as is what|; it |\.\Z)",
    re.DOTALL,
)
_NONE_FITS = "No recorded change fits what fails"


def headline(cause: AllowedClaim, claims: Sequence[AllowedClaim]) -> str:
    """What fails, and what brought it about as far as that is known.

    Args:
        cause: The claim that blames.
        claims: All allowed claims.

    Returns:
        What stands after "The trouble starts at X": `: ` with the news, a full stop, and a sentence about changes; the
        full stop alone when the claim is written in other words than the tools'.
    """
    frame, _, said = cause.text.partition(". ")
    if not frame.endswith(cause.entity or "\0") or not said:
        return "."
    lead = re.split(r" (?:Just before|About then): ", said, maxsplit=1)[0]
    return f"{news(lead)}.{_change(cause.text, claims)}"


def news(lead: str) -> str:
    """The news of a statement, behind `: `; empty when it is none of the tools', or longer than a headline."""
    for shape, words in _SHAPES:
        found = shape.match(lead[:MAX_LEAD])
        if found:
            parts = {name: text or "" for name, text in found.groupdict().items()}
            said = parts.get("said", "")
            parts["said"] = f": {said}" if said else ""
            parts["back"] = f", and was back at {parts['back']}" if parts.get("back") else ""
            parts["last"] = f", the last at {parts['last']}" if parts.get("last") else ""
            parts["seen"] = f", seen at {parts['time']}" if parts.get("time") else ""
            told = words.format(**parts)
            return f": {told}" if len(told) <= MAX_NEWS else ""
    return ""


def _change(text: str, claims: Sequence[AllowedClaim]) -> str:
    found = _CHANGE.search(text)
    if found:
        return f" {found['change']} {found['fit']}: it {found['why']}."
    none = any(claim.kind is ClaimKind.NO_EVIDENCE and claim.text.startswith(_NONE_FITS) for claim in claims)
    return f" {_NONE_FITS}." if none else ""
