"""The window that a call looks at, and what else tools share: arguments, bounds and cuts of what they return."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import Field

from diag_graph.analysis.question_times import stated_time
from diag_graph.analysis.records import TimeRange, Window, utc
from diag_graph.contracts import JsonObject
from diag_graph.tools.definition import MAX_ITEM_TEXT, ToolArguments, ToolContext, ToolError

CUT = " …(cut)"


class WindowArguments(ToolArguments):
    """Arguments of a tool that looks at a window."""

    since: str | None = Field(
        default=None, description="Start, UTC: 2026-07-16T06:05:00Z or 06:05. Default: the run's."
    )
    until: str | None = Field(default=None, description="End, UTC. Default: the run's.")


class OnsetArguments(WindowArguments):
    """Arguments of a tool that compares the time since the onset with the time before."""

    onset: str | None = Field(
        default=None, description="When the trouble began, UTC; what lies before is the baseline. Default: the run's."
    )


@dataclass(frozen=True, slots=True)
class Scope:
    """What one call looks at."""

    range: TimeRange
    onset: float | None

    @property
    def words(self) -> str:
        """`from 2026-07-16T05:00:00Z to 2026-07-16T06:30:00Z`."""
        return f"from {utc(self.range.start)} to {utc(self.range.end)}"

    @property
    def words_with_onset(self) -> str:
        """The window, and the onset where one is known."""
        known = "no onset known" if self.onset is None else f"onset {utc(self.onset)}"
        return f"{self.words}, {known}"


def scope_of(arguments: WindowArguments, context: ToolContext) -> Scope:
    """The window of a call.

    Raises:
        ToolError: a time cannot be read, or the window is empty.
    """
    window = context.window
    start = _time(arguments.since, "since", context, window.start)
    end = _time(arguments.until, "until", context, window.end)
    if end < start:
        raise ToolError(
            f"the window is empty: it would begin at {utc(start)} and end at {utc(end)}; swap since and until"
        )
    onset = window.onset
    if isinstance(arguments, OnsetArguments) and arguments.onset is not None:
        onset = _time(arguments.onset, "onset", context, window.start)
    return Scope(TimeRange(start, end), onset)


def _time(text: str | None, name: str, context: ToolContext, default: float) -> float:
    if text is None or not text.strip():
        return default
    window: Window = context.window
    stated = stated_time(text, window.end, context.evidence.inventory.span() or TimeRange(window.start, window.end))
    if stated is None:
        raise ToolError(f"{name}: cannot read {text!r} as a time; write 2026-07-16T06:05:00Z or 06:05 (UTC)")
    return stated.time


def clip(text: str, limit: int = MAX_ITEM_TEXT) -> str:
    """The text on one line, cut to the limit with a stated mark."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - len(CUT)].rstrip() + CUT


def nothing(text: str, signal: str, **fields: object) -> list[JsonObject]:
    """The one item of an empty result (X5): what was asked, where, over which window, and that nothing matched."""
    return [{"text": clip(text), "signal": signal, "empty": True, **fields}]


def asked_for(**wanted: str | None) -> str:
    """What a call asked for, in words: ` (service 'checkout', level 'ERROR')`; empty when it asked for everything."""
    parts = [f"{name} {value!r}" for name, value in wanted.items() if value]
    return f" ({', '.join(parts)})" if parts else ""


def found_of(wanted: str | None, values: Iterable[str]) -> str:
    """The parts of a comma-separated list that something was found for.

    What an agent asked for is not repeated beside what was found unless it was: a number that only the question holds
    would otherwise stand in evidence (G5).
    """
    lowered = [value.lower() for value in values]
    parts = [part.strip() for part in (wanted or "").split(",")]
    return ",".join(part for part in parts if part and any(part.lower() in value for value in lowered))


def cut_to(items: list[JsonObject], limit: int, hint: str) -> tuple[list[JsonObject], JsonObject | None]:
    """The first items, and what to state about the others (X4)."""
    if len(items) <= limit:
        return items, None
    return items[:limit], {"shown": limit, "total": len(items), "hint": hint}


def names(text: str | None) -> tuple[str, ...]:
    """The parts of a comma-separated list, lower case, without blanks."""
    return tuple(part.strip().lower() for part in (text or "").split(",") if part.strip())


def matches(wanted: tuple[str, ...], value: str) -> bool:
    """Whether a name is wanted: nothing is asked for, or a part of the list equals it or occurs in it."""
    return not wanted or any(part in value.lower() for part in wanted)
