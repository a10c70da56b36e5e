from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from pydantic import BaseModel

from diag_graph.agents.models.calls import written_calls
from diag_graph.agents.models.prompts import DataBlocks, filled, prompt
from diag_graph.agents.models.schema import AskedCalls, EvidenceDocument, json_schema, outline
from diag_graph.agents.models.toolcards import (
    compact,
    known_arguments,
    names_by_wire,
    native_tools,
    shared_lines,
    tool_lines,
    wire_name,
)
from diag_graph.contracts import ComposedAnswer, Plan, VerifiedClaim, VerifierResult
from diag_graph.tools.catalogue import ALL_TOOLS
from diag_graph.tools.definition import ToolSpec

CONTRACTS: dict[str, type[BaseModel]] = {
    "planner": Plan,
    "executor": EvidenceDocument,
    "verifier": VerifierResult,
    "composer": ComposedAnswer,
}
SPECS = [ToolSpec(tool.name, tool.summary, tool.arguments.model_json_schema()) for tool in ALL_TOOLS]


def test_the_outline_reads_as_the_contract_is_written() -> None:
    """Section 4 writes contracts in this notation."""
    assert outline(ComposedAnswer) == (
        '{"summary": str, "findings": [{"claim_ids": [str], "text": str}], "limitations": [str], "next_steps": [str]}'
    )


@pytest.mark.parametrize("role", CONTRACTS)
def test_the_schema_has_every_field_that_is_read_and_no_other(role: str) -> None:
    """Generated from the model that reads the reply, so that they cannot drift."""
    model = CONTRACTS[role]
    schema = json_schema(role, model)["schema"]
    names = {field.alias or name for name, field in model.model_fields.items()}
    assert set(schema["properties"]) == set(schema["required"]) == names
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)


def test_an_evidence_document_of_the_schema_is_what_the_gate_builds_claims_from() -> None:
    """The executor's contract is for the model alone; its claims have the fields that the verified ones have."""
    claim = json_schema("x", EvidenceDocument)["schema"]["properties"]["claims"]["items"]
    assert set(claim["properties"]) == set(VerifiedClaim.model_fields) - {"flags"}


def test_strict_is_said_only_where_every_object_is_closed() -> None:
    """OpenAI refuses a strict schema with an object of any shape, such as a tool's arguments."""
    assert [json_schema(role, model)["strict"] for role, model in CONTRACTS.items()] == [False, True, True, True]
    assert json_schema("x", EvidenceDocument, AskedCalls)["strict"] is False


def test_choices_of_a_run_stand_in_the_schema() -> None:
    """A model that is held to the schema cannot name a tool that is not offered, or a claim that is not allowed."""
    step = json_schema("planner", Plan, choices={"tool": ["a", "b"]})["schema"]["properties"]["steps"]["items"]
    assert step["properties"]["tool"] == {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}
    finding = json_schema("composer", ComposedAnswer, choices={"claim_ids": ["c-1"]})["schema"]["properties"][
        "findings"
    ]
    assert finding["items"]["properties"]["claim_ids"]["items"] == {"type": "string", "enum": ["c-1"]}


def test_where_there_is_nothing_to_choose_a_field_is_null_if_it_may_be() -> None:
    """Without skills there is none to select; a list of claim ids cannot be null, and stays as it is."""
    plan = json_schema("planner", Plan, choices={"selected_skill": []})["schema"]["properties"]
    assert plan["selected_skill"] == {"anyOf": [{"type": "null"}]}
    answer = json_schema("composer", ComposedAnswer, choices={"claim_ids": []})["schema"]["properties"]
    assert answer["findings"]["items"]["properties"]["claim_ids"]["items"] == {"type": "string"}


def test_every_prompt_marks_data_and_says_that_it_is_no_instruction() -> None:
    """X1, in each of the four roles."""
    for role, model in CONTRACTS.items():
        filled_in = filled(role, contract=outline(model), data=prompt("data"), calling="")
        assert "holds no instructions" in filled_in
        assert outline(model) in filled_in
        assert "{{" not in filled_in


def test_the_prompts_say_what_the_diagnosis_rests_on() -> None:
    """Numbers from excerpts alone; the symptom is not the cause; nothing found is not nothing there."""
    executor = prompt("executor")
    assert "must stand in one of its excerpts" in executor
    assert "symptom is not thereby the cause" in executor
    assert "No evidence is not evidence of absence" in executor


def test_every_prompt_file_is_used() -> None:
    """A prompt that nobody sends is a prompt that nobody checks."""
    files = {
        file.name.removesuffix(".md")
        for file in resources.files("diag_graph.agents.models").joinpath("prompts").iterdir()
    }
    sources = [
        file.read_text(encoding="utf-8")
        for file in resources.files("diag_graph.agents.models").iterdir()
        if file.name.endswith(".py")
    ]
    code = "\n".join(sources)
    assert [name for name in files - set(CONTRACTS) if f'"{name}"' not in code] == []


def test_a_value_that_is_filled_in_is_not_looked_into() -> None:
    """Text with braces stays as it is."""
    assert "{{calls}}" in filled("calling_json", calls="x", tools="{{calls}}")


def test_marks_differ_from_call_to_call() -> None:
    """A text that was recorded earlier cannot know the mark that closes its block."""
    assert DataBlocks().word != DataBlocks().word
    assert DataBlocks().word.isalpha()
    assert DataBlocks("7").block("x") == "<<data 7>>\nx\n<<end 7>>"


def test_a_tools_name_goes_over_the_wire_in_letters_that_providers_allow() -> None:
    """The dot of an MCP server's tool is none of them; the way back is known."""
    spec = ToolSpec("github.list_prs", "Pull requests.", {"type": "object", "properties": {}})
    assert wire_name(spec.name) == "github_list_prs"
    assert names_by_wire([spec]) == {"github_list_prs": "github.list_prs"}
    assert native_tools([spec])[0]["function"]["name"] == "github_list_prs"


def test_of_a_plans_arguments_those_are_kept_that_the_tool_takes() -> None:
    """A schema that allows others, as an MCP server's may, takes whatever there is."""
    closed = {"type": "object", "properties": {"level": {}}, "additionalProperties": False}
    assert known_arguments(ToolSpec("t", "", closed), {"level": "x", "window": "1h"}) == {"level": "x"}
    assert known_arguments(ToolSpec("t", "", {"type": "object"}), {"window": "1h"}) == {"window": "1h"}


def test_a_compact_schema_keeps_what_tells_and_drops_what_does_not() -> None:
    """Titles, defaults and nulls cost tokens and say nothing."""
    text = json.dumps(native_tools(SPECS))
    assert '"title"' not in text
    assert '"default"' not in text
    assert '"null"' not in text
    assert compact({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "description": "x"}) == {
        "type": "integer",
        "description": "x",
    }


def test_what_several_tools_say_alike_is_said_once() -> None:
    """A window's arguments are those of nearly every tool; explained in each, they would cost hundreds of tokens."""
    shared = shared_lines(SPECS)
    assert "  since: Start, UTC" in shared
    assert "Start, UTC" not in json.dumps(native_tools(SPECS))
    own = [spec.arguments["properties"]["name"]["description"] for spec in SPECS if spec.name == "read_document"]
    assert own[0] in json.dumps(native_tools(SPECS))


def test_every_argument_of_every_tool_is_explained_in_words() -> None:
    """For a model without native tools, the prompt's lines are all that it has."""
    lines = tool_lines(SPECS)
    for spec in SPECS:
        assert f"- {spec.name}(" in lines
        for name in spec.arguments["properties"]:
            assert f"{name}" in lines


NO_CALLS: dict[str, Any] = {
    "a document": {"claims": [], "tool_calls": [{"tool": "search_logs"}]},
    "another object": {"summary": "x"},
    "calls that are no list": {"tool_calls": "search_logs"},
    "calls that are no objects": {"tool_calls": ["search_logs", 3, None]},
}


@pytest.mark.parametrize("what", NO_CALLS)
def test_what_is_no_call_is_not_taken_for_one(what: str) -> None:
    """An evidence document least of all."""
    assert written_calls(json.dumps(NO_CALLS[what])) == []


@pytest.mark.parametrize("text", ["", "I would search the logs.", '{"tool": "search_logs", "argu', "[1, 2]"])
def test_text_without_a_readable_call_has_none(text: str) -> None:
    """Nothing is repaired."""
    assert written_calls(text) == []


@pytest.mark.parametrize(
    ("arguments", "problem"), [('"{broken"', "no JSON"), ("[1]", "no JSON object"), ("7", "no JSON object")]
)
def test_a_written_call_with_unreadable_arguments_is_a_call_with_a_problem(arguments: str, problem: str) -> None:
    """The model is told; it did mean to call."""
    (found,) = written_calls(f'{{"tool": "search_logs", "arguments": {arguments}}}')
    assert found.arguments is None
    assert problem in found.problem
