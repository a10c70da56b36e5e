"""Bringing the index up to what lies on disk: by content hash, so that what did not change costs a look at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from diag_graph.database.opening import write_transaction
from diag_graph.knowledge.files import TextFile
from diag_graph.knowledge.markdown import read_markdown
from diag_graph.knowledge.passages import passages_of
from diag_graph.knowledge.terms import index_text
from diag_graph.sources.folder.walk import Refused

if TYPE_CHECKING:
    from sqlite_utils import Database

BATCH = 200
"""Files that are written in one transaction: what is interrupted keeps what it had done."""
GENERAL = "general"
"""The domain of a file that lies in no folder and names none."""


@dataclass(slots=True)
class Changes:
    """What adding a path did.

    Attributes:
        root: The path.
        added: Files that were not known.
        changed: Files with other contents than before.
        renamed: Files that had another name, old name first; their passages were kept.
        removed: Files that were known and are not there any more.
        unchanged: How many files are as they were.
        refused: What is not read, and why.
        passages: How many passages the path now has.
    """

    root: str
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    refused: list[Refused] = field(default_factory=list)
    passages: int = 0

    @property
    def nothing_new(self) -> bool:
        """Whether the index stands as it stood."""
        return not (self.added or self.changed or self.renamed or self.removed)


class Update:
    """Making one root's part of the index say what its files say."""

    def __init__(self, db: Database, root_id: int, root: str) -> None:
        """Look up what is known of the root."""
        self.changes = Changes(root)
        self._db = db
        self._root_id = root_id
        self._known: dict[str, tuple[int, str]] = {
            path: (file_id, content_hash)
            for path, file_id, content_hash in db.execute(
                "SELECT path, file_id, content_hash FROM knowledge_file WHERE root_id = ?", [root_id]
            )
        }
        self._hashes = {content_hash for _, content_hash in self._known.values()}
        self._seen: set[str] = set()
        self._perhaps_renamed: list[TextFile] = []

    def run(self, files: Iterable[TextFile | Refused], progress: Callable[[int], None]) -> Changes:
        """Take in the root's files.

        Args:
            files: All of them, read; what is not among them is gone.
            progress: Told after each how many have been looked at.
        """
        looked_at, remaining = 0, iter(files)
        while batch := list(islice(remaining, BATCH)):
            with write_transaction(self._db):
                for file in batch:
                    self._take(file)
                    looked_at += 1
                    progress(looked_at)
        with write_transaction(self._db):
            self._settle()
        return self.changes

    def _take(self, file: TextFile | Refused) -> None:
        if isinstance(file, Refused):
            self.changes.refused.append(file)
            return
        self._seen.add(file.name)
        earlier = self._known.get(file.name)
        if earlier is not None and earlier[1] == file.content_hash:
            self.changes.unchanged += 1
        elif earlier is not None:
            forget_file(self._db, earlier[0])
            self._learn(file)
            self.changes.changed.append(file.name)
        elif file.content_hash in self._hashes:  # when all is seen, it will show whether another name has gone
            self._perhaps_renamed.append(file)
        else:
            self._learn(file)
            self.changes.added.append(file.name)

    def _settle(self) -> None:
        """When all files have been seen: renames, what is gone, and what could not be read."""
        gone = {path: one for path, one in self._known.items() if path not in self._seen}
        for file in self._perhaps_renamed:
            old = next((path for path, (_, known) in gone.items() if known == file.content_hash), None)
            if old is None:
                self._learn(file)
                self.changes.added.append(file.name)
            else:
                self._rename(gone.pop(old)[0], file.name)
                self.changes.renamed.append((old, file.name))
        for path, (file_id, _) in gone.items():
            forget_file(self._db, file_id)
            self.changes.removed.append(path)
        self._db.execute("DELETE FROM knowledge_problem WHERE root_id = ?", [self._root_id])
        for refused in self.changes.refused:
            row = [self._root_id, refused.name, refused.why]
            self._db.execute("INSERT INTO knowledge_problem VALUES (?, ?, ?)", row)

    def _learn(self, file: TextFile) -> None:
        """Write a file and its passages."""
        document = read_markdown(file.text)
        title = document.title or PurePosixPath(file.name).stem
        domain = document.domain or folder_domain(file.name)
        tags = " ".join(document.tags)
        file_id = self._db.execute(
            "INSERT INTO knowledge_file (root_id, path, content_hash, title, domain, tags, own_domain)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [self._root_id, file.name, file.content_hash, title, domain, tags, bool(document.domain)],
        ).lastrowid
        for passage in passages_of(document):
            passage_id = self._db.execute(
                "INSERT INTO passage (file_id, headings, first_line, last_line, units, fingerprint)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [
                    file_id,
                    json.dumps(passage.headings, ensure_ascii=False),
                    passage.first,
                    passage.last,
                    json.dumps(passage.units, ensure_ascii=False),
                    passage.fingerprint,
                ],
            ).lastrowid
            searched = (_titled(title, tags, file.name), " ".join(passage.headings), passage.text)
            self._db.execute(
                "INSERT INTO passage_text (rowid, title, headings, body) VALUES (?, ?, ?, ?)",
                [passage_id, *map(index_text, searched)],
            )

    def _rename(self, file_id: int, path: str) -> None:
        """Give a file its new name; its passages stay, and are found by the new name."""
        row = self._db.execute(
            "SELECT title, tags, domain, own_domain FROM knowledge_file WHERE file_id = ?", [file_id]
        ).fetchone()
        title, tags, domain, own_domain = row
        domain = domain if own_domain else folder_domain(path)
        self._db.execute("UPDATE knowledge_file SET path = ?, domain = ? WHERE file_id = ?", [path, domain, file_id])
        self._db.execute(
            "UPDATE passage_text SET title = ? WHERE rowid IN (SELECT passage_id FROM passage WHERE file_id = ?)",
            [index_text(_titled(title, tags, path)), file_id],
        )


def forget_file(db: Database, file_id: int) -> None:
    """Take a file and its passages out of the index. The caller holds a write transaction."""
    of_file = "(SELECT passage_id FROM passage WHERE file_id = ?)"
    db.execute(f"DELETE FROM passage_text WHERE rowid IN {of_file}", [file_id])  # noqa: S608 - a constant
    db.execute("DELETE FROM passage WHERE file_id = ?", [file_id])
    db.execute("DELETE FROM knowledge_file WHERE file_id = ?", [file_id])


def folder_domain(path: str) -> str:
    """The domain of a file that names none: the top folder that it lies in."""
    parts = PurePosixPath(path).parts
    return parts[0] if len(parts) > 1 else GENERAL


def _titled(title: str, tags: str, path: str) -> str:
    """What a file is called: by its title, its tags and its name."""
    return f"{title} {tags} {path.rpartition('.')[0]}"
