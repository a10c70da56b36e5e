"""What stack traces look like, line by line: Python, Java and its kin, Go, Node, .NET, Rust, Ruby, PHP."""

from __future__ import annotations

import re

_START = re.compile(
    r"Traceback \(most recent call last\)|goroutine \d+ \[|panic: |Exception in thread |Caused by: |Suppressed: |"
    r"thread '.*' panicked at |\S+\.rb:\d+:in |(?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b|"
    r"During handling of the above|The above exception was|stack ?trace:?\s*$|"
    r"Error: |Unhandled ",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\s+\S|at [\w$.<>]+\(|\.\.\. \d+ (?:more|common)|[\w.$/]+\(.*\)$|created by |Caused by: |exit status \d|"
    r"\[signal |---> |[\]})]+[,;]?\s*$|#\d+ |note: |stack backtrace:|\[cause\]: |"
    r"(?:[\w$]+\.)*[\w$]*(?:Exception|Error|Exit|Interrupt|Warning)\b(?:: .*)?$"
)
_ANNOUNCES = re.compile(r"thread '.*' panicked at .*:$")
_CAUSE = ("Caused by: ", "Suppressed: ")


def begins_trace(line: str) -> bool:
    """Whether a trace may follow this line, or begin with it."""
    return _START.match(line) is not None


def belongs_to_trace(line: str) -> bool:
    """Whether a line within a trace is still of it: a frame, a cause, the exception itself."""
    return _PART.match(line) is not None


def announces_message(line: str) -> bool:
    """Whether the next line is the message of the exception that this one announces, as Rust writes it."""
    return _ANNOUNCES.match(line) is not None


def names_cause(line: str) -> bool:
    """Whether a line goes on with the cause of the trace before it."""
    return line.startswith(_CAUSE)
