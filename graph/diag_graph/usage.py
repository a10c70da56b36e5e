"""What model calls cost: tokens and money, in a form that can be added up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What one or more requests to a model used. None means that nobody said.

    Attributes:
        model: The model that answered last; None when none was called.
        requests: How many requests were sent.
        prompt_tokens: Tokens that went in, cached ones included.
        cached_tokens: Of these, the ones that the provider had cached.
        completion_tokens: Tokens that came out.
        cost_usd: Price in US dollars; None when a request has no known price.
    """

    model: str | None = None
    requests: int = 0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None

    def __add__(self, other: Usage) -> Usage:
        """Both together. A price that is missing on one side makes the sum's unknown, for half a price misleads."""
        if self.requests == 0:
            return other
        if other.requests == 0:
            return self
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            model=other.model or self.model,
            requests=self.requests + other.requests,
            prompt_tokens=_sum(self.prompt_tokens, other.prompt_tokens),
            cached_tokens=_sum(self.cached_tokens, other.cached_tokens),
            completion_tokens=_sum(self.completion_tokens, other.completion_tokens),
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        )

    @property
    def tokens(self) -> int:
        """Tokens in and out, as far as they are known."""
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


NO_USAGE = Usage()
"""Of a call that asked no model."""


def _sum(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else left + right
