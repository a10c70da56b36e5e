"""Log messages with their variable parts masked, by the batch: what varies within one kind of message is `<*>`.

Masks are regular expressions without look-around, so that Polars can run them over whole columns in linear time: a
microsecond a line, where Python's own engine takes six. They run one after the other, most specific first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diag_graph.analysis.causes import causes_in

if TYPE_CHECKING:
    import polars as pl

WILDCARD = "<*>"
MAX_MESSAGE = 400
"""Characters of a message's first line, and of an exception's, that are looked at."""

_EDGE = r"(?-u:\b)"
_FIXED = "|".join(
    (
        (
            rf"{_EDGE}[0-9]{{4}}(?:-[0-9]{{2}}){{2}}[T ][0-9]{{2}}(?::[0-9]{{2}}){{2}}(?:[.,][0-9]+)?"
            r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
        ),  # a date and time
        rf"{_EDGE}[0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]+)?{_EDGE}",  # a time of day
        rf"{_EDGE}[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}{_EDGE}",  # a UUID
        rf"{_EDGE}[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}(?::[0-9]+)?{_EDGE}",  # an IPv4 address
        rf"{_EDGE}(?:[0-9a-fA-F]{{1,4}}:){{3,7}}[0-9a-fA-F]{{1,4}}{_EDGE}",  # an IPv6 address
        rf"{_EDGE}0x[0-9a-fA-F]+{_EDGE}",
        rf"@[0-9a-f]{{6,8}}{_EDGE}",  # an object's address in Java
    )
)
_NUMBER = rf"(^|[^0-9A-Za-z_.])[+-]?[0-9]+(?:[.,][0-9]+)*((?:ms|us|ns|s|m|h|d|[kKMGT]i?B?|B)?){_EDGE}"
"""A number; what stands before it and its unit are kept."""
_IDENTIFIER = rf"{_EDGE}(?:[0-9a-f]{{8,}}|[0-9A-F]{{8,}}){_EDGE}|([A-Za-z_])-?[0-9]{{2,}}{_EDGE}"
"""Hexadecimal digits, and the number at the end of a name, of which the last letter is kept."""
_MASKS = ((r"\s+", " "), (_FIXED, WILDCARD), (_NUMBER, f"${{1}}{WILDCARD}${{2}}"), (_IDENTIFIER, f"${{1}}{WILDCARD}"))

_THROWN_KEYS = (
    "exception.stacktrace",
    "exception.message",
    "error.stack_trace",
    "error.stack",
    "error.message",
    "exception",
    "stack_trace",
    "stackTrace",
    "stacktrace",
    "stack",
    "traceback",
    "exc_info",
    "throwable",
    "thrown",
    "error",
    "err",
)
"""Fields in which structured loggers put what was thrown (ECS, OpenTelemetry, logback, zap, pino, structlog)."""
_THROWN = frozenset(_THROWN_KEYS)
_SAYS_NOTHING = frozenset({"", "true", "false", "null", "none", "stack trace:", "stacktrace:"})
_TYPE_KEYS = ("type", "class", "name", "kind")
_MESSAGE_KEYS = ("message", "msg", "reason", "value")


def masked_column(messages: Sequence[str]) -> pl.Series:
    """The messages, one line each, with times, addresses, identifiers and numbers as `<*>`.

    Args:
        messages: As `headline` gives them.
    """
    import polars as pl

    column = pl.Series(messages, dtype=pl.String)
    for pattern, replacement in _MASKS:
        column = column.str.replace_all(pattern, replacement)
    return column.str.strip_chars()


def headline(message: str, attributes: Mapping[str, Any]) -> str:
    """The first line of a message, and what was thrown: by its stack trace or by a field of a structured log.

    Args:
        message: As logged; further lines are a stack trace.
        attributes: The event's further fields.
    """
    thrown = ""
    first = message
    if "\n" in message:
        first, _, rest = message.partition("\n")
        thrown = exception_line(rest)
    if not thrown and attributes and not _THROWN.isdisjoint(attributes):
        thrown = _thrown_in(attributes)
    first = first[:MAX_MESSAGE]
    return f"{first} | {thrown}" if thrown and thrown not in first else first


def thrown_text(attributes: Mapping[str, Any]) -> str:
    """All that the fields of a structured log say was thrown, stack traces too; empty when nothing was.

    Args:
        attributes: The event's further fields.
    """
    if not attributes or _THROWN.isdisjoint(attributes):
        return ""
    present = (attributes[key] for key in _THROWN_KEYS if key in attributes)
    return "\n".join(value if isinstance(value, str) else _thrown_by(value) for value in present)


def exception_line(trace: str) -> str:
    """The line of a stack trace that names what was thrown: the innermost cause; else empty."""
    found = causes_in(trace)
    return found[-1][:MAX_MESSAGE] if found else ""


def causes(message: str, attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """What was thrown and what caused it, outermost first, where an event names more than one exception.

    Args:
        message: As logged; further lines are a stack trace.
        attributes: The event's further fields.
    """
    found = causes_in(message) if "\n" in message else []
    if len(found) < 2 and attributes and not _THROWN.isdisjoint(attributes):  # noqa: PLR2004 (one is no chain)
        texts = (attributes[key] for key in _THROWN_KEYS if isinstance(attributes.get(key), str))
        found = next((chain for text in texts if len(chain := causes_in(text)) > 1), found)
    return tuple(one.removeprefix("Caused by: ") for one in found) if len(found) > 1 else ()


def _thrown_in(attributes: Mapping[str, Any]) -> str:
    present = (attributes[key] for key in _THROWN_KEYS if key in attributes)
    return next((thrown for value in present if (thrown := _thrown_by(value))), "")


def _thrown_by(value: Any) -> str:  # noqa: ANN401 - a field of a foreign log
    """What a field says was thrown: a trace's exception, a short text as it is, or an object's type and message."""
    if isinstance(value, str):
        text = value.strip()
        said = exception_line(text) or text.partition("\n")[0]
        return "" if said.lower() in _SAYS_NOTHING else said[:MAX_MESSAGE]
    if not isinstance(value, Mapping):
        return ""
    kind, message = _first_text(value, _TYPE_KEYS), _first_text(value, _MESSAGE_KEYS)
    return ": ".join(part for part in (kind, message) if part)[:MAX_MESSAGE] or _thrown_in(value)


def _first_text(value: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((text for key in keys if isinstance(text := value.get(key), str) and text), "")
