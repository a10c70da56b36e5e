"""Finding passages: full-text search with BM25, near duplicates dropped, each with how relevant it is and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from diag_graph.knowledge.ranking import duplicate_of, relevance, share_found, weight
from diag_graph.knowledge.terms import Term, query_terms
from diag_graph.sources.ports import FoundPassage, Retrieval

if TYPE_CHECKING:
    from sqlite_utils import Database

WEIGHTS = (1.0, 2.0, 1.0)
"""What a term is worth in the title, in the headings above a passage and in its text; `docs/knowledge.md` has the
figures."""
CANDIDATES = 30
"""Passages that are looked at closely for a search."""
COMMON = 2_000
"""A term that stands in more passages than this tells little and costs much: where there are rarer ones, candidates are
looked for by those alone. What it is worth in a candidate is counted all the same."""
FEW = 3
"""Of terms that are all common, so many are looked for, the rarest."""
SAMPLE = 16
"""How often a common term stands is counted in one of so many passages."""


class _Row(NamedTuple):
    """A candidate."""

    passage_id: int
    score: float
    source: str
    domain: str
    headings: tuple[str, ...]
    first: int
    last: int
    units: tuple[str, ...]
    fingerprint: str


class _Drop(NamedTuple):
    """A candidate that is left out, which one says the same, and why."""

    row: _Row
    of: _Row
    why: str


def search(db: Database, question: str, *, domain: str | None, limit: int) -> Retrieval:
    """See `KnowledgeSource.search`."""
    passages = int(db.execute("SELECT count(*) FROM passage").fetchone()[0])
    terms = query_terms(question)
    found_in = {term.match: _found_in(db, term, passages) for term in terms}
    weights = {
        term.match: weight(found_in[term.match], passages)
        for term in terms
        if found_in[term.match] or not term.in_parts
    }
    candidates = _candidates(db, _telling(found_in), domain)
    kept, dropped = _without_duplicates(candidates, limit)
    held = _held_terms(db, terms, [row.passage_id for row in kept])
    found = [_found(row, share_found(weights, held[row.passage_id]), kept[0].score) for row in kept]
    details = {
        "layer": "L1" if found else "L0",
        "engine": "bm25",
        "searched_for": [term.said for term in terms],
        "relevance": found[0].relevance if found else None,
        "l0_hits": [{"domain": name, "candidates": count} for name, count in _by_domain(candidates)],
        "l1_hits": [
            {"passage": _named(row), "relevance": one.relevance, "share": one.share, "score": one.score}
            for row, one in zip(kept, found, strict=True)
        ],
        "domains_retrieved": sorted({one.domain for one in found}),
        "dropped_duplicates": [
            {"passage": _named(drop.row), "same_as": _named(drop.of), "why": drop.why} for drop in dropped
        ],
    }
    return Retrieval(found, details, passages, len(candidates) - len(dropped))


def _found_in(db: Database, term: Term, passages: int) -> int:
    """In how many passages a term stands; of a common one, an estimate."""
    rows = "SELECT 1 FROM passage_text WHERE passage_text MATCH ?"
    count = _count(db, f"{rows} LIMIT {COMMON + 1}", term.match)
    if count <= COMMON:
        return count
    last = int(db.execute("SELECT max(passage_id) FROM passage").fetchone()[0])
    sampled = _count(db, f"{rows} AND rowid <= {last // SAMPLE}", term.match)
    return min(passages, max(count, sampled * SAMPLE))


def _count(db: Database, rows: str, match: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM ({rows})", [match]).fetchone()[0])  # noqa: S608 - ours


def _telling(found_in: Mapping[str, int]) -> list[str]:
    """The terms by which candidates are looked for: those that are not common, or the least common."""
    there = sorted((match for match, count in found_in.items() if count), key=lambda match: found_in[match])
    rare = [match for match in there if found_in[match] <= COMMON]
    return rare or there[:FEW]


def _candidates(db: Database, matches: Sequence[str], domain: str | None) -> list[_Row]:
    """The passages that hold any of the terms, best first by BM25 over the three columns."""
    if not matches:
        return []
    within = (
        " AND rowid IN (SELECT passage_id FROM passage JOIN knowledge_file USING (file_id) WHERE domain = ?)"
        if domain
        else ""
    )
    best = (
        f"SELECT rowid, bm25(passage_text, {', '.join(map(str, WEIGHTS))}) AS score FROM passage_text"  # noqa: S608
        f" WHERE passage_text MATCH ?{within} ORDER BY score LIMIT {CANDIDATES}"
    )
    rows = db.execute(
        "SELECT passage_id, score, label, path, knowledge_file.domain, headings, first_line, last_line, units,"  # noqa: S608
        f" fingerprint FROM ({best}) AS best JOIN passage ON passage_id = best.rowid"
        " JOIN knowledge_file USING (file_id) JOIN (SELECT root_id, label FROM knowledge_root) USING (root_id)"
        " ORDER BY score, label, path, first_line",
        [" OR ".join(matches), *([domain] if domain else [])],
    )
    return [_candidate(*row) for row in rows]


def _candidate(
    passage_id: int,
    score: float,
    label: str,
    path: str,
    domain: str,
    headings: str,
    first: int,
    last: int,
    units: str,
    fingerprint: str,
) -> _Row:
    """A row of the query above."""
    source = f"{label}/{path}" if label else path
    return _Row(
        passage_id,
        -score,
        source,
        domain,
        tuple(json.loads(headings)),
        first,
        last,
        tuple(json.loads(units)),
        fingerprint,
    )


def _without_duplicates(candidates: Sequence[_Row], limit: int) -> tuple[list[_Row], list[_Drop]]:
    """The best candidates that say different things, and what was left out for them."""
    kept: list[_Row] = []
    dropped: list[_Drop] = []
    for row in candidates:
        if len(kept) == limit:
            break
        same = duplicate_of(" ".join(row.units), row.fingerprint, [(" ".join(k.units), k.fingerprint) for k in kept])
        if same is None:
            kept.append(row)
        else:
            dropped.append(_Drop(row, kept[same.of], same.why))
    return kept, dropped


def _held_terms(db: Database, terms: Sequence[Term], passage_ids: Sequence[int]) -> dict[int, set[str]]:
    """Which of the terms each passage holds, in whatever column."""
    held: dict[int, set[str]] = {passage_id: set() for passage_id in passage_ids}
    marks = ", ".join("?" * len(passage_ids))
    for term in terms if passage_ids else ():
        rows = db.execute(
            f"SELECT rowid FROM passage_text WHERE passage_text MATCH ? AND rowid IN ({marks})",  # noqa: S608
            [term.match, *passage_ids],
        )
        for (passage_id,) in rows:
            held[passage_id].add(term.match)
    return held


def _found(row: _Row, share: float, best: float) -> FoundPassage:
    return FoundPassage(
        source=row.source,
        headings=row.headings,
        first=row.first,
        last=row.last,
        domain=row.domain,
        units=row.units,
        relevance=relevance(share, row.score / best if best else 1.0),
        score=round(row.score, 3),
        share=round(share, 3),
    )


def _by_domain(rows: Sequence[_Row]) -> list[tuple[str, int]]:
    return Counter(row.domain for row in rows).most_common()


def _named(row: _Row) -> str:
    return f"{row.source}:{row.first}-{row.last}"
