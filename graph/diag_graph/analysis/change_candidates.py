"""What may have brought a failure about: deploys with what they brought, commits, flags and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from diag_graph.analysis.change_contents import Contents, Setting, contents_of
from diag_graph.analysis.change_places import paths_of, place_of
from diag_graph.analysis.change_subjects import apart
from diag_graph.analysis.records import Change


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change that may be behind a failure.

    Attributes:
        change: The deploy, flag, setting or commit.
        commit: What a deploy brought.
        contents: What it does.
        time: When it took effect, seconds since the epoch: that of its deploy, where one is recorded.
        service: What it went to; empty for code that services share.
        deployed: Whether it is known to have taken effect.
        words: What it speaks of.
    """

    change: Change
    commit: Change | None
    contents: Contents
    time: float | None
    service: str
    deployed: bool
    words: frozenset[str]


def candidates(changes: Sequence[Change], places: Sequence[str]) -> Iterator[Candidate]:
    """Deploys with what they brought; commits of which no deploy is recorded; flags and settings."""
    commits = {change.identifier: change for change in changes if change.kind == "commit" and change.identifier}
    deploys = [change for change in changes if change.kind == "deploy"]
    deployed: set[str] = set()
    for change in deploys:
        commit = commit_of(change, commits)
        deployed |= {commit.identifier} if commit else set()
        yield _candidate(change, commit, change.service or place_of(commit or change, places), change.time)
    for change in changes:
        if change.kind == "deploy" or change.identifier in deployed:
            continue
        service = place_of(change, places)
        shipped = _shipped_with(change, service, deploys) if change.kind == "commit" else change.time
        known = change.kind != "commit" or not deploys
        yield _candidate(change, None, service, shipped if shipped is not None else change.time, deployed=known)


def commit_of(deploy: Change, commits: Mapping[str, Change]) -> Change | None:
    """The recorded commit that a deploy brought; it may be named by its first digits."""
    for key in ("commit_sha", "commit", "sha", "revision"):
        name = str(deploy.details.get(key) or "") or (deploy.identifier if key == "sha" else "")
        found = commits.get(name)
        if found is None and re.fullmatch(r"[0-9a-f]{7,39}", name):
            found = next((commit for sha, commit in commits.items() if sha.startswith(name)), None)
        if found is not None:
            return found
    return None


def _shipped_with(commit: Change, service: str, deploys: Iterable[Change]) -> float | None:
    """When the first deploy of a service after one of its commits was made."""
    after = [one.time for one in deploys if service and one.service == service and one.time and commit.time]
    return min((time for time in after if time >= (commit.time or 0.0)), default=None)


def _candidate(
    change: Change, commit: Change | None, service: str, time: float | None, *, deployed: bool = True
) -> Candidate:
    described = commit or change
    contents = contents_of(described.title, paths_of(described), _diff(described))
    given = [str(value) for key, value in change.details.items() if key in _SAYS and isinstance(value, str)]
    flag = change.identifier if change.kind in {"flag", "config", "change"} else ""
    stated = [
        Setting(flag or change.title, str(change.details[old]), str(change.details[new]))
        for old, new in _OLD_AND_NEW
        if old in change.details and new in change.details and change.kind != "deploy"
    ]
    contents = replace(contents, settings=(*stated, *contents.settings), is_read=contents.is_read or bool(stated))
    spoken = " ".join((described.title, flag, *given, *contents.files, *contents.touched))
    return Candidate(change, commit, contents, time, service, deployed, frozenset(telling_words(spoken)))


_SAYS = ("description", "summary", "notes", "note", "reason", "change", "key", "setting")
_OLD_AND_NEW = (
    ("old", "new"),
    ("from", "to"),
    ("before", "after"),
    ("old_value", "new_value"),
    ("previous", "current"),
    ("previous_value", "value"),
)
"""How records of configuration changes name the value before and the value after."""


def _diff(change: Change) -> str:
    diff = change.details.get("diff") or change.details.get("patch")
    return diff if isinstance(diff, str) else ""


_GENERAL: frozenset[str] = frozenset(
    """
    add adjust after all and api app are call called calls can change changes chore client cmd code config
    context count ctx data debug default docs err error errors extract fail failed failing failure false
    feat file files fix for from func function get handle handler has have helper http https info
    internal into item items its java key lib line list main max millisecond milliseconds min name new
    nil none not null one path per perf pkg post put python rate ratio refactor request requests
    response return returned rpc second seconds self server service services set shop simplify since src
    status string test that the this tidy time total true type update upstream use used value values
    warn was will with
    """.split()  # noqa: SIM905 - as words it is read
)
"""Words that any change and any failure may speak with."""


def telling_words(text: str) -> Iterator[str]:
    """The words of a text that say what it is about, compound names in their parts."""
    return (word for word in re.findall(r"[a-z][a-z0-9]{2,}", apart(text)) if word not in _GENERAL)
