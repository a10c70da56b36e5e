"""What can go wrong, as one tree.

DiagError                   a person can act on it: one line of what went wrong, one of what to do
├── ConfigError             a setting is missing, unknown or contradicts another
├── InputError              what the user gave cannot be used (a question, a time, a window)
├── RunFileError            a run file is not of the format, broken, truncated or huge (P3)
├── FolderError             an evidence folder cannot be opened          (diag_graph.sources.errors)
└── FileError               a database file of ours cannot be used          (diag_graph.database)
    └── StoreError          the store, or a run in it, cannot be used       (diag_graph.store)

AgentFailure                an agent gave no text; control flow between an agent and its node, never shown as such

RunAborted                  ends a run from inside a node, past the graph; control flow too
└── ReplayDivergence        a replay and its recording went different ways (P1)
"""

from __future__ import annotations

from diag_graph.topology import FailureKind
from diag_graph.usage import NO_USAGE, Usage


class DiagError(Exception):
    """Base of the errors that end a command with one clear line.

    Attributes:
        message: What went wrong, and where.
        advice: What to do about it; may be empty.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class ConfigError(DiagError):
    """A setting is missing, unknown or contradicts another."""


class InputError(DiagError):
    """What the user gave cannot be used."""


class RunFileError(DiagError):
    """A run file cannot be read as a run."""


class AgentFailure(Exception):  # noqa: N818 - it is an outcome that its node turns into a status, not a fault of ours
    """An agent call gave no text.

    Attributes:
        kind: Why, in our words.
        message: A short account without secrets.
        usage: What the call had used before it failed.
    """

    def __init__(self, kind: FailureKind, message: str = "", usage: Usage | None = None) -> None:
        super().__init__(message or kind.value)
        self.kind = kind
        self.message = message
        self.usage = usage or NO_USAGE


class RunAborted(Exception):  # noqa: N818 - it ends a run, whatever the graph would do
    """Ends a run from inside a node: no node turns it into a status."""


class ReplayDivergence(RunAborted):
    """A replay and its recording went different ways.

    Attributes:
        message: Which step was due, and which was asked for.
        position: Index of the step in the file, from 0.
    """

    def __init__(self, message: str, *, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
