"""What a person sees while much evidence is being read."""

from __future__ import annotations

import pytest

from diag_cli.render.live import LiveDisplay
from diag_cli.render.plain import PlainDisplay
from diag_cli.render.words import reading_words
from diag_graph.contracts import Invocation
from diag_graph.events import EvidenceRead, NodeStarted, ToolFinished

MB = 1 << 20


def read(done: int) -> EvidenceRead:
    """So many megabytes of a thousand are read."""
    return EvidenceRead("a/pay\x1b[2Jment.log", done * MB, 1_000 * MB)


def test_it_is_said_what_is_read_and_how_far() -> None:
    """Control characters are shown and not sent, for a name of a file is not ours."""
    assert reading_words(read(45)) == r"reading a/pay\x1b[2Jment.log: 45 of 1,000 MB, 4%"
    assert reading_words(EvidenceRead("x", 0, 0)) == "reading x: 0 of 0 MB, 0%"
    assert reading_words(EvidenceRead("x", 3 * MB, 2 * MB)).endswith("2 of 2 MB, 100%")


def test_plain_lines_come_once_in_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of reading that takes two seconds; then a line every five, on stderr."""
    now = 0.0
    show = PlainDisplay(lambda: now)
    for tenth in range(150):
        now = tenth / 10
        show(read(tenth))
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(": ")[1] for line in said.err.splitlines()] == [
        "20 of 1,000 MB, 2%",
        "70 of 1,000 MB, 7%",
        "120 of 1,000 MB, 12%",
    ]


def drawn(display: LiveDisplay) -> str:
    """The moving part, as text."""
    with display._console.capture() as captured:
        display._console.print(display._running())
    return captured.get()


def test_the_live_view_says_it_in_place_of_starting() -> None:
    """And below a node, when it is a tool that reads, until the tool is done."""
    display = LiveDisplay()
    assert "starting" in drawn(display)
    display._take(read(450))
    assert "450 of 1,000 MB, 45%" in drawn(display)
    assert "starting" not in drawn(display)
    display._take(NodeStarted("executor", 1, 1))
    assert "45%" in drawn(display)
    display._take(ToolFinished(Invocation(id="inv-1", tool="search_logs", arguments={}, status="ok", result={})))
    assert "MB" not in drawn(display)
