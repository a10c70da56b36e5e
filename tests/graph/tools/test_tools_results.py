"""What holds for every tool."""

import json

import pytest
from pydantic import ValidationError
from tools_samples import ONSET, Recorded, call, context, incident

from diag_graph.analysis.records import Edge, LogRecord, Series
from diag_graph.tools.catalogue import ALL_TOOLS, offered_tools
from diag_graph.tools.definition import MAX_ITEM_TEXT, AnyTool, ToolError

ARGUMENTS = {
    "read_document": {"name": "plan.md"},
    "lookup_knowledge": {"query": "idle sessions"},
    "read_skill": {"name": "latency"},
}
NOTHING = {
    "list_evidence": {"query": "zebra"},
    "list_alerts": {"service": "zebra"},
    "list_changes": {"service": "zebra"},
    "find_metric_anomalies": {"service": "zebra"},
    "find_span_anomalies": {"service": "zebra"},
    "find_log_patterns": {"service": "zebra"},
    "find_failure_signatures": {"service": "zebra"},
    "query_metrics": {"metric": "zebra"},
    "search_logs": {"query": "zebra"},
    "read_document": {"name": "plan.md", "query": "zebra"},
    "lookup_knowledge": {"query": "zebra"},
}

MORE_THAN_ONE = {
    "read_document": {"name": "describe-pod.txt"},
    "search_logs": {"query": "request"},
    "lookup_knowledge": {"query": "sessions raise"},
}


def ids(tool: AnyTool) -> str:
    """A test is named after its tool."""
    return tool.name


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=ids)
def test_every_item_is_one_citable_statement_with_fields_that_code_reads(tool: AnyTool) -> None:
    """Section 13: text, short enough to be cited whole; entity, signal, onset and score beside it; all of it JSON."""
    output = call(tool, **ARGUMENTS.get(tool.name, {}))
    assert output.items
    assert not output.empty
    for item in output.items:
        assert 0 < len(item["text"]) <= MAX_ITEM_TEXT
        assert "\n" not in item["text"] or tool.name == "read_document"
        assert isinstance(item["entity"], str)
        assert item["signal"] in {"metric", "log", "span", "change", "alert", "call", "document", "knowledge", "skill"}
    assert json.loads(json.dumps(output.as_result(), allow_nan=False)) == output.as_result()


@pytest.mark.parametrize("tool", [tool for tool in ALL_TOOLS if tool.name in NOTHING], ids=ids)
def test_nothing_found_is_one_item_that_says_what_was_asked_and_rules_nothing_out(tool: AnyTool) -> None:
    """X5, V1: an empty result can be cited, and never reads as an all-clear."""
    output = call(tool, **NOTHING[tool.name])
    assert output.empty
    (item,) = output.items
    assert "zebra" in item["text"]
    assert item["text"].startswith("No ")
    assert not any(word in item["text"].lower() for word in ("ruled out", "is fine", "healthy", "is not the cause"))


@pytest.mark.parametrize(
    "name",
    [
        "find_metric_anomalies",
        "find_span_anomalies",
        "find_log_patterns",
        "find_failure_signatures",
        "query_metrics",
        "search_logs",
    ],
)
def test_an_empty_result_names_its_window(name: str) -> None:
    """X5: over which window."""
    (tool,) = (tool for tool in ALL_TOOLS if tool.name == name)
    assert "2026-07-16T06:00:00Z to 2026-07-16T06:59:00Z" in call(tool, **NOTHING[name]).items[0]["text"]


@pytest.mark.parametrize("tool", [tool for tool in ALL_TOOLS if "limit" in tool.arguments.model_fields], ids=ids)
def test_a_shortened_result_says_so_and_how_to_narrow_it(tool: AnyTool) -> None:
    """X4: a stated cut."""
    arguments = {**ARGUMENTS.get(tool.name, {}), **MORE_THAN_ONE.get(tool.name, {}), "limit": 1}
    output = call(tool, incident(more_logs=True), **arguments)
    assert output.truncated is not None
    assert output.truncated["total"] > output.truncated["shown"]
    assert output.truncated["hint"]


def test_tools_are_offered_for_the_sources_that_are_there() -> None:
    """Section 13: each only when a source for it is there."""
    assert offered_tools(context(incident())) == ALL_TOOLS
    bare = {tool.name for tool in offered_tools(context(Recorded()))}
    assert bare == {"list_evidence", "current_time"}
    only_logs = {tool.name for tool in offered_tools(context(Recorded(log_records=[LogRecord("x")])))}
    assert only_logs == {
        "list_evidence",
        "current_time",
        "find_log_patterns",
        "find_failure_signatures",
        "search_logs",
    }


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=ids)
def test_arguments_refuse_unknown_names_and_describe_each_known_one(tool: AnyTool) -> None:
    """A typo is not silently ignored, and a model sees what each argument means."""
    with pytest.raises(ValidationError):
        tool.arguments(**{**ARGUMENTS.get(tool.name, {}), "sevrice": "x"})
    properties = tool.arguments.model_json_schema().get("properties", {})
    assert all(one.get("description") for one in properties.values())
    assert len(tool.summary) <= 110


@pytest.mark.parametrize("bad", [{"since": "soon"}, {"since": "06:50", "until": "06:10"}])
def test_a_window_that_cannot_be_is_an_error_that_says_what_to_do(bad: dict[str, str]) -> None:
    """A caller can mend what it is told."""
    tool = next(tool for tool in ALL_TOOLS if tool.name == "query_metrics")
    with pytest.raises(ToolError, match=r"write 2026|swap since and until"):
        call(tool, **bad)


def test_hostile_text_stays_within_one_bounded_line() -> None:
    """X1, X4: endless names and messages of a source cannot break an item."""
    endless = "evil\n\x1b[31m " + "A" * 5_000
    hostile = Recorded(
        metric_series=[Series(endless, endless, one.times, one.values) for one in incident().metric_series],
        log_records=[LogRecord(endless, ONSET + n, endless, "ERROR", source=endless) for n in range(9)],
        calls=[Edge(endless, endless + "b")],
        texts={endless: [endless]},
    )
    for tool in offered_tools(context(hostile)):
        output = call(tool, hostile, **({"name": endless} if tool.name == "read_document" else {}))
        assert all(len(item["text"]) <= MAX_ITEM_TEXT for item in output.items), tool.name


def test_no_onset_is_an_answer_too() -> None:
    """A healthy system has none: comparing tools say that there is nothing to compare with."""
    for tool in offered_tools(context()):
        output = call(tool, known=None, **ARGUMENTS.get(tool.name, {}))
        assert output.items, tool.name
