"""Logs in the encodings that programs of many countries write, alone and mixed in one file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from diag_graph.sources.folder.encodings import NotTextError, encoding_of, other_encoding
from diag_graph.sources.ports import Evidence, SourceEntry

OpenFiles = Callable[..., Evidence]
Entry = Callable[[Evidence, str], SourceEntry]

SIMPLIFIED = "支付服务连接数据库失败，订单处理超时，请稍后重试"
TRADITIONAL = "付款服務連線資料庫失敗，訂單處理逾時，請稍後再試"
WESTERN = "Überweisung für Jürgen abgelehnt: Größe überschritten"


def log(message: str, lines: int = 40) -> str:
    """A log that says the same again and again."""
    return "".join(f"2026-11-30 12:00:{n % 60:02d} ERROR [payment] {message} {n}\n" for n in range(lines))


def messages(evidence: Evidence) -> list[str]:
    """All messages, in the order of time."""
    assert evidence.logs is not None
    return [record.message for record in evidence.logs.records()]


@pytest.mark.parametrize(
    ("message", "encoding"),
    [
        (SIMPLIFIED, "utf-8"),
        (SIMPLIFIED, "utf-8-sig"),
        (SIMPLIFIED, "gbk"),
        (SIMPLIFIED, "gb18030"),
        ("表情😀和生僻字㐂", "gb18030"),
        (SIMPLIFIED, "utf-16"),
        (SIMPLIFIED, "utf-16-le"),
        (TRADITIONAL, "big5"),
        (TRADITIONAL, "utf-16-be"),
        (WESTERN, "latin-1"),
        (f"{WESTERN} – „5 €“", "cp1252"),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_log_is_read_in_its_encoding(opened: OpenFiles, message: str, encoding: str, ends: str) -> None:
    """Whatever it is, and however its lines end."""
    evidence = opened({"app.log": log(message).replace("\n", ends).encode(encoding)})
    assert messages(evidence)[:2] == [f"{message} 0", f"{message} 1"]
    assert {record.level for record in evidence.logs.records()} == {"ERROR"}  # type: ignore[union-attr]


SAID = {"utf-8": SIMPLIFIED, "gbk": SIMPLIFIED, "big5": TRADITIONAL, "latin-1": WESTERN}
TOLD_APART = [(main, other) for main in SAID for other in SAID if main != other and "utf-8" in {main, other}]
"""Only UTF-8 can be told from what it is not, line by line."""


@pytest.mark.parametrize(("main", "other"), TOLD_APART)
def test_lines_of_another_encoding_are_read_in_theirs(opened: OpenFiles, entry: Entry, main: str, other: str) -> None:
    """Several programs write to one file; that lines of it are in another encoding, the inventory says."""
    raw = log(SAID[main], 30).encode(main) + log(SAID[other], 9).encode(other) + log("plain", 3).encode()
    evidence = opened({"app.log": raw})
    expected = [f"{SAID[main]} {n}" for n in range(30)] + [f"{SAID[other]} {n}" for n in range(9)]
    assert sorted(messages(evidence)) == sorted([*expected, *(f"plain {n}" for n in range(3))])
    strays = 9 if main == "utf-8" else 30
    assert f"{strays} lines in another encoding read as" in (entry(evidence, "app.log").assumption or "")


def test_a_stray_line_far_behind_the_beginning_is_read_too(opened: OpenFiles, entry: Entry) -> None:
    """The beginning tells the file's encoding, and nothing of a line a megabyte later."""
    raw = log(SIMPLIFIED, 20_000).encode() + log(SIMPLIFIED, 2).encode("gbk")
    evidence = opened({"app.log": raw})
    assert messages(evidence).count(f"{SIMPLIFIED} 1") == 2
    assert "2 lines in another encoding read as GB18030" in (entry(evidence, "app.log").assumption or "")


def test_a_line_that_is_cut_within_a_character_stays_what_it_is(opened: OpenFiles) -> None:
    """Writers cut long lines at a byte."""
    raw = log(SIMPLIFIED, 3).encode() + "2026-11-30 12:01:00 ERROR [payment] 失败".encode()[:-1] + b"\n"
    assert messages(opened({"app.log": raw}))[-1] == "失\ufffd"


def test_bytes_that_are_in_no_encoding_are_marked(opened: OpenFiles) -> None:
    """One bad byte neither hides a line nor turns into a letter."""
    assert (
        messages(opened({"app.log": log(SIMPLIFIED).encode() + b"2026-11-30 12:01:00 ERROR x \xff y\n"}))[-1]
        == "x \ufffd y"
    )


@pytest.mark.parametrize(
    "damaged",
    [
        log("fine").replace("fine 3", "fi\0ne 3"),
        "\0" * 300 + log("fine", 100),
        log("fine").replace("fine 3", "fine 3" + "\0" * 100),
    ],
)
def test_zero_bytes_in_a_log_do_not_make_it_binary(opened: OpenFiles, damaged: str) -> None:
    """A writer that lost its place leaves them; they are not shown."""
    found = messages(opened({"app.log": damaged}))
    assert "fine 3" in found
    assert not any("\0" in message for message in found)


def test_binary_data_stay_binary() -> None:
    """Zeros everywhere, or bytes of no language."""
    for head in (bytes(range(256)) * 8, b"\0\1\2\3" * 500, b"\x80\x81\xfe\xff\x01\x02\n" * 300):
        with pytest.raises(NotTextError):
            encoding_of(head, cut=False)


def test_a_line_of_a_megabyte_is_one_event(opened: OpenFiles) -> None:
    """Long payloads are logged whole."""
    text = f"2026-11-30 12:00:00 ERROR [a] {'数据' * 500_000} end\n2026-11-30 12:00:01 INFO [a] next\n"
    found = messages(opened({"app.log": text}))
    assert len(found) == 2
    assert found[0].endswith(" end")


@pytest.mark.parametrize(
    ("line", "encoding", "other"),
    [
        (b"plain", "utf-8", None),
        ("失败".encode(), "utf-8", None),
        ("失败".encode("gbk"), "utf-8", "gb18030"),
        ("失败".encode(), "gb18030", "utf-8"),
        ("café fermé".encode("latin-1"), "utf-8", "latin-1"),
        (b"value \xb0 \xff", "utf-8", None),
    ],
)
def test_one_line_is_told_by_itself(line: bytes, encoding: str, other: str | None) -> None:
    """As far as that is possible."""
    assert other_encoding(line, encoding) == other
