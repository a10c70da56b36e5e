"""Which skill fits a question, by its words: the analyst's planner sees names and descriptions, and no body.

The rule can be told in three sentences. Words of the question are looked for in each skill's name and description, as
they are or with another ending; words that say nothing about a trouble, or that half of the skills have, do not count.
A word of the name counts three, one that no other skill's description has two, any other one; a skill fits from two on.
The one with the most is selected; of equals, the one whose word the question says first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diag_graph.analysis.follow_ups import leans
from diag_graph.contracts import Turn
from diag_graph.state import SkillCard

NAME_WEIGHT, OWN_WEIGHT, SHARED_WEIGHT = 3, 2, 1
ENOUGH = 2
"""What the words that are found must come to: one that is the skill's own, or two."""
MANY_SKILLS = 4
"""From so many skills on, a word that half of them have tells none from another."""
MIN_STEM = 4

_WORD = re.compile(r"[a-z]+|[0-9]+[a-z]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS = ("s", "es", "ed", "d", "er", "ing", "ings", "ly", "ure", "ures", "ment", "ments", "ation", "y", "ies", "ion")
_WITHOUT_MEANING = frozenset(
    re.findall(
        r"[a-z]+",
        """
        a about after again alert alerts all also an and any are as at be because been before began begin begins
        being between but by can cause causes come comes could did do does during each end even every few find fire
        fired fires first for from get gets give given go goes going had happen happened happening happens has have
        having help her here high his how i if in incident incidents into is it its just know last like look looks
        made make makes many may me mean means might more most much must my near need new no not nothing now of off
        often on one only or other our out over own part people please problem problems quite really reason same say
        says see seem seems seen she should show shows since so some someone something still such take takes tell
        than that the their them then there these they thing things this those time times to today too trouble
        troubles two under until up us use used user users usual usually utc very was way we well went were what
        when where whether which while who whole whose why will with within without works would wrong yes yesterday
        yet you your service services system systems fault faults
        """,
    )
)


class Choice(NamedTuple):
    """A skill, and the words of the question that speak for it, in the question's order."""

    skill: str
    words: tuple[str, ...]


def chosen_skill(question: str, history: Sequence[Turn], skills: Sequence[SkillCard]) -> Choice | None:
    """The skill that fits best; None when none fits.

    One that leans on an earlier question ("and before that?") and fits none goes by that one. What was answered plays
    no part: answers quote tools.
    """
    earlier = (turn.question for turn in reversed(history)) if leans(question) else ()
    asked = (question, *earlier)
    return next((choice for text in asked if (choice := _fitting(text, skills))), None)


def _fitting(question: str, skills: Sequence[SkillCard]) -> Choice | None:
    vocabulary = _Vocabulary(skills)
    words = list(dict.fromkeys(_words(question)))
    best: tuple[int, int] | None = None
    choice = None
    for index, skill in enumerate(skills):
        weights = [vocabulary.weight(index, word) for word in words]
        found = [position for position, weight in enumerate(weights) if weight]
        if sum(weights) >= ENOUGH and (best is None or (-sum(weights), found[0]) < best):
            best = (-sum(weights), found[0])
            choice = Choice(skill.name, tuple(words[position] for position in found))
    return choice


class _Vocabulary:
    """The words of some skills, and what each tells."""

    def __init__(self, skills: Sequence[SkillCard]) -> None:
        self._names = [set(_stems(skill.name)) for skill in skills]
        self._descriptions = [set(_stems(skill.description)) for skill in skills]
        self._count = len(skills)
        self._holders = Counter(
            stem for name, told in zip(self._names, self._descriptions, strict=True) for stem in name | told
        )

    def weight(self, skill: int, word: str) -> int:
        """What a word of the question says for a skill."""
        stems = {stem for stem in _stems_of(word) if not self._is_common(stem)}
        if stems & self._names[skill]:
            return NAME_WEIGHT
        found = stems & self._descriptions[skill]
        if not found:
            return 0
        own = self._count > 1 and max(self._holders[stem] for stem in found) == 1
        return OWN_WEIGHT if own else SHARED_WEIGHT

    def _is_common(self, stem: str) -> bool:
        return self._count >= MANY_SKILLS and self._holders[stem] * 2 > self._count


def _words(text: str) -> Iterator[str]:
    """Words that say something, lower case; of scripts that do not part words, each pair of characters."""
    for word in _WORD.findall(_INNER_CAPITAL.sub(" ", text).lower()):
        if not word.isascii():
            yield from (word[index : index + 2] for index in range(max(1, len(word) - 1)))
        elif word not in _WITHOUT_MEANING and len(word) > 1:
            yield word


def _stems(text: str) -> Iterator[str]:
    for word in _words(text):
        yield from _stems_of(word)


def _stems_of(word: str) -> set[str]:
    """The word, and what is left of it without each ending that it may have."""
    left = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    return {word, *(stem for stem in left if len(stem) >= MIN_STEM)}
