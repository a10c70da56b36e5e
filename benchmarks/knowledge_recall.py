"""How often the right passage of a runbook is found: full text alone, an embedding alone, and both joined.

The questions (`knowledge_questions.jsonl`) are paraphrases: most have few words in common with the passage that answers
them. Run it with `wordllama` installed to see what its embedding adds; without it, full text alone is measured.

    python benchmarks/knowledge_recall.py
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from diag_graph.knowledge import KnowledgeIndex

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "fixtures" / "runbooks"
QUESTIONS = Path(__file__).with_name("knowledge_questions.jsonl")
DEPTH = 10
FUSION = 60.0
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009)."""


class Question(NamedTuple):
    """A question, and the passages that answer it: any of these headings in any of these files."""

    kind: str
    text: str
    files: tuple[str, ...]
    headings: tuple[str, ...]


class Place(NamedTuple):
    """A passage: file and innermost heading."""

    file: str
    heading: str


Search = Callable[[str], Sequence[Place]]


def questions() -> list[Question]:
    """All questions."""
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [Question(row["kind"], row["question"], tuple(row["files"]), tuple(row["headings"])) for row in rows]


def rank(question: Question, found: Sequence[Place]) -> int | None:
    """Where the first right passage stands, from 1."""
    hits = (
        at for at, place in enumerate(found, 1) if place.file in question.files and place.heading in question.headings
    )
    return next(hits, None)


def full_text(index: KnowledgeIndex) -> Search:
    """Search by words."""

    def search(text: str) -> list[Place]:
        return [place_of(one.source, one.headings) for one in index.search(text, limit=DEPTH).passages]

    return search


def place_of(source: str, headings: Sequence[str]) -> Place:
    """A passage's place."""
    return Place(source.split("/", 1)[1], headings[-1] if headings else "")


def embedding(index: KnowledgeIndex) -> Search | None:
    """Search by what texts mean, with wordllama's vectors; None without it."""
    try:
        import wordllama
    except ImportError:
        return None
    import numpy as np

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    rows = index._db.execute(  # noqa: SLF001 - what is measured here is no part of the index
        "SELECT path, title, headings, units FROM passage JOIN knowledge_file USING (file_id) ORDER BY passage_id"
    ).fetchall()
    places = [Place(path, (json.loads(headings) or [""])[-1]) for path, _, headings, _ in rows]
    texts = [
        f"{title}. {' '.join(json.loads(headings))}. {' '.join(json.loads(units))}"
        for _, title, headings, units in rows
    ]
    vectors = model.embed(texts, norm=True)

    def search(text: str) -> list[Place]:
        likeness = vectors @ model.embed([text], norm=True)[0]
        return [places[at] for at in np.argsort(-likeness)[:DEPTH]]

    return search


def joined(*searches: Search) -> Search:
    """Several searches as one, by the ranks that each gives."""

    def search(text: str) -> list[Place]:
        scores: dict[Place, float] = defaultdict(float)
        for one in searches:
            for at, place in enumerate(dict.fromkeys(one(text)), 1):
                scores[place] += 1 / (FUSION + at)
        return sorted(scores, key=lambda place: -scores[place])[:DEPTH]

    return search


def report(name: str, search: Search, asked: Sequence[Question], *, misses: bool) -> None:
    """One row a kind of question."""
    ranks = {question: rank(question, search(question.text)) for question in asked if question.files}
    for kind in (*dict.fromkeys(question.kind for question in ranks), "all"):
        some = [at for question, at in ranks.items() if kind in {question.kind, "all"}]
        first, three = sum(at == 1 for at in some), sum(at is not None and at <= 3 for at in some)
        mrr = sum(1 / at for at in some if at) / len(some)
        shares = f"{first:>3} ({first / len(some):.0%})   {three:>3} ({three / len(some):.0%})   {mrr:.2f}"
        print(f"{name:<10} {kind:<5} {len(some):>3}   {shares}")
    for question, at in ranks.items() if misses else ():
        if at != 1:
            print(f"    {at}: {question.text} -> {question.files[0]}, {question.headings[0]}")


def relevances(index: KnowledgeIndex, asked: Sequence[Question]) -> None:
    """How relevant the best passage is called, when it is right, when it is wrong, and when there is no answer."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for question in asked:
        found = index.search(question.text, limit=1).passages
        right = "no answer" if not question.files else "wrong"
        if found and rank(question, [place_of(found[0].source, found[0].headings)]):
            right = "right"
        seen[right][found[0].relevance if found else "nothing"] += 1
    for right, counts in seen.items():
        print(f"best passage {right:<9} {dict(counts)}")


def main() -> None:
    """Index the library, ask everything, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--misses", action="store_true", help="show each question whose passage is not first")
    misses = parser.parse_args().misses
    asked = questions()
    with tempfile.TemporaryDirectory() as folder, KnowledgeIndex.open(Path(folder) / "k.db", create=True) as index:
        print(f"{index.add(LIBRARY).passages} passages, {sum(bool(one.files) for one in asked)} questions")
        print("search     kind    n   rank 1       rank <= 3    MRR")
        words = full_text(index)
        report("words", words, asked, misses=misses)
        meaning = embedding(index)
        if meaning is not None:
            report("meaning", meaning, asked, misses=misses)
            report("joined", joined(words, meaning), asked, misses=misses)
        relevances(index, asked)


if __name__ == "__main__":
    main()
