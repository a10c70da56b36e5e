"""`incident.toml`: what a person says about a folder that its files do not say themselves. All of it is optional.

timezone = "Europe/Berlin"          # of times without a zone

[window]
start = 2026-07-16T05:30:00Z        # start and end go together
end = 2026-07-16T06:30:00Z
onset = 2026-07-16T06:05:00Z

[files."odd.csv"]                   # a path within the folder
kind = "metrics"                    # metrics, logs, document or ignore
service = "checkout"                # what its content belongs to
time_column = "when"                # and service_column, metric_column, value_column
timezone = "UTC"

[[signature]]                       # a failure signature of this system's own; see docs/signatures.md
id = "ledger-gap"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from diag_graph.analysis.failure_signatures import Signature, SignatureError, read_signatures
from diag_graph.analysis.records import TimeRange
from diag_graph.sources.errors import FolderError
from diag_graph.sources.folder.times import TimeReader, zone_named
from diag_graph.sources.folder.walk import MANIFEST

FILE_KINDS = ("metrics", "logs", "document", "ignore")
_COLUMNS = ("time_column", "service_column", "metric_column", "value_column")
_KEYS = {"": ("timezone", "window", "files", "signature"), "window": ("start", "end", "onset")}
_FILE_KEYS = ("kind", "service", "timezone", *_COLUMNS)
_MEND = "mend it or take it away"
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FileRule:
    """How one file is to be read; empty texts say nothing."""

    kind: str = ""
    service: str = ""
    zone: tzinfo | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the manifest says; nothing of it need be there."""

    zone_name: str = ""
    window: TimeRange | None = None
    onset: float | None = None
    files: Mapping[str, FileRule] = field(default_factory=dict)
    signatures: tuple[Signature, ...] = ()


def read_manifest(folder: Path, zone: tzinfo = UTC) -> Manifest:
    """Read the folder's `incident.toml`.

    Args:
        folder: The evidence folder.
        zone: Where its own times are when neither they nor the manifest name a zone.

    Raises:
        FolderError: it cannot be read or is wrong; the message names the line and the key.
    """
    path = folder / MANIFEST
    try:
        if path.is_symlink() or not path.is_file():
            return Manifest()
        if path.stat().st_size > _MAX_BYTES:
            raise FolderError(f"{path} is larger than {_MAX_BYTES >> 20} MB: this is no incident.toml", _MEND)
        text = path.read_text("utf-8-sig")
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FolderError(f"{path} is not valid TOML: {error}", _MEND) from error
    except (OSError, UnicodeDecodeError) as error:
        raise FolderError(f"{path} cannot be read ({error})", _MEND) from error
    return _Checker(path, text).manifest(table, zone)


class _Checker:
    """Reads the parsed manifest, and says where it is wrong."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def manifest(self, table: Mapping[str, Any], zone: tzinfo) -> Manifest:
        self._only(table, _KEYS[""], "")
        name = self._string(table, "timezone")
        times = TimeReader(self._zone(table) or zone)
        window = self._table(table, "window")
        self._only(window, _KEYS["window"], "window.")
        start, end, onset = (self._time(window, key, times) for key in _KEYS["window"])
        if (start is None) != (end is None):
            raise self._error("start" if start is not None else "end", "start and end of the window go together")
        if start is not None and end is not None and start >= end:
            raise self._error("end", "the window ends before it starts")
        files = {
            file: self._rule(file, self._table(self._table(table, "files"), file))
            for file in self._table(table, "files")
        }
        span = TimeRange(start, end) if start is not None and end is not None else None
        return Manifest(name, span, onset, files, self._signatures(table))

    def _signatures(self, table: Mapping[str, Any]) -> tuple[Signature, ...]:
        try:
            return tuple(read_signatures(table, str(self._path)))
        except SignatureError as error:
            raise FolderError(str(error), _MEND) from error

    def _rule(self, file: str, table: Mapping[str, Any]) -> FileRule:
        self._only(table, _FILE_KEYS, f'files."{file}".')
        kind = self._string(table, "kind")
        if kind and kind not in FILE_KINDS:
            raise self._error("kind", f"{kind!r} is none of {', '.join(FILE_KINDS)}")
        columns = {key: self._string(table, key) for key in _COLUMNS if key in table}
        return FileRule(kind, self._string(table, "service"), self._zone(table), columns)

    def _only(self, table: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
        for key in table:
            if key not in known:
                raise self._error(key, f"there is no setting {prefix}{key}; there are {', '.join(known)}")

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self._error(key, f"{key} must be a table")
        return value

    def _string(self, table: Mapping[str, Any], key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise self._error(key, f"{key} must be a text in quotes")
        return value

    def _zone(self, table: Mapping[str, Any]) -> tzinfo | None:
        name = self._string(table, "timezone")
        if not name:
            return None
        try:
            return zone_named(name)
        except ValueError as error:
            raise self._error("timezone", f"{error}; give an IANA name such as Europe/Berlin") from error

    def _time(self, table: Mapping[str, Any], key: str, times: TimeReader) -> float | None:
        if key not in table:
            return None
        time = times.read(table[key])
        if time is None:
            raise self._error(key, f"{table[key]!r} is no time; write it as 2026-07-16T06:05:00Z")
        return time

    def _error(self, key: str, what: str) -> FolderError:
        found = re.search(rf"^[ \t]*(?:\[.*)?[\"']?{re.escape(key)}\b", self._text, re.MULTILINE)
        line = self._text.count("\n", 0, found.start()) + 1 if found else 1
        return FolderError(f"{self._path}, line {line}, {key}: {what}", _MEND)
