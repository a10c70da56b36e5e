"""A lookup in the runbooks outside of any run: just what an agent would be given, masked and limited alike."""

from __future__ import annotations

from datetime import UTC, datetime

from diag_graph.contracts import Invocation, JsonObject
from diag_graph.sources.nowhere import nowhere
from diag_graph.sources.ports import Guidance, KnowledgeSource
from diag_graph.tools.definition import ToolContext
from diag_graph.tools.ledger import Ledger
from diag_graph.tools.lookup_knowledge import LOOKUP
from diag_graph.tools.run_window import run_window


def looked_up(knowledge: KnowledgeSource, arguments: JsonObject) -> Invocation:
    """Call `lookup_knowledge`.

    Args:
        knowledge: The index.
        arguments: The tool's arguments.
    """
    now, evidence = datetime.now(UTC), nowhere()
    window = run_window(evidence, "", now, since=None, until=None, zone="UTC")
    context = ToolContext(evidence, window, now.isoformat(), guidance=Guidance(knowledge=knowledge))
    return Ledger((LOOKUP,), context, lambda _: None).call(LOOKUP.name, arguments)
