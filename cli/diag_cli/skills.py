"""`diag skills`: which skills there are, and what is wrong with those that are not offered."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.options import Debug
from diag_cli.render.safe import one_line
from diag_cli.render.streams import complain, put, put_drawn, say
from diag_cli.render.words import Tone, counted
from diag_cli.settings import Origin, Settings
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diag_graph.sources.skills import FolderSkills

NAME = "skills"
EXAMPLES = """\b
  diag skills fixtures/skills
  diag ask "why is checkout slow?" --incident ./incident --skills fixtures/skills
"""
_MANUAL = "docs/skills.md says how to write one."


class Checked(NamedTuple):
    """What was found out about one skill."""

    state: str
    name: str
    description: str
    tools: tuple[str, ...]
    """The calls that its steps make, as they are written; those of its list where it has no steps."""
    path: str
    notes: tuple[str, ...] = ()
    advice: str = ""


def skills(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR", help=f"{settings.SETTINGS[NAME].purpose} Default: the setting [env: DIAG_SKILLS]."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """List the skills and check them.

    A skill is a folder with a SKILL.md: front matter with its name and description, then what to do, step by step. It
    guides a run that it fits, and is never evidence.

    Exit status 2 when one of them cannot be used.
    """
    given = settings.resolve({NAME: str(folder) if folder is not None else None})
    found = opened(given, must_exist=folder is not None)
    checked = list(_checked(found)) if found is not None else []
    if as_json:
        from diag_cli.envelope import as_text

        put(as_text([one._asdict() for one in checked]))
    elif checked:
        put_drawn(lambda _: _page(checked))
    else:
        say(f"No skills in {given[NAME]}. {_MANUAL}")
    return Exit.USAGE if any(one.state == "fault" for one in checked) else Exit.OK


def opened(given: Settings, *, must_exist: bool = False) -> FolderSkills | None:
    """The skills of the folder that is set; None when there is no folder.

    A folder that somebody names now has to be there. One that was set earlier (a variable, a file) is complained of and
    passed over, for a diagnosis must not wait for it; the default one need not be there.

    Raises:
        InputError: the named folder cannot be used.
    """
    from diag_graph.sources.errors import SkillFolderError
    from diag_graph.sources.skills import open_skills

    value = given.values[NAME]
    try:
        return offered(open_skills(value.value))
    except SkillFolderError as error:
        if must_exist or value.origin is Origin.FLAG:
            raise InputError(error.message, error.advice) from None
        if value.origin is not Origin.DEFAULT or value.value.exists():
            complain(f"no skills are used: {error.message}", error.advice)
        return None


def offered(found: FolderSkills) -> FolderSkills:
    """The skills without those of whose steps none can be made."""
    from diag_graph.sources.skills import SKILL_FILE, RefusedSkill
    from diag_graph.tools.skill_checks import is_useless

    advice = "Name tools that there are; docs/skills.md lists them."
    return found.refusing(
        [
            RefusedSkill(one.name, found.path / one.name / SKILL_FILE, "none of its steps calls a tool of diag", advice)
            for one in found.skills()
            if is_useless(one)
        ]
    )


def usable_skills(given: Settings, *, quiet: bool) -> FolderSkills | None:
    """The skills that may guide a run. Those that cannot be used are counted, are not offered, and stop nothing."""
    found = opened(given)
    if found is not None and found.refused and not quiet:
        lost = len(found.refused)
        of_all = counted(lost + len(found.cards()), "skill")
        complain(
            f"{lost} of {of_all} {'is' if lost == 1 else 'are'} not used: diag skills {_named_folder(given)}says why"
        )
    return found if found is not None and found.cards() else None


def _named_folder(given: Settings) -> str:
    """What `diag skills` has to be told to look at the same folder."""
    value = given.values[NAME]
    return f"{shlex.quote(str(value.value))} " if value.origin is Origin.FLAG else ""


def _checked(found: FolderSkills) -> Iterator[Checked]:
    import json

    from diag_graph.tools.skill_checks import oddities, steps_of

    for skill in found.skills():
        notes = oddities(skill)
        calls = [
            f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" if call.arguments else call.tool
            for call in steps_of(skill)
            if call.fault is None
        ]
        yield Checked(
            "note" if notes else "ok",
            skill.name,
            skill.description,
            tuple(calls or skill.tools),
            str(found.path / skill.name / "SKILL.md"),
            notes,
        )
    for one in found.refused:
        yield Checked("fault", one.name, "", (), str(one.path), (one.message,), one.advice)


def _page(checked: list[Checked]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    tones = {"ok": Tone.GOOD, "note": Tone.DOUBTFUL, "fault": Tone.BAD}
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=5, no_wrap=True)
    grid.add_column(max_width=24, overflow="fold")
    grid.add_column(overflow="fold")
    for one in checked:
        told = Text(one_line(one.description))
        if one.tools:
            told.append(f"\n{counted(len(one.tools), 'call')}: {_named(one.tools)}", "dim")
        for note in one.notes:
            told.append("\n" if told.plain else "").append(one_line(note), tones[one.state])
        if one.advice:
            told.append(f"\n{one_line(one.path)}: {one_line(one.advice)}", "dim")
        grid.add_row(Text(one.state, style=tones[one.state]), Text(one_line(one.name), style="bold"), told)
    return grid


def _named(tools: tuple[str, ...]) -> str:
    return one_line(", ".join(dict.fromkeys(tool.split(" ", 1)[0] for tool in tools)))
