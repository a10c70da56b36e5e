"""Whether somebody's words quote a text: so many of its words in a row."""

from __future__ import annotations

import re

WORDS_IN_A_ROW = 6
"""Fewer are found in any two texts about the same thing; a character of a script without blanks counts as a word."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def quotes(said: str, text: str, *, words: int = WORDS_IN_A_ROW) -> bool:
    """Whether `said` holds so many words of `text` in a row, case and punctuation aside."""
    spoken, written = _words(said), _words(text)
    runs = {tuple(written[at : at + words]) for at in range(len(written) - words + 1)}
    return any(tuple(spoken[at : at + words]) in runs for at in range(len(spoken) - words + 1))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
