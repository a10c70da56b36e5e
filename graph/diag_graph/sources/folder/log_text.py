"""Log events that are lines of text."""

from __future__ import annotations

import re

from diag_graph.sources.folder.fields import LEVELS

_LEVEL_WORD = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|SEVERE|CRIT(?:ICAL)?|FATAL|PANIC|EMERG)\b"
    r"|\[(trace|debug|info|notice|warn(?:ing)?|error|err|severe|crit(?:ical)?|fatal|panic|emerg|alert)\]"
    r"|\b(?:level|lvl|severity)[=:]\"?(\w+)"
    r"|^(error|fatal|panic|warning|warn)(?=[:\s])",
    re.IGNORECASE,
)
_LEVEL_REACH = 120


def level_in(text: str) -> str:
    """The level that a line itself names near its beginning; empty when it names none.

    A word counts when it is in capitals, in brackets, after `level=`, or the first of the line.
    """
    for match in _LEVEL_WORD.finditer(text[:_LEVEL_REACH]):
        word = match.group(match.lastindex or 0)
        if match.lastindex == 1 and not word.isupper():
            continue
        level = LEVELS.get(word.upper())
        if level:
            return level
    return ""
