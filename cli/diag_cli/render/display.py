"""Which view of a running run goes to stderr."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol, Self

from diag_cli.render.streams import is_terminal
from diag_cli.settings import Display

if TYPE_CHECKING:
    from diag_graph.events import Event


class RunDisplay(Protocol):
    """A listener that owns a piece of the screen while a run goes on."""

    def __enter__(self) -> Self:
        """Take the screen."""

    def __exit__(self, *ended: object) -> None:
        """Give it back."""

    def __call__(self, event: Event) -> None:
        """Show an event."""


class NoDisplay:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        """There is nothing to give back."""

    def __call__(self, event: Event) -> None:
        """Show nothing."""


def display_for(wanted: Display | None, *, quiet: bool) -> RunDisplay:
    """The view that the user wants; without a wish, live. Where there can be no live view, there are lines."""
    if quiet or wanted is Display.NONE:
        return NoDisplay()
    if wanted is not Display.PLAIN and _can_be_live():
        from diag_cli.render.live import LiveDisplay

        return LiveDisplay()
    from diag_cli.render.plain import PlainDisplay

    return PlainDisplay()


def _can_be_live() -> bool:
    return is_terminal(sys.stderr) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
