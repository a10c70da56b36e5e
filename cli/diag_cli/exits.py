"""Exit statuses, each once (contract section 10)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended; `MEANINGS` says what each means."""

    OK = 0
    RUN_FAILED = 1
    USAGE = 2
    REPLAY_DIFFERS = 3
    NOT_PASSED = 4
    INTERRUPTED = 130
    READER_GONE = 141
    TERMINATED = 143


MEANINGS: dict[Exit, str] = {
    Exit.OK: "A safe answer was produced; a replay went as recorded.",
    Exit.RUN_FAILED: "The run failed, or diag itself did.",
    Exit.USAGE: "The command line, a setting, a file, the store or the output cannot be used.",
    Exit.REPLAY_DIFFERS: "A replay left its recording, or its trace differs from the recorded one.",
    Exit.NOT_PASSED: "With `--strict`: the verdict is not PASS, or the run ended in fallback.",
    Exit.INTERRUPTED: "Ctrl-C. What a run had come to is kept, and its id is said; before a run begins, nothing is.",
    Exit.READER_GONE: "Whoever read the output, such as `head`, stopped reading: what shells report for SIGPIPE.",
    Exit.TERMINATED: "SIGTERM. What had happened is kept.",
}


def statuses_as_markdown() -> str:
    """The documentation's table of exit statuses."""
    return "\n".join(["| status | means |", "|---|---|", *(f"| {status} | {MEANINGS[status]} |" for status in Exit)])
