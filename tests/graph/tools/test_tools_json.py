"""Whatever a call brings, what is recorded is JSON that any reader takes (RFC 8259 knows no NaN)."""

from __future__ import annotations

import json
import math

from diag_graph.contracts import Invocation, InvocationStatus
from diag_graph.events import Event, ToolStarted
from diag_graph.tools.ledger import Ledger


def test_the_arguments_of_a_call_are_recorded_as_legal_json() -> None:
    """P2: a model may ask for anything; a number that is none becomes null, where it is told and where it is kept."""
    told: list[Event] = []
    ledger = Ledger([], None, told.append)
    made = ledger.call("no_such_tool", {"above": math.inf, "deep": [{"x": math.nan}], "half": "\ud800"})
    assert made.arguments == {"above": None, "deep": [{"x": None}], "half": "\ufffd"}
    assert [event.arguments for event in told if isinstance(event, ToolStarted)] == [made.arguments]


def test_a_call_that_is_taken_over_becomes_legal_json_too() -> None:
    """P2: a run may be handed over as Python objects, and not through a file, whose reader would have refused it."""
    ledger = Ledger([], None, lambda _: None)
    foreign = Invocation(
        id="inv-1",
        tool="t",
        status=InvocationStatus.OK,
        arguments={"x": -math.inf},
        result={"items": [{"text": "a", "value": math.nan}]},
        retrieval_details={"score": math.inf},
    )
    kept = ledger.adopt(foreign)
    for value in (kept.arguments, kept.result, kept.retrieval_details):
        assert json.loads(json.dumps(value, allow_nan=False)) == value
    assert kept.result == {"items": [{"text": "a", "value": None}]}
