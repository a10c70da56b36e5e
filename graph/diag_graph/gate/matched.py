"""What a citation shows: the recorded text around a match, as it was recorded."""

from __future__ import annotations

import re

from diag_graph.gate.borders import is_border
from diag_graph.gate.characters import QUOTES_AND_DASHES
from diag_graph.gate.normalise import NormalisedText
from diag_graph.gate.values import well_formed

MAX_MATCHED_TEXT = 500
"""Characters of a citation."""

_LINE_BREAK = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_WHITE_SPACE = re.compile(r"\s")


def matched_text(value: NormalisedText, start: int, end: int) -> str:
    """The line around a match (the lines, when it runs over several), or the whole value when that has no lines.

    At most `MAX_MATCHED_TEXT` characters, with the match within: a longer line is cut at white space on both sides of
    the match, or at word borders where there is none; of a match that is itself longer, its beginning is shown.

    Args:
        value: The text at the cited path.
        start: Where the match begins in the normalised text.
        end: Where it ends there.
    """
    text = value.original
    first, last = value.original_offset(start), value.original_offset(end)
    if last - first > MAX_MATCHED_TEXT:
        return well_formed(text[first : _cut_before(text, first + 1, first + MAX_MATCHED_TEXT)])
    line_start, line_end = _line_around(text, first, last)
    if line_end - line_start <= MAX_MATCHED_TEXT:
        return well_formed(text[line_start:line_end])
    spare = MAX_MATCHED_TEXT - (last - first)
    before = min(first - line_start, max(spare // 2, spare - (line_end - last)))
    after = min(line_end - last, spare - before)
    return well_formed(text[_cut_after(text, first - before, first) : _cut_before(text, last, last + after)])


def _line_around(text: str, first: int, last: int) -> tuple[int, int]:
    """The ends of the line, looked for no further than a citation could reach."""
    reach = max(0, first - MAX_MATCHED_TEXT)
    breaks = [found.end() for found in _LINE_BREAK.finditer(text, reach, first)]
    following = _LINE_BREAK.search(text, last, last + MAX_MATCHED_TEXT)
    line_end = following.start() if following else min(len(text), last + MAX_MATCHED_TEXT)
    return (breaks[-1] if breaks else reach), line_end


def _cut_after(text: str, earliest: int, latest: int) -> int:
    """The first good place to begin, from `earliest` on; `latest` when there is none before."""
    if earliest == 0 or text[earliest - 1].isspace():
        return earliest
    gap = _WHITE_SPACE.search(text, earliest, latest)
    if gap:
        return gap.end()
    return next((place for place in range(earliest, latest) if _is_original_border(text, place)), latest)


def _cut_before(text: str, earliest: int, latest: int) -> int:
    """The last good place to end, up to `latest`; `earliest` when there is none after."""
    if latest >= len(text) or text[latest].isspace():
        return latest
    gaps = [found.start() for found in _WHITE_SPACE.finditer(text, earliest, latest)]
    if gaps:
        return gaps[-1]
    return next((place for place in range(latest, earliest, -1) if _is_original_border(text, place)), earliest)


def _is_original_border(text: str, place: int) -> bool:
    begin = max(0, place - 16)
    return is_border(text[begin : place + 16].translate(QUOTES_AND_DASHES), place - begin)
