"""What a run is told of the conversation before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watching import Watch

from diag_graph.contracts import Turn
from diag_graph.history import CUT, MAX_ANSWER_CHARS, MAX_QUESTION_CHARS, MAX_TURNS, bounded
from recordings import bind, claim, composer, executor, plan, play, reasons_of, verifier

ANSWER = """The trouble starts at payment.

Verdict: PASS. What is stated below is supported by the evidence that it cites.

Root cause
  - The pool of payment ran out. [1][2]

Evidence
  [1] search_logs inv-7 /items/0/text
      "PLANTED connection pool exhausted"
"""


def test_the_latest_turns_are_told_oldest_first() -> None:
    """The history is bounded in turns."""
    turns = [Turn(question=f"q{number}", answer=f"a{number}") for number in range(MAX_TURNS + 3)]
    assert bounded(turns) == tuple(turns[-MAX_TURNS:])


def test_a_long_question_and_a_long_answer_are_cut_with_a_mark() -> None:
    """The history is bounded in characters, and says where it was cut."""
    (turn,) = bounded([Turn(question="q" * 50_000, answer="a" * 3_000_000)])
    assert (len(turn.question), len(turn.answer)) == (MAX_QUESTION_CHARS, MAX_ANSWER_CHARS)
    assert turn.question.endswith(CUT)
    assert turn.answer.endswith(CUT)


def test_an_answers_evidence_is_not_told() -> None:
    """R5: no invocation of an earlier run is named, and no text that it returned is quoted."""
    (turn,) = bounded([Turn(question="why?", answer=ANSWER)])
    assert "PLANTED" not in turn.answer
    assert "inv-7" not in turn.answer
    assert turn.answer.endswith("  - The pool of payment ran out.")


@pytest.mark.parametrize("answer", ["so. [1]", "\nEvidence\n[1]", "[1] [2] [3]", "", "a" * 10_000 + " [1]"])
def test_what_was_bounded_once_stays_as_it_is(answer: str) -> None:
    """P2: a saved run carries its bounded history, and its replay is told the same."""
    once = bounded([Turn(question="q", answer=answer)])
    assert bounded(once) == once


@given(st.text(alphabet=" []12Ev\nidence…(cut)", max_size=60))
def test_bounding_twice_is_bounding_once(answer: str) -> None:
    """P2, for any answer."""
    once = bounded([Turn(question="q", answer=answer)])
    assert bounded(once) == once


def test_a_run_is_told_the_bounded_history_and_keeps_it() -> None:
    """The planner sees it and nobody else; the run's document says what it was told."""
    watch = Watch([plan(), executor(), verifier(), composer()])
    document = watch.run(history=(Turn(question="before?", answer=ANSWER),))
    told = bounded([Turn(question="before?", answer=ANSWER)])
    assert watch.planner[0].history == told == document.history
    others = [*watch.executor, *watch.verifier, *watch.composer]
    assert not [one for one in others if "before?" in one.model_dump_json()]


def test_an_earlier_runs_invocation_cannot_be_cited() -> None:
    """R5, section 5: an id that is another run's is `unknown_invocation`, and rejects the round."""
    earlier = play(plan(), executor(), verifier(), composer())
    assert earlier.document.invocations[0].id == "inv-1"
    cited = claim("claim-1", "The pool of payment was exhausted", bind(invocation_id="inv-1"))
    later = play(
        plan(),
        executor(cited, calls=[]),
        history=[{"question": earlier.document.run.question, "answer": earlier.document.run.answer}],
    )
    audit = later.document.gatekeeper
    assert audit is not None
    assert [binding.failure for binding in audit.checked_bindings] == ["unknown_invocation"]
    assert reasons_of(later)[-1] == "gatekeeper_reject"
    assert "pool" not in (later.document.run.answer or "")
