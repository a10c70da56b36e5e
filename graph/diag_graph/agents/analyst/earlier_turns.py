"""What a follow-up leans on: the subject and the time that the last answers speak of.

An earlier answer is text that steers where to look, and nothing more: a name that it holds is looked for, and what it
says of it is not believed. Names and times are read by the grammar that answers are written in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from diag_graph.agents.analyst.reading import times
from diag_graph.analysis.follow_ups import leans
from diag_graph.contracts import Turn

_NAME = r"(?P<name>[A-Za-z0-9][\w.:/-]{0,79}[A-Za-z0-9]|[A-Za-z])"
_SUBJECTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bthe trouble (?:most likely )?(?:may )?starts? at {_NAME}",
        rf"\(service '{_NAME}'",
        rf"\A\W*(?:since when: )?{_NAME} (?:logged|has) \d",
        rf"\A\W*(?:since when: )?[^\n]{{1,80}}? of {_NAME} (?:rose|fell|stopped|appeared|got slower|is failing)\b",
        rf"\A\W*(?:what was changed: )?(?:deploy|flag|config|change)\b[^\n]{{0,80}}? of {_NAME}",
    )
)
"""Whom an answer speaks of: whom it blames, else whom its first line is about, in the tools' grammar."""
_OF_CHANGE = re.compile(r"\A\W*(?:what was changed: )?(?:deploy|commit|flag|config|change)\b", re.IGNORECASE)
_POINT = re.compile(r"\b(?:at|since) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)")
"""A moment, and not the border of a window that was looked at."""
_ADVISED = "\n\nNext steps\n"
"""From here on an answer may quote a runbook, which is no grammar of the tools, and names whom it likes."""
_ERA = (0.0, 32_503_680_000.0)
"""Seconds since the epoch of times that can be meant: from 1970 to the year 3000."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the question points back to.

    Attributes:
        subject: Whom the last answer that blames or describes somebody speaks of; empty when none does.
        time: The first moment that the last answer with one states, in seconds since the epoch.
        is_change: Whether that is when something was changed; else it is when trouble showed, which is an estimate.
    """

    subject: str = ""
    time: float | None = None
    is_change: bool = False


def pointed_at(question: str, history: Sequence[Turn]) -> Earlier:
    """What a question leans on; nothing for a question that stands alone.

    Args:
        question: The present question.
        history: Earlier questions and answers, oldest first.
    """
    if not leans(question):
        return Earlier()
    answers = [turn.answer.split(_ADVISED, 1)[0] for turn in reversed(history)]
    dated = next((answer for answer in answers if _time(answer) is not None), "")
    return Earlier(
        subject=next((name for answer in answers if (name := _subject(answer))), ""),
        time=_time(dated),
        is_change=bool(_OF_CHANGE.search(dated)),
    )


def _subject(answer: str) -> str:
    found = next((match for pattern in _SUBJECTS if (match := pattern.search(answer))), None)
    return found["name"] if found else ""


def _time(answer: str) -> float | None:
    stated = (time for found in _POINT.finditer(answer) for time in times(found[1]))
    return next((time for time in stated if _ERA[0] < time < _ERA[1]), None)
