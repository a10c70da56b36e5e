"""When an entity, a keyword or a commit of an answer is the one that a label means. Pure.

The rules are those of the labels' format, so that figures compare with what other scorers compute from it: an entity
equals an acceptable one, ignoring case, or one is a pod of the other; keywords ignore case and white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from diag_graph.evals.documents import NO_COMMIT

_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]"
"""What Kubernetes draws generated names from (k8s.io/apimachinery, util/rand): no vowels, no digits that look alike."""

_POD_SUFFIX = re.compile(rf"-(?:v\d+-)?(?:{_RANDOM}{{4,10}}-{_RANDOM}{{5}}|\d+)")
"""What a pod's name adds to its owner's: hash and suffix in a Deployment, a number in a StatefulSet."""

_WHITE = re.compile(r"\s+")
_LEAST_HASH, _HASH = 7, 40
"""Digits by which Git abbreviates a commit at least, and digits of a whole one (SHA-1)."""


def folded(text: str) -> str:
    """A text as it is compared: lower case, and each run of white space as one space."""
    return _WHITE.sub(" ", text.strip().lower())


def same_entity(one: str, other: str) -> bool:
    """Whether two names mean the same entity: they are equal, ignoring case, or one is a pod of the other."""
    short, long = sorted((one.strip().lower(), other.strip().lower()), key=len)
    return short == long or (long.startswith(short) and _POD_SUFFIX.fullmatch(long, len(short)) is not None)


def rank_among(ranked: Iterable[str], acceptable: Iterable[str]) -> int | None:
    """Where the first acceptable entity stands, from 1; a name that comes again is not counted again."""
    distinct = dict.fromkeys(name.strip().lower() for name in ranked)
    wanted = tuple(acceptable)
    return next((rank for rank, name in enumerate(distinct, 1) if any(same_entity(name, one) for one in wanted)), None)


def says(text: str, keyword: str) -> bool:
    """Whether a keyword stands in a folded text.

    One that begins or ends with a digit is not found inside a longer number or word: `14` is not in `140` or `3.14`.
    A blank at its end asks for a blank.
    """
    word = folded(keyword)
    if not word:
        return False
    if keyword.endswith(" "):
        word += " "
    before = r"(?<![\w.])" if word[0].isdigit() else ""
    after = r"(?!\w|\.\d)" if word[-1].isdigit() else ""
    return re.search(before + re.escape(word) + after, text) is not None


def blames(named: str, guilty: str, decoys: Iterable[str]) -> bool:
    """Whether the commit that an answer names is the right one; `none` on either side means no commit.

    Args:
        named: A commit, whole or abbreviated as Git does.
        guilty: The label's commit.
        decoys: The label's innocent commits.
    """
    name, culprit = named.strip().lower(), guilty.strip().lower()
    if culprit == NO_COMMIT:
        return name in {"", NO_COMMIT}
    known = {decoy.strip().lower() for decoy in decoys} | {culprit}
    return len(name) >= _LEAST_HASH and {one for one in known if one.startswith(name[:_HASH])} == {culprit}
