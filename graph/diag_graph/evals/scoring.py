"""Judges outcomes against labels. Pure: no file, no clock, no run.

AC@k (accuracy at k) is the share of cases in which a true root cause is among the first k that are named; Avg@k is the
mean of AC@1 to AC@k. RCAEval (Pham et al., "RCAEval: A Benchmark for Root Cause Analysis of Microservice Systems with
Telemetry Data", WWW 2025) reports both, with k up to 5; PetShop (Hardt et al., "The PetShop Dataset: Finding Causes of
Performance Issues across Microservices", CLeaR 2024) reports the first as top-k recall. Where several entities are
acceptable, as a pod and its service, any of them will do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import TypeVar

from diag_graph.evals.documents import NO_COMMIT, CaseScore, Figures, Label, Outcome, Ranking, Share
from diag_graph.evals.matching import blames, folded, rank_among, says
from diag_graph.topology import Verdict

DEPTH = 5
"""Ranks that count: AC@1 to AC@5."""

NO_VERDICT = "none"

_Number = TypeVar("_Number", int, float)


def judge(label: Label, run: Outcome) -> CaseScore:
    """Judge what the run of a case came to. A crash is wrong in every respect, also where silence would be right."""
    crashed = run.crash is not None
    rank = rank_among(run.ranked, label.services) if label.has_cause else None
    text = folded(run.answer)
    missing = tuple(group for group in label.keywords if not any(says(text, word) for word in group))
    forbidden = tuple(phrase for phrase in label.forbidden if says(text, phrase))
    blamed_right = None if label.commit is None else not crashed and blames(run.commit, label.commit, label.decoys)
    innocent = label.commit is not None and label.commit.strip().lower() == NO_COMMIT
    return CaseScore(
        case=run.case,
        has_cause=label.has_cause,
        rank=rank,
        keywords=len(label.keywords),
        missing_keywords=missing,
        forbidden=forbidden,
        abstained=not crashed and not run.ranked if label.healthy else None,
        commit_right=None if innocent else blamed_right,
        none_right=blamed_right if innocent else None,
        false_confidence=_is_wrong(label, rank, missing, forbidden) if _is_confident(run) else None,
        run=run,
    )


def _is_confident(run: Outcome) -> bool:
    return run.verdict == Verdict.PASS and bool(run.ranked)


def _is_wrong(label: Label, rank: int | None, missing: Sequence[object], forbidden: Sequence[object]) -> bool | None:
    """Whether a cause that was named is not the true one; of a case without entities, its keywords decide."""
    if label.healthy:
        return True
    if label.services:
        return rank != 1
    return bool(missing or forbidden) if label.keywords or label.forbidden else None


def figures(scores: Sequence[CaseScore]) -> Figures:
    """The figures of a set of judged cases."""
    runs = [score.run for score in scores]
    counted = [score for score in scores if score.has_cause]
    worded = [score for score in scores if score.keywords]
    called = [run for run in runs if run.model_calls]
    missing = sum(len(score.missing_keywords) for score in worded)
    groups = sum(score.keywords for score in worded)
    seconds = [run.seconds for run in runs]
    verdicts = Counter(run.verdict or NO_VERDICT for run in runs)
    return Figures(
        **ranking([score.rank for score in counted]).model_dump(),
        cases=len(scores),
        crashed=sum(run.crash is not None for run in runs),
        cause_cases=len(counted),
        keywords=Share(n=groups - missing, of=groups),
        keyword_cases=_share(not score.missing_keywords for score in worded),
        forbidden=sum(len(score.forbidden) for score in scores),
        abstention=_share(score.abstained for score in scores),
        commit=_share(score.commit_right for score in scores),
        no_commit=_share(score.none_right for score in scores),
        false_confidence=_share(score.false_confidence for score in scores),
        verdicts={name: verdicts[name] for name in (*Verdict, NO_VERDICT)},
        degraded=sum(run.degraded for run in runs),
        cited=Share(n=sum(run.cited for run in runs), of=sum(run.statements for run in runs)),
        model_calls=sum(run.model_calls for run in runs),
        prompt_tokens=_total([run.prompt_tokens for run in called]),
        completion_tokens=_total([run.completion_tokens for run in called]),
        cost_usd=None if any(run.cost_usd is None for run in called) else _total([run.cost_usd for run in called]),
        seconds_median=median(seconds) if seconds else None,
        seconds_max=max(seconds, default=None),
    )


def ranking(ranks: Sequence[int | None]) -> Ranking:
    """AC@k and Avg@5 of the ranks at which true causes stand; None where none is named."""
    return _ranking([[rank is not None and rank <= k for k in range(1, DEPTH + 1)] for rank in ranks])


def constant_answer(labels: Sequence[Label]) -> Ranking | None:
    """What naming the set's most frequent causes in every case would score; None when no case has a cause.

    It knows how the answers are distributed, and nothing else: a method that is not better has learnt names.
    """
    frequent = Counter(label.services[0].strip().lower() for label in labels if label.services)
    answer = [name for name, _ in frequent.most_common(DEPTH)]
    ranks = [rank_among(answer, label.services) for label in labels if label.has_cause]
    return ranking(ranks) if ranks else None


def random_order(labels: Sequence[Label]) -> Ranking | None:
    """What a random order of each case's candidates scores in expectation; None when no case counts them."""
    sizes = [label.candidates for label in labels if label.has_cause and label.candidates]
    return _ranking([[min(1.0, k / size) for k in range(1, DEPTH + 1)] for size in sizes]) if sizes else None


def _ranking(hits: Sequence[Sequence[float]]) -> Ranking:
    """From how surely each case has a true cause among its first k, for each k."""
    if not hits:
        return Ranking()
    ac = [sum(column) / len(hits) for column in zip(*hits, strict=True)]
    return Ranking(ac1=ac[0], ac3=ac[2], ac5=ac[4], avg5=sum(ac) / DEPTH)


def _share(marks: Iterable[bool | None]) -> Share:
    """Of the marks that are set, those that are true."""
    known = [mark for mark in marks if mark is not None]
    return Share(n=sum(known), of=len(known))


def _total(parts: Sequence[_Number | None]) -> _Number | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
