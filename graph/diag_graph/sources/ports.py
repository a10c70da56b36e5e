"""What a source of evidence offers, one small protocol a kind, and the records they hand out.

Times are seconds since the epoch, UTC, as floats (arrays: float64), unless a field says otherwise. A source knows no
tool; analysis knows no source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from diag_graph.analysis.failure_signatures import Signature
from diag_graph.analysis.log_patterns import LogForm
from diag_graph.analysis.records import Alert, Change, Edge, LogRecord, Series, Span, TimeRange
from diag_graph.state import SkillCard


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading of evidence has come.

    Attributes:
        source: What is being read.
        done: Bytes read of everything that is read whole.
        total: Of so many.
    """

    source: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One thing that evidence was read from, or could not be.

    Attributes:
        name: A file's path within the folder, or a live source's name.
        kind: `metrics`, `logs`, `spans`, `alerts`, `changes`, `topology`, `document` or `unreadable`.
        detail: What was found in it, in words with counts and units ("1,920 samples, 16 series").
        problem: What could not be read of it and why, in words; None when all was read.
        assumption: What was assumed in reading it ("times without a zone read as UTC"); None when nothing was.
    """

    name: str
    kind: str
    detail: str
    problem: str | None = None
    assumption: str | None = None


class Inventory(Protocol):
    """What evidence there is."""

    name: str
    """How a person would call this source (a folder's name, a server's address)."""

    def entries(self) -> Sequence[SourceEntry]:
        """Everything that was looked at, unreadable things too."""

    def span(self) -> TimeRange | None:
        """From when to when the evidence was recorded; None when nothing carries a time."""


class MetricSource(Protocol):
    """Numeric series."""

    def series(
        self, *, services: Sequence[str] = (), metrics: Sequence[str] = (), window: TimeRange | None = None
    ) -> Sequence[Series]:
        """The series of these services and metrics (empty: all), cut to the window; in a stable order."""


class LogSource(Protocol):
    """Log lines, in the order of their time where they have one."""

    def records(self, window: TimeRange | None = None) -> Iterator[LogRecord]:
        """Lines in the window; lines without a time are always given."""


@runtime_checkable
class FormSource(Protocol):
    """Log lines whose source has told their kinds apart already, and need not hand out each of them to be counted."""

    def forms(self, window: TimeRange | None = None) -> Iterator[LogForm]:
        """The kinds of lines in the window and of those without a time, in the order of their first lines."""


class SpanSource(Protocol):
    """Spans of distributed traces."""

    def spans(self, window: TimeRange | None = None) -> Sequence[Span]:
        """Spans that start in the window."""


class AlertSource(Protocol):
    """Alerts."""

    def alerts(self) -> Sequence[Alert]:
        """All alerts, firing first."""


class ChangeSource(Protocol):
    """Deploys, commits, flags and configuration changes."""

    def changes(self, window: TimeRange | None = None) -> Sequence[Change]:
        """Changes in the window, oldest first; changes without a time are always given."""


class TopologySource(Protocol):
    """Who calls whom."""

    def edges(self) -> Sequence[Edge]:
        """Calls between services, caller first."""


class DocumentSource(Protocol):
    """Texts that are nothing else: command output, configuration, postmortems."""

    def names(self) -> Sequence[str]:
        """Names of all documents."""

    def lines(self, name: str) -> Sequence[str]:
        """A document's lines, without line ends.

        Raises:
            KeyError: there is no document of that name. Names are looked up, never opened as paths.
        """


class Relevance(StrEnum):
    """How relevant a passage is to a question; `docs/knowledge.md` says how that is found."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of a runbook that was found.

    Attributes:
        source: The file, as people know it: the added folder's name and the path within it.
        headings: The headings above the passage, outermost first.
        first: Its first line in the file, counted from 1.
        last: Its last line.
        domain: What the runbook is about.
        units: Its texts, each on one line, in their order.
        relevance: How relevant it is.
        score: By which it was ranked: higher is better, and only passages of one search compare.
        share: Of what was searched for, how much it holds, by weight: 0 to 1.
    """

    source: str
    headings: tuple[str, ...]
    first: int
    last: int
    domain: str
    units: tuple[str, ...]
    relevance: Relevance
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a search of the knowledge gave.

    Attributes:
        passages: Most relevant first.
        details: How they were found, for the store: L0 and L1 hits, layer, relevance, domains, dropped duplicates.
        searched: How many passages were searched.
        matched: How many of the passages that were looked at closely hold something of the question, duplicates aside.
    """

    passages: Sequence[FoundPassage]
    details: Mapping[str, Any]
    searched: int
    matched: int


class KnowledgeSource(Protocol):
    """Indexed runbooks and postmortems: what is advised, and never what happened."""

    def domains(self) -> Sequence[str]:
        """The map of the knowledge (L0), a line a domain: its name and what its runbooks are about."""

    def search(self, question: str, *, domain: str | None = None, limit: int = 5) -> Retrieval:
        """The passages (L1) that a question is about.

        Args:
            question: In words, of any language.
            domain: Only passages of this domain.
            limit: How many passages to give at most.
        """


class SkillSource(Protocol):
    """Skills: ways to go about a kind of incident."""

    def cards(self) -> Sequence[SkillCard]:
        """Names and descriptions of all skills that can be used."""

    def body(self, name: str) -> str:
        """A skill's instructions.

        Raises:
            KeyError: there is no skill of that name. Names are looked up, never opened as paths.
        """

    def tools(self, name: str) -> Sequence[str]:
        """The tools that a skill says it is made for, in its order; empty when it does not say. Raises as `body`."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """What advises a run beside its evidence, and is no evidence (G6). A kind that is None is not offered."""

    knowledge: KnowledgeSource | None = None
    skills: SkillSource | None = None

    @property
    def skill_cards(self) -> tuple[SkillCard, ...]:
        """The registered skills."""
        return tuple(self.skills.cards()) if self.skills else ()


NO_GUIDANCE = Guidance()


@dataclass(frozen=True, slots=True)
class Evidence:
    """All sources of a run. A kind that is None has no source, and its tools are not offered."""

    inventory: Inventory
    metrics: MetricSource | None = None
    logs: LogSource | None = None
    spans: SpanSource | None = None
    alerts: AlertSource | None = None
    changes: ChangeSource | None = None
    topology: TopologySource | None = None
    documents: DocumentSource | None = None
    window_hint: TimeRange | None = None
    """A window that the source itself names (`incident.toml`)."""
    zone: str = "UTC"
    """IANA name of the zone in which times without one are read."""
    notes: Mapping[str, str] = field(default_factory=dict)
    signatures: Sequence[Signature] = ()
    """Failure signatures beside the built-in ones: the user's, and those that the source itself brings."""
    derived: dict[str, object] = field(default_factory=dict, repr=False, compare=False)
    """What tools computed from the sources once and use again, by a name of theirs."""
    watchers: list[Callable[[Progress], None]] = field(default_factory=list, repr=False, compare=False)
    """Who is told how far reading has come, now and then while it lasts. Nobody is told of what is read in a moment."""
