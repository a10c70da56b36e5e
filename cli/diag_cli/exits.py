"""Exit statuses, each once (SPEC section 10)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    """A safe answer was produced; a replay matched."""
    RUN_FAILED = 1
    """The run failed, or diag itself did."""
    USAGE = 2
    """The command line, a setting, a file or the store cannot be used."""
    REPLAY_DIFFERS = 3
    """A replay left its recording, or its trace differs from the recorded one."""
    NOT_PASSED = 4
    """With --strict: the verdict is not PASS, or the run ended in fallback."""
    INTERRUPTED = 130
    """Ctrl-C."""
    READER_GONE = 141
    """Whoever read the output stopped reading (`diag runs | head -1`): what a shell reports for SIGPIPE."""
    TERMINATED = 143
    """SIGTERM."""
