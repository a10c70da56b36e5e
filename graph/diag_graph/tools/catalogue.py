"""The built-in tools, and which of them a run has a source for."""

from __future__ import annotations

from diag_graph.tools.current_time import CURRENT_TIME
from diag_graph.tools.definition import AnyTool, ToolContext
from diag_graph.tools.find_failure_signatures import FIND_FAILURE_SIGNATURES
from diag_graph.tools.find_log_patterns import FIND_LOG_PATTERNS
from diag_graph.tools.find_metric_anomalies import FIND_METRIC_ANOMALIES
from diag_graph.tools.find_span_anomalies import FIND_SPAN_ANOMALIES
from diag_graph.tools.list_alerts import LIST_ALERTS
from diag_graph.tools.list_changes import LIST_CHANGES
from diag_graph.tools.list_evidence import LIST_EVIDENCE
from diag_graph.tools.lookup_knowledge import LOOKUP
from diag_graph.tools.query_metrics import QUERY_METRICS
from diag_graph.tools.read_document import READ_DOCUMENT
from diag_graph.tools.read_skill import READ_SELECTED_SKILL
from diag_graph.tools.search_logs import SEARCH_LOGS

ALL_TOOLS: tuple[AnyTool, ...] = (
    READ_SELECTED_SKILL,
    LIST_EVIDENCE,
    LIST_ALERTS,
    LIST_CHANGES,
    FIND_METRIC_ANOMALIES,
    FIND_SPAN_ANOMALIES,
    FIND_LOG_PATTERNS,
    FIND_FAILURE_SIGNATURES,
    QUERY_METRICS,
    SEARCH_LOGS,
    READ_DOCUMENT,
    LOOKUP,
    CURRENT_TIME,
)
"""In the order in which an investigator would use them."""


def offered_tools(context: ToolContext) -> tuple[AnyTool, ...]:
    """The tools for which there is a source, in the order of `ALL_TOOLS`."""
    return tuple(tool for tool in ALL_TOOLS if tool.offered(context))
