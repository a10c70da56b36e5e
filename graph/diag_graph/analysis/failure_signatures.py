"""Failure signatures: what programs print when a known failure happens, what it means, and what it brings about.

A signature is data (`signatures/*.toml`; people add their own). A line is first held against all signatures' phrases at
once, as plain text, and only the signatures of a phrase that stands in it are tried as regular expressions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

MAX_LINE = 2_000
"""Characters of a line that are looked at."""


class SignatureError(ValueError):
    """A signature is not well formed; the message names it and says what is wrong."""


class Severity(StrEnum):
    """What a signature says about causes."""

    CAUSE = "cause"
    CONSEQUENCE = "consequence"
    HINT = "hint"
    RECOVERY = "recovery"


class TextKind(StrEnum):
    """Kinds of text that signatures look for."""

    KUBERNETES = "kubernetes"
    CLOUD = "cloud"
    LOG = "log"
    TEXT = "text"


TESTED = "tested"
"""Validation context of signatures that ship with the program: its tests hold them to their examples."""
_NESTED_REPEAT = re.compile(r"(?<!\\)\([^()]*(?<!\\)[*+][^()]*\)(?:[*+]|\{\d*,)")


def _linear(pattern: str, info: ValidationInfo) -> str:
    """Refuse a pattern that is none, or that can take exponential time: a repeat within a repeated group."""
    if info.context == TESTED:
        return pattern
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    if _NESTED_REPEAT.search(pattern):
        raise ValueError(f"{pattern!r} repeats a group that itself repeats, which can take very long")
    return pattern


class Signature(BaseModel):
    """One failure that texts name.

    Attributes:
        id: By which other signatures speak of it.
        title: What people call it.
        means: What it means, as the end of a sentence.
        severity: Whether it is a cause, what a cause leads to, a mere hint, or the end of a failure.
        phrases: Lower-case texts, one of which stands in every line that matches; a line need hold no more than one
            of them when there is no pattern.
        patterns: Regular expressions, case ignored, searched in the line. Group `entity` is what the failure is about,
            where that is not what the text around the line is about; group `detail` says more.
        kinds: Kinds of text in which it is looked for; empty for all.
        about: What kind of thing `entity` is.
        explains: Signatures that are its consequences.
        ends: Of a recovery: the signatures that it ends.
        until_ready: It is over once what it is about is ready, or is being deleted.
        at_any_level: It counts in lines of level DEBUG and INFO, too.
        advice: What to do next; `{entity}` stands for what it is about.
        examples: Lines that match.
        counter_examples: Lines that look alike and do not match.
        columns: Lower-case names of columns, one of which a table has in whose rows it is looked for.
        rows: Regular expressions, case ignored, searched in rows as `NAME: COLUMN value, COLUMN value`; what a row is
            about is its name, where no group `entity` says otherwise.
        row_examples: Rows that match.
        row_counter_examples: Rows that do not match.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    means: str
    severity: Severity
    phrases: tuple[str, ...] = ()
    patterns: tuple[Annotated[str, AfterValidator(_linear)], ...] = ()
    kinds: tuple[TextKind, ...] = ()
    about: str = ""
    explains: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    until_ready: bool = False
    at_any_level: bool = False
    advice: str = ""
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[Annotated[str, AfterValidator(_linear)], ...] = ()
    row_examples: tuple[str, ...] = ()
    row_counter_examples: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _matches_its_examples(self, info: ValidationInfo) -> Signature:
        if info.context == TESTED:
            return self
        if any(phrase != phrase.lower() or not phrase.strip() for phrase in (*self.phrases, *self.columns)):
            raise ValueError("phrases and columns must be in lower case, and not empty")
        if bool(self.phrases) != bool(self.examples) or len({bool(self.columns), bool(self.rows)}) > 1:
            raise ValueError("phrases need examples, and columns need rows, and the other way round")
        if not (self.phrases or self.rows) or bool(self.rows) != bool(self.row_examples):
            raise ValueError("it needs phrases and examples, or columns, rows and row_examples")
        self._matches_its_rows()
        for line in self.examples:
            if self.match(line) is None:
                raise ValueError(f"its example {line!r} does not match")
        for line in self.counter_examples:
            if self.match(line) is not None:
                raise ValueError(f"its counter-example {line!r} matches")
        return self

    def _matches_its_rows(self) -> None:
        for row in self.row_examples:
            if self.match_row(row) is None:
                raise ValueError(f"its row example {row!r} does not match")
        for row in self.row_counter_examples:
            if self.match_row(row) is not None:
                raise ValueError(f"its row counter-example {row!r} matches")

    @cached_property
    def _compiled_rows(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern, re.IGNORECASE) for pattern in self.rows)

    def match_row(self, row: str) -> Mapping[str, str] | None:
        """Named groups when a row's statement matches; None when it does not."""
        row = row[:MAX_LINE]
        found = next((match for pattern in self._compiled_rows if (match := pattern.search(row))), None)
        return None if found is None else {name: text for name, text in found.groupdict().items() if text}

    @cached_property
    def _compiled(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern, re.IGNORECASE) for pattern in self.patterns)

    def match(self, line: str) -> Mapping[str, str] | None:
        """Named groups when the line matches; None when it does not."""
        line = line[:MAX_LINE]
        lower = line.lower()
        phrase = next((phrase for phrase in self.phrases if phrase in lower), None)
        if phrase is None:
            return None
        if not self.patterns:
            start = lower.index(phrase)
            return None if _is_denied(line, start, start + len(phrase)) else {}
        found = next((match for pattern in self._compiled if (match := pattern.search(line))), None)
        if found is None or _is_denied(line, *found.span()):
            return None
        return {name: text for name, text in found.groupdict().items() if text}


_DENIED_BEFORE = re.compile(r"\b(?:no|zero|without|never)\s+\Z|(?<![\w./-])0\s\Z", re.IGNORECASE)
_DENIED_AFTER = re.compile(r"\"?\s*[:=]\s*\"?(?:false|no|none|null|0(?:\.0+)?)(?![\w.%/-])", re.IGNORECASE)


def _is_denied(line: str, start: int, end: int) -> bool:
    """Whether a line says that there was none of what it names: `OOMKilled: false`, `no deadlock detected`."""
    return (
        _DENIED_AFTER.match(line, end) is not None
        or _DENIED_BEFORE.search(line[max(0, start - 12) : start]) is not None
    )


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a signature matches."""

    signature: Signature
    entity: str
    """What the line itself says it is about; empty when it does not."""
    detail: str


class Catalogue:
    """All signatures, in the order in which they are tried: a line shows the first that matches."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        """Index the signatures by their phrases; a later one of the same id takes the place of the earlier one."""
        self.signatures = tuple({one.id: one for one in signatures}.values())
        self._by_phrase: dict[str, list[int]] = defaultdict(list)
        for position, signature in enumerate(self.signatures):
            for phrase in signature.phrases:
                self._by_phrase[phrase].append(position)

        self._of_rows = [one for one in self.signatures if one.rows]
        self.columns = frozenset(name for one in self._of_rows for name in one.columns)

    @property
    def phrases(self) -> list[str]:
        """All phrases."""
        return list(self._by_phrase)

    def phrases_in(self, text: str) -> list[str]:
        """The phrases that stand in a text of any length."""
        lower = text.lower()
        return [phrase for phrase in self._by_phrase if phrase in lower]

    def hit(self, line: str, kind: TextKind, phrases: Sequence[str] | None = None) -> Hit | None:
        """The first signature that a line of that kind of text matches.

        Args:
            line: The line.
            kind: What kind of text it stands in.
            phrases: The phrases that are known to be all that can stand in it. Default: all.
        """
        line = line[:MAX_LINE].replace('\\"', '"')
        lower = line.lower()
        candidates = {
            position
            for phrase in (self._by_phrase if phrases is None else phrases)
            if phrase in lower
            for position in self._by_phrase[phrase]
        }
        for position in sorted(candidates):
            signature = self.signatures[position]
            if signature.kinds and kind not in signature.kinds:
                continue
            found = signature.match(line)
            if found is not None:
                return Hit(signature, found.get("entity", "").strip(".,:;"), found.get("detail", "").strip())
        return None

    def row_hit(self, name: str, row: str) -> Hit | None:
        """The first signature that a row of a table matches.

        Args:
            name: What the row is about.
            row: The row as `NAME: COLUMN value, COLUMN value`.
        """
        for signature in self._of_rows:
            found = signature.match_row(row)
            if found is not None:
                return Hit(signature, found.get("entity", name).strip(), found.get("detail", "").strip())
        return None

    def __iter__(self) -> Iterator[Signature]:
        """All signatures."""
        return iter(self.signatures)

    def named(self, title: str) -> Signature | None:
        """The signature of that title."""
        return next((one for one in self.signatures if one.title == title), None)


def read_signatures(table: Mapping[str, Any], source: str, *, tested: bool = False) -> list[Signature]:
    """Signatures from a parsed TOML file: its tables `[[signature]]`.

    Args:
        table: The parsed file.
        source: What to call it in an error.
        tested: Its patterns and examples are known to be sound; they are not tried again.

    Raises:
        SignatureError: an entry is wrong; the message names the file, the entry and the field.
    """
    entries = table.get("signature", [])
    if not isinstance(entries, list):
        raise SignatureError(f"{source}: signature must be a list of tables, [[signature]]")
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            found.append(Signature.model_validate(entry, context=TESTED if tested else None))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            name = entry.get("id", f"number {number}") if isinstance(entry, dict) else f"number {number}"
            raise SignatureError(
                f"{source}: signature {name}{', ' + field if field else ''}: {first['msg']}"
            ) from error
    return found
