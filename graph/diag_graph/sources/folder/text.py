"""Files as text: compression, encodings, lines with their offsets, and text made harmless to look at.

A file is served as bytes in an encoding whose lines can be split at the byte 0x0A. What is not so on disk (gzip,
UTF-16, Parquet) is unpacked into a temporary file once.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import tempfile
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, BinaryIO

from diag_graph.sources.folder import parquet
from diag_graph.sources.folder.encodings import NotTextError, encoding_of, other_encoding, text_of
from diag_graph.sources.folder.walk import Found

HEAD_BYTES = 65_536
"""What is read of a file to see what it is."""
MAX_UNPACKED_BYTES = 1 << 30
"""What is unpacked of a compressed file."""
BLOCK_BYTES = 1 << 20
"""What is read of a file at a time."""
MAX_LINE_BYTES = 4 << 20
"""A longer line is cut into pieces: no line ever stands whole in memory because somebody forgot line ends."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
"""ECMA-48 control sequences (colours, cursor), operating system commands (titles, links) and other escapes."""
_CONTROLS = dict.fromkeys(
    (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
) | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
"""Control characters and those that turn the direction of writing go; halves of surrogate pairs are marked."""

_GZIP_MARK = b"\x1f\x8b"
_GZIP_WINDOW = 31
"""zlib's way of saying: the largest window, in a gzip wrapper."""
_PACKED_BLOCK = 1 << 14
"""Packed bytes are taken in blocks so small that one unpacks to some megabytes at most."""


def clean(text: str) -> str:
    """The text without terminal escapes and control characters; line ends and tabs stay."""
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", " ")
    return text.translate(_CONTROLS)


@dataclass
class TextFile:
    """One file, readable as text.

    Attributes:
        name: Its path within the folder.
        encoding: Of the bytes that `open` gives; its lines end with the byte 0x0A.
        head: The text of its first bytes; cut after the last whole line unless the file is shorter.
        size: Bytes that `open` gives.
        whole: Whether `head` is the whole file.
        notes: What was left out, in words.
        assumptions: What was assumed in reading it, in words.
        strays: Lines in another encoding than the file's, by that encoding, as far as the file was read.
    """

    name: str
    encoding: str
    head: str
    size: int
    whole: bool
    notes: list[str]
    assumptions: list[str]
    _found: Found
    _unpacked: IO[bytes] | None = field(default=None, repr=False)
    _told: Callable[[str, int], None] | None = field(default=None, repr=False)
    strays: Counter[str] = field(default_factory=Counter, repr=False)

    def open(self) -> BinaryIO:
        """The file's bytes from the beginning, after a byte order mark; a file of the caller's own, to be closed.

        Raises:
            NotTextError: the file can no longer be read.
        """
        stream = _open_regular(self._found) if self._unpacked is None else _duplicate(self._unpacked)
        if self.encoding == "utf-8" and stream.read(3) != b"\xef\xbb\xbf":
            stream.seek(0)
        return stream

    def lines(self) -> Iterator[tuple[int, str]]:
        """Each line without its end, and the offset at which it begins; overlong lines come in pieces."""
        self.strays.clear()
        with self.open() as stream:
            begin = stream.tell()
            for block in _whole_lines(stream):
                offset, begin = begin, begin + len(block)
                if offset > BLOCK_BYTES and self._told is not None:
                    self._told(self.name, offset)
                if self.encoding == "utf-8" and block.isascii():
                    lines = block.decode("ascii").split("\n")
                    ends = map(len, lines)
                else:
                    raws = block.split(b"\n")
                    lines, ends = self._decoded_lines(block, raws), map(len, raws)
                if not lines[-1]:  # what follows the last line end is no line
                    lines.pop()
                for line, length in zip(lines, ends, strict=False):
                    yield offset, line.rstrip("\r")
                    offset += length + 1

    def _decoded_lines(self, block: bytes, raws: Sequence[bytes]) -> list[str]:
        """The lines of a block: as a whole where it is in one encoding, line by line where it is not."""
        if self.encoding == "utf-8":
            try:
                return block.decode("utf-8").split("\n")
            except UnicodeDecodeError:
                pass
        lines = []
        for raw in raws:
            other = other_encoding(raw, self.encoding)
            if other:
                self.strays[other] += 1
            lines.append(raw.decode(other or self.encoding, "replace"))
        return lines

    def decoded(self, raw: bytes) -> str:
        """The text of bytes of this file that begin and end where lines do, without line ends around them."""
        return text_of(raw, self.encoding).rstrip("\r\n")

    def text(self) -> str:
        """The whole text. For files whose size the caller has looked at."""
        if self.whole:
            return self.head
        with self.open() as stream:
            return text_of(stream.read(), self.encoding)


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """A file's bytes in blocks that end where a line does; a line of more than `MAX_LINE_BYTES` comes in pieces."""
    rest = b""
    while block := stream.read(BLOCK_BYTES):
        block = rest + block
        while len(block) > MAX_LINE_BYTES and not 0 <= block.find(b"\n") < MAX_LINE_BYTES:
            yield block[:MAX_LINE_BYTES]
            block = block[MAX_LINE_BYTES:]
        cut = block.rfind(b"\n") + 1
        if cut:
            yield block[:cut]
        rest = block[cut:]
    if rest:
        yield rest


def open_text(found: Found, told: Callable[[str, int], None] | None = None) -> TextFile:
    """Look at the beginning of a file and say how it is read.

    Args:
        found: The file.
        told: Is told, with the file's name, up to which byte its lines were read; of small files nothing.

    Raises:
        NotTextError: it is binary, or cannot be opened or unpacked.
    """
    notes: list[str] = []
    assumptions: list[str] = []
    unpacked: IO[bytes] | None = None
    with _open_regular(found) as stream:
        head = stream.read(HEAD_BYTES)
        if head.startswith(_GZIP_MARK):
            unpacked = _unpack(stream, notes)
        elif head.startswith(parquet.MARK):
            unpacked = _table_as_text(found, notes)
    if unpacked is not None:
        unpacked.seek(0)
        head = unpacked.read(HEAD_BYTES)
    encoding = encoding_of(head, cut=len(head) == HEAD_BYTES)
    if encoding.startswith("utf-16"):
        unpacked = _transcode(found, unpacked, encoding)
        assumptions.append(f"read as {encoding.upper()}")
        unpacked.seek(0)
        head, encoding = unpacked.read(HEAD_BYTES), "utf-8"
    elif encoding != "utf-8":
        assumptions.append(f"not UTF-8: read as {encoding.upper()}")
    size = found.size if unpacked is None else unpacked.seek(0, os.SEEK_END)
    whole = size <= len(head)
    if not whole and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]
    text = text_of(head, encoding).removeprefix("\ufeff")
    file = TextFile(found.name, encoding, text, size, whole, notes, assumptions, found, unpacked, told)
    if unpacked is not None:
        weakref.finalize(file, unpacked.close)
    return file


def _open_regular(found: Found) -> BinaryIO:
    """Open a file that must still be a regular one: between the walk and now it could have become a pipe."""
    try:
        descriptor = os.open(found.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise NotTextError(f"cannot be opened: {error.strerror or error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotTextError("is no regular file any more")
    return os.fdopen(descriptor, "rb", 1 << 18)


def _duplicate(unpacked: IO[bytes]) -> BinaryIO:
    """An independent reader of a temporary file: a duplicated descriptor would share its position."""
    return os.fdopen(os.open(unpacked.name, os.O_RDONLY | getattr(os, "O_BINARY", 0)), "rb", 1 << 18)


def _temporary() -> IO[bytes]:
    return tempfile.NamedTemporaryFile(prefix="diag-")


def _unpack(stream: BinaryIO, notes: list[str]) -> IO[bytes]:
    """What gzip data holds (RFC 1952, several members in a row too), as far as it is whole and within the limit."""
    stream.seek(0)
    target = _temporary()
    damage = ""
    try:
        for block in _members(stream):
            if target.tell() + len(block) > MAX_UNPACKED_BYTES:
                notes.append(f"only the first {MAX_UNPACKED_BYTES >> 20:,} MB of the unpacked text were read")
                break
            target.write(block)
    except zlib.error as error:
        damage = str(error)
    if damage and not target.tell():
        target.close()
        raise NotTextError(f"looks like gzip and cannot be unpacked: {damage}")
    if damage:
        notes.append(f"the gzip data is damaged, and was read up to there: {damage}")
    target.flush()
    return target


def _members(stream: BinaryIO) -> Iterator[bytes]:
    """The unpacked blocks of all members.

    Raises:
        zlib.error: the data is damaged or ends early; what came before was given.
    """
    decoder = zlib.decompressobj(_GZIP_WINDOW)
    begun = False
    while block := stream.read(_PACKED_BLOCK):
        while block:
            yield decoder.decompress(block)
            begun = not decoder.eof
            block = decoder.unused_data.lstrip(b"\0")
            if decoder.eof:
                decoder = zlib.decompressobj(_GZIP_WINDOW)
            else:
                break
    if begun:
        yield decoder.flush()
        raise zlib.error("it ends early")


def _table_as_text(found: Found, notes: list[str]) -> IO[bytes]:
    target = _temporary()
    try:
        left_out = parquet.write_as_csv(found.path, target)
    except parquet.BrokenTableError as error:
        target.close()
        raise NotTextError(f"looks like Parquet and cannot be read: {error}") from error
    if left_out:
        notes.append(f"columns of lists and structures were left out: {', '.join(left_out)}")
    target.flush()
    return target


def _transcode(found: Found, unpacked: IO[bytes] | None, encoding: str) -> IO[bytes]:
    target = _temporary()
    with _open_regular(found) if unpacked is None else _duplicate(unpacked) as stream:
        source = io.TextIOWrapper(stream, encoding, "replace", newline="")
        sink = io.TextIOWrapper(target, "utf-8", newline="", write_through=True)
        shutil.copyfileobj(source, sink)
        source.detach()
        sink.detach()
    target.flush()
    return target
