"""What an executor and its model have said so far, and how it is kept within what the model can hold.

The oldest results are shortened to their ids and summaries first; nothing is summed up by a model. What is shortened
stays recorded, and citable.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from diag_graph.agents.models.client import Message
from diag_graph.agents.models.material import headline, shortened_result, shown_result
from diag_graph.contracts import Invocation

CHARS_PER_TOKEN = 3.0
"""A guess on the safe side, until a provider has counted."""
LEAST_CHARS, MOST_CHARS = 1.0, 6.0
"""Characters that a token has in any script; a count that says otherwise is not believed."""
RESULT_SHARE, TURN_SHARE = 0.2, 0.5
"""Of the room, what one result may take, and what all those of a turn may."""
MAX_RESULT_CHARS = 8_000
MIN_RESULT_CHARS = 800
_KEPT_TEXT = 1_500


@dataclass(slots=True)
class Shown:
    """A result in the transcript: in full, shortened, or as a mere reminder of one that stands above."""

    call: Invocation
    repeated: bool = False
    short: bool = False


@dataclass(slots=True)
class Entry:
    """One message: who speaks, fixed text, and results that may be shortened later."""

    role: str
    text: str = ""
    results: list[Shown] = field(default_factory=list)
    after: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


class Transcript:
    """The messages of one executor call."""

    def __init__(self, system: str, room: int, mark: Callable[[str], str]) -> None:
        """Begin with the system prompt.

        Args:
            system: The system prompt.
            room: Tokens that a request may have.
            mark: Marks a text as data.
        """
        self._entries = [Entry("system", system)]
        self._room = room
        self._mark = mark
        self._chars_per_token = CHARS_PER_TOKEN
        self._overhead = 0

    def add(self, entry: Entry) -> None:
        """Add a message."""
        self._entries.append(entry)

    def add_reply(self, text: str | None, **extra: Any) -> None:  # noqa: ANN401 - fields of a message
        """Add what the model said. Long texts beside tool calls are cut: they are thoughts, and cost room each time."""
        self.add(Entry("assistant", (text or "")[:_KEPT_TEXT], extra=extra))

    def shows(self, call_id: str) -> bool:
        """Whether a result stands in the transcript in full."""
        return any(shown.call.id == call_id for shown in self._results())

    def reserve(self, tools: object) -> None:
        """Count what is sent with each request beside the messages."""
        self._overhead = len(json.dumps(tools, ensure_ascii=False)) if tools else 0

    def learn(self, prompt_tokens: int | None) -> None:
        """Take the provider's count of the last request as the measure of the next."""
        if prompt_tokens:
            self._chars_per_token = min(MOST_CHARS, max(LEAST_CHARS, self._chars() / prompt_tokens))

    def tokens(self) -> int:
        """About how many tokens the next request has."""
        return round(self._chars() / self._chars_per_token)

    def fit(self) -> int:
        """Shorten the oldest results until the next request fits; returns how many were shortened."""
        before = self._shortened()
        for shown in self._results():
            if self.tokens() <= self._room:
                break
            shown.short = True
        return self._shortened() - before

    def messages(self) -> list[Message]:
        """The conversation, as providers take it."""
        return [self._message(entry) for entry in self._entries]

    def _message(self, entry: Entry) -> Message:
        parts = [entry.text] if entry.text else []
        if entry.results:
            most = self._result_chars(len(entry.results))
            parts.append(self._mark("\n\n".join(self._result(shown, most) for shown in entry.results)))
        if entry.after:
            parts.append(entry.after)
        content = "\n\n".join(parts)
        return {"role": entry.role, "content": content or (None if entry.extra else ""), **entry.extra}

    def _result(self, shown: Shown, most: int) -> str:
        if shown.repeated and self.shows(shown.call.id):
            return f"{headline(shown.call)} (you have this result already: it stands above)"
        if shown.short or shown.repeated:
            return shortened_result(shown.call)
        return shown_result(shown.call, most)

    def _result_chars(self, beside: int) -> int:
        """Characters of a result that is shown with so many in a message; the same in every request."""
        share = round(self._room * min(RESULT_SHARE, TURN_SHARE / beside) * CHARS_PER_TOKEN)
        return max(MIN_RESULT_CHARS, min(MAX_RESULT_CHARS, share))

    def _results(self) -> Sequence[Shown]:
        return [shown for entry in self._entries for shown in entry.results if not (shown.short or shown.repeated)]

    def _shortened(self) -> int:
        return sum(shown.short for entry in self._entries for shown in entry.results)

    def _chars(self) -> int:
        spoken = sum(len(json.dumps(message, ensure_ascii=False)) for message in self.messages())
        return spoken + self._overhead
