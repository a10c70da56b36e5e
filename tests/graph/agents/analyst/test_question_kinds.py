"""What kind of answer a question asks for, and whether it leans on an earlier one."""

from __future__ import annotations

import pytest

from diag_graph.agents.analyst.asked_steps import INTENTS, PLANS, can_show
from diag_graph.agents.analyst.asked_summary import UNSHOWN
from diag_graph.agents.analyst.question_kinds import FACTUAL, QuestionKind, question_kind
from diag_graph.analysis.follow_ups import leans, timed_question

QUESTIONS = {
    QuestionKind.CAUSE: [
        "why did checkout latency jump at 14:05?",
        "what is going on?",
        "checkout is slow",
        "Which service is at fault, and what changed?",
        "What is wrong, and does anyone have to act?",
        "Which service failed first, and which commit, if any, caused it?",
        "Nothing seems to fail. Where is the time spent?",
        "why did the deploy fail, show me the errors",
        "为什么变慢",
        "なぜ遅いのですか",
    ],
    QuestionKind.RUNBOOK: [
        "what does the runbook say about pool exhaustion?",
        "is there a playbook for a full disk?",
        "手册里怎么处理连接池耗尽",
        "証明書切れの手順書はありますか",
    ],
    QuestionKind.ADVICE: ["what should I do?", "how do we fix it?", "what does the runbook say?", "怎么办？"],
    QuestionKind.CHANGES: [
        "what changed?",
        "and what changed before that?",
        "and before that?",
        "was there a deploy?",
        "any recent config changes?",
        "did anything change at 14:05?",
        "有什么变更吗",
        "何が変わりましたか",
    ],
    QuestionKind.ONGOING: ["is it still going on?", "is it over?", "has it recovered?"],
    QuestionKind.ONSET: ["since when?", "when did it start?", "how long has this been so?", "いつから？"],
    QuestionKind.SCOPE: ["who is affected?", "which services are affected?", "what is the impact?", "影响范围？"],
    QuestionKind.LOGS: ["show me the errors of ordering", "what errors does ordering log?", "ordering 的日志"],
    QuestionKind.COMPARISON: ["compare ordering with billing", "ordering vs billing"],
    QuestionKind.SUBJECT: ["what about ordering?", "and ordering?", "tell me more about orders-db"],
    QuestionKind.STATE: [
        "is ordering healthy?",
        "is anything wrong?",
        "how is stock doing?",
        "does anyone have to act?",
    ],
}


@pytest.mark.parametrize(
    ("question", "kind"), [(question, kind) for kind, questions in QUESTIONS.items() for question in questions]
)
def test_a_question_is_told_by_its_words(question: str, kind: QuestionKind) -> None:
    """A question for a cause is never taken for anything less, and what no row knows is one."""
    assert question_kind(question) is kind


def test_what_is_pasted_behind_a_question_does_not_decide() -> None:
    """A pasted alert or log holds words of any kind."""
    assert question_kind("what changed?" + " " * 2_500 + "why") is QuestionKind.CHANGES


def test_the_tables_are_total() -> None:
    """Each kind of fact has a plan, an intent and a line for when it is not shown; a diagnosis has none of its own."""
    assert set(QUESTIONS) == set(QuestionKind)
    assert set(PLANS) == set(INTENTS) == set(UNSHOWN) == FACTUAL
    assert not can_show(QuestionKind.CAUSE, {"list_changes"})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("and what changed before that?", True),
        ("is it still going on?", True),
        ("why?", True),
        ("what about ordering?", True),
        ("那之前呢", True),
        ("いつから？", True),
        ("为什么结账服务在下单的时候变得很慢", False),
        ("why did checkout latency jump in the shop today?", False),
        ("which services of the shop are slow?", False),
    ],
)
def test_a_question_leans_by_how_it_opens_by_a_pronoun_or_by_saying_little(question: str, expected: bool) -> None:
    """A question that stands alone is answered alone."""
    assert leans(question) is expected


@pytest.mark.parametrize(
    ("question", "earlier", "expected"),
    [
        ("and what changed before that?", ["why slow at 14:05?"], "why slow at 14:05?"),
        ("and what changed before that?", ["why slow at 14:05?", "and at 15:00?", "who?"], "and at 15:00?"),
        ("and what changed before 13:00?", ["why slow at 14:05?"], "and what changed before 13:00?"),
        ("which services of the shop are slow?", ["why slow at 14:05?"], "which services of the shop are slow?"),
        ("and since when?", ["why slow?"], "and since when?"),
    ],
)
def test_a_follow_up_is_about_the_time_that_was_asked_about(question: str, earlier: list[str], expected: str) -> None:
    """The user's own questions say where to look, the latest first; an answer does not."""
    assert timed_question(question, earlier) == expected
