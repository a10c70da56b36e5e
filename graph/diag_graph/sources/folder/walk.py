"""What lies in an evidence folder: its files in a stable order, and what must not be opened.

Nothing outside the folder is read, and nothing that could block: links that leave it, pipes, sockets and devices are
refused by their type, before they are opened.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from diag_graph.sources.errors import FolderError

MAX_DEPTH = 12
"""Folders within folders that are walked."""
MAX_FILES = 5_000
"""Files that are looked at."""

MANIFEST = "incident.toml"
_NOT_EVIDENCE = frozenset({"question.txt", "labels.json", MANIFEST})
"""Files at the top of the folder that speak about the evidence: what was asked, the right answer, how to read it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file.

    Attributes:
        name: Its path within the folder, with forward slashes.
        path: Where it lies.
        size: In bytes.
        changed: When it was last written, in seconds since the epoch.
    """

    name: str
    path: Path
    size: int
    changed: float


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that is not read, and why."""

    name: str
    why: str


def walk(
    root: Path, *, max_files: int | None = None, passed_over: AbstractSet[str] = _NOT_EVIDENCE
) -> Iterator[Found | Refused]:
    """Everything under the folder, by name; hidden files and folders are passed over.

    Args:
        root: The folder.
        max_files: How many files are looked at; None: `MAX_FILES`.
        passed_over: Names at the top of the folder that are passed over too.

    Raises:
        FolderError: the folder is not there, is no folder, or cannot be listed.
    """
    try:
        names = _names(root)
    except FileNotFoundError:
        raise FolderError(f"there is no folder {root}", "check the path that names it") from None
    except NotADirectoryError:
        raise FolderError(f"{root} is a file, not a folder", "give the folder that holds it") from None
    except OSError as error:
        raise FolderError(f"the folder {root} cannot be listed ({error.strerror})", "check its permissions") from error
    real_root = root.resolve()
    found, most = 0, max_files or MAX_FILES
    for item in _below(root, "", [name for name in names if name not in passed_over], 1, real_root):
        if isinstance(item, Found):
            found += 1
            if found > most:
                yield Refused("(more files)", f"only the first {most:,} files were looked at: give a smaller folder")
                return
        yield item


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def _below(folder: Path, prefix: str, names: list[str], depth: int, root: Path) -> Iterator[Found | Refused]:
    for raw in names:
        if raw.startswith("."):
            continue
        # A name that is no Unicode text reaches us with surrogates, which no terminal and no store can take.
        name = prefix + raw.encode("utf-8", "replace").decode("utf-8")
        path = folder / raw
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                refusal = _refuse_link(path, root)
                if refusal:
                    yield Refused(name, refusal)
                    continue
                status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                if depth >= MAX_DEPTH:
                    yield Refused(name + "/", f"folders are walked {MAX_DEPTH} deep at most")
                else:
                    yield from _below(path, name + "/", _names(path), depth + 1, root)
            elif stat.S_ISREG(status.st_mode):
                yield Found(name, path, status.st_size, status.st_mtime)
            else:
                yield Refused(name, f"{_kind_of(status.st_mode)}, which is never opened")
        except OSError as error:
            yield Refused(name, f"cannot be looked at: {error.strerror or error}")


def _refuse_link(path: Path, root: Path) -> str | None:
    """Why a link is not followed; None when it leads to a file in the folder that the walk would not see itself."""
    try:
        target = path.resolve(strict=True)
    except OSError:
        return "a link that leads nowhere"
    except RuntimeError:  # Python 3.11 and 3.12 report a loop of links in this way
        return "a link that leads back to itself"
    if not target.is_relative_to(root):
        return "a link that leads out of the folder, which is not followed: copy the file in"
    inside = target.relative_to(root)
    if target.is_dir() or not any(part.startswith(".") for part in inside.parts):
        return f"a link to {inside.as_posix()}, which is read under its own name"
    return None


def _kind_of(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
