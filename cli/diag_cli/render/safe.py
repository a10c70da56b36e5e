r"""Text that others wrote, made harmless for a terminal (X1). Everything that is shown goes through here.

What can move the cursor, change colours, hide text or reverse its order is shown as an escape (as `\x1b`),
so that the reader sees that it was there. Colours in log lines are the exception: they are dropped, for a line that
was written for a terminal should read like one.
"""

from __future__ import annotations

import re

_SGR = re.compile("(?:\x1b\\[|\x9b)[0-9;:]*m")
"""Select Graphic Rendition (ECMA-48 8.3.117): colours and weights, with no content of their own."""

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, delete, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\u2028\u2029"  # line and paragraph separators
    "\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb"  # invisible, and not needed to write any script
    "\U000e0000-\U000e007f"  # tags: invisible text
    "\ud800-\udfff"  # halves of characters, which no encoding holds
    "]"
)
_BYTE, _BMP = 0x100, 0x10000
"""Below these, a code point is written with two digits and with four."""

_WHITE = re.compile(r"[ \t\n]+")


def harmless(text: str) -> str:
    """The text with line breaks and nothing else that a terminal would act upon; tabs become four spaces."""
    unified = _SGR.sub("", text).replace("\r\n", "\n").replace("\t", "    ")
    return _UNSAFE.sub(_escaped, unified)


def one_line(text: str) -> str:
    """Harmless text on one line: line breaks and runs of blanks become one space."""
    return _WHITE.sub(" ", harmless(text)).strip()


def harmless_json(text: str) -> str:
    """JSON text that says the same and holds nothing that a terminal would act upon."""
    return _UNSAFE.sub(_json_escaped, text)


def shortened(text: str, length: int) -> str:
    """At most so many characters; a cut is marked by an ellipsis."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < _BYTE else f"\\u{code:04x}" if code < _BMP else f"\\U{code:08x}"


def _json_escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < _BMP:
        return f"\\u{code:04x}"
    code -= _BMP  # JSON writes what lies beyond as a pair (RFC 8259 section 7)
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
