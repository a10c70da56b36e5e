"""The built-in evidence tools, and which of them a body of evidence has a source for."""

from __future__ import annotations

from diag_graph.sources.ports import Evidence
from diag_graph.tools.definition import AnyTool
from diag_graph.tools.find_metric_anomalies import FIND_METRIC_ANOMALIES
from diag_graph.tools.list_alerts import LIST_ALERTS
from diag_graph.tools.list_changes import LIST_CHANGES
from diag_graph.tools.list_evidence import LIST_EVIDENCE

ALL_TOOLS: tuple[AnyTool, ...] = (LIST_EVIDENCE, LIST_ALERTS, LIST_CHANGES, FIND_METRIC_ANOMALIES)
"""In the order in which an investigator would use them."""


def offered_tools(evidence: Evidence) -> tuple[AnyTool, ...]:
    """The tools for which there is a source, in the order of `ALL_TOOLS`."""
    return tuple(tool for tool in ALL_TOOLS if tool.offered(evidence))
