"""Folders of skills: what the convention asks for is read, and whatever else is refused, one clear line each."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_graph.sources.errors import SkillFolderError
from diag_graph.sources.skills import Call, RefusedSkill, SkillError, open_skills, pieces, read_skill_document
from diag_graph.sources.skills.document import MAX_BODY, MAX_FRONT_MATTER
from diag_graph.sources.skills.folder import MAX_BYTES, MAX_SKILLS
from skill_samples import SHIPPED, STEPS, skill_text, write_skill

GOOD = skill_text("slow")


def refused(folder: Path) -> RefusedSkill:
    """The only skill of a folder, which is refused."""
    found = open_skills(folder)
    assert found.cards() == ()
    (one,) = found.refused
    assert one.message
    assert one.advice
    return one


def test_a_skill_is_read_with_name_description_body_and_tools(tmp_path: Path) -> None:
    """Section 13: a folder, front matter with name and description, body; other fields are somebody else's."""
    more = "license: MIT\nmetadata:\n  version: '1'\nallowed-tools: list_changes search_logs list_changes\n"
    found = open_skills(write_skill(tmp_path, "slow", skill_text("slow", more=more)))
    assert [(card.name, card.description) for card in found.cards()] == [("slow", "When things are slow.")]
    assert found.body("slow") == STEPS.rstrip()
    assert found.tools("slow") == ("list_changes", "search_logs")
    assert found.refused == ()


def test_names_are_looked_up_and_never_opened_as_paths(tmp_path: Path) -> None:
    """No name reaches the file system after the folder has been read."""
    write_skill(tmp_path, "outside")
    found = open_skills(write_skill(tmp_path / "skills", "slow"))
    for name in ("../outside", "outside", str(tmp_path / "outside"), "", "slow/SKILL.md"):
        with pytest.raises(KeyError):
            found.body(name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin with front matter"),
        ("# Slow\n", "does not begin with front matter"),
        ("---\nname: slow\ndescription: x\n", "has no end"),
        ("---\nname: slow\n---\nbody", "it has no description"),
        ("---\ndescription: x\n---\nbody", "it has no name"),
        ("---\nname: slow\ndescription: '  '\n---\nbody", "description is blank"),
        ("---\nname: slow\ndescription: [x]\n---\nbody", "description is no text"),
        ("---\nname: 12\ndescription: x\n---\nbody", "name is no text"),
        ("---\nname: other\ndescription: x\n---\nbody", "is not that of its folder"),
        ("---\nname: Slow\ndescription: x\n---\nbody", "may hold lower-case letters"),
        ("---\nname: -slow\ndescription: x\n---\nbody", "may hold lower-case letters"),
        ("---\nname: ../../etc/passwd\ndescription: x\n---\nbody", "may hold lower-case letters"),
        ("---\nname: /slow\ndescription: x\n---\nbody", "may hold lower-case letters"),
        (f"---\nname: {'s' * 65}\ndescription: x\n---\nbody", "more than 64"),
        (f"---\nname: slow\ndescription: {'x' * 1025}\n---\nbody", "more than 1,024"),
        ("---\nname: slow\ndescription: 'x\n---\nbody", "no YAML, line "),
        ("---\n- name\n---\nbody", "names no fields"),
        ("---\nname: slow\ndescription: x\nwhen: 2026-99-99\n---\nbody", "cannot be read"),
        (f"---\nname: slow\ndescription: {'[' * 2000}\n---\nbody", "front matter"),
        (f"---\nname: slow\n{'#' * MAX_FRONT_MATTER}\n---\nbody", "more than 4,000"),
        ("---\nname: slow\ndescription: x\nobject: !!python/object/apply:os.system ['true']\n---\nbody", "no YAML"),
        ("---\nname: slow\ndescription: x\nallowed-tools: {a: b}\n---\nbody", "allowed-tools are no names"),
        ("---\nname: slow\ndescription: x\n---\n \n", "no instructions"),
        (f"---\nname: slow\ndescription: x\n---\n{'word ' * MAX_BODY}", "more than 30,000"),
    ],
)
def test_a_document_that_is_wrong_is_refused_with_what_is_wrong(text: str, said: str) -> None:
    """Section 13: one line of what is wrong, and one of what to do."""
    with pytest.raises(SkillError, match=said) as caught:
        read_skill_document(text, "slow")
    assert caught.value.advice
    assert "\n" not in caught.value.message + caught.value.advice


@pytest.mark.parametrize("value", ["!!int ''", "!!bool x", "!!timestamp x", "!!float x", "2026-99-99", "{? [a]: b}"])
def test_no_value_of_a_field_is_more_than_a_refusal(value: str) -> None:
    """PyYAML raises bare errors for some; one such skill must not stop a diagnosis."""
    with pytest.raises(SkillError):
        read_skill_document(f"---\nname: slow\ndescription: x\nwhen: {value}\n---\nbody", "slow")


@given(st.text(alphabet=st.sampled_from("ab:-#'\"[]{}!&*|>?%@`,. \n\t\r0é\u2028"), max_size=60), st.text(max_size=200))
def test_whatever_is_written_is_read_or_refused(front: str, body: str) -> None:
    """And a body that is read is cut into pieces that fit."""
    with contextlib.suppress(SkillError):
        skill = read_skill_document(f"---\nname: slow\ndescription: {front}\n---\n{body}", "slow")
        assert all(0 < len(piece.text) <= 40 for piece in pieces(skill.body, 40))


def test_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    """As editors on other systems write it."""
    windows = "\ufeff" + GOOD.replace("\n", "\r\n")
    assert read_skill_document(windows, "slow") == read_skill_document(GOOD, "slow")


def test_a_description_with_a_colon_and_without_quotes_is_read_as_it_was_meant() -> None:
    """YAML forbids it, and many write it."""
    skill = read_skill_document(skill_text("slow", 'Use when: slow, "stuck" or hung: any of it'), "slow")
    assert skill.description == 'Use when: slow, "stuck" or hung: any of it'


def test_a_broken_skill_costs_itself_alone(tmp_path: Path) -> None:
    """The others are offered."""
    write_skill(tmp_path, "broken", "no front matter")
    (tmp_path / "README.md").write_text("about these skills")
    (tmp_path / ".git").mkdir()
    found = open_skills(write_skill(tmp_path, "slow"))
    assert [card.name for card in found.cards()] == ["slow"]
    assert [one.name for one in found.refused] == ["broken"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A skill that leaves its folder is refused: the folder as a link, and the file as one."""
    write_skill(tmp_path / "outside", "slow")
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / "slow").symlink_to(tmp_path / "outside" / "slow")
    assert "a link" in refused(folder).message
    (folder / "slow").unlink()
    (folder / "slow").mkdir()
    (folder / "slow" / "SKILL.md").symlink_to(tmp_path / "outside" / "slow" / "SKILL.md")
    assert "a link" in refused(folder).message


def test_what_would_block_or_is_no_text_is_never_read(tmp_path: Path) -> None:
    """A pipe, a folder, a file that is huge, one that is no UTF-8, and one that is not there."""
    folder = tmp_path / "slow"
    folder.mkdir()
    file = folder / "SKILL.md"
    assert "no SKILL.md" in refused(tmp_path).message
    os.mkfifo(file)
    assert "no regular file" in refused(tmp_path).message
    file.unlink()
    file.mkdir()
    assert "no regular file" in refused(tmp_path).message
    file.rmdir()
    file.write_bytes(GOOD.encode() + b" " * MAX_BYTES)
    assert "larger than 128,000 bytes" in refused(tmp_path).message
    file.write_bytes(GOOD.encode() + b"\xff")
    assert "no UTF-8" in refused(tmp_path).message
    file.write_bytes(GOOD.encode() + b"\0")
    assert "NUL" in refused(tmp_path).message


def test_a_folder_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    """Not there, a file, and a skill in place of the folder above it."""
    write_skill(tmp_path, "slow")
    for path, said in (
        (tmp_path / "nowhere", "there is no folder"),
        (tmp_path / "slow" / "SKILL.md", "is a file"),
        (tmp_path / "slow", "is a skill"),
    ):
        with pytest.raises(SkillFolderError, match=said):
            open_skills(path)


def test_too_many_skills_are_not_all_read(tmp_path: Path) -> None:
    """All descriptions go to the planner."""
    for number in range(MAX_SKILLS + 2):
        write_skill(tmp_path, f"s{number:03}")
    found = open_skills(tmp_path)
    assert len(found.cards()) == MAX_SKILLS
    assert "only the first 100" in found.refused[0].message


def test_the_five_that_ship_are_good() -> None:
    """Section 13: latency, error rate, saturation, bad deploy, database."""
    found = open_skills(SHIPPED)
    assert [card.name for card in found.cards()] == ["bad-deploy", "database", "error-rate", "latency", "saturation"]
    assert found.refused == ()


BODY = """# Title

A paragraph that
goes on.
1. `list_changes`: what
   was touched.
2. `search_logs {"query": "a"}` and `list_alerts`.
3. See `list_alerts` first.
- `list_alerts`: a bullet
4. `search_logs {"service": "<the suspect>"}`
5. `search_logs {nonsense}`

```
6. `list_changes`
```
"""


def test_a_body_is_cut_into_pieces_that_carry_the_calls_of_their_steps() -> None:
    """A numbered step that begins with a call in backticks makes it; nothing else is a call."""
    found = pieces(BODY, 480)
    assert [(piece.line, piece.text) for piece in found[:3]] == [
        (1, "# Title"),
        (3, "A paragraph that goes on."),
        (5, "1. `list_changes`: what was touched."),
    ]
    calls = [piece.call for piece in found if piece.call]
    assert calls[:2] == [Call("list_changes", {}, 5), Call("search_logs", {"query": "a"}, 7)]
    assert [call.is_open for call in calls] == [False, False, True, False]
    assert [bool(call.fault) for call in calls] == [False, False, False, True]


def test_no_piece_is_longer_than_a_citation() -> None:
    """Long paragraphs are cut between words, and a word without end within."""
    found = pieces("word " * 500 + "\n\n" + "x" * 2_000, 480)
    assert max(len(piece.text) for piece in found) <= 480
    assert "".join(piece.text for piece in found).replace(" ", "") == "word" * 500 + "x" * 2_000
