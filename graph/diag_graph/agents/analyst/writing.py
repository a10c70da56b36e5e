"""How the analyst's agents write: a JSON text, as a model would."""

from __future__ import annotations

import json

from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import JsonObject


def reply(document: JsonObject) -> AgentReply:
    """A document as an agent's reply."""
    return AgentReply(text=json.dumps(document, ensure_ascii=False))
