"""Where a replay went another way than its recording, both sides beside each other; fits 80 columns."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from diag_cli.render.safe import one_line, shortened

if TYPE_CHECKING:
    from diag_graph.playback import Difference

IN_FILE = "/orchestrationTrace"
"""Where the trace stands in a run file."""

_NAME, _SIDE = 12, 29
_TRANSITION = re.compile(r"/transitions/(\d+)")


def place_of(difference: Difference) -> str:
    """The place in words and as a pointer into the file: `transition 3 (/orchestrationTrace/transitions/2)`."""
    found = _TRANSITION.fullmatch(difference.where)
    name = f"transition {int(found[1]) + 1}" if found else difference.where.removeprefix("/")
    return f"{name} ({IN_FILE}{difference.where})"


def side_by_side(difference: Difference) -> str:
    """Both sides, a line a field; a field that differs has `!` in front, and one that a side lacks is a dash."""
    due, got = _fields(difference.expected), _fields(difference.actual)
    lines = [_line(" ", "", "due (the file)", "got (this run)")]
    for name in dict.fromkeys([*due, *got]):
        left, right = due.get(name, "-"), got.get(name, "-")
        lines.append(_line(" " if left == right else "!", name, left, right))
    return "\n".join(lines)


def _fields(side: Any) -> dict[str, str]:  # noqa: ANN401 - any JSON value
    if side is None:
        return {}
    if not isinstance(side, dict):
        return {"": _word(side)}
    return {one_line(name): _word(value) for name, value in side.items()}


def _word(value: object) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _line(mark: str, name: str, left: str, right: str) -> str:
    cells = f"    {mark} {shortened(name, _NAME):<{_NAME}} {shortened(left, _SIDE):<{_SIDE}} {shortened(right, _SIDE)}"
    return cells.rstrip()
