"""JSON values as text: what stands at a path, in the one form that an excerpt is compared with (contract section 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


def text_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """The text of a recorded value: a string as it is, anything else as compact JSON with keys in recorded order."""
    return value if isinstance(value, str) else _compact(value)


def leaf_texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Texts of all strings, numbers, booleans and nulls within a value, in recorded order.

    Walks with a stack of its own: a result may be nested deeper than Python calls may be.
    """
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            waiting.extend(reversed(here.values()))
        elif isinstance(here, list):
            waiting.extend(reversed(here))
        else:
            yield text_of(here)


def well_formed(text: str) -> str:
    """A text that can be stored and shown: lone surrogates, which no encoding has room for, become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _compact(value: Any) -> str:  # noqa: ANN401 - any JSON value
    try:
        return _dumps(value)
    except RecursionError:
        return "".join(_compact_pieces(value))


def _dumps(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _Verbatim(NamedTuple):
    """Punctuation that waits on the stack between values."""

    text: str


def _compact_pieces(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """The same JSON as `_dumps` writes, by a stack: for values nested too deep for it."""
    waiting: list[Any] = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, _Verbatim):
            yield here.text
        elif isinstance(here, dict | list) and here:
            waiting.extend(reversed(list(_opened(here))))
        else:
            yield _dumps(here)


def _opened(container: dict[str, Any] | list[Any]) -> Iterator[Any]:
    if isinstance(container, dict):
        for number, (key, member) in enumerate(container.items()):
            yield _Verbatim(("," if number else "{") + _dumps(key) + ":")
            yield member
        yield _Verbatim("}")
        return
    for number, member in enumerate(container):
        yield _Verbatim("," if number else "[")
        yield member
    yield _Verbatim("]")
