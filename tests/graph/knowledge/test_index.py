"""Adding, listing and removing: incrementally, by content hash; nothing outside of what was added is read."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from diag_graph.database.problems import FileProblem
from diag_graph.errors import InputError
from diag_graph.knowledge import KnowledgeError, KnowledgeIndex
from diag_graph.knowledge.files import MAX_BYTES


def passage_ids(index: KnowledgeIndex) -> list[int]:
    """The rows of all passages."""
    return [row[0] for row in index._db.execute("SELECT passage_id FROM passage ORDER BY passage_id")]


def sources(index: KnowledgeIndex, query: str) -> list[str]:
    """The files in which something is found."""
    return [passage.source for passage in index.search(query).passages]


def test_a_folder_is_indexed_with_its_domains(index: KnowledgeIndex, library: Path) -> None:
    """Section 13: L0 is the map of domains, titles in one line each; a domain is the top folder."""
    changes = index.add(library)
    assert sorted(changes.added) == ["cjk.md", "db/disk.md", "db/pool.md", "net/dns.md"]
    assert index.domains() == [
        "db: Disk of a database is full; Pool exhausted",
        "general: 数据库",
        "net: Name resolution fails",
    ]
    [root] = index.roots()
    assert (root.path, root.files, root.passages, root.domains) == (str(library), 4, 4, ("db", "general", "net"))


def test_what_did_not_change_is_left_alone(index: KnowledgeIndex, library: Path) -> None:
    """Section 13: indexing is incremental; the second time nothing is written."""
    index.add(library)
    before = passage_ids(index)
    changes = index.add(library)
    assert (changes.nothing_new, changes.unchanged, passage_ids(index)) == (True, 4, before)


def test_only_what_changed_is_read_anew(index: KnowledgeIndex, library: Path) -> None:
    """A changed file's passages are replaced, by content and not by time; a new file's are added."""
    index.add(library)
    before = passage_ids(index)
    (library / "db/pool.md").write_text("# Pool exhausted\n\nRestart the pgbouncer.\n")
    (library / "new.md").write_text("# Certificates\n\nRenew the certificate.\n")
    os.utime(library / "net/dns.md", (1, 1))
    changes = index.add(library)
    assert (changes.changed, changes.added, changes.unchanged) == (["db/pool.md"], ["new.md"], 3)
    assert len(set(before) & set(passage_ids(index))) == 3
    assert sources(index, "pgbouncer") == ["runbooks/db/pool.md"]
    assert sources(index, "idle sessions") == []


def test_a_renamed_file_keeps_its_passages(index: KnowledgeIndex, library: Path) -> None:
    """The same contents under another name: the passages stay, under the new name and domain."""
    index.add(library)
    before = passage_ids(index)
    (library / "net" / "pool.md").write_bytes((library / "db/pool.md").read_bytes())
    (library / "db/pool.md").unlink()
    changes = index.add(library)
    assert (changes.renamed, changes.added, changes.removed) == ([("db/pool.md", "net/pool.md")], [], [])
    assert passage_ids(index) == before
    [passage] = index.search("idle sessions").passages
    assert (passage.source, passage.domain) == ("runbooks/net/pool.md", "net")


def test_a_removed_file_drops_out(index: KnowledgeIndex, library: Path) -> None:
    """What is gone from the folder is gone from the search when the folder is added again."""
    index.add(library)
    (library / "db/pool.md").unlink()
    assert index.add(library).removed == ["db/pool.md"]
    assert sources(index, "idle sessions") == []
    assert index._db.execute("SELECT count(*) FROM passage_text").fetchone() == (3,)


def test_what_cannot_be_read_is_told_and_stops_nothing(index: KnowledgeIndex, library: Path, tmp_path: Path) -> None:
    """Binary, huge, empty and wrongly encoded files, pipes, and links out of the folder."""
    outside = tmp_path / "secret.md"
    outside.write_text("# Secret\n\nthe vault's key is under the mat\n")
    (library / "link.md").symlink_to(outside)
    (library / "far").symlink_to(tmp_path, target_is_directory=True)
    (library / "binary.md").write_bytes(b"# x\0\1")
    (library / "latin.md").write_bytes("# Überlauf\n".encode("latin-1"))
    (library / "huge.md").write_bytes(b"x" * (MAX_BYTES + 1))
    (library / "blank.md").write_text(" \n")
    os.mkfifo(library / "pipe.md")
    changes = index.add(library)
    told = {refused.name: refused.why for refused in changes.refused}
    assert set(told) == {"link.md", "far", "binary.md", "latin.md", "huge.md", "blank.md", "pipe.md"}
    assert "out of the folder" in told["link.md"]
    assert "not UTF-8 (at byte 3)" in told["latin.md"]
    assert len(changes.added) == 4
    assert sources(index, "vault key mat") == []
    assert {refused.name: refused.why for refused in index.roots()[0].refused} == told


def test_a_path_within_a_known_one_brings_that_one_up_to_date(index: KnowledgeIndex, library: Path) -> None:
    """No file is ever in the index twice because a folder and a folder in it were added."""
    index.add(library)
    assert index.add(library / "db").root == str(library)
    assert [root.path for root in index.roots()] == [str(library)]


def test_a_path_around_known_ones_takes_their_place(index: KnowledgeIndex, library: Path) -> None:
    """The other way round, too."""
    index.add(library / "db")
    index.add(library / "net" / "dns.md")
    assert sources(index, "resolver") == ["dns.md"]
    index.add(library)
    assert [root.path for root in index.roots()] == [str(library)]
    assert sources(index, "idle sessions") == ["runbooks/db/pool.md"]


def test_paths_are_removed_also_when_they_are_gone(index: KnowledgeIndex, library: Path) -> None:
    """What was added by mistake, or moved away, can be taken out by its path."""
    index.add(library / "db")
    index.add(library / "net")
    (library / "net/dns.md").unlink()
    (library / "net").rmdir()
    index.remove(library / "net")
    assert [root.label for root in index.roots()] == ["db"]
    with pytest.raises(InputError, match="not in the runbook index"):
        index.remove(library / "net")


@pytest.mark.parametrize("name", ["nothing-there", "notes.txt"])
def test_what_cannot_be_added_is_said(index: KnowledgeIndex, library: Path, name: str) -> None:
    """A path that is not there, and one that is no Markdown."""
    (library / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="cannot be added"):
        index.add(library / name)


def test_the_index_is_a_private_file_that_speaks_of_itself(index: KnowledgeIndex, tmp_path: Path) -> None:
    """D3: opened as the store is, with words of its own; and neither is taken for the other."""
    assert stat.S_IMODE(index.path.stat().st_mode) == 0o600
    with pytest.raises(KnowledgeError, match="there is no runbook index") as caught:
        KnowledgeIndex.open(tmp_path / "other.db")
    assert caught.value.problem is FileProblem.MISSING
    assert "diag knowledge add" in caught.value.advice
    other = sqlite3.connect(tmp_path / "store.db")
    other.execute("PRAGMA application_id = 0x64696167")
    other.execute("CREATE TABLE diagnosis_run (run_id TEXT)")
    other.commit()
    other.close()
    with pytest.raises(KnowledgeError) as foreign:
        KnowledgeIndex.open(tmp_path / "store.db")
    assert foreign.value.problem is FileProblem.FOREIGN
