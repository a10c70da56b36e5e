"""Reading what an agent wrote: one shared step from text to a JSON object, and nothing is repaired.

A leading `<think>...</think>` is dropped; then the text must hold a single JSON object: bare, in a code fence, or alone
within prose. Truncated, ambiguous or non-standard JSON is refused with the reason.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from diag_graph.contracts import JsonObject

MAX_REPLY_CHARS = 4_000_000
"""An agent's reply beyond this is not parsed at all."""

MAX_DEPTH = 200
"""Levels of nesting that are read; what records, stores and shows a value can go a little deeper than this."""

_THINK = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
"""Thoughts that never end were cut off: what looks like an answer within them is a draft."""
_TOO_DEEP = "the JSON is nested too deep to read"
_UNCLEAR = "what looks like one stands within open brackets"
_MAX_ERROR_CHARS = 300

ModelT = TypeVar("ModelT", bound=BaseModel)


class InvalidReplyError(ValueError):
    """An agent's text does not keep its contract. `missing` when there was nothing to read at all."""

    def __init__(self, reason: str, *, missing: bool = False) -> None:
        super().__init__(reason)
        self.missing = missing


def parse_object(text: str | None) -> JsonObject:
    """Take the single JSON object out of an agent's reply.

    Args:
        text: The reply, as it came.

    Returns:
        The object, exactly as written.

    Raises:
        InvalidReplyError: there is no text, no object, more than one, or one that is not strict JSON (RFC 8259):
            NaN and infinities, a name used twice in an object, unpaired surrogates, or nesting too deep to read.
    """
    if text is None or not text.strip():
        raise InvalidReplyError("the agent returned nothing", missing=True)
    if len(text) > MAX_REPLY_CHARS:
        raise InvalidReplyError(f"the reply has {len(text):,} characters, more than {MAX_REPLY_CHARS:,}")
    body = _THINK.sub("", text, count=1)
    if not body.strip():
        raise InvalidReplyError("the agent returned nothing but its thoughts", missing=True)
    candidates = _objects(body)
    if not candidates:
        raise InvalidReplyError(_why_none(body))
    if len(candidates) > 1:
        raise InvalidReplyError(f"the reply holds {len(candidates)} JSON objects; which one is meant is not clear")
    return candidates[0]


def parse_model(text: str | None, model: type[ModelT]) -> ModelT:
    """Read an agent's reply as one of the contracts.

    Raises:
        InvalidReplyError: as `parse_object`, or the object does not fit the contract (the first faults are named).
    """
    try:
        return model.model_validate(parse_object(text))
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc'])) or 'root'}: {fault['msg']}" for fault in error.errors()[:3]]
        raise InvalidReplyError(_short("; ".join(faults))) from None


def strict_loads(text: str, *, max_depth: int = MAX_DEPTH) -> Any:  # noqa: ANN401 - any JSON value
    """Parse a whole text as strict JSON, nested no deeper than so many levels.

    Raises:
        InvalidReplyError: it is not, with line and column.
    """
    stripped = text.strip()
    value, end = _decode(stripped, 0, max_depth)
    if end != len(stripped):
        raise InvalidReplyError(f"something follows the JSON value: {_short(stripped[end : end + 40])!r}")
    return value


def _objects(text: str) -> list[JsonObject]:
    """All JSON objects of a text that stand at its top level; what lies inside one is not looked at again.

    A truncated object, or an array, must never be replaced by one of its own parts: an opening brace that looks like
    JSON and cannot be read, or an object within open brackets, makes the whole text unreadable.
    """
    found: list[JsonObject] = []
    at = text.find("{")
    while at >= 0:
        if not _looks_like_json(text, at):
            at = text.find("{", at + 1)
            continue
        value, end = _decode(text, at)
        if not found and _is_part(text[:at], text[end:]):
            raise InvalidReplyError(f"the root is no JSON object: {_whole_type(text)}")
        found.append(value)
        at = text.find("{", end)
    return found


def _is_part(before: str, after: str) -> bool:
    """Whether an object between these texts is a part of something larger: brackets are open there."""
    return any(
        before.count(left) > before.count(right) or after.count(right) > after.count(left)
        for left, right in ("[]", "{}")
    )


def _decode(text: str, at: int, max_depth: int = MAX_DEPTH) -> tuple[Any, int]:
    """One strict JSON value from `at` on, and where it ends."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    try:
        value, end = decoder.raw_decode(text, at)
        if is_deeper(value, max_depth):
            raise InvalidReplyError(_TOO_DEEP)
        json.dumps(value, ensure_ascii=False).encode()
    except InvalidReplyError:
        raise
    except json.JSONDecodeError as error:
        raise InvalidReplyError(f"broken JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except UnicodeEncodeError:
        raise InvalidReplyError("the JSON holds an unpaired surrogate, which is no text") from None
    except RecursionError:
        raise InvalidReplyError(_TOO_DEEP) from None
    except ValueError:
        raise InvalidReplyError("a number of the JSON has too many digits to read") from None
    return value, end


def is_deeper(value: Any, levels: int) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a JSON value is nested deeper than so many levels."""
    level = [value]
    for _ in range(levels + 1):
        level = [
            member
            for container in level
            if isinstance(container, dict | list)
            for member in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return False
    return True


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise InvalidReplyError(f"the number {_short(text)} is too large")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    members: JsonObject = {}
    for name, value in pairs:
        if name in members:
            raise InvalidReplyError(f"the name {_short(name)!r} stands twice in one object")
        members[name] = value
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidReplyError(f"{name} is no JSON value")


def _looks_like_json(text: str, at: int) -> bool:
    """Whether the brace opens an object rather than standing in prose: a name in quotes, or an end, follows it."""
    following = text[at + 1 : at + 200].lstrip()
    return not following or following[0] in {'"', "}"}


def _why_none(text: str) -> str:
    whole = _whole_type(text)
    return "the reply holds no JSON object" if whole == _UNCLEAR else f"the root is no JSON object: {whole}"


def _whole_type(text: str) -> str:
    """What a text is as a whole, when it is JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _UNCLEAR
    names = {list: "it is an array", str: "it is a string", bool: "it is a boolean", type(None): "it is null"}
    return names.get(type(value), "it is a number")


def _short(text: str) -> str:
    return text if len(text) <= _MAX_ERROR_CHARS else f"{text[:_MAX_ERROR_CHARS]}..."
