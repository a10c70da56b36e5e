"""What a stack trace says was thrown, and what caused it, from the outermost exception to the innermost.

Runtimes write it down in their own order. Java (`Caused by:`), .NET (`--->`) and Node (`[cause]:`) go from the outside
inwards; Python goes from the inside outwards ("The above exception was the direct cause of the following exception",
"During handling of the above exception, another exception occurred"), but for exception groups.
"""

from __future__ import annotations

import re

MAX_CAUSE = 400
"""Characters of one exception's line that are looked at."""
MAX_CAUSES = 8
"""Exceptions of one chain; of a longer one its two ends."""

_NAMED = r"(?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error|Panic|Fault)\b.*"
_LEAD = r"(?:Caused by: |Exception in thread \"[^\"]*\" |Unhandled exception\. |Uncaught )?"
_THROWN = re.compile(rf"{_LEAD}{_NAMED}|(?:panic|fatal error|Error): .*|thread '.*' panicked at .*")
_CAUSE = re.compile(r"^(?:Caused by: |---> (?!\(Inner Exception #)|\[cause\]: ).+")
_MARKS = re.compile(r"^(?:---> |\[cause\]: )")
_NESTED = " ---> "
_RUBY = re.compile(r"^\S+\.rb:\d+:in .*\((?:\w+::)*[A-Z]\w*\)$")
_SUPPRESSED = re.compile(r"^(\s*)Suppressed: ")

_PYTHON = "Traceback (most recent call last)"
_GROUP = "Exception Group Traceback (most recent call last)"
_GROUP_BARS = re.compile(r"^[\s|+-]*\| ?")
_RAISED = re.compile(r"^(?:\w+\.)*[A-Z]\w*[a-z]\w*: \S.*|^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)$")
"""The last line of a Python trace, whatever its exception is called."""


def causes_in(trace: str) -> list[str]:
    """The exceptions of a stack trace, outermost first, the innermost cause last; none where it names none."""
    if _PYTHON in trace:
        found = _of_python(trace)
        if found:
            return _bounded(found)
    return _bounded(_of_others(trace))


def _bounded(found: list[str]) -> list[str]:
    if len(found) > MAX_CAUSES:
        found = [*found[: MAX_CAUSES // 2], *found[-MAX_CAUSES // 2 :]]
    return [one[:MAX_CAUSE] for one in found]


def _of_python(trace: str) -> list[str]:
    if _GROUP in trace:
        lines = (_GROUP_BARS.sub("", line) for line in trace.splitlines())
        return [line.strip() for line in lines if _RAISED.match(line) and not line.startswith(_GROUP)]
    found = []
    for part in trace.split(_PYTHON)[1:]:
        raised = next((line for line in part.splitlines() if _RAISED.match(line)), None)
        if raised is not None:
            found.append(raised)
    return found[::-1]


def _of_others(trace: str) -> list[str]:
    lines = trace.splitlines()
    found: list[str] = []
    beside: int | None = None
    """How far a suppressed exception is indented, while its lines last: it is beside the cause, and none."""
    for number, line in enumerate(lines):
        text = line.strip()
        suppressed = _SUPPRESSED.match(line)
        if suppressed:
            beside = len(suppressed[1]) if beside is None else min(beside, len(suppressed[1]))
        elif beside is not None and text:
            if len(line) - len(line.lstrip()) >= max(beside, 1):
                continue
            beside = None
        if text.startswith("thread '") and text.endswith(":") and number + 1 < len(lines):
            text += f" {lines[number + 1].strip()}"  # Rust writes the message on a line of its own
        if _CAUSE.match(text) or _THROWN.match(text) or _RUBY.match(text):
            found.extend(part for part in _MARKS.sub("", text).split(_NESTED) if part)
    return found
