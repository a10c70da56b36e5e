"""Which change is to blame: what to ask `list_changes` about the first suspect, and what its answer adds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from diag_graph.agents.analyst.claims import Suspicion
from diag_graph.agents.analyst.judging import RECENT
from diag_graph.agents.analyst.reading import began, times
from diag_graph.agents.analyst.sightings import Sighting, sightings
from diag_graph.agents.ports import Toolbox
from diag_graph.analysis.records import utc

MAX_PHRASES, MAX_PHRASE = 24, 240
MAX_PLACES = 12
MAX_MISFITS = 2
_SIGNALS = frozenset({"metric", "log", "span", "document"})
_ERROR = re.compile(r", error: \"(.*?)\"")
_READS = re.compile(r" It reads: \"(.*)\"\Z", re.DOTALL)


def with_guilty_change(
    suspected: Sequence[Suspicion], seen: Sequence[Sighting], tools: Toolbox
) -> tuple[list[Suspicion], list[Sighting]]:
    """Ask which change fits what fails at the first suspect.

    Args:
        suspected: Whom the evidence speaks against, most suspected first.
        seen: All statements.
        tools: The way to `list_changes`.

    Returns:
        The suspicions, the first with the change that fits and no other with any; and what to state beside them: that
        no change fits, and the nearest ones that do not.
    """
    since = _since(suspected[0], seen) if suspected else None
    recorded = any(one.field("signal") == "change" and not one.empty for one in seen)
    if not recorded or since is None:
        return list(suspected), []
    first, *others = suspected
    places = _places(first.entity, seen)
    asked = {"failure": "; ".join(_phrases(places, first, seen)), "place": ", ".join(places), "onset": utc(since)}
    answers = sightings([tools.call("list_changes", asked)])
    guilty = next((one for one in answers if one.field("fit") in {"fits", "may fit"}), None)
    misfits = [one for one in answers if one.field("fit") == "does not fit" and _is_near(one, places, since)]
    none = [one for one in answers if one.field("fit") == "none"]
    return (
        [replace(first, change=guilty), *(replace(one, change=None) for one in others)],
        [*none, *misfits[:MAX_MISFITS]],
    )


def says_less(one: Sighting, judged: Sequence[Sighting]) -> bool:
    """Whether a statement tells no more than that a change was made of which another says how it stands to the failure.

    Both would give its distance, one from the onset of the run and one from the failure of the suspect.
    """
    if one.field("signal") != "change" or one.field("fit"):
        return False
    names = {one.field("identifier"), one.field("commit")} - {"", None}
    return any(
        bool(names & {other.field("identifier"), other.field("commit")})
        and one.field("service") in {"", None, other.field("service")}
        for other in judged
    )


def _since(first: Suspicion, seen: Sequence[Sighting]) -> float | None:
    """When the suspect's trouble began: by what says it best, else by the first other sign."""
    own = began(first.lead.text)
    starts = [start for one in first.support if (start := began(one.text)) is not None]
    return own if own is not None else min(starts, default=_onset(seen))


def _onset(seen: Sequence[Sighting]) -> float | None:
    known = next((found for one in seen if one.field("section") == "overview" and (found := one.field("onset"))), None)
    return times(known)[0] if known and times(known) else None


def _is_near(one: Sighting, places: Sequence[str], since: float) -> bool:
    made = began(one.text)
    return made is not None and one.field("service") in places and abs(since - made) <= RECENT


def _places(entity: str, seen: Sequence[Sighting]) -> list[str]:
    """The suspect, what it calls, and who calls it."""
    calls = [(str(one.field("caller")), str(one.field("callee"))) for one in seen if one.field("signal") == "call"]
    callees = [callee for caller, callee in calls if caller == entity]
    callers = [caller for caller, callee in calls if callee == entity]
    return list(dict.fromkeys([entity, *callees, *callers]))[:MAX_PLACES]


def _phrases(places: Sequence[str], first: Suspicion, seen: Sequence[Sighting]) -> list[str]:
    """What fails, in words without the tools' own: messages, errors, operations and metrics."""
    own = [first.lead, *first.support]
    near = [one for one in seen if one.field("signal") in _SIGNALS and not one.empty and one.entity in places]
    phrases = (phrase for one in (*own, *near) for phrase in _of(one))
    return list(dict.fromkeys(phrase[:MAX_PHRASE] for phrase in phrases if phrase))[:MAX_PHRASES]


def _of(one: Sighting) -> Iterator[str]:
    if isinstance(metric := one.field("metric"), str) and one.field("signal") == "metric":
        before, after = one.field("before"), one.field("after")
        yield metric + (f" {before:g} -> {after:g}" if before is not None and after is not None else "")
    yield str(one.field("operation") or "")
    yield str(one.field("example") or "")
    for pattern in (_ERROR, _READS):
        if found := pattern.search(one.text):
            yield found[1]
