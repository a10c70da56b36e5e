"""What is indexed of a text, and what a question searches for.

SQLite's FTS5 parts words at white space and punctuation, and takes a whole Chinese or Japanese sentence for one. So
runs of those scripts are indexed as overlapping pairs of characters (bigrams, as in Lucene's CJKBigramFilter), and a
question is taken apart in the same way: a question of two characters is one pair. Latin words are left to FTS5, which
stems them (Porter, 1980). A name such as `CrashLoopBackOff` is indexed as it stands and by its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_TERMS = 48
"""Terms of one question: more make a search slower and no better."""
MAX_TERM_CHARS = 64

# Han with its extension A and compatibility forms, Hiragana, Katakana (with its long mark), Hangul.
_CJK = "\u3005-\u3007\u3040-\u309f\u30a0-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(f"[{_CJK}]+")
_SYLLABLES = re.compile("[\u3040-\u309f]+")
_TOKEN = re.compile(f"[{_CJK}]+|[^\\W{_CJK}]+(?:[_.:/-]+[^\\W{_CJK}]+)*")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MIXED = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]")
_WORDS = re.compile(f"[^\\W_{_CJK}]+")
_TIMES = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b|\b\d{1,2}:\d\d(?::\d\d)?\b")
_FEW_DIGITS = re.compile(r"\d{1,2}(?:\.\d+)?")

_SAYING_NOTHING = """
a about after again alert alerts all also an and any are as at be been before but by can come comes could did do does
doing during fire fired fires firing for from get gets getting go goes got had has have having how i if in into is it
its just keep keeps me my no not now of off on one only or our out over playbook please postmortem runbook runbooks s
say says seem seems should since so some still suddenly t than that the their them then there these they this those to
too up us utc was we were what when where which while who why will with would you your
"""
STOP_WORDS = frozenset(_SAYING_NOTHING.split())
"""Words of English that say nothing of what a question is about."""
_CJK_STOP_WORDS = re.compile(
    "怎么办|怎么|如何|什么|为什么|哪些|我们|应该|请问|一下|可以|需要|的时候|手册|"
    "どうすれば|どうしたら|どう|ですか|ますか|でしょうか|ください|なぜ|とき|場合"
)


class Term(NamedTuple):
    """One thing that a question searches for.

    Attributes:
        said: As the question says it.
        match: The FTS5 expression for it: always a quoted string, whatever the question holds.
        in_parts: It is a name whose parts are searched for, too: where nobody knows the name, they stand for it.
    """

    said: str
    match: str
    in_parts: bool = False


def index_text(text: str) -> str:
    """A text as it is put into the index: words parted, pairs for Chinese and Japanese, names also by their parts."""
    if text.isascii() and not _MIXED.search(text):
        return text  # FTS5 parts it just so
    return " ".join(part for token in _TOKEN.findall(text) for part in _indexed(token))


def _indexed(token: str) -> Iterator[str]:
    if _RUN.fullmatch(token):
        yield from _pairs(token)
        return
    yield token
    for word in _WORDS.findall(token) if _MIXED.search(token) else ():
        parts = _CAMEL.findall(word)
        if len(parts) > 1:
            yield from parts


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[index : index + 2] for index in range(len(run) - 1)]


def query_terms(question: str) -> list[Term]:
    """The terms of a question, each once, in its order.

    Times and short numbers are left out, and so are words that every question has; but when nothing else is left, they
    are what is searched for.
    """
    wanted = _TIMES.sub(" ", question)
    terms = {term.match: term for term in _terms(_CJK_STOP_WORDS.sub(" ", wanted), STOP_WORDS)}
    if not terms:
        terms = {term.match: term for term in _terms(question, frozenset())}
    return list(terms.values())[:MAX_TERMS]


def _terms(text: str, stop_words: frozenset[str]) -> Iterator[Term]:
    for token in _TOKEN.findall(text):
        if _RUN.fullmatch(token):
            yield from _cjk_terms(token)
            continue
        words = [word[:MAX_TERM_CHARS] for word in _WORDS.findall(token)]
        if len(words) > 1:  # a name: all of it in one, beside its parts
            yield Term(token, _quoted(" ".join(words)), in_parts=True)
        for word in words:
            parts = _CAMEL.findall(word) if _MIXED.search(word) else []
            if len(parts) > 1:
                yield Term(word, _quoted(word), in_parts=True)
            for part in parts if len(parts) > 1 else [word]:
                if part.lower() not in stop_words and not (stop_words and _FEW_DIGITS.fullmatch(part)):
                    yield Term(part, _quoted(part))


def _cjk_terms(run: str) -> Iterator[Term]:
    """Pairs, those of syllables alone left out where there are others: they are mostly endings and particles."""
    if len(run) == 1:
        yield Term(run, f"{_quoted(run)}*")
        return
    pairs = _pairs(run)
    telling = [pair for pair in pairs if not _SYLLABLES.fullmatch(pair)]
    for pair in telling or pairs:
        yield Term(pair, _quoted(pair))


def _quoted(words: str) -> str:
    """An FTS5 string: nothing in it is syntax. A quote can be no part of a word, and is doubled all the same."""
    return '"' + words.replace('"', '""') + '"'
