from __future__ import annotations

import gzip
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from diag_graph.analysis.records import utc
from diag_graph.sources.errors import FolderError
from diag_graph.sources.folder import open_folder
from diag_graph.sources.folder import walk as walking
from diag_graph.sources.ports import Evidence, SourceEntry

Entry = Callable[[Evidence, str], SourceEntry]
OpenFiles = Callable[..., Evidence]

LOG = "2026-11-30T12:00:01Z ERROR payment refused\n2026-11-30T12:00:02Z INFO payment taken\n"


def kinds(evidence: Evidence) -> dict[str, str]:
    """Each file's kind."""
    return {one.name: one.kind for one in evidence.inventory.entries()}


def test_a_folder_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    """A missing folder is one clear error."""
    with pytest.raises(FolderError, match=r"there is no folder .*nowhere: check the path"):
        open_folder(tmp_path / "nowhere")


def test_a_folder_is_given_as_a_path_or_as_text(tmp_path: Path) -> None:
    """A string opens the same folder as a path, and fails with the same words."""
    (tmp_path / "app.log").write_text(LOG)
    assert kinds(open_folder(str(tmp_path))) == kinds(open_folder(tmp_path)) == {"app.log": "logs"}
    with pytest.raises(FolderError, match="there is no folder"):
        open_folder(str(tmp_path / "nowhere"))


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    """A file is no folder, and the message says which folder to give."""
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(FolderError, match="is a file, not a folder"):
        open_folder(tmp_path / "a.csv")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs permissions that hold")
def test_a_folder_that_cannot_be_listed_is_refused(tmp_path: Path) -> None:
    """A folder without permission is one clear error."""
    tmp_path.chmod(0)
    try:
        with pytest.raises(FolderError, match="cannot be listed"):
            open_folder(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_an_empty_folder_opens_with_nothing_in_it(tmp_path: Path) -> None:
    """Section 13: an empty folder is no error; every source is None."""
    evidence = open_folder(tmp_path)
    assert list(evidence.inventory.entries()) == []
    assert evidence.inventory.span() is None
    assert (evidence.metrics, evidence.logs, evidence.spans, evidence.alerts) == (None, None, None, None)
    assert (evidence.changes, evidence.topology, evidence.documents, evidence.window_hint) == (None, None, None, None)


def test_files_are_told_by_content_not_by_name(opened: OpenFiles) -> None:
    """Section 13: read by content, not by name alone."""
    evidence = opened(
        {
            "x.txt": '{"time":"2026-11-30T12:00:00Z","msg":"a"}\n{"time":"2026-11-30T12:00:01Z","msg":"b"}\n',
            "numbers.log": "timestamp,service,metric,value\n2026-11-30T12:00:00Z,cart,cpu,1\n",
            "calls.md": '{"edges": [["web", "cart"]]}',
            "notes.json": "# Postmortem\nIt broke at noon.\n",
            "plain": LOG,
        }
    )
    assert kinds(evidence) == {
        "calls.md": "topology", "notes.json": "document", "numbers.log": "metrics", "plain": "logs", "x.txt": "logs",
    }  # fmt: skip


def test_hidden_files_and_what_speaks_about_the_evidence_are_left_out(opened: OpenFiles) -> None:
    """The question, the labels and the manifest are no evidence; nor is what is hidden."""
    evidence = opened(
        {
            "question.txt": "why?", "labels.json": "[]", "incident.toml": "", ".git/config": "x", ".DS_Store": "x",
            "sub/question.txt": "what a customer asked", "a.log": LOG,
        }
    )  # fmt: skip
    assert set(kinds(evidence)) == {"a.log", "sub/question.txt"}


def test_links_out_of_the_folder_are_refused(opened: OpenFiles, tmp_path: Path, entry: Entry) -> None:
    """P3's spirit: nothing in a folder can make the reader open anything outside it."""
    secret = tmp_path / "secret.log"
    secret.write_text(LOG)
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "out.log").symlink_to(secret)
    (tmp_path / "evidence" / "up").symlink_to(tmp_path)
    (tmp_path / "evidence" / "round").symlink_to("round")
    (tmp_path / "evidence" / "again.log").symlink_to("a.log")
    evidence = opened({"a.log": LOG})
    assert "leads out of the folder" in (entry(evidence, "out.log").problem or "")
    assert "leads out of the folder" in (entry(evidence, "up").problem or "")
    assert "leads" in (entry(evidence, "round").problem or "")
    assert "read under its own name" in (entry(evidence, "again.log").problem or "")
    assert evidence.logs is not None
    assert len(list(evidence.logs.records())) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in a folder")
def test_pipes_and_sockets_are_never_opened(
    opened: OpenFiles, tmp_path: Path, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe without a writer would block for ever; it is listed, and the rest is read."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    os.mkfifo(folder / "pipe.log")
    monkeypatch.chdir(folder)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        evidence = opened({"a.log": LOG})
    assert entry(evidence, "pipe.log").problem == "a named pipe, which is never opened"
    assert entry(evidence, "sock").problem == "a socket, which is never opened"
    assert kinds(evidence)["a.log"] == "logs"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs permissions that hold")
def test_a_file_without_permission_is_listed_with_why(opened: OpenFiles, tmp_path: Path, entry: Entry) -> None:
    """Section 13: a file that cannot be read never stops the rest."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "closed.log").write_text(LOG)
    (folder / "closed.log").chmod(0)
    evidence = opened({"a.log": LOG})
    assert "cannot be opened" in (entry(evidence, "closed.log").problem or "")
    assert evidence.logs is not None


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a PNG image"),
        (b"PK\x03\x04" + bytes(50), "a zip archive"),
        (bytes(range(256)) * 4, "binary data"),
        (b"\x1f\x8b\x08\x00broken", "gzip"),
        (b"a\x00b\x00\xff", "binary data"),
    ],
)
def test_what_is_no_text_is_unreadable_and_says_what_it_is(
    opened: OpenFiles, entry: Entry, content: bytes, what: str
) -> None:
    """Section 13: a file that cannot be read is listed with why."""
    found = entry(opened({"x.bin": content, "a.log": LOG}), "x.bin")
    assert found.kind == "unreadable"
    assert what in (found.problem or "")


@pytest.mark.parametrize(
    ("encoding", "message", "assumed"),
    [
        ("utf-16", "größer als erlaubt", "UTF-16-LE"),
        ("utf-16-be", "plain words", "UTF-16-BE"),
        ("latin-1", "déjà vu: réponse refusée", "LATIN-1"),
        ("gbk", "数据库连接失败，请检查网络配置", "GB18030"),
        ("utf-8-sig", "größer als erlaubt", None),
    ],
)
def test_other_encodings_are_read_and_said(
    opened: OpenFiles, entry: Entry, encoding: str, message: str, assumed: str | None
) -> None:
    """What was assumed about a file's encoding stands beside it."""
    text = f"2026-11-30T12:00:01Z ERROR {message}\n2026-11-30T12:00:02Z INFO ok\n"
    evidence = opened({"pay.log": text.encode(encoding)})
    assert evidence.logs is not None
    assert [record.message for record in evidence.logs.records()] == [message, "ok"]
    found = entry(evidence, "pay.log")
    assert found.problem is None
    assert found.assumption is None if assumed is None else assumed in (found.assumption or "")


def test_gzip_is_read_as_what_it_holds(opened: OpenFiles, entry: Entry) -> None:
    """Compressed logs are logs; a damaged end is said, and what came before it is kept."""
    packed = gzip.compress((LOG * 2000).encode(), mtime=0)
    evidence = opened({"pay.log.gz": packed, "torn.log.gz": packed[:-200]})
    assert entry(evidence, "pay.log.gz").problem is None
    assert entry(evidence, "pay.log.gz").detail.startswith("4,000 log lines of pay")
    torn = entry(evidence, "torn.log.gz")
    assert torn.kind == "logs"
    assert "damaged" in (torn.problem or "")


def test_names_that_are_no_unicode_do_not_break_the_inventory(opened: OpenFiles, tmp_path: Path) -> None:
    """A file name of any bytes becomes text that can be printed and stored."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.log")).write_text(LOG)
    except OSError:
        pytest.skip("the file system takes no such name")
    for name in kinds(opened({"a.log": LOG})):
        name.encode("utf-8")


def test_the_walk_is_bounded(opened: OpenFiles, monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
    """A folder of too many files, or too deep a one, says where it stopped."""
    monkeypatch.setattr(walking, "MAX_FILES", 2)
    monkeypatch.setattr(walking, "MAX_DEPTH", 2)
    evidence = opened({"a.log": LOG, "b/c/d.log": LOG, "e.log": LOG, "f.log": LOG})
    assert "deep at most" in (entry(evidence, "b/c/").problem or "")
    assert "only the first 2 files" in (entry(evidence, "(more files)").problem or "")


def test_the_span_is_that_of_what_was_recorded(opened: OpenFiles) -> None:
    """From the first to the last sample or line; an alert, of whatever age, does not stretch it."""
    evidence = opened(
        {
            "a.log": LOG,
            "m.csv": "time,service,metric,value\n2026-11-30T11:00:00Z,a,b,1\n",
            "alert.json": {
                "status": "firing",
                "alerts": [
                    {
                        "labels": {"alertname": "Slow"},
                        "startsAt": "2026-11-30T12:30:00Z",
                        "endsAt": "0001-01-01T00:00:00Z",
                    }
                ],
            },
        }
    )
    span = evidence.inventory.span()
    assert span is not None
    assert (utc(span.start), utc(span.end)) == ("2026-11-30T11:00:00Z", "2026-11-30T12:00:02Z")


def test_opening_reads_no_log_and_no_table(opened: OpenFiles) -> None:
    """Reading is lazy: what a file turns out to lack is found when somebody asks."""
    evidence = opened({"a.log": LOG, "m.csv": "time,service,metric,value\n2026-11-30T11:00:00Z,a,b,1\n"})
    assert evidence.logs is not None
    files = evidence.logs._files  # type: ignore[attr-defined]
    assert all("reading" not in vars(file) for file in files)
    assert len(list(evidence.logs.records())) == 2
    assert all("reading" in vars(file) for file in files)


def test_a_file_that_vanishes_is_a_problem_not_a_crash(opened: OpenFiles, tmp_path: Path, entry: Entry) -> None:
    """Files are opened late; one that is gone by then is listed with why."""
    evidence = opened({"a.log": LOG * 2000})
    (tmp_path / "evidence" / "a.log").unlink()
    assert evidence.logs is not None
    assert list(evidence.logs.records()) == []
    assert "cannot be opened" in (entry(evidence, "a.log").problem or "")
