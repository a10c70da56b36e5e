"""Lines of which pages are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text


def line_of(widths: tuple[int | None, ...], *cells: RenderableType) -> Table:
    """One line of cells; a width of None takes what is left, and wraps."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1), expand=True)
    for width in widths:
        grid.add_column(width=width, ratio=None if width else 1, overflow="fold")
    grid.add_row(*cells)
    return grid


def indented(part: RenderableType) -> RenderableType:
    """The part, two columns to the right."""
    from rich.padding import Padding

    return Padding(part, (0, 0, 0, 2))


def text_of(text: str, style: str = "", *, right: bool = False) -> Text:
    """Text that is taken as it is."""
    from rich.text import Text

    return Text(text, style=style, justify="right" if right else None)
