r"""Where an excerpt may begin and end: not inside a number, not inside a word, not between a letter and its mark.

The rule is one regular expression of places that are no border, written over normalised text (contract section 5):

- between two word characters (letters, digits, `_`), unless one is of a script that does not part words: `15 ms` is
  not in `115 ms`, `210` not in `210ms`, `count` not in `error_count`, but any piece of a Chinese sentence is in it;
- before a combining mark, which belongs to its base character;
- in a contraction (UAX #29, rules WB6 and WB7): `the pod can` is not in `the pod can't start`;
- at a decimal point: `2.3` is not in `2.31`, nor `5 s` in `.5 s`, nor `0.0.1` in `10.0.0.1`;
- behind a minus that no letter or digit precedes: `5 s` is not in `-5 s`, but `15 ms` is in `10-15 ms`;
- at a thousands separator: `200 ms` is not in `1,200 ms`. A comma in a row of numbers (`5,17,23`) is a border; one that
  might be either (`[5,170]`) is not;
- at an exponent's sign: `5 s` is not in `1e-5 s`.

Everything else is a border, hyphens, colons and slashes within names and times too.
"""

from __future__ import annotations

import re
from functools import cache

from diag_graph.gate.characters import UNSEGMENTED, marks

WORD = rf"[^\W{UNSEGMENTED}]"
"""A letter, digit or `_` that is parted from its neighbour by something that is none."""
LETTER = rf"[^\W\d_{UNSEGMENTED}]"
_LETTER_OR_DIGIT = r"[^\W_]"

_MARKS_ON_A_LETTER = 4
"""Marks on a letter that are seen through (`re` looks back over a fixed width); no orthography stacks more."""

_PATIENCE = 4096
"""So many occurrences take about as long to look at as the regular expression that does the rest takes to compile."""


@cache
def not_a_border() -> re.Pattern[str]:
    """Matches, with no width, at each place of a normalised text where an excerpt may neither begin nor end."""
    mark = f"[{marks()}]"
    tails = [mark * count for count in range(_MARKS_ON_A_LETTER + 1)]
    behind_word = "|".join(f"(?<={WORD}{tail})" for tail in tails)
    behind_letter = "|".join(f"(?<={LETTER}{tail})" for tail in tails)
    no_letter_before_minus = "".join(f"(?<!{_LETTER_OR_DIGIT}{tail}-)" for tail in tails)
    heads = [r"(?<![\w.])[1-9]", r"(?<![\w.])[1-9]\d", r"(?<![\w.])[1-9]\d\d", r",\d\d\d"]
    return re.compile(
        "|".join(
            [
                rf"(?:{behind_word})(?={WORD})",
                rf"(?<=[^\n])(?={mark})",
                rf"(?:{behind_letter})(?='{LETTER})|(?<={LETTER}')(?={LETTER})",
                r"(?<=\d)(?=\.\d)|(?<=\d\.)(?=\d)|(?<=(?<![\w.])\.)(?=\d)",
                rf"(?<=-){no_letter_before_minus}(?=\.?\d)",
                *(rf"(?<={head})(?=,\d\d\d(?!\d))|(?<={head},)(?=\d\d\d(?!\d))" for head in heads),
                r"(?<=\d[eE])(?=[+-]\d)|(?<=\d[eE][+-])(?=\d)",
            ]
        )
    )


def is_border(text: str, offset: int) -> bool:
    """Whether an excerpt of a normalised text may begin or end at an offset; at the text's own ends it always may."""
    return not 0 < offset < len(text) or not_a_border().match(text, offset) is None


def find_excerpt(text: str, excerpt: str, *, patience: int = _PATIENCE) -> int | None:
    """The first place where an excerpt stands between borders, both normalised; None when it stands nowhere so.

    Plain search finds occurrences, and only they are looked at closely. A text in which the excerpt occurs over and
    over inside words (`aaaa` in a long row of `a`) is left to the regular expression engine in the end.

    Args:
        text: Where to look.
        excerpt: What to look for.
        patience: Occurrences that are tried one by one; the result does not depend on it.
    """
    start = text.find(excerpt)
    for _ in range(patience):
        if start < 0:
            return None
        if is_border(text, start) and is_border(text, start + len(excerpt)):
            return start
        start = text.find(excerpt, start + 1)
    if start < 0:
        return None
    wall = not_a_border().pattern
    bordered = re.compile(f"(?={re.escape(excerpt)})(?!{wall}){re.escape(excerpt)}(?!{wall})")
    found = bordered.search(text, start)
    return found.start() if found else None
