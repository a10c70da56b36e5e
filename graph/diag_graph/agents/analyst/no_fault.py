"""What is said when nobody is blamed: whether any trouble shows, what the alert saw, and how things are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.agents.analyst.headline import MAX_NEWS, news
from diag_graph.agents.analyst.kinds import SIGNS, EvidenceKind, evidence_kind, knows_no_onset, names_failure
from diag_graph.agents.analyst.reading import directions
from diag_graph.contracts import AllowedClaim, ClaimKind

NAMED = "A known failure is named: {failure}; whether it explains what was asked is not shown."
UNEXPLAINED = "Something is out of the ordinary, but no root cause can be shown from the evidence."
SEEN = "Something is out of the ordinary: {what}; no root cause can be shown from the evidence."
TOLD = "Lines of documents speak of trouble, but no root cause can be shown from the evidence."
UNCOMPARED = (
    "Errors are logged; whether more than ever is not shown, nor a root cause: since when to compare is not known."
)
UNSURE_ALERTED = (
    "Beside what was alerted on, no fault and no root cause is shown, but too little could be compared to be sure."
)
UNSURE = "No fault and no root cause is shown, but too little could be compared to be sure."
UNDATED = "No common change stands out, and no time was named: no root cause is shown, and that is no all-clear."
"""What is said when statements are there and no cause: of a failure by its name, of trouble, of lines, and of none."""

READ_DOCUMENT = "read_document"
_DOCUMENT_TOOLS = frozenset({READ_DOCUMENT, "find_failure_signatures"})
"""Tools whose lines are cited because they tell of a failure."""
_LOG_TOOLS = frozenset({"find_log_patterns", "search_logs"})
_NAMED = re.compile(
    r"(?:Document|Log line) (?P<place>\S.*?)(?:, line [\d,]+)?(?: at \d{4}-\S+Z)?: (?:(?P<of>[^\"]+?): )?"
    r"(?P<what>[^:()\"]+?)(?: \([^\"]*?\))? \(cause\): .*? It reads: (?P<quote>\".*\")\Z",
    re.DOTALL,
)
"""How `find_failure_signatures` states a failure."""
_NOT_COMPARED = "(not compared with before: no onset is known)"
"""What `find_log_patterns` says of errors that may always have been there."""
_FIRING = re.compile(r"Alert .{1,300}?\((?:[^()]*, )?firing\b")
_SUMMARY = re.compile(r"(?P<series>.+?) from \S+Z to \S+Z: .*?; (?P<both>median .+? before the onset and .+? since);")
_STATE = re.compile(
    r"(?:All [\d,]+ objects whose state is shown are running and ready|State of what documents show: [^.]+)\."
)


def without_a_cause(claims: Sequence[AllowedClaim]) -> str:
    """What is said first when statements stood up and none of them names a cause: it says no less than they do.

    A named failure that goes on leads; then trouble that tools measured; then lines that speak of a failure. Only when
    none of these is there is it said that no fault is shown.
    """
    named = next((said for claim in claims if (said := _named_failure(claim))), None)
    if named is not None:
        return NAMED.format(failure=named)
    showing = [claim for claim in claims if shows_trouble(claim)]
    if showing and all(_NOT_COMPARED in claim.text for claim in showing):
        return UNCOMPARED
    measured = [claim for claim in showing if _tools(claim) != {READ_DOCUMENT}]
    if measured:
        failing = [claim for claim in measured if names_failure(claim.text)]
        seen = next((said for claim in (*failing, *measured) if (said := _seen(claim))), None)
        return SEEN.format(what=seen) if seen else UNEXPLAINED
    if showing:
        return TOLD
    if is_undated(claims):
        return UNDATED
    return UNSURE_ALERTED if any(_is_firing(claim) for claim in claims) else UNSURE


def is_undated(claims: Sequence[AllowedClaim]) -> bool:
    """Whether what found nothing is cited, and none of it knew a time to compare with."""
    searches = [
        one.matched_text
        for claim in claims
        if claim.kind is ClaimKind.NO_EVIDENCE
        for one in claim.citations
        if one.tool.startswith("find_")
    ]
    return bool(searches) and all(map(knows_no_onset, searches))


def shows_trouble(claim: AllowedClaim) -> bool:
    """Whether an observation is of something that goes wrong, rather than of an alert, a change, a state or a load."""
    tools = _tools(claim)
    tells = bool(tools & _DOCUMENT_TOOLS) or bool(directions(claim.text)) or names_failure(claim.text)
    # A new error is trouble whoever logged it: the name of a log that nobody named may not stand in its statement.
    fails = bool(tools & _LOG_TOOLS) and names_failure(claim.text)
    return claim.kind is ClaimKind.OBSERVATION and tells and (fails or bool(_kinds(claim) & SIGNS))


def _seen(claim: AllowedClaim) -> str:
    """The news of a statement, with whom it is about; empty when it is no headline."""
    told = news(claim.text).removeprefix(": ")
    return f"{claim.entity}: {told}" if claim.entity and told else told


def _named_failure(claim: AllowedClaim) -> str | None:
    """A failure of the standing of a cause: whose, what it is called, where it stands and what the line says."""
    if claim.kind is not ClaimKind.OBSERVATION or EvidenceKind.NAMED_FAILURE not in _kinds(claim):
        return None
    found = _NAMED.match(claim.text)
    if found is None:
        return None
    of = f" of {found['of']}" if found["of"] else ""
    said = f"{found['what']}{of} in {found['place']}"
    quoted = f"{said}: {found['quote']}"
    return quoted if len(quoted) <= MAX_NEWS else said


def _tools(claim: AllowedClaim) -> set[str]:
    return {one.tool for one in claim.citations}


def _kinds(claim: AllowedClaim) -> set[EvidenceKind]:
    return {evidence_kind(one.tool, one.matched_text, claim.entity or "") for one in claim.citations}


def _is_firing(claim: AllowedClaim) -> bool:
    return _tools(claim) == {"list_alerts"} and _FIRING.match(claim.text) is not None


def what_was_seen(claims: Sequence[AllowedClaim]) -> str:
    """Sentences on what the alerted series did and how the objects are, each out of a claim; empty when none says."""
    series = [found for claim in claims if _is_summary(claim) and (found := _SUMMARY.match(claim.text))]
    states = [found.group() for claim in claims if (found := _STATE.search(claim.text))]
    seen = [f" What was alerted on: {found['series']}, {found['both']}." for found in series[:1]]
    return "".join((*seen, *(f" {state}" for state in states[:1])))


def _is_summary(claim: AllowedClaim) -> bool:
    return claim.kind is ClaimKind.OBSERVATION and _tools(claim) == {"query_metrics"}
