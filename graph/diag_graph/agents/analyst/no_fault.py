"""What is said when nobody is blamed: whether any trouble shows, what the alert saw, and how things are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.agents.analyst.kinds import SIGNS, evidence_kind, names_failure
from diag_graph.agents.analyst.reading import directions
from diag_graph.contracts import AllowedClaim, ClaimKind

_SUMMARY = re.compile(r"(?P<series>.+?) from \S+Z to \S+Z: .*?; (?P<both>median .+? before the onset and .+? since);")
_STATE = re.compile(
    r"(?:All [\d,]+ objects whose state is shown are running and ready|State of what documents show: [^.]+)\."
)


def shows_trouble(claim: AllowedClaim) -> bool:
    """Whether an observation is of something that goes wrong, rather than of an alert, a change, a state or a load."""
    kinds = {evidence_kind(one.tool, one.matched_text, claim.entity or "") for one in claim.citations}
    read = any(one.tool == "read_document" for one in claim.citations)
    tells = read or bool(directions(claim.text)) or names_failure(claim.text)
    named = any(one.tool == "find_failure_signatures" for one in claim.citations)
    return claim.kind is ClaimKind.OBSERVATION and ((tells and bool(kinds & SIGNS)) or (named and bool(kinds & SIGNS)))


def what_was_seen(claims: Sequence[AllowedClaim]) -> str:
    """Sentences on what the alerted series did and how the objects are, each out of a claim; empty when none says."""
    series = [found for claim in claims if _is_summary(claim) and (found := _SUMMARY.match(claim.text))]
    states = [found.group() for claim in claims if (found := _STATE.search(claim.text))]
    seen = [f" What was alerted on: {found['series']}, {found['both']}." for found in series[:1]]
    return "".join((*seen, *(f" {state}" for state in states[:1])))


def _is_summary(claim: AllowedClaim) -> bool:
    return claim.kind is ClaimKind.OBSERVATION and {one.tool for one in claim.citations} == {"query_metrics"}
