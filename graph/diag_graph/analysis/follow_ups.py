"""Whether a question leans on an earlier one, and which earlier question says at what time to look.

Only what the user asked counts here; what was answered is somebody else's text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.analysis.question_times import stated_time

_OPENS = re.compile(
    r"\A\W*(?:and|but|so|then|also|ok(?:ay)?,?|what about|how about)\b|\A\W*(?:那么|那|然后|还有|では|それ)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:it|its|that|this|they|them|their|these|those|there|then|the same|same|earlier|again|still)\b"
    r"|它|这个|那个|之前|那时|还在|それ|その|この|まだ",
    re.IGNORECASE,
)
_SHORT = 3
"""Words of a question that is too short to stand alone: "why?", "since when?"."""
_WORD = re.compile(r"[^\W\u2e80-\u9fff]+(?:[-./:'][^\W\u2e80-\u9fff]+)*")
_CHARACTER = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Of scripts that do not part words; two make about a word."""


def leans(question: str) -> bool:
    """Whether a question points back: by how it opens, by a pronoun, or by saying little."""
    if _OPENS.search(question) or _POINTS.search(question):
        return True
    return len(_WORD.findall(question)) + len(_CHARACTER.findall(question)) / 2 <= _SHORT


def timed_question(question: str, earlier: Sequence[str]) -> str:
    """The question that says at what time to look: the present one, or the one that it leans on.

    Args:
        question: The present question.
        earlier: The questions before it, oldest first.

    Returns:
        The latest earlier question that names a time, when the present one leans on it and names none; else the
        present one.
    """
    if not leans(question) or _names_a_time(question):
        return question
    return next((one for one in reversed(earlier) if _names_a_time(one)), question)


def _names_a_time(text: str) -> bool:
    return stated_time(text, 0.0, None) is not None
