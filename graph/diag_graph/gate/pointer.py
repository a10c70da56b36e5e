"""JSON Pointer (RFC 6901): where in a recorded result a citation points.

Only the string form is read, not the URI fragment form (`#/a`). A pointer that is malformed resolves to nothing, like
one that leads nowhere: both are an agent's word, and neither may raise.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")
"""An array index: digits without a leading zero, and few enough to be an address."""

_BAD_ESCAPE = re.compile(r"~(?![01])")


class Found(NamedTuple):
    """The value that a pointer leads to; it may be null, so that "nothing there" needs a sign of its own (None)."""

    value: Any


def resolve(document: Any, pointer: str) -> Found | None:  # noqa: ANN401 - any JSON value
    """Follow a pointer into a JSON value.

    Args:
        document: A parsed JSON value.
        pointer: `""` for the whole document, else reference tokens that each begin with `/`. `~1` stands for `/` and
            `~0` for `~` within a token; `-`, the element after an array's last, is never there.

    Returns:
        What is there, or None when the pointer is malformed or leads nowhere.
    """
    if not pointer:
        return Found(document)
    if not pointer.startswith("/") or _BAD_ESCAPE.search(pointer):
        return None
    value = document
    for token in pointer[1:].split("/"):
        step = _step(value, token.replace("~1", "/").replace("~0", "~"))
        if step is None:
            return None
        value = step.value
    return Found(value)


def _step(value: Any, key: str) -> Found | None:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return Found(value[key]) if key in value else None
    if isinstance(value, list) and _INDEX.fullmatch(key):
        index = int(key)
        return Found(value[index]) if index < len(value) else None
    return None
