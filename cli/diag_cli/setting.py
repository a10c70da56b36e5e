"""What a setting is. The settings themselves stand in `settings` and, those of language models, in `model_settings`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        name: In the files.
        flag: On the command line; None when there is none.
        variable: In the environment.
        read: How its text is read; a ValueError says what is wrong with it.
        default: Its value when nobody sets it.
        default_text: The same in words.
        purpose: What it is for.
        personal: Not read from a project file: whoever wrote that file could run a program, or be sent a key.
    """

    name: str
    flag: str | None
    variable: str
    read: Callable[[str], Any]
    default: Callable[[], Any]
    default_text: str
    purpose: str
    personal: bool = False

    @property
    def help(self) -> str:
        """What a flag's help says: the purpose, and the variable that sets it too."""
        return f"{self.purpose} [env: {self.variable}]"


def number(lowest: float) -> Callable[[str], float]:
    """Reads a number that is at least this."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError("it must be a number") from None
        if not lowest <= value < float("inf"):
            raise ValueError(f"it must be at least {lowest:g}")
        return value

    return read


def whole_number(lowest: int) -> Callable[[str], int]:
    """Reads a whole number that is at least this; it may have commas or underscores."""

    def read(text: str) -> int:
        try:
            value = int(text.replace(",", ""))
        except ValueError:
            raise ValueError("it must be a whole number") from None
        if value < lowest:
            raise ValueError(f"it must be at least {lowest}")
        return value

    return read
