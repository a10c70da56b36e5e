"""Levels of log events: what programs call them, and what we call them."""

from __future__ import annotations

import re

from diag_graph.sources.folder.fields import plain

LEVELS: dict[str, str] = {
    **dict.fromkeys(("TRACE", "DEBUG", "VERBOSE", "FINE", "FINER", "FINEST", "D", "DBG"), "DEBUG"),
    **dict.fromkeys(("INFO", "INFORMATION", "INFORMATIONAL", "NOTICE", "NORMAL", "OK", "I", "INF", "LOG"), "INFO"),
    **dict.fromkeys(("WARN", "WARNING", "W", "WRN"), "WARN"),
    **dict.fromkeys(("ERROR", "ERR", "SEVERE", "E", "EROR", "FAILURE"), "ERROR"),
    **dict.fromkeys(("FATAL", "CRITICAL", "CRIT", "ALERT", "EMERG", "EMERGENCY", "PANIC", "DPANIC", "F", "C"), "FATAL"),
}
"""What programs call a level, and what we call it."""

_SYSLOG_LEVELS = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
_PINO_STEP, _PINO_LEVELS = 10, ("DEBUG", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_OTEL_STEP, _OTEL_LEVELS = 4, ("DEBUG", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


def level_of(value: object, key: str = "") -> str:
    """A level in our words; empty when the value names none.

    Numbers are syslog's 0 to 7, pino's and Python's tens, or, under a key that says so, OpenTelemetry's 1 to 24.
    """
    if isinstance(value, str):
        found = LEVELS.get(value) or LEVELS.get(value.strip("[]: ").upper())
        if found or not value.isdigit():
            return found or ""
        value = int(value[:4])
    if isinstance(value, bool) or not isinstance(value, int):
        return ""
    if plain(key) == "severity_number":
        return _OTEL_LEVELS[(value - 1) // _OTEL_STEP] if 1 <= value <= len(_OTEL_LEVELS) * _OTEL_STEP else ""
    if 0 <= value < len(_SYSLOG_LEVELS):
        return _SYSLOG_LEVELS[value]
    if value % _PINO_STEP == 0 and value <= len(_PINO_LEVELS) * _PINO_STEP:
        return _PINO_LEVELS[value // _PINO_STEP - 1]
    return ""


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
