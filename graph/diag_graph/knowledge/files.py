"""What lies under a path that somebody adds: its Markdown files, and what of it is not read, and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diag_graph.errors import InputError
from diag_graph.sources.folder.text import clean
from diag_graph.sources.folder.walk import Found, Refused, walk

SUFFIXES = (".md", ".markdown", ".mdx")
MAX_FILES = 100_000
MAX_BYTES = 1_000_000
"""A runbook is read by people; a larger file is something else."""

READER = b"2"
"""Part of a file's hash: another number, and all files are read anew because they are read in another way."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A Markdown file.

    Attributes:
        name: Its path under what was added, with forward slashes.
        text: What it holds.
        content_hash: Of what it holds, and of the way in which it is read.
    """

    name: str
    text: str
    content_hash: str


def real_root(path: Path) -> Path:
    """The path that somebody adds, without links and dots.

    Raises:
        InputError: nothing is there, or it is no folder and no Markdown file.
    """
    try:
        root = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be added: {said}", "Name a folder of Markdown files, or one.") from None
    if not root.is_dir() and not (root.is_file() and root.suffix.lower() in SUFFIXES):
        raise InputError(
            f"{path} cannot be added: it is no folder and no Markdown file",
            f"Name a folder, or a file that ends in {' or '.join(SUFFIXES)}.",
        )
    try:
        str(root).encode()
    except UnicodeEncodeError:
        raise InputError(f"{str(path)!r} cannot be added: its name is no Unicode text", "Rename it.") from None
    return root


def found_files(root: Path) -> list[Found | Refused]:
    """The Markdown files under a root, in a stable order, and what is refused of them before it is opened."""
    if root.is_file():
        status = root.stat()
        return [Found(root.name, root, status.st_size, status.st_mtime)]
    everything = walk(root, max_files=MAX_FILES, passed_over=frozenset())
    return [one for one in everything if isinstance(one, Refused) or one.name.lower().endswith(SUFFIXES)]


def read_files(found: list[Found | Refused]) -> Iterator[TextFile | Refused]:
    """Read what was found. What cannot be read is told, and stops nothing."""
    for one in found:
        yield _read(one) if isinstance(one, Found) else one


def _read(found: Found) -> TextFile | Refused:
    try:
        with found.path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        why = _unsuitable(raw)
        text = "" if why else clean(raw.decode("utf-8"))
    except OSError as error:
        return Refused(found.name, f"cannot be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        return Refused(found.name, f"not UTF-8 (at byte {error.start + 1:,}): save it as UTF-8")
    if why or not text.strip():
        return Refused(found.name, why or "empty")
    return TextFile(found.name, text, hashlib.sha256(READER + b"\n" + raw).hexdigest())


def _unsuitable(raw: bytes) -> str | None:
    """Why some bytes are no runbook, whatever they may say; None when they may be one."""
    if len(raw) > MAX_BYTES:
        return f"larger than {MAX_BYTES:,} bytes: no runbook"
    return "binary, not text" if b"\0" in raw else None
