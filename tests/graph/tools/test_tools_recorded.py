"""The calls of an earlier run in place of tools."""

from __future__ import annotations

from typing import Any

from diag_graph.contracts import Invocation, InvocationStatus
from diag_graph.events import Event, ToolFinished, ToolStarted
from diag_graph.tools.recorded import NOT_RECORDED, RecordedTools


def recorded(
    invocation_id: str, arguments: dict[str, Any], status: str = "ok", tool: str = "search_logs"
) -> Invocation:
    """A call of the earlier run; its result names it."""
    result = {"items": [{"text": f"found by {invocation_id}"}]} if status == "ok" else None
    return Invocation.model_validate(
        {"id": invocation_id, "tool": tool, "arguments": arguments, "status": status, "result": result}
    )


def tools(*calls: Invocation) -> tuple[RecordedTools, list[Event]]:
    """A ledger over these calls, and what it tells."""
    told: list[Event] = []
    return RecordedTools(calls, told.append), told


def test_a_recorded_call_is_answered_under_its_recorded_id() -> None:
    """Also with defaults spelled out and in another order: arguments are compared as the tool reads them."""
    ledger, told = tools(recorded("inv-1", {"query": "a"}), recorded("inv-7", {"query": "pool", "service": "orders"}))
    ledger.begin_round(2)
    answer = ledger.call("search_logs", {"service": "orders", "since": None, "query": "pool"})
    assert (answer.id, answer.status, answer.round) == ("inv-7", "ok", 2)
    assert answer.result == {"items": [{"text": "found by inv-7"}]}
    assert ledger.invocations == (answer,)
    assert [type(event) for event in told] == [ToolStarted, ToolFinished]
    assert [(query.tool, query.arguments) for query in ledger.completed_queries()] == [(answer.tool, answer.arguments)]


def test_a_call_that_was_not_recorded_gets_an_error_and_an_id_of_its_own() -> None:
    """Nothing is run, and no id of the record is used for it, whether that was asked for or not."""
    ledger, _ = tools(recorded("inv-1", {"query": "a"}), recorded("inv-4", {"query": "b"}))
    asked = [("search_logs", {"query": "c"}), ("query_metrics", {"metric": "m"}), ("search_logs", {"query": "b"})]
    answers = ledger.call_many(asked)
    assert [answer.id for answer in answers] == ["inv-3", "inv-5", "inv-4"]
    assert [answer.status for answer in answers] == ["error", "error", "ok"]
    assert [answer.error for answer in answers] == [NOT_RECORDED, NOT_RECORDED, None]
    assert ledger.counts()[InvocationStatus.ERROR] == 2


def test_equal_calls_share_one_answer() -> None:
    """E2: no second invocation is recorded, whatever the first came to; an id stands once in a run."""
    ledger, told = tools(recorded("inv-1", {"query": "a"}, "error"))
    for text in ("a", "a", "b", "b"):
        ledger.call("search_logs", {"query": text})
    assert [call.id for call in ledger.invocations] == ["inv-1", "inv-2"]
    assert [event.reused for event in told if isinstance(event, ToolFinished)] == [False, True, False, True]


def test_of_equal_recorded_calls_the_one_that_succeeded_answers() -> None:
    """A call that failed and was made again."""
    ledger, _ = tools(recorded("inv-1", {"query": "a"}, "error"), recorded("inv-2", {"query": "a"}))
    assert ledger.call("search_logs", {"query": "a"}).id == "inv-2"


def test_a_secret_in_the_arguments_finds_the_masked_record() -> None:
    """X3: recorded arguments are masked, and so a call with the same secret equals it; the secret stays nowhere."""
    asked = {"query": "password=hunter2-and-more"}
    first, _ = tools()
    masked = first.call("search_logs", asked).arguments
    ledger, told = tools(recorded("inv-1", masked))
    assert ledger.call("search_logs", asked).status == "ok"
    assert "hunter2" not in repr(told)


def test_the_tools_that_were_called_are_offered() -> None:
    """Built-in ones with their arguments, in the investigator's order; one of an MCP server takes anything."""
    ledger, _ = tools(
        recorded("inv-1", {"query": "a"}),
        recorded("inv-2", {"q": 1}, tool="k8s.pods"),
        recorded("inv-3", {}, tool="list_alerts"),
    )
    specs = ledger.specs()
    assert [spec.name for spec in specs] == ["list_alerts", "search_logs", "k8s.pods"]
    assert "query" in specs[1].arguments["properties"]
    assert ledger.call("k8s.pods", {"q": 1}).id == "inv-2"
