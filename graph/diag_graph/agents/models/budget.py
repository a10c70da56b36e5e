"""How far an executor round has come, and which limit it has reached."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from diag_graph.agents.models.settings import Budgets
from diag_graph.usage import Usage

MAX_STALE_TURNS = 2
"""Turns in a row that bring nothing new, after which a model is asked to conclude."""


class Oddity(StrEnum):
    """What a model did that it should not, or that is worth knowing: its name in the step."""

    BROKEN_ARGUMENTS = "broken tool arguments"
    UNKNOWN_TOOL = "unknown tool"
    CALLS_AS_TEXT = "tool calls written as text"
    REPEATED = "repeated calls"
    SHORTENED = "results shortened to make room"
    NOT_RUN = "calls not run, for the budget was used up"


class Budget:
    """Counts one executor round against its limits."""

    def __init__(self, limits: Budgets, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to count."""
        self._limits = limits
        self._clock = clock
        self._begun = clock()
        self._calls = 0
        self._stale_turns = 0
        self._odd = Counter[Oddity]()
        self._reached = ""
        self.usage = Usage()

    def spend(self, usage: Usage) -> None:
        """Count what one request used."""
        self.usage += usage

    def grant(self, asked: int) -> int:
        """Count calls that are asked for; returns how many of them may be run."""
        granted = max(0, min(asked, self._limits.tool_calls - self._calls))
        self._calls += asked
        self.note(Oddity.NOT_RUN, asked - granted)
        return granted

    def turn(self, *, brought_something_new: bool) -> None:
        """Count a turn that called tools."""
        self._stale_turns = 0 if brought_something_new else self._stale_turns + 1

    def note(self, oddity: Oddity, times: int = 1) -> None:
        """Keep in mind what happened, for the step's record."""
        if times:
            self._odd[oddity] += times

    def reached(self, next_tokens: int) -> str:
        """The limit that is reached before a request of so many tokens, in words; empty when there is none."""
        limits = self._limits
        if self._calls >= limits.tool_calls:
            self._reached = f"The budget of {limits.tool_calls} tool calls is used up."
        elif self.usage.requests and self.usage.tokens + next_tokens > limits.tokens:
            self._reached = f"The budget of {limits.tokens:,} tokens is used up."
        elif self._clock() - self._begun >= limits.seconds:
            self._reached = f"The budget of {limits.seconds:g} seconds is used up."
        elif self._stale_turns >= MAX_STALE_TURNS:
            self._reached = "The same calls were asked for again and again."
        return self._reached

    def account(self) -> str | None:
        """What the step's record should say; None when all went smoothly."""
        odd = [str(oddity) if times == 1 else f"{oddity} ({times})" for oddity, times in sorted(self._odd.items())]
        said = [self._reached.rstrip(".").lower()] if self._reached else []
        return "; ".join([*said, *odd]) or None
