"""What of a change's content speaks for its being behind a failure, and how much each reason is worth."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from diag_graph.analysis.change_candidates import Candidate, telling_words
from diag_graph.analysis.change_contents import Setting
from diag_graph.analysis.change_places import stem_of
from diag_graph.analysis.change_subjects import Subject, apart, changed_subjects, failing_subjects

MUCH, SOME, LITTLE = 0.9, 0.6, 0.3
LARGE, SMALL = 2.0, 1.25
"""Factors by which a value changes much, and too little to be seen."""
MAX_SETTINGS = 6
"""Changed values of one change that are looked at."""
COMPOUND = 6
"""Letters of a compound name that is nobody's by chance."""
FEW = 4
"""Changes below which how many use a word says nothing."""


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """What a failure speaks of, and how common the words of changes are.

    Attributes:
        text: The failure's words.
        parted: The same with compound names taken apart.
        subjects: What it is about.
        own: Words of the names of services, which say where and not what.
        counts: How many changes use a word.
        total: How many changes there are.
    """

    text: str
    parted: str
    subjects: Mapping[Subject, str]
    own: frozenset[str]
    counts: Mapping[str, int]
    total: int

    @classmethod
    def of(cls, known: Sequence[Candidate], text: str, places: Sequence[str]) -> Vocabularies:
        """Read the failure's text, and count the words of all changes."""
        counts = Counter(word for one in known for word in one.words)
        own = frozenset(telling_words(" ".join((*places, *map(stem_of, places)))))
        own |= {word for word in telling_words(text) if any(name.startswith(word) for name in own)}
        return cls(text, apart(text), failing_subjects(text), own, counts, len(known))


def reasons(one: Candidate, spoken: Vocabularies) -> Iterator[tuple[float, str]]:
    """Each reason with its worth, as a predicate whose subject is the change."""
    contents = one.contents
    around = " ".join((*contents.files, contents.title))
    for path in contents.files:
        name = path.rpartition("/")[2]
        if "." in name and _stands_in(name, spoken.text):
            yield MUCH + 0.1, f'changes "{name}", which the failure names'
    settings = [_setting(setting, around, spoken) for setting in contents.settings[:MAX_SETTINGS]]
    best = max((reason for reason in settings if reason is not None), default=None)
    if best is not None:
        yield best
    gone = _shared(changed_subjects(" ".join(contents.gone)), spoken)
    if gone is not None:
        step = next(name for name in contents.gone if gone in changed_subjects(name))
        what = f'a check of "{step}"' if step in _EMPTY else f'"{step}"'
        yield SOME + 0.1, f"takes out {what}, and what fails speaks of {gone}"
    named = [name for name in contents.touched if _is_compound(name) and _stands_in(name, spoken.text)]
    if named:
        yield SOME, f'changes how "{named[0]}" is used, which the failure names'
    about = _shared(changed_subjects(" ".join((*contents.touched, around, one.change.identifier))), spoken)
    if about is not None and about is not gone and not (best and best[1].endswith(f" {about}")):
        yield LITTLE, _about(one, about)
    yield from _in_words(one, spoken)


def _about(one: Candidate, subject: Subject) -> str:
    """How it is about a subject: by a name in its code where it says so nowhere else."""
    used = next((name for name in one.contents.touched if subject in changed_subjects(name)), "")
    if not used or subject in changed_subjects(one.contents.title):
        return f"is about {subject}, as is what fails"
    return f'changes how its code uses "{used}", and what fails speaks of {subject}'


def _setting(setting: Setting, around: str, spoken: Vocabularies) -> tuple[float, str] | None:
    own = changed_subjects(setting.name)
    shared = _shared({**own, **changed_subjects(around)}, spoken)
    sets = f'sets "{setting.name}" from "{setting.before}" to "{setting.after}"'
    if _moved_so(setting.before, setting.after, spoken.text):
        return MUCH + 0.3, f"{sets}, and a metric went so, too"
    if shared is None:
        return None
    size = 1.0 if setting.factor >= LARGE else SOME if setting.factor >= SMALL else LITTLE
    return (MUCH if shared in own else SOME) * size, f"{sets}, and what fails speaks of {shared}"


def _in_words(one: Candidate, spoken: Vocabularies) -> Iterator[tuple[float, str]]:
    """The words that a change and a failure share, the names of the services aside: at most a little below SOME."""
    words = {word for word in one.words if _stands_in(word, spoken.parted)} - spoken.own
    words = {word for word in words if not any(word != other and word.startswith(other) for other in words)}
    weights = sorted(((_rarity(spoken.counts[word], spoken.total), word) for word in words), reverse=True)[:FEW]
    if weights:
        said = ", ".join(f'"{word}"' for _, word in weights)
        yield (
            0.75 * SOME * min(sum(weight for weight, _ in weights) / 2.0, 1.0),
            f"speaks of {said}, as does what fails",
        )


_FILLERS = frozenset({"id", "ids", "key", "name", "url", "at", "by", "seconds", "ms"})
"""Ends of names that many requests and records have."""
_EMPTY = frozenset({"nil", "null", "None", "undefined"})


def _shared(changed: Mapping[Subject, str], spoken: Vocabularies) -> Subject | None:
    return next((subject for subject in changed if subject in spoken.subjects), None)


def _moved_so(before: str, after: str, text: str) -> bool:
    """Whether a metric is said to have gone from one value of a setting to the other."""
    return re.search(rf"(?<![\d.]){re.escape(before)} -> {re.escape(after)}(?![\d.]*\d)", text) is not None


def _is_compound(name: str) -> bool:
    parts = apart(name).split()
    return len(name) >= COMPOUND and len(parts) > 1 and parts[-1] not in _FILLERS


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _rarity(count: int, total: int) -> float:
    """1 for a word of one change of many, falling to little for a word of all."""
    return SOME if total < FEW else math.log(1.0 + total / max(count, 1)) / math.log(1.0 + total)
