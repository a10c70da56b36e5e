"""What can go wrong with a source as a whole. A part that cannot be read is no error: it stands in the inventory.

SourceError
├── FolderError         the evidence folder, or its incident.toml, cannot be used
└── SkillFolderError    the folder of skills cannot be used
"""

from __future__ import annotations


class SourceError(Exception):
    """A source of evidence cannot be used; the message says what is wrong, where, and what to do."""


class FolderError(SourceError):
    """The evidence folder cannot be used: it is not there, is no folder, cannot be listed, or its manifest is wrong."""


class SkillFolderError(SourceError):
    """The folder of skills cannot be used: it is not there, is no folder, cannot be listed, or is a skill itself.

    Attributes:
        message: What is wrong.
        advice: What to do about it.
    """

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(f"{message}. {advice}")
        self.message = message
        self.advice = advice
