"""The prompts: short Markdown files, with the contract filled in from the models, and tool text marked as data (X1)."""

from __future__ import annotations

import re
import secrets
from functools import cache
from importlib import resources

_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_WORD_LENGTH = 7


@cache
def prompt(name: str) -> str:
    """A prompt's text; `name` is its file's, without the ending."""
    return resources.files(__package__).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def filled(name: str, **values: str) -> str:
    """A prompt with each `{{value}}` filled in; values are not looked into again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], prompt(name))


class DataBlocks:
    """Marks text that came out of tools, so that a model can tell it from what it is told to do.

    The marks hold a word that is drawn anew for each agent call, so that no text can close its own block. It has no
    digits and no vowels: small models take a number there for the id of an invocation, and cite it.
    """

    def __init__(self, word: str | None = None) -> None:
        """Use this word, or a new one."""
        self.word = word or "".join(secrets.choice(_CONSONANTS) for _ in range(_WORD_LENGTH))

    def block(self, text: str) -> str:
        """The text between its marks."""
        return f"<<data {self.word}>>\n{text}\n<<end {self.word}>>"
