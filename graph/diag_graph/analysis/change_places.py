"""Which service a change touched, where its record does not say: from its paths and from the scope of its title."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.analysis.records import Change

_SCOPE = re.compile(r"\A[a-z]+\(([^)]+)\)!?:\s|\A#([\w-]+)\s")
_PARTS = re.compile(r"[/\\.]")
_SUFFIX = re.compile(r"[-_]?(?:service|svc|server|api|app|worker)\Z")


def place_of(change: Change, known: Sequence[str]) -> str:
    """The service that a change touched.

    Args:
        change: The change.
        known: Names of services.

    Returns:
        What the record says; else one of the known names whose folder, file or scope the change names; else nothing, as
        of code that services share.
    """
    if change.service:
        return change.service
    scope = _SCOPE.match(change.title)
    named = [part for part in (scope.groups() if scope else ()) if part]
    parts = {stem_of(part) for path in paths_of(change) for part in _PARTS.split(path)} | {
        stem_of(part) for part in named
    }
    found = next((name for name in known if stem_of(name) in parts), "")
    return found or _own_folder(change)


def _own_folder(change: Change) -> str:
    """The folder of a service that is none of the known ones, where its paths lie in one: `services/shipping/...`."""
    folders = {match[1] for path in paths_of(change) if (match := _SERVICES.match(path))}
    return folders.pop() if len(folders) == 1 else ""


_SERVICES = re.compile(r"(?:services|apps|cmd|microservices)/([\w-]+)/")


def stem_of(name: str) -> str:
    """The name of a service without what all services are called: `inventory` of `inventory-service`."""
    return re.sub(r"[-_]", "", _SUFFIX.sub("", name.lower()))


def paths_of(change: Change) -> list[str]:
    """The files that a change touched, as far as its record lists them."""
    for key in ("files_changed", "files", "paths"):
        value = change.details.get(key)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [str(one.get("filename", one)) if isinstance(one, dict) else str(one) for one in value]
    return []
