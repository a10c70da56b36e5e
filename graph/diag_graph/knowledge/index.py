"""The index of runbooks: what is in it, and how it is added to, listed, searched and emptied."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from diag_graph.database.opening import DEFAULT_WAIT_S, connect, read_transaction, write_transaction
from diag_graph.database.problems import translated
from diag_graph.errors import InputError
from diag_graph.knowledge.files import found_files, read_files, real_root
from diag_graph.knowledge.indexing import Changes, Update, forget_file
from diag_graph.knowledge.schema import KIND, KnowledgeError
from diag_graph.knowledge.search import search
from diag_graph.sources.folder.walk import Refused
from diag_graph.sources.ports import Retrieval

if TYPE_CHECKING:
    from sqlite_utils import Database

Progress = Callable[[int, int], None]
"""Told how many files of how many have been looked at."""

MAX_DOMAINS = 40
"""Domains on the map: it is shown to a planner with each question."""
TITLES = 4
MAX_MAP_LINE = 240
_OF_ROOT = "WHERE file_id IN (SELECT file_id FROM knowledge_file WHERE root_id = ?)"


@dataclass(frozen=True, slots=True)
class Root:
    """A path that was added.

    Attributes:
        path: Where it lies.
        label: How its files are called: its last part.
        files: How many files it has.
        passages: And how many passages.
        domains: What they are about.
        read_at: When it was last looked at, ISO 8601 in UTC.
        refused: What of it is not read, and why.
    """

    path: str
    label: str
    files: int
    passages: int
    domains: tuple[str, ...]
    read_at: str
    refused: tuple[Refused, ...]


class KnowledgeIndex:
    """One open index. Close it, or use it as a context manager. Safe to search from several threads."""

    def __init__(self, db: Database, path: Path) -> None:
        """See `open`."""
        self._db = db
        self._lock = threading.Lock()
        self.path = path

    @classmethod
    def open(cls, path: Path, *, create: bool = False, wait_s: float = DEFAULT_WAIT_S) -> Self:
        """Open the index at `path`; create it, private to its owner, when it is not there and `create` is set.

        Raises:
            KnowledgeError: it is not there, locked for longer than `wait_s`, no index, damaged, newer, out of reach.
        """
        return cls(connect(path, KIND, wait_s=wait_s, create=create), path)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    # --- what is in it -----------------------------------------------------------------------------------------

    def add(self, path: Path, progress: Progress = lambda _done, _total: None) -> Changes:
        """Index a folder of Markdown files, or one; of a path that is known, only what changed.

        A path within one that is known brings that one up to date; a path around known ones takes their place.

        Raises:
            InputError: nothing that could be indexed is there.
            FolderError: the folder cannot be listed.
            KnowledgeError: the index cannot be written.
        """
        asked = real_root(path)
        with self._working():
            known = [Path(known) for (known,) in self._db.execute("SELECT path FROM knowledge_root")]
        root = next((one for one in known if asked.is_relative_to(one) and one.is_dir()), asked)
        found = found_files(root)
        with self._working():
            with write_transaction(self._db):
                for inner in known:
                    if inner != root and inner.is_relative_to(root):
                        self._forget(inner)
                root_id = self._root_id(root)
            update = Update(self._db, root_id, str(root))
            changes = update.run(read_files(found), lambda done: progress(done, len(found)))
            changes.passages = self._count(_OF_ROOT, root_id)
            return changes

    def remove(self, path: Path) -> Root:
        """Take a path that was added out of the index, whether it is still there or not.

        Raises:
            InputError: it was not added.
        """
        wanted = {str(path), str(path.expanduser().absolute()), str(path.expanduser().resolve())}
        roots = self.roots()
        found = next((root for root in roots if root.path in wanted), None)
        if found is None:
            there = ", ".join(root.path for root in roots) or "nothing"
            raise InputError(f"{path} is not in the runbook index", f"What was added: {there}.")
        with self._working(), write_transaction(self._db):
            self._forget(Path(found.path))
        return found

    def roots(self) -> list[Root]:
        """Everything that was added."""
        with self._working(), read_transaction(self._db):
            rows = self._db.execute("SELECT root_id, path, label, read_at FROM knowledge_root ORDER BY path").fetchall()
            return [self._root(*row) for row in rows]

    def domains(self) -> Sequence[str]:
        """The map of the knowledge (L0), a line a domain: its name and what its runbooks are about."""
        with self._working():
            rows = self._db.execute(
                "SELECT domain, title, count(*) OVER (PARTITION BY domain), row_number() OVER"
                " (PARTITION BY domain ORDER BY path) AS place FROM knowledge_file ORDER BY domain, path"
            ).fetchall()
        titles: dict[str, tuple[int, list[str]]] = {}
        for domain, title, count, place in rows:
            if place <= TITLES:
                titles.setdefault(domain, (count, []))[1].append(" ".join(title.split()))
        return [_map_line(domain, *told) for domain, told in list(titles.items())[:MAX_DOMAINS]]

    def search(self, question: str, *, domain: str | None = None, limit: int = 5) -> Retrieval:
        """The passages (L1) that a question is about; see `KnowledgeSource`.

        Raises:
            KnowledgeError: the index cannot be read.
        """
        with self._working():
            return search(self._db, question, domain=domain, limit=limit)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to be found."""
        with self._working():
            return self._count("") == 0

    # --- the rows ----------------------------------------------------------------------------------------------

    @contextmanager
    def _working(self) -> Iterator[None]:
        """One thread at a time, and no error but ours."""
        with self._lock, translated(self.path, KnowledgeError):
            yield

    def _root_id(self, root: Path) -> int:
        """The root's row, made if it is new, and noted as read now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._db.execute(
            "INSERT INTO knowledge_root (path, label, added_at, read_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (path) DO UPDATE SET read_at = excluded.read_at",
            [str(root), root.name if root.is_dir() else "", now, now],
        )
        row = self._db.execute("SELECT root_id FROM knowledge_root WHERE path = ?", [str(root)]).fetchone()
        return int(row[0])

    def _forget(self, root: Path) -> None:
        root_id = self._root_id(root)
        files = self._db.execute("SELECT file_id FROM knowledge_file WHERE root_id = ?", [root_id]).fetchall()
        for (file_id,) in files:
            forget_file(self._db, file_id)
        self._db.execute("DELETE FROM knowledge_problem WHERE root_id = ?", [root_id])
        self._db.execute("DELETE FROM knowledge_root WHERE root_id = ?", [root_id])

    def _root(self, root_id: int, path: str, label: str, read_at: str) -> Root:
        of_root = "FROM knowledge_file WHERE root_id = ?"
        files = self._db.execute(f"SELECT count(*) {of_root}", [root_id]).fetchone()[0]
        domains = self._db.execute(f"SELECT DISTINCT domain {of_root} ORDER BY domain", [root_id])
        problems = self._db.execute(
            "SELECT path, why FROM knowledge_problem WHERE root_id = ? ORDER BY path", [root_id]
        )
        return Root(
            path,
            label,
            files,
            self._count(_OF_ROOT, root_id),
            tuple(domain for (domain,) in domains),
            read_at,
            tuple(Refused(name, why) for name, why in problems),
        )

    def _count(self, where: str, *values: int) -> int:
        return int(self._db.execute(f"SELECT count(*) FROM passage {where}", values).fetchone()[0])  # noqa: S608


def _map_line(domain: str, count: int, titles: Sequence[str]) -> str:
    more = f"; and {count - len(titles)} more" if count > len(titles) else ""
    line = f"{' '.join(domain.split())}: {'; '.join(titles)}"
    return line[: MAX_MAP_LINE - len(more)] + more
