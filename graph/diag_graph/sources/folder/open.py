"""Open a folder of evidence."""

from __future__ import annotations

from pathlib import Path

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
from diag_graph.sources.folder.reading import Kind
from diag_graph.sources.folder.sniff import Context, FolderFile, look_at
from diag_graph.sources.folder.times import TimeReader, zone_named
from diag_graph.sources.folder.walk import walk
from diag_graph.sources.ports import Evidence


def open_folder(path: Path, *, zone: str | None = None) -> Evidence:
    """Open a folder of evidence and say what is in it. Files are read when they are first asked for.

    Args:
        path: The folder.
        zone: IANA name of the zone of times that carry none; UTC when not given. The folder's own word goes first.

    Returns:
        The folder's sources; None for each kind of which the folder holds nothing.

    Raises:
        FolderError: the folder is not there, is no folder, cannot be listed, or its `incident.toml` is wrong.
    """
    zone_name = zone or "UTC"
    try:
        place = zone_named(zone_name)
    except ValueError as error:
        raise FolderError(f"{error}: give an IANA name such as Europe/Berlin") from error
    files: list[FolderFile] = []
    context = Context(
        new_times=lambda: TimeReader(place),
        zone_name=zone_name,
        known_services=lambda: frozenset().union(*(file.services for file in files)),
    )
    files.extend(look_at(item, context) for item in walk(path))
    metrics, logs, spans = of_kind(files, Kind.METRICS), of_kind(files, Kind.LOGS), of_kind(files, Kind.SPANS)
    alerts, changes = of_kind(files, Kind.ALERTS), of_kind(files, Kind.CHANGES)
    topology, documents = of_kind(files, Kind.TOPOLOGY, Kind.SPANS), of_kind(files, Kind.DOCUMENT)
    return Evidence(
        inventory=FolderInventory(path.resolve().name or str(path), files),
        metrics=FolderMetrics(metrics) if metrics else None,
        logs=FolderLogs(logs) if logs else None,
        spans=FolderSpans(spans) if spans else None,
        alerts=FolderAlerts(alerts) if alerts else None,
        changes=FolderChanges(changes) if changes else None,
        topology=FolderTopology(topology) if topology else None,
        documents=FolderDocuments(documents) if documents else None,
        zone=zone_name,
    )
