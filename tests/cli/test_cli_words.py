from __future__ import annotations

import pytest

from diag_cli.render.words import (
    NODE_WORDS,
    REASON_WORDS,
    Tone,
    counted,
    counted_attempt,
    failure_words,
    reason_words,
    seconds,
    tone,
)
from diag_graph.contracts import FailureCode
from diag_graph.outcome import RunStatus
from diag_graph.topology import AgentStatus, ExecutorStatus, Node, Reason, Verdict


def test_every_word_of_the_graph_has_words_for_people() -> None:
    """Tables of texts are total over their vocabularies."""
    assert set(NODE_WORDS) == set(Node)
    assert set(REASON_WORDS) == set(Reason)
    for code in FailureCode:
        assert failure_words(code).endswith(f"({code})")
        assert len(failure_words(code)) > len(code) + 10


@pytest.mark.parametrize("status", [*AgentStatus, *ExecutorStatus])
def test_a_status_that_is_not_complete_is_shown_as_bad(status: str) -> None:
    """The eye finds a failure."""
    assert tone(status) is (Tone.GOOD if status == "COMPLETED" else Tone.BAD)


def test_a_verdict_has_the_colour_of_its_weight() -> None:
    """PASS is good, LOW_CONFID doubtful, REJECT bad; a safe answer without a cause is doubtful."""
    assert [tone(verdict) for verdict in Verdict] == [Tone.GOOD, Tone.DOUBTFUL, Tone.BAD]
    assert tone("COMPLETED", "fallback", "gatekeeper_reject") is Tone.DOUBTFUL
    assert tone(RunStatus.INTERRUPTED) is Tone.DOUBTFUL


def test_an_attempt_is_told_from_a_round() -> None:
    """Section 8: `attempt` counts technical attempts for planner, verifier and composer, rounds for the others."""
    assert {counted_attempt(node, 2) for node in (Node.PLANNER, Node.VERIFIER, Node.COMPOSER)} == {"attempt 2"}
    assert counted_attempt(Node.EXECUTOR, 2) == counted_attempt(Node.GATEKEEPER, 2) == "round 2"


def test_a_code_of_a_later_version_is_shown_without_words() -> None:
    """A store may hold what this version does not know."""
    assert reason_words("planner_daydreamed") == ""


@pytest.mark.parametrize(
    ("ms", "text"), [(None, ""), (0, "0 ms"), (999, "999 ms"), (3400, "3.4 s"), (59_999, "60.0 s"), (125_000, "2m 05s")]
)
def test_durations_read_like_durations(ms: int | None, text: str) -> None:
    """Milliseconds, seconds, minutes."""
    assert seconds(ms) == text


def test_one_is_not_plural() -> None:
    """`1 binding`."""
    assert [counted(n, "binding") for n in (1, 2, 1200)] == ["1 binding", "2 bindings", "1,200 bindings"]
