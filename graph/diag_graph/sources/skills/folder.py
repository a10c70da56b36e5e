"""A folder of skills: each folder in it is one.

Nothing outside is read: links are refused, names are looked up among what was found, and of a skill's own folder only
`SKILL.md` is opened. A skill that cannot be used costs itself and nothing else.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diag_graph.sources.errors import SkillFolderError
from diag_graph.sources.skills.document import Skill, SkillError, read_skill_document
from diag_graph.state import SkillCard

SKILL_FILE = "SKILL.md"
MAX_BYTES = 128_000
"""Of a `SKILL.md`; a body has fewer characters than that in any script."""
MAX_SKILLS = 100
"""Skills that are read from a folder: all their descriptions go to the planner."""


@dataclass(frozen=True, slots=True)
class RefusedSkill:
    """A skill that is not offered.

    Attributes:
        name: Its folder's name.
        path: What was looked at.
        message: What is wrong with it.
        advice: What to do about it.
    """

    name: str
    path: Path
    message: str
    advice: str


class FolderSkills:
    """Skills of a folder, read.

    Attributes:
        path: The folder.
        refused: What lies in it and cannot be used.
    """

    def __init__(self, path: Path, skills: Mapping[str, Skill], refused: Sequence[RefusedSkill]) -> None:
        """See `open_skills`."""
        self.path = path
        self.refused = tuple(refused)
        self._skills = dict(skills)

    def refusing(self, refused: Sequence[RefusedSkill]) -> FolderSkills:
        """The same without these, which their readers cannot use."""
        names = {one.name for one in refused}
        kept = {name: one for name, one in self._skills.items() if name not in names}
        return FolderSkills(self.path, kept, (*self.refused, *refused))

    def skills(self) -> tuple[Skill, ...]:
        """All skills that can be used, by name."""
        return tuple(self._skills.values())

    def cards(self) -> tuple[SkillCard, ...]:
        """Names and descriptions of all skills that can be used."""
        return tuple(SkillCard(name=one.name, description=one.description) for one in self._skills.values())

    def body(self, name: str) -> str:
        """A skill's instructions. Raises KeyError when there is none of that name."""
        return self._skills[name].body

    def tools(self, name: str) -> tuple[str, ...]:
        """The tools that a skill names, in its order. Raises KeyError when there is none of that name."""
        return self._skills[name].tools


def open_skills(path: Path) -> FolderSkills:
    """Read the skills of a folder.

    Raises:
        SkillFolderError: the folder is not there, is no folder, cannot be listed, or is a skill itself.
    """
    skills: dict[str, Skill] = {}
    refused: list[RefusedSkill] = []
    for name in _folders(path):
        if len(skills) + len(refused) == MAX_SKILLS:
            refused.append(
                RefusedSkill(
                    "(more)", path, f"only the first {MAX_SKILLS} skills are read", "Keep fewer in one folder."
                )
            )
            break
        try:
            skills[name] = read_skill_document(_text_of(path / name), name)
        except SkillError as error:
            shown = name.encode("utf-8", "replace").decode("utf-8")
            refused.append(RefusedSkill(shown, path / shown / SKILL_FILE, error.message, error.advice))
    return FolderSkills(path, skills, refused)


def _folders(path: Path) -> list[str]:
    """Names of what can be a skill, sorted; hidden things and files that lie beside the skills are passed over."""
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except FileNotFoundError:
        raise SkillFolderError(f"there is no folder of skills {path}", "Name one that exists.") from None
    except NotADirectoryError:
        raise SkillFolderError(
            f"{path} is a file, and no folder of skills", "Name the folder that holds the skills' folders."
        ) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise SkillFolderError(f"the folder of skills {path} cannot be listed: {said}", "Check it.") from None
    if any(entry.name == SKILL_FILE for entry in entries):
        raise SkillFolderError(
            f"{path} is a skill, and no folder of skills", f"Name the folder above it: {path.parent}"
        )
    return [
        entry.name for entry in entries if not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir())
    ]


def _text_of(folder: Path) -> str:
    """The text of a skill's file.

    Raises:
        SkillError: it is not there, is no regular file in that very folder, is too large, or is no UTF-8.
    """
    try:
        if folder.is_symlink():
            raise SkillError("its folder is a link, which is not followed", "Copy the folder here.")
        raw = _bytes_of(folder / SKILL_FILE)
    except FileNotFoundError:
        raise SkillError(f"there is no {SKILL_FILE} in it", f"Write {SKILL_FILE}, spelt like that.") from None
    except OSError as error:
        raise SkillError(f"it cannot be read: {error.strerror or error}", "Check its permissions.") from None
    if len(raw) > MAX_BYTES:
        raise SkillError(f"it is larger than {MAX_BYTES:,} bytes", "Shorten it, or make two skills of it.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillError(f"it is no UTF-8 text, at byte {error.start:,}", "Save it as UTF-8.") from None
    if "\0" in text:
        raise SkillError("it holds a NUL character", "Save it as plain text.")
    return text


def _bytes_of(file: Path) -> bytes:
    """At most one byte more than may be; a link, a pipe or a device is refused before anything is read of it."""
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise SkillError(f"its {SKILL_FILE} is a link, which is not followed", "Copy the file here.")
    if not stat.S_ISREG(mode):
        raise SkillError(f"its {SKILL_FILE} is no regular file", "Write it as a text file.")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(file, flags), "rb") as opened:
        return opened.read(MAX_BYTES + 1)
