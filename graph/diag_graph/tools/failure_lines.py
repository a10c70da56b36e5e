"""Finds the lines of documents and logs that name a known failure, without trying every signature on every line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from diag_graph.analysis.document_subjects import DocumentReading, State, Subject, read_subjects
from diag_graph.analysis.document_tables import read_rows
from diag_graph.analysis.failure_links import FailureSighting, Place
from diag_graph.analysis.failure_signatures import Catalogue, Hit, TextKind
from diag_graph.analysis.log_patterns import Example, PatternCount
from diag_graph.sources.ports import DocumentSource

MAX_LINES = 100_000
"""Lines of one document that are read: half from its beginning, half from its end."""
MAX_HITS = 2_000
"""Lines of one document that are held against the signatures one by one."""
SMALL = 1 << 17
"""Characters up to which a text is searched for phrases without the help of a faster library."""
_QUIET_LEVEL = re.compile(
    r"\blevel\"?[=:]\s*\"?(?:info|debug|trace)\b|\[(?:INFO|DEBUG|TRACE)\]|^\s*(?:INFO|DEBUG)\b"
    r"|^\S+[ T]\S+\s+(?:INFO|DEBUG|TRACE)\b|^\s*(?:\S+ (?:\(x\d+ over \S+\) +)?)?Normal\s+[A-Z]"
)
QUIET_LEVELS = frozenset({"DEBUG", "INFO"})


@dataclass(slots=True)
class Found:
    """What documents and logs show.

    Attributes:
        sightings: Lines that name a failure, in order.
        states: How the objects are that documents name.
        documents: How many documents were read.
        guides: Runbooks, which were left out.
        cut: Documents of which only a part was read.
        last_words: The last line of each log that belongs to a named thing: where it stands, and what it says.
    """

    sightings: list[FailureSighting] = field(default_factory=list)
    states: dict[str, State] = field(default_factory=dict)
    documents: int = 0
    guides: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    last_words: dict[str, tuple[Place, str]] = field(default_factory=dict)


def read_documents(source: DocumentSource, names: Iterable[str], catalogue: Catalogue) -> Found:
    """Look through documents."""
    found = Found()
    for name in names:
        lines = source.lines(name)
        numbers: Sequence[int] = range(len(lines))
        if len(lines) > MAX_LINES:
            found.cut.append(name)
            half = MAX_LINES // 2
            numbers = [*range(half), *range(len(lines) - half, len(lines))]
            lines = [*lines[:half], *lines[len(lines) - half :]]
        reading = read_subjects(name, lines)
        found.documents += 1
        if reading.guidance:
            found.guides.append(name)
            continue
        _merge_states(found.states, reading.states)
        _note_last_words(found, reading, name, lines, numbers)
        rows = dict(_row_hits(lines, catalogue))
        hits = [(index, hit) for index, hit in _hits(lines, reading.kind, catalogue) if not _same(hit, rows.get(index))]
        for index, hit in rows.items():
            sighting = _sighting(hit, reading, name, numbers[index] + 1, index, lines[index])
            found.sightings.append(replace(sighting, row=True))
        for index, hit in hits:
            found.sightings.append(_sighting(hit, reading, name, numbers[index] + 1, index, lines[index]))
    return found


def _merge_states(known: dict[str, State], more: Mapping[str, State]) -> None:
    """What is being deleted is; else what one text calls not ready is not ready, whatever another one says."""
    weight = {State.DELETED: 2, State.NOT_READY: 1, State.READY: 0}
    for name, state in more.items():
        if name not in known or weight[state] > weight[known[name]]:
            known[name] = state


def _note_last_words(
    found: Found, reading: DocumentReading, name: str, lines: Sequence[str], numbers: Sequence[int]
) -> None:
    if reading.kind is not TextKind.LOG or not reading.subjects or not reading.subjects[0].name:
        return
    said = [
        index
        for index in range(max(len(lines) - 20, 1), len(lines))
        if lines[index].strip() and not lines[index].startswith(("stderr:", "stdout:", "$ "))
    ]
    if said:
        found.last_words[reading.subjects[0].name] = (Place(name, numbers[said[-1]] + 1), lines[said[-1]].strip())


def _hits(lines: Sequence[str], kind: TextKind, catalogue: Catalogue) -> Iterator[tuple[int, Hit]]:
    for index in _candidates(lines, catalogue):
        hit = catalogue.hit(lines[index], kind)
        if hit is None or lines[index].startswith("$ "):
            continue
        if hit.signature.at_any_level or not _QUIET_LEVEL.search(lines[index][:200]):
            yield index, hit


def _row_hits(lines: Sequence[str], catalogue: Catalogue) -> Iterator[tuple[int, Hit]]:
    """Rows of tables that name a failure, as many as are looked at."""
    named = (
        (row.index, hit)
        for row in read_rows(lines, catalogue.columns)
        if (hit := catalogue.row_hit(row.name, row.text)) is not None
    )
    return islice(named, MAX_HITS)


def _same(hit: Hit, row: Hit | None) -> bool:
    """Whether a line names what it names as a row of a table, too."""
    return row is not None and row.signature.id == hit.signature.id


def _candidates(lines: Sequence[str], catalogue: Catalogue) -> Sequence[int]:
    """Indices of the lines that hold some phrase, as many as are looked at."""
    if sum(map(len, lines)) <= SMALL:
        phrases = catalogue.phrases_in("\n".join(lines))
        lowered = (line.lower() for line in lines)
        return [index for index, line in enumerate(lowered) if any(phrase in line for phrase in phrases)]
    import polars as pl

    chosen = pl.Series(lines, dtype=pl.String).str.contains_any(catalogue.phrases, ascii_case_insensitive=True)
    return [int(index) for index in chosen.arg_true()[:MAX_HITS]]


def _sighting(hit: Hit, reading: DocumentReading, name: str, number: int, index: int, line: str) -> FailureSighting:
    subject = reading.subjects[index] if index < len(reading.subjects) else Subject()
    return FailureSighting(
        signature=hit.signature,
        subject=subject,
        entity=hit.entity or subject.name,
        detail=hit.detail,
        place=Place(name, number),
        quote=" ".join(line.split()),
        kind=reading.kind,
    )


def read_patterns_of_logs(patterns: Iterable[PatternCount], catalogue: Catalogue) -> list[FailureSighting]:
    """Look through the kinds of log lines that were found: each by its first and its last line.

    Args:
        patterns: What the logs hold, mined already.
        catalogue: The signatures.
    """
    return [
        sighting
        for pattern in patterns
        for sighting in _of_pattern(pattern, catalogue)
        if pattern.level not in QUIET_LEVELS or sighting.signature.at_any_level
    ]


def _hit(example: Example, catalogue: Catalogue) -> tuple[Hit | None, str]:
    """What a line names, or else an exception of its chain, and the words that name it."""
    for said in (example.text, *example.causes):
        hit = catalogue.hit(said, TextKind.LOG)
        if hit is not None:
            return hit, said
    return None, example.text


def _of_pattern(pattern: PatternCount, catalogue: Catalogue) -> Iterator[FailureSighting]:
    """What a pattern's lines name: one failure, or two where the first line and the last one name different ones."""
    (first, first_said), (latest, latest_said) = (_hit(one, catalogue) for one in (pattern.first, pattern.latest))
    whole = first is None or latest is None or first.signature.id == latest.signature.id
    for hit, said, example in (
        (first, first_said, pattern.first),
        (None if whole and first else latest, latest_said, pattern.latest),
    ):
        if hit is None:
            continue
        dated = bool(pattern.times.size) and whole
        yield FailureSighting(
            signature=hit.signature,
            subject=Subject(pattern.service),
            entity=hit.entity or pattern.service,
            detail=hit.detail,
            place=Place(example.source),
            quote=" ".join(said.split()),
            lines=pattern.lines if whole else 1,
            first=float(pattern.times[0]) if dated else example.time,
            last=float(pattern.times[-1]) if dated else example.time,
        )
