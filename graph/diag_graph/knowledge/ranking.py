"""How relevant a passage is to what was searched for, and which passages say the same."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from diag_graph.sources.ports import Relevance

HIGH_SHARE, MEDIUM_SHARE = 0.6, 0.35
"""Of what was searched for, by weight: how much a passage of that relevance holds at least."""
FAR_BEHIND = 0.4
"""A passage with less than this share of the best one's score is a step less relevant than its words alone say."""
NEARLY_THE_SAME = 0.8
"""Share of word triples that two passages have in common when they say nearly the same."""

_WORD = re.compile(r"\w+")
_TRIPLE = 3


def weight(found_in: int, passages: int) -> float:
    """What a term that stands in so many of so many passages is worth: BM25's inverse document frequency.

    Robertson and Zaragoza (2009), "The Probabilistic Relevance Framework: BM25 and Beyond"; the 1 within keeps it above
    nothing for terms that stand everywhere.
    """
    return math.log(1 + (passages - found_in + 0.5) / (found_in + 0.5))


def share_found(weights: Mapping[str, float], found: AbstractSet[str]) -> float:
    """Of all terms, by weight, how much was found: 0 to 1."""
    whole = sum(weights.values())
    return sum(value for term, value in weights.items() if term in found) / whole if whole else 0.0


def relevance(share: float, behind: float) -> Relevance:
    """The relevance of a passage.

    Args:
        share: Of what was searched for, how much it holds by weight.
        behind: Its score as a share of the best one's.
    """
    steps = (Relevance.LOW, Relevance.MEDIUM, Relevance.HIGH)
    level = (share >= MEDIUM_SHARE) + (share >= HIGH_SHARE)
    return steps[max(0, level - (behind < FAR_BEHIND))]


class Duplicate(NamedTuple):
    """Why a passage is left out: which one says the same, and how much the same."""

    of: int
    why: str


def duplicate_of(text: str, fingerprint: str, kept: Sequence[tuple[str, str]]) -> Duplicate | None:
    """Which of the kept passages says what this one says; None when none does.

    Args:
        text: The passage.
        fingerprint: Its fingerprint.
        kept: Text and fingerprint of each that is kept.
    """
    triples = _triples(text)
    for place, (other, its_fingerprint) in enumerate(kept):
        if fingerprint == its_fingerprint:
            return Duplicate(place, "the same text")
        its = _triples(other)
        common = len(triples & its) / len(triples | its)
        if common >= NEARLY_THE_SAME:
            return Duplicate(place, f"nearly the same text: {common:.0%} of their word triples are common")
    return None


def _triples(text: str) -> set[tuple[str, ...]]:
    """Each three words in a row (of a text without blanks, characters), by which texts are compared (Broder, 1997)."""
    words = _WORD.findall(text.casefold())
    if sum(map(len, words)) > 12 * len(words):
        words = [letter for word in words for letter in word]
    return {tuple(words[index : index + _TRIPLE]) for index in range(max(1, len(words) - _TRIPLE + 1))}
