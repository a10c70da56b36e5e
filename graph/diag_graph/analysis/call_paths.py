"""Along the calls between services: whom a service reaches, and which anomalous callees explain its trouble."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EXPLAINING_SHARE = 0.3
"""How strong a callee must be, compared with its caller, to explain it."""


def reached_from(subjects: frozenset[str], callees: Mapping[str, set[str]]) -> set[str]:
    """The alerts' subjects and all that they call; empty when no subject is known to call anything."""
    calling = [subject for subject in subjects if callees.get(subject)]
    return set(subjects).union(*(reachable(subject, callees) for subject in calling)) if calling else set()


def explaining_callees(
    entity: str,
    callees: Mapping[str, set[str]],
    raw: Mapping[str, float],
    onsets: Mapping[str, float | None],
    *,
    blamed_by: Iterable[str],
    delay: float,
) -> list[str]:
    """The anomalous services that it calls, directly or through others, strongest first; none that itself blames it."""
    seen, frontier = {entity}, [entity]
    found = []
    while frontier:
        for callee in callees.get(frontier.pop(), ()):
            if callee in seen:
                continue
            seen.add(callee)
            frontier.append(callee)
            strong = raw.get(callee, 0.0) >= EXPLAINING_SHARE * raw[entity] > 0
            own, its = onsets.get(entity), onsets.get(callee)
            in_time = own is None or its is None or its <= own + delay
            if strong and in_time and callee not in blamed_by and entity not in reachable(callee, callees):
                found.append(callee)
    return sorted(found, key=lambda name: (-raw[name], name))


def reachable(start: str, callees: Mapping[str, set[str]]) -> set[str]:
    """A service and all that it calls, directly or through others."""
    seen, frontier = {start}, [start]
    while frontier:
        new = callees.get(frontier.pop(), set()) - seen
        seen |= new
        frontier.extend(new)
    return seen
