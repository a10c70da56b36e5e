"""Changes: commits, deploys, feature flags, configuration; from lists that say so or objects that look like them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diag_graph.analysis.records import Change
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.times import TimeReader

KIND_OF_LIST: dict[str, str] = {
    **dict.fromkeys(("commits", "pull_requests", "merges", "prs"), "commit"),
    **dict.fromkeys(("deploys", "deployments", "releases", "rollouts", "deployment_events", "deploy_events"), "deploy"),
    **dict.fromkeys(("flags", "feature_flags", "featureflags", "toggles", "flag_changes"), "flag"),
    **dict.fromkeys(("configs", "config_changes", "config", "configuration_changes", "configuration"), "config"),
    **dict.fromkeys(("changes", "events", "change_events", "timeline", "change_log", "changelog"), "change"),
}
"""What the list under a key holds."""

_KIND_WORDS: tuple[tuple[str, str], ...] = (
    ("commit", "commit"), ("merge", "commit"), ("push", "commit"), ("flag", "flag"), ("toggle", "flag"),
    ("deploy", "deploy"), ("release", "deploy"), ("rollout", "deploy"), ("rollback", "deploy"), ("upgrade", "deploy"),
    ("config", "config"), ("setting", "config"), ("secret", "config"), ("scal", "config"), ("migration", "change"),
    ("change", "change"), ("maintenance", "change"), ("restart", "change"),
)  # fmt: skip
_TIME = (
    "timestamp", "time", "ts", "deployed_at", "merged_at", "committed_at", "changed_at", "updated_at", "released_at",
    "published_at", "finished_at", "completed_at", "started_at", "created_at", "date", "at", "when", "start_time",
    "start", "commit_date", "author_date", "datetime", "event_time", "occurred_at",
)  # fmt: skip
_IDENTIFIERS: dict[str, tuple[str, ...]] = {
    "commit": ("sha", "commit_sha", "commit_id", "commit", "hash", "revision", "id"),
    "deploy": ("version", "tag", "tag_name", "release", "image_tag", "image", "to_version", "revision", "commit_sha",
               "sha", "commit", "id", "name"),
    "flag": ("flag", "flag_key", "flag_name", "key", "feature", "toggle", "name", "id"),
    "config": ("key", "setting", "parameter", "name", "config", "id", "version"),
    "change": ("id", "identifier", "version", "key", "name", "sha", "commit"),
}  # fmt: skip
_KIND = ("kind", "type", "change_type", "event_type", "category", "action")
_TITLE = ("title", "message", "description", "summary", "subject", "change", "text", "details", "what", "note")
_AUTHOR = ("author", "user", "actor", "by", "committer", "owner", "changed_by", "deployed_by", "who", "author_name")
_SERVICE = (*fields.SERVICE, "repo", "repository", "project", "target")
_TELLING = frozenset({"sha", "commit_sha", "commit_id", "flag", "flag_key", "flag_name", "feature_flag", "deployed_at",
                      "merged_at", "to_version", "rollback"})  # fmt: skip

_BY_WHOM = frozenset({"commit_sha", "author", "committer", "by", "deployed_by", "changed_by", "released_by", "actor"})
"""What says of a version that somebody brought it out, and not merely that something ran in it."""


def kind_of(record: Mapping[str, Any]) -> str | None:
    """The kind of change that an object itself says it is; None when it does not say."""
    values = {fields.plain(key): value for key, value in record.items()}
    for key in _KIND:
        word = fields.text_of(values.get(key)).lower()
        for part, kind in _KIND_WORDS:
            if word and part in word:
                return kind
    if any(name in values for name in ("flag", "flag_key", "flag_name", "feature_flag")):
        return "flag"
    if "sha" in values or "commit_id" in values:
        return "commit"
    if values.keys() & {"deployed_at", "to_version"} or ("version" in values and values.keys() & _BY_WHOM):
        return "deploy"
    return "commit" if isinstance(values.get("commit"), dict) else None


def looks_like_change(record: Mapping[str, Any]) -> bool:
    """Whether an object outside any list that says so is a change: it says its kind, and when or what."""
    keys = {fields.plain(key) for key in record}
    if keys & {"level", "severity", "span_id", "trace_id", "logger", "metric"}:
        return False
    return kind_of(record) is not None and bool(keys & {*_TIME, *_TELLING})


def change_of(record: Mapping[str, Any], listed_as: str, times: TimeReader) -> Change | None:
    """The change that an object holds; None when it says neither when nor what.

    Args:
        record: The object.
        listed_as: The kind that its list names; `change` when it names none.
        times: Reads its times.
    """
    nested = record.get("commit")
    if isinstance(nested, dict):  # GitHub's API keeps the message and author one level down
        record = {**nested, **{key: value for key, value in record.items() if key != "commit"}}
        person = nested.get("author")
        if isinstance(person, dict):
            record = {**record, "author": person, "date": person.get("date")}
    kind = (kind_of(record) if listed_as == "change" else None) or listed_as
    values = {fields.plain(key): (key, value) for key, value in record.items() if value not in (None, "")}
    used: set[str] = set()

    def take(names: tuple[str, ...]) -> Any:  # noqa: ANN401 (a value of foreign JSON)
        for name in names:
            if name in values and values[name][0] not in used:
                used.add(values[name][0])
                return values[name][1]
        return None

    time = times.read(take(_TIME))
    identifier = fields.text_of(take(_IDENTIFIERS[kind]))
    telling = fields.key_of(tuple(record), _IDENTIFIERS[kind][:-2]) is not None
    title = fields.text_of(take(_TITLE)).strip()
    if time is None and not telling:
        return None
    return Change(
        kind=kind,
        time=time,
        service=fields.text_of(take(_SERVICE)),
        identifier=identifier,
        title=title,
        author=fields.text_of(take(_AUTHOR)),
        details={key: value for key, value in record.items() if key not in used and value is not None},
    )
