"""What a run is told of the conversation before it: earlier questions and answers, within bounds, and nothing else.

An answer's evidence list is left out, and so are its marks: they name calls of an earlier run, and no citation may
reach into another run (R5). What is told steers where to look; it is never evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.answer import EVIDENCE
from diag_graph.contracts import Turn

MAX_TURNS = 6
"""How many earlier questions a run is told of, the latest."""
MAX_QUESTION_CHARS = 1_000
MAX_ANSWER_CHARS = 1_500
CUT = " …(cut)"

_MARKS = re.compile(r"(?: (?:\[\d+\])+)+$", re.MULTILINE)
_READ = 4 * MAX_ANSWER_CHARS
"""Characters of an answer that are looked at."""


def bounded(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The latest turns, each cut to its bounds with a mark; what is within bounds already stays as it is.

    Args:
        turns: Earlier questions and answers, oldest first.
    """
    return tuple(
        Turn(question=_cut(turn.question, MAX_QUESTION_CHARS), answer=_cut(_said(turn.answer), MAX_ANSWER_CHARS))
        for turn in turns[-MAX_TURNS:]
    )


def _said(answer: str) -> str:
    said = answer.partition(f"\n{EVIDENCE}\n")[0].rstrip()
    # Of what is far beyond the bounds, only the beginning is looked at: it is cut anyway.
    return _MARKS.sub("", said[:_READ]) + said[_READ:]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(CUT)].rstrip() + CUT
