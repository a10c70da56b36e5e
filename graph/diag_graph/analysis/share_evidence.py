"""How strongly two shares speak for a change, where both are of a few: a Bayes factor of two shares against one.

Traces are sampled, so that an operation is often seen three times before the onset and four times since. What always
happened and now never does is telling all the same, where what sometimes happened is not: code does the same thing
each time, but for its branches. So the shares are given Jeffreys' prior, which expects them near 0 or 1, and the two
hypotheses are compared by how well each foretold what was seen (Jeffreys, "Theory of Probability", 1961; for tables of
counts Gunel and Dickey, Biometrika 1974). Jeffreys' words for the factor: from 3.2 substantial, 10 strong, 100
decisive.
"""

from __future__ import annotations

import math

_PRIOR = 0.5
SUBSTANTIAL = 0.5
"""Common logarithm of the factor from which a change is substantial."""
DECISIVE = 2.0


def share_evidence(before: int, all_before: int, since: int, all_since: int) -> float:
    """Common logarithm of the Bayes factor of "the share changed" against "it is the same".

    Args:
        before: How often it happened before.
        all_before: How often it could have.
        since: How often it happened since.
        all_since: How often it could have.
    """
    apart = _foretold(before, all_before) + _foretold(since, all_since)
    together = _foretold(before + since, all_before + all_since)
    return (apart - together) / math.log(10)


def _foretold(happened: int, could: int) -> float:
    """Logarithm of the probability of one particular order of events, averaged over the prior of their share."""
    lgamma = math.lgamma
    return (
        lgamma(happened + _PRIOR) + lgamma(could - happened + _PRIOR) - lgamma(could + 2 * _PRIOR) - 2 * lgamma(_PRIOR)
    )


def worth_of(evidence: float) -> float:
    """What a change of shares is worth beside other trouble: from 0.35, a hint, for what is substantial, to 1.

    Args:
        evidence: Common logarithm of its Bayes factor.
    """
    return min(0.2 + 0.3 * max(evidence, 0.0), 1.0)
