"""One `SKILL.md`: YAML front matter between lines of `---`, then Markdown.

The fields and their limits are those of the Agent Skills specification (https://agentskills.io/specification): `name`
and `description` are required, `allowed-tools` names tools, and other fields (`license`, `compatibility`, `metadata`)
are somebody else's and are passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_NAME, MAX_DESCRIPTION = 64, 1_024
"""Characters, by the specification."""
MAX_BODY = 30_000
"""Characters of a body. The specification recommends less than 5,000 tokens, which is about 20,000 characters."""
MAX_FRONT_MATTER = 4_000
"""Characters of the front matter, so that no YAML can be large enough to be slow."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UNQUOTED = re.compile(r"^([a-z-]+): +([^\s\"'\[{|>&*!%@`][^\n]*: [^\n]*?) *$", re.MULTILINE)
_FENCE = "---"
_SHOWN = 60
_YAML_SLIPS = (ValueError, LookupError, AttributeError, TypeError, ArithmeticError, RecursionError)
"""What PyYAML raises bare: of values that are not what they claim to be (`!!int ''`, `!!bool x`), and of depth."""


class SkillError(Exception):
    """A skill cannot be used.

    Attributes:
        message: What is wrong with it.
        advice: What to do about it.
    """

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that can be used.

    Attributes:
        name: Lower case, digits and hyphens; that of its folder.
        description: What it does and when it fits, for whoever selects.
        body: Its instructions, Markdown.
        tools: The tools that its front matter names, in their order; empty when it names none.
        first_line: The line of the file that the body begins on, from 1.
    """

    name: str
    description: str
    body: str
    tools: tuple[str, ...] = ()
    first_line: int = 1


def read_skill_document(text: str, folder: str) -> Skill:
    """Read the text of a `SKILL.md`.

    Args:
        text: The whole file.
        folder: The name of the folder that it lies in.

    Raises:
        SkillError: it does not follow the convention, or is too large.
    """
    front, body, first_line = _parted(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    fields = _fields(front)
    name = _text(fields, "name", MAX_NAME)
    if not _NAME.fullmatch(name):
        raise SkillError(
            f"its name {_shown(name)} may hold lower-case letters, digits and single hyphens between them alone",
            f"Name it as its folder, such as: name: {_proposed(folder)}",
        )
    if name != folder:
        raise SkillError(
            f"its name {_shown(name)} is not that of its folder, {_shown(folder)}", "Rename one of the two."
        )
    description = _text(fields, "description", MAX_DESCRIPTION)
    if not body:
        raise SkillError("it has no instructions below its front matter", "Write there what to do, step by step.")
    if len(body) > MAX_BODY:
        raise SkillError(
            f"its instructions have {len(body):,} characters, more than {MAX_BODY:,}",
            "Shorten them, or make two skills of it.",
        )
    return Skill(name, " ".join(description.split()), body, _tools(fields.get("allowed-tools")), first_line)


def _parted(text: str) -> tuple[str, str, int]:
    """Front matter, body, and the line that the body begins on."""
    lines = text.split("\n")
    advice = "Begin it with a line ---, then name: and description:, and a line --- again."
    if lines[0].rstrip() != _FENCE:
        raise SkillError("it does not begin with front matter", advice)
    end = next((index for index, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise SkillError("its front matter has no end", advice)
    front = "\n".join(lines[1:end])
    if len(front) > MAX_FRONT_MATTER:
        raise SkillError(
            f"its front matter has {len(front):,} characters, more than {MAX_FRONT_MATTER:,}",
            "Keep what is long in the text below it.",
        )
    first = next((index for index in range(end + 1, len(lines)) if lines[index].strip()), end + 1)
    return front, "\n".join(lines[first:]).rstrip(), first + 1


def _fields(front: str) -> Mapping[Any, Any]:
    """The fields. A text that holds a colon and stands without quotes, which YAML forbids, is read as it was meant."""
    import yaml

    try:
        try:
            fields = yaml.safe_load(front)
        except yaml.YAMLError:
            fields = yaml.safe_load(_with_quotes(front))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 2}" if mark else ""
        said = getattr(error, "problem", None) or "it cannot be read"
        raise SkillError(
            f"its front matter is no YAML{where}: {said}", "Put texts that hold a colon or quotes in quotes."
        ) from None
    except _YAML_SLIPS as error:
        raise SkillError(
            f"its front matter cannot be read: {type(error).__name__}",
            "Keep to name: and description:, as plain texts.",
        ) from None
    if not isinstance(fields, dict):
        raise SkillError("its front matter names no fields", "Write name: and description: there, each on its line.")
    return fields


def _with_quotes(front: str) -> str:
    """The front matter with quotes around values that hold a colon: many skills are written so."""
    return _UNQUOTED.sub(lambda found: f"{found[1]}: {json.dumps(found[2], ensure_ascii=False)}", front)


def _text(fields: Mapping[Any, Any], name: str, limit: int) -> str:
    """A required field that is a text."""
    value = fields.get(name)
    if value is None or value == "":
        raise SkillError(f"it has no {name}", f"Write {name}: into its front matter.")
    if not isinstance(value, str):
        raise SkillError(f"its {name} is no text", f'Put it in quotes: {name}: "..."')
    if not value.strip():
        raise SkillError(f"its {name} is blank", f"Write {name}: into its front matter.")
    if len(value) > limit:
        raise SkillError(f"its {name} has {len(value):,} characters, more than {limit:,}", "Shorten it.")
    return value.strip()


def _tools(value: object) -> tuple[str, ...]:
    """The tools of `allowed-tools`: a text of names with blanks between them, or a list."""
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    if names is None:
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise SkillError(
            "its allowed-tools are no names", "Write them with blanks between: allowed-tools: list_alerts search_logs"
        )
    return tuple(dict.fromkeys(name.strip() for name in names))


def _proposed(folder: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-") or "my-skill"


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…")
