"""What can go wrong with a source as a whole. A part that cannot be read is no error: it stands in the inventory.

SourceError
├── FolderError         the evidence folder, or its incident.toml, cannot be used
└── SkillFolderError    the folder of skills cannot be used
"""

from __future__ import annotations


class SourceError(Exception):
    """A source of evidence cannot be used.

    Attributes:
        message: What is wrong, and where.
        advice: What to do about it.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        """`advice` begins small and without a full stop, or is a sentence."""
        super().__init__(f"{message}: {advice}" if advice else message)
        self.message = message
        self.advice = f"{advice[0].upper()}{advice[1:].rstrip('.')}." if advice else ""


class FolderError(SourceError):
    """The evidence folder cannot be used: it is not there, is no folder, cannot be listed, or its manifest is wrong."""


class SkillFolderError(SourceError):
    """The folder of skills cannot be used: it is not there, is no folder, cannot be listed, or is a skill itself."""
