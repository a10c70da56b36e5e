"""In which encoding a file is, and a line of it that is in another one.

A file has one encoding, told from its beginning. Logs of several programs end in one file all the same, so each line
that cannot be in the file's encoding is looked at by itself. Told apart are UTF-8, UTF-16, GB18030 (GBK and GB2312 are
parts of it), Big5, and the single bytes of western Europe. Detectors of many more encodings need more text than a log
line has, and take a hundred milliseconds a file.
"""

from __future__ import annotations

import codecs
import re

_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_BINARY_MARKS: dict[bytes, str] = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive",
    b"\x7fELF": "a program",
    b"SQLite format 3": "an SQLite database",
    b"\xd4\xc3\xb2\xa1": "a packet capture",
    b"\n\r\r\n": "a packet capture",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
_SINGLE_BYTE_PLAUSIBLE = 0.3
_CONTROLS_PLAUSIBLE = 0.02
_STRAY_ZEROS = 0.5
"""Share of zero bytes that text may have: writers that lost their place leave runs of them."""
_WIDE_ZEROS = 0.9
"""Share of the zero bytes that stand at even, or at odd, places in UTF-16 of a western text."""
_CUT = 3
"""Bytes at the end of a beginning that may be a part of a character."""

_PAIR = re.compile(rb"[\x81-\xfe][\x40-\xfe]")
_FOUR = re.compile(rb"[\x81-\xfe][0-9][\x81-\xfe][0-9]")
"""A rare character of GB18030."""
_LONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_FOREIGN = re.compile(rb"[\x80-\xff]")
_BIG5_ONLY = re.compile(rb"[\xa4-\xc6][\x40-\x7e]")
"""Common characters of Big5 that would be uncommon ones in GBK: in GB2312 a second byte is 0xA1 or more."""
_BIG5_SHARE = 0.15
_WESTERN_WORDS = re.compile(rb"(?:[A-Za-z][\xc0-\xd6\xd8-\xf6\xf8-\xff]|[\xc0-\xd6\xd8-\xf6\xf8-\xff][A-Za-z])")
_WESTERN_BYTE = re.compile(rb"[\xc0-\xd6\xd8-\xf6\xf8-\xff]")


class NotTextError(Exception):
    """A file is no text that can be read; the message says what it is instead."""


def text_of(raw: bytes, encoding: str) -> str:
    """The text of whole lines.

    Args:
        raw: Their bytes.
        encoding: The file's, in which not every line need be; what is in no known encoding is marked (U+FFFD).
    """
    if encoding == "utf-8" or raw.isascii():
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return "\n".join(line.decode(other_encoding(line, encoding) or encoding, "replace") for line in raw.split(b"\n"))


def other_encoding(line: bytes, encoding: str) -> str | None:
    """The encoding of a line that is in another one than its file; None for one that is not, or nobody can tell."""
    if line.isascii():
        return None
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        if encoding != "utf-8" or _mostly_utf8(line):
            return None
        return _chinese(line) or _western(line)
    # Two bytes of another encoding may look like a character of UTF-8; three of them in a row hardly do.
    return "utf-8" if encoding != "utf-8" and max(text) >= "\u0800" else None


def _western(line: bytes) -> str | None:
    """Latin-1 where all that is foreign stands in words of western letters."""
    foreign, letters = _FOREIGN.findall(line), _WESTERN_BYTE.findall(line)
    return "latin-1" if len(foreign) == len(letters) and len(_WESTERN_WORDS.findall(line)) >= len(letters) else None


def _chinese(text: bytes) -> str | None:
    """GB18030 or Big5, when the foreign bytes of a text come in pairs as theirs do; None when they do not."""
    text = _FOUR.sub("啊".encode("gb18030"), text)
    foreign = len(_FOREIGN.findall(text))
    # In Chinese text foreign bytes come in pairs; in Latin-1 they stand alone between ASCII letters.
    pairs, lone = len(_PAIR.findall(text)), len(_LONE.findall(text))
    big5 = len(_BIG5_ONLY.findall(text)) >= pairs * _BIG5_SHARE and _decodes(text, "big5hkscs")
    if big5 and pairs * 2 >= foreign:
        return "big5hkscs"
    if pairs * 2 >= foreign * 0.9 and lone * 4 < pairs and _decodes(text, "gb18030"):
        return "gb18030"
    return None


def _decodes(text: bytes, encoding: str) -> bool:
    """Whether a text is wholly in an encoding; its last character may be cut."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(text)
    except UnicodeDecodeError:
        return False
    return True


def encoding_of(head: bytes, *, cut: bool) -> str:
    """The encoding that a file is most likely in.

    Args:
        head: Its first bytes.
        cut: Whether the file goes on behind them.

    Raises:
        NotTextError: it is no text.
    """
    if head[:2] in _UTF16_MARKS:
        return _UTF16_MARKS[head[:2]]
    for mark, what in _BINARY_MARKS.items():
        if head.startswith(mark):
            raise NotTextError(f"{what}, not text")
    if b"\0" in head:
        zeros = head.count(0)
        even = head[0::2].count(0)
        if zeros > len(head) * _STRAY_ZEROS or max(even, zeros - even) > zeros * _WIDE_ZEROS > len(head) * 0.1:
            return _utf16_without_mark(head)
        head = head.replace(b"\0", b"")
        if _controls(head) > len(head) * _CONTROLS_PLAUSIBLE or b"\n" not in head:
            raise NotTextError("binary data, not text")
    return _byte_encoding(head, cut=cut)


def _utf16_without_mark(head: bytes) -> str:
    encoding = "utf-16-le" if head[1::2].count(0) > head[0::2].count(0) else "utf-16-be"
    text = head[: len(head) & ~1].decode(encoding, "replace")
    readable = sum(character.isprintable() or character in "\t\r\n" for character in text)
    if readable < len(text) * 0.95 or text.isspace() or len(head) % 2 or "\n" not in text:
        raise NotTextError("binary data, not text")
    return encoding


def _byte_encoding(head: bytes, *, cut: bool) -> str:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that the end of the head cuts is none that is wrong; nor is a lone bad byte in much good text.
        if error.start >= len(head) - _CUT or _mostly_utf8(head):
            return "utf-8"
    else:
        return "utf-8"
    if _controls(head) > len(head) * _CONTROLS_PLAUSIBLE:
        raise NotTextError("binary data, not text")
    foreign = [line for line in head.split(b"\n") if not line.isascii()]
    if cut and len(foreign) > 1:
        foreign.pop()
    others = [line for line in foreign if not _speaks_utf8(line)]
    if len(others) < len(foreign):
        return "utf-8"  # line by line, for some are not
    return _single_encoding(b"\n".join(others), len(head))


def _controls(head: bytes) -> int:
    return sum(byte < 0x20 and byte not in b"\t\n\r\x0c\x1b\b" for byte in head)  # noqa: PLR2004 (space)


def _speaks_utf8(line: bytes) -> bool:
    return _decodes(line, "utf-8") and max(line.decode("utf-8", "replace")) >= "\u0800"


def _single_encoding(foreign: bytes, size: int) -> str:
    """The encoding of lines that are not UTF-8."""
    chinese = _chinese(foreign)
    if chinese:
        return chinese
    if len(_FOREIGN.findall(foreign)) > size * _SINGLE_BYTE_PLAUSIBLE:
        raise NotTextError("binary data, not text")
    return "cp1252" if re.search(rb"[\x80-\x9f]", foreign) else "latin-1"


def _mostly_utf8(text: bytes) -> bool:
    """Whether a few bytes are damaged in text that is UTF-8 otherwise."""
    read = text.decode("utf-8", "replace")
    wrong = read.count("\ufffd")
    right = sum(character > "\x7f" for character in read) - wrong
    return wrong * 4 < right
