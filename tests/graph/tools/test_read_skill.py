"""`read_skill` gives the selected skill's text in pieces, refuses any other, and is advice and no evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tools_samples import context

from diag_graph.contracts import InvocationStatus
from diag_graph.sources.ports import NO_GUIDANCE
from diag_graph.sources.skills import open_skills, read_skill_document
from diag_graph.tools.catalogue import ALL_TOOLS, offered_tools
from diag_graph.tools.definition import MAX_ITEM_TEXT, READ_SKILL, ToolContext, ToolError, ToolOutput
from diag_graph.tools.ledger import Ledger
from diag_graph.tools.read_skill import MAX_CHARS, MAX_PIECES, READ_SELECTED_SKILL
from diag_graph.tools.skill_checks import oddities
from skill_samples import SHIPPED, guided_by, skill_text, write_skill

LONG = "".join(f"{number}. `list_alerts`: {'a long sentence ' * 20}\n" for number in range(1, 81))


@pytest.fixture
def skilled(tmp_path: Path) -> ToolContext:
    """A run with two skills, of which the plan selected `slow`."""
    write_skill(tmp_path, "other")
    return replace(context(), guidance=guided_by(write_skill(tmp_path, "slow")), selected_skill="slow")


def read(of: ToolContext, name: str = "slow", **more: object) -> ToolOutput:
    """Read a skill."""
    return READ_SELECTED_SKILL.run(READ_SELECTED_SKILL.arguments(name=name, **more), of)


def test_it_gives_the_text_in_citable_pieces_and_says_that_it_is_no_evidence(skilled: ToolContext) -> None:
    """Section 13: the body of the selected skill; its calls stand beside the text, for code."""
    output = read(skilled)
    assert [item["text"] for item in output.items] == [
        "# Slow",
        "1. `list_changes`: what was touched.",
        '2. `search_logs {"level": "ERROR", "limit": 5}`: what was said.',
    ]
    assert [item["call"] for item in output.items] == [
        None,
        {"tool": "list_changes", "arguments": {}},
        {"tool": "search_logs", "arguments": {"level": "ERROR", "limit": 5}},
    ]
    assert "no evidence" in output.summary
    assert READ_SELECTED_SKILL.guidance
    assert json.loads(json.dumps(output.as_result(), allow_nan=False)) == output.as_result()


@pytest.mark.parametrize("name", ["other", "", "../slow", "/etc/passwd", "slow/SKILL.md", "SLOW"])
def test_no_other_skill_can_be_read(skilled: ToolContext, name: str) -> None:
    """S1: the executor may read the body of the one that the plan selected."""
    with pytest.raises(ToolError, match="only the skill that the plan selected can be read: slow"):
        read(skilled, name)


def test_without_a_selected_skill_none_can_be_read(skilled: ToolContext) -> None:
    """S1: nor by an executor that makes up a name."""
    with pytest.raises(ToolError, match="selected no skill"):
        read(replace(skilled, selected_skill=None))


def test_the_ledger_knows_what_each_round_selected(skilled: ToolContext) -> None:
    """Section 4: the executor's node says what the plan selected; a refusal is a recorded call like any other."""
    ledger = Ledger(offered_tools(skilled), replace(skilled, selected_skill=None), lambda event: None)
    assert ledger.call(READ_SKILL, {"name": "slow"}).status is InvocationStatus.ERROR
    ledger.begin_round(1, "slow")
    assert ledger.call(READ_SKILL, {"name": "other"}).status is InvocationStatus.ERROR
    assert ledger.call(READ_SKILL, {"name": "slow"}).status is InvocationStatus.OK
    assert [call.id for call in ledger.invocations] == ["inv-1", "inv-2", "inv-3"]


def test_it_is_offered_when_there_is_a_skill(skilled: ToolContext, tmp_path: Path) -> None:
    """Section 13: each tool only when a source for it is there."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert READ_SELECTED_SKILL in offered_tools(skilled)
    assert READ_SELECTED_SKILL not in offered_tools(replace(skilled, guidance=NO_GUIDANCE))
    assert READ_SELECTED_SKILL not in offered_tools(replace(skilled, guidance=guided_by(empty)))


def test_a_long_skill_is_read_in_parts_with_a_stated_cut(tmp_path: Path) -> None:
    """X4: what was left out is told, with how to go on; together the parts are the whole."""
    write_skill(tmp_path, "slow", skill_text("slow", body=LONG))
    of = replace(context(), guidance=guided_by(tmp_path), selected_skill="slow")
    items, start = [], 1
    while True:
        output = read(of, start=start)
        assert len(output.items) <= MAX_PIECES
        assert sum(len(item["text"]) for item in output.items) <= MAX_CHARS
        assert all(len(item["text"]) <= MAX_ITEM_TEXT for item in output.items)
        items += [item["text"] for item in output.items]
        start += len(output.items)
        if output.truncated is None:
            break
        assert output.truncated["hint"] == f"go on with start {start}"
    assert len(items) == 80
    with pytest.raises(ToolError, match="has 80 pieces: none from 81 on"):
        read(of, start=81)


def test_a_secret_in_a_skill_is_masked_as_in_any_result(tmp_path: Path) -> None:
    """X3: before it is stored, shown or sent to a model."""
    write_skill(tmp_path, "slow", skill_text("slow", body="Log in with password=hunter2hunter2 and look."))
    of = replace(context(), guidance=guided_by(tmp_path), selected_skill="slow")
    called = Ledger(offered_tools(of), of, lambda event: None).call(READ_SKILL, {"name": "slow"})
    assert "hunter2hunter2" not in called.model_dump_json()


def test_the_shipped_skills_say_nothing_odd_and_fit_into_one_result() -> None:
    """Every tool that they name is there, and takes the arguments that they give it; a model is shown each whole."""
    found = open_skills(SHIPPED)
    for skill in found.skills():
        assert oddities(skill) == ()
        of = replace(context(), guidance=guided_by(SHIPPED), selected_skill=skill.name)
        assert read(of, skill.name).truncated is None


@pytest.mark.parametrize(
    ("body", "more", "said"),
    [
        ("Think hard.", "", "makes no call for it"),
        ("1. `frobnicate`: it", "", "line 6: frobnicate: it is no tool of diag"),
        ("1. `search_logs {no}`: it", "", "its arguments are no JSON"),
        ('1. `search_logs {"levle": "ERROR"}`: it', "", "search_logs: levle: "),
        ("1. `list_alerts`: it", "allowed-tools: list_changes\n", "not among its allowed-tools"),
        ("1. `read_skill`: it", "", "without a step"),
        ("1. `list_alerts`: it", "allowed-tools: list_alerts Bash(git:*)\n", "'Bash(git:*)', which is no tool of diag"),
        (LONG, "", "only its first 20 calls are made"),
    ],
)
def test_what_will_not_work_is_noted(body: str, more: str, said: str) -> None:
    """One line each, with the line of the file."""
    skill = read_skill_document(skill_text("slow", body=body, more=more), "slow")
    assert any(said in one for one in oddities(skill)), oddities(skill)


def test_a_tool_of_a_server_and_a_place_to_fill_in_are_not_odd() -> None:
    """Whether a server has the tool shows when one asks; what the reader fills in cannot be checked."""
    body = '1. `wiki.search {"q": "x"}`: it\n2. `search_logs {"service": "<the suspect>"}`: it\n'
    assert oddities(read_skill_document(skill_text("slow", body=body), "slow")) == ()


def test_every_guidance_tool_is_one_of_the_contracts() -> None:
    """G6: a replay knows them by name."""
    assert {tool.name for tool in ALL_TOOLS if tool.guidance} <= {"lookup_knowledge", READ_SKILL}
