"""X1: what a tool returned reaches a terminal with control characters and markup made harmless."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diag_cli.envelope import as_text
from diag_cli.render.safe import harmless, one_line, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mERROR\x1b[0m pool", "ERROR pool"),
        ("\x9b31mERROR", "ERROR"),
        ("\x1b[2J\x1b[Hgone", "\\x1b[2J\\x1b[Hgone"),
        (
            "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
            "\\x1b]8;;http://evil.example\\x1b\\click\\x1b]8;;\\x1b\\",
        ),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9d8;;http://evil.example\x9c", "\\x9d8;;http://evil.example\\x9c"),
        ("100%\rdone", "100%\\x0ddone"),
        ("a\bb\x7f\x00", "a\\x08b\\x7f\\x00"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("\u2066left\u2069", "\\u2066left\\u2069"),
        ("hid\u200bden\ufeff", "hid\\u200bden\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("half \ud83d", "half \\ud83d"),
        ("[red]x[/red] [link=http://evil.example]y[/link]", "[red]x[/red] [link=http://evil.example]y[/link]"),
        ("a\r\nb\tc", "a\nb    c"),
        ("北京 café 👩‍👩‍👧 می‌خواهم", "北京 café 👩‍👩‍👧 می‌خواهم"),
    ],
)
def test_nothing_is_left_that_a_terminal_acts_upon(text: str, shown: str) -> None:
    """X1: escapes are shown, colours dropped; markup and the world's scripts are plain text."""
    assert harmless(text) == shown


@given(st.text(alphabet=st.characters(), max_size=200))
def test_no_text_at_all_gets_a_control_character_through(text: str) -> None:
    """X1, for any text: besides line feeds, no character of the control, surrogate or bidi kind remains."""
    shown = harmless(text)
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs"} and c != "\n"]
    assert not [
        c for c in shown if unicodedata.bidirectional(c) in {"RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI"}
    ]
    assert "\n" not in one_line(text)


@given(
    st.recursive(st.text(alphabet=st.characters()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_json_stays_the_same_and_becomes_harmless(value: object) -> None:
    """X1: `--json` to a terminal does no harm, and programs read the same value."""
    text = as_text(value)
    assert harmless(text) == text
    io.BytesIO().write(text.encode("utf-8"))
    assert json.loads(text) == json.loads(json.dumps(value))


def test_a_cut_is_marked() -> None:
    """Whoever reads a shortened text sees that it is one."""
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abc defg", 5) == "abc…"
