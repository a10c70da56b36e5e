"""What an evaluation is made of: the truth about a case, what a run came to, and how that was judged. Data alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, computed_field
from pydantic.alias_generators import to_camel

from diag_graph.contracts import Frozen

NO_COMMIT = "none"
"""Of a label: no commit is to blame. Of a run: it blames none."""


class Boundary(Frozen):
    """A document that leaves diag: camelCase names, as everywhere at this boundary (contract section 10)."""

    model_config = ConfigDict(alias_generator=to_camel)


def _any_of(keywords: object) -> object:
    """A keyword that stands alone, as a list of one."""
    if not isinstance(keywords, list | tuple):
        return keywords
    return [[word] if isinstance(word, str) else word for word in keywords]


class Label(Frozen):
    """The truth about a case, as `labels.json` says it; other fields there are for people."""

    services: tuple[str, ...] = ()
    """Acceptable root causes: whichever of them is named, the answer is right."""
    healthy: bool = False
    """Nothing is wrong: the right answer names no root cause."""
    keywords: Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_any_of)] = ()
    """Of each group, one must stand in the answer."""
    forbidden: tuple[str, ...] = ()
    """Phrases that must not stand in the answer."""
    commit: str | None = None
    """The commit to blame, or `none`; null when commits are no part of the case."""
    decoys: tuple[str, ...] = ()
    """Innocent commits."""
    candidates: int | None = Field(default=None, gt=0)
    """How many entities there are to choose from."""

    @property
    def has_cause(self) -> bool:
        """Whether the case has a root cause that an answer can be ranked by."""
        return bool(self.services) and not self.healthy


class Outcome(Boundary):
    """What the run of one case came to."""

    case: str
    ranked: tuple[str, ...] = ()
    """The entities that the answer names as root causes, most likely first."""
    answer: str = Field(default="", exclude=True)
    """The answer's text. It may quote the evidence, and stays out of saved reports."""
    verdict: str | None = None
    """Null when the run ended before there was one."""
    degraded: bool = False
    """The run ended in fallback."""
    ended: str | None = None
    """The trace's termination reason."""
    commit: str = NO_COMMIT
    """The commit that the answer's causes cite."""
    statements: int = 0
    """Findings of the answer."""
    cited: int = 0
    """Those whose every citation stands in what the run's tools returned."""
    model_calls: int = 0
    """Requests that a language model answered."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    """Price in US dollars; null when no model was called, or one without a known price."""
    seconds: float = 0.0
    """Wall clock, from opening the evidence to the answer."""
    crash: str | None = None
    """Why there is no answer at all: an error, a dead process, a failed run."""


class CaseScore(Boundary):
    """A case, judged. Null where the label asks for nothing of the kind."""

    case: str
    has_cause: bool = False
    rank: int | None = None
    """Where the first acceptable cause stands, from 1; null when it is not named."""
    keywords: int = 0
    """How many groups of keywords the label has."""
    missing_keywords: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[str, ...] = ()
    """Forbidden phrases that stand in the answer."""
    abstained: bool | None = None
    """Of a healthy case: no root cause was named."""
    commit_right: bool | None = None
    """Of a case with a guilty commit: just that one is blamed."""
    none_right: bool | None = None
    """Of a case whose commits are all innocent: none is blamed."""
    false_confidence: bool | None = None
    """The verdict is PASS and the cause that stands first is wrong; null without a PASS that names a cause."""
    run: Outcome


class Share(Boundary):
    """So many of so many."""

    n: int
    of: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float | None:
        """Their ratio; null when there is nothing to count."""
        return self.n / self.of if self.of else None


class Ranking(Boundary):
    """How well causes are ranked; over the cases that have one."""

    ac1: float | None = None
    """AC@1: share of cases whose first named cause is right."""
    ac3: float | None = None
    ac5: float | None = None
    avg5: float | None = None
    """Avg@5: mean of AC@1 to AC@5."""


class Figures(Ranking):
    """The figures of a set of cases."""

    cases: int
    crashed: int
    cause_cases: int
    """Cases that AC@k counts."""
    keywords: Share
    """Groups of keywords of which one stands in the answer."""
    keyword_cases: Share
    """Cases of which every group is found."""
    forbidden: int
    """Forbidden phrases in answers."""
    abstention: Share
    commit: Share
    no_commit: Share
    false_confidence: Share
    """Of the answers with a PASS and a cause, those whose cause is wrong."""
    verdicts: Mapping[str, int]
    """By verdict; `none` for runs that ended before there was one."""
    degraded: int
    cited: Share
    """Statements whose every citation was verified."""
    model_calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    """Null when no model was called, or when the price of some call is unknown: half a price misleads."""
    seconds_median: float | None
    seconds_max: float | None


def as_document(model: Boundary) -> dict[str, Any]:
    """A document's JSON object."""
    return model.model_dump(mode="json", by_alias=True)
