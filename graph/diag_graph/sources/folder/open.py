"""Open a folder of evidence."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

from diag_graph.analysis.records import utc
from diag_graph.sources.errors import FolderError
from diag_graph.sources.folder.evidence import (
    FolderAlerts,
    FolderChanges,
    FolderDocuments,
    FolderInventory,
    FolderLogs,
    FolderMetrics,
    FolderSpans,
    FolderTopology,
    of_kind,
)
from diag_graph.sources.folder.log_file import Keeping
from diag_graph.sources.folder.manifest import Manifest, read_manifest
from diag_graph.sources.folder.notes import FolderNotes
from diag_graph.sources.folder.progress import FolderProgress
from diag_graph.sources.folder.reading import Kind
from diag_graph.sources.folder.sniff import Context, FolderFile, look_at
from diag_graph.sources.folder.times import zone_named
from diag_graph.sources.folder.walk import Found, Refused, walk
from diag_graph.sources.ports import Evidence


def open_folder(path: str | os.PathLike[str], *, zone: str | None = None) -> Evidence:
    """Open a folder of evidence and say what is in it. Files are read when they are first asked for.

    Args:
        path: The folder, as a path or as text.
        zone: IANA name of the zone of times that carry none; UTC when not given. The folder's own word goes first.

    Returns:
        The folder's sources; None for each kind of which the folder holds nothing.

    Raises:
        FolderError: the folder is not there, is no folder, cannot be listed, or its `incident.toml` is wrong.
    """
    folder = Path(path)
    files: list[FolderFile] = []
    items = list(walk(folder))
    manifest = read_manifest(folder, _zone(zone or "UTC"))
    zone_name = manifest.zone_name or zone or "UTC"
    context = Context(
        zone=_zone(zone_name),
        zone_name=zone_name,
        rules=manifest.files,
        known_services=lambda: frozenset().union(*(file.services for file in files)),
        near=lambda: _near(manifest, files, items),
        keeping=Keeping(),
        progress=FolderProgress(),
    )
    files.extend(look_at(item, context) for item in items)
    evidence = _evidence(folder.resolve().name or str(folder), files, manifest, zone_name)
    return replace(evidence, watchers=context.progress.watchers)


def _evidence(name: str, files: Sequence[FolderFile], manifest: Manifest, zone_name: str) -> Evidence:
    metrics, logs, spans = of_kind(files, Kind.METRICS), of_kind(files, Kind.LOGS), of_kind(files, Kind.SPANS)
    alerts, changes = of_kind(files, Kind.ALERTS), of_kind(files, Kind.CHANGES)
    topology, documents = of_kind(files, Kind.TOPOLOGY, Kind.SPANS), of_kind(files, Kind.DOCUMENT)
    return Evidence(
        inventory=FolderInventory(name, files),
        metrics=FolderMetrics(metrics) if metrics else None,
        logs=FolderLogs(logs) if logs else None,
        spans=FolderSpans(spans) if spans else None,
        alerts=FolderAlerts(alerts) if alerts else None,
        changes=FolderChanges(changes) if changes else None,
        topology=FolderTopology(topology) if topology else None,
        documents=FolderDocuments(documents) if documents else None,
        window_hint=manifest.window,
        zone=zone_name,
        signatures=manifest.signatures,
        notes=FolderNotes(files, {"onset": utc(manifest.onset)} if manifest.onset is not None else {}),
    )


def _zone(name: str) -> tzinfo:
    try:
        return zone_named(name)
    except ValueError as error:
        raise FolderError(str(error), "give an IANA name such as Europe/Berlin") from error


def _near(manifest: Manifest, files: Sequence[FolderFile], items: Sequence[Found | Refused]) -> float | None:
    """A time that the incident is about: the manifest's, one that a file names, or when files were last written."""
    if manifest.window is not None:
        return manifest.window.start
    named = [file.moment for file in files if file.moment is not None]
    if named:
        return named[0]
    return max((item.changed for item in items if isinstance(item, Found)), default=None)
