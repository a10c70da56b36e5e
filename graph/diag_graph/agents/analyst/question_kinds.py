"""What kind of answer a question asks for, by its words: a table, so that it can be read and added to.

A question that asks for a cause, or that no row knows, gets the whole diagnosis. A kind is read from the question
alone, by each agent for itself: what was asked and answered before decides nothing here.
"""

from __future__ import annotations

import re
from enum import StrEnum


class QuestionKind(StrEnum):
    """What a question asks for."""

    CAUSE = "cause"
    RUNBOOK = "runbook"
    ADVICE = "advice"
    ONGOING = "ongoing"
    CHANGES = "changes"
    ONSET = "onset"
    SCOPE = "scope"
    LOGS = "logs"
    COMPARISON = "comparison"
    STATE = "state"
    SUBJECT = "subject"


FACTUAL = frozenset(
    {
        QuestionKind.ONGOING,
        QuestionKind.CHANGES,
        QuestionKind.ONSET,
        QuestionKind.SCOPE,
        QuestionKind.LOGS,
        QuestionKind.COMPARISON,
        QuestionKind.SUBJECT,
    }
)
"""Kinds that ask what the evidence shows and not what it comes from: nobody is blamed in their answers."""

_OPENING = r"\A\W*(?:and |so |but |ok(?:ay)?,? )?"
_CHANGE_NOUNS = r"\b(?:changes?|deploy(?:ment)?s?|releases?|commits?|roll-?outs?|feature flags?)\b"
_LOG_NOUNS = r"\b(?:errors?|logs?|log lines?|warnings?|exceptions?|stack ?traces?|messages?)\b"
_RUNBOOKS = r"\b(?:run-?books?|playbooks?|post-?mortems?|knowledge base)\b"
_FAULTS = r"\b(?:wrong|amiss|(?:un)?healthy|ok(?:ay)?|fine|well|(?:ab)?normal|problems?|issues?|trouble|alright)\b"

_ROWS: tuple[tuple[QuestionKind, tuple[str, ...]], ...] = (
    (
        QuestionKind.CAUSE,
        (
            r"\bwhy\b|\bcaus(?:e[sd]?|ing)\b|\breasons?\b|\bculprit\b|\bat fault\b|\bto blame\b",
            r"\bexplain|\bdiagnos|\binvestigat",
            r"\b(?:what|which)\b.{0,60}\b(?:fail(?:s|ed|ing)?|br(?:eaks|oke|oken)) first\b",
            r"\bwhat(?:'s|\s+is|\s+was|\s+went)\s+(?:wrong|going on|happening|up with|the (?:issue|problem|matter))\b",
            r"\bwhat (?:happen|break|broke)|\bwhere (?:is|does|did)\b.{0,60}\b(?:spent|start|come from|go)\b",
            r"为什么|为何|原因|根因|怎么回事|发生了什么",
            r"なぜ|どうして|何が起き|何があ",
        ),
    ),
    (
        QuestionKind.RUNBOOK,
        (
            # With a subject of its own: what "the runbook" says of the trouble at hand takes a diagnosis first.
            rf"{_RUNBOOKS}.{{0,40}}\b(?:about|on|for|when|if|regarding|concerning)\b\s+(?!it\b|this\b|that\b)\w",
            r"(?:手册|预案)(?:里|中|上|对|关于).{3,}|关于.{2,}的(?:手册|预案)",
            r"(?:ランブック|手順書)(?:に|で|は).{3,}|.{2,}の(?:ランブック|手順書)",
            r"(?:について|に関して|に関する).{0,6}(?:ランブック|手順書)",
        ),
    ),
    (
        QuestionKind.ADVICE,
        (
            r"\bwhat (?:should|shall|must|can|do|could|would) (?:i|we|you|one)\b.{0,20}\bdo\b|\bwhat to do\b",
            r"\bhow (?:to|do|can|should|could) (?:i |we |you )?(?:fix|mitigate|resolve|repair|solve|stop|handle)",
            r"\bnext steps?\b|\brun-?books?\b|\bplaybooks?\b|\broll(?:ing)? (?:it )?back\b|\bworkarounds?\b",
            r"怎么办|怎么处理|如何处理|如何解决|该做什么|应该做",
            r"どうすれば|対処|手順",
        ),
    ),
    (
        QuestionKind.CHANGES,
        (
            r"\bwhat\b.{0,30}\b(?:changed|deployed|released|rolled out|merged|shipped|committed|configured|switched)\b",
            r"\b(?:did|has|have) .{1,40}\bchanged?\b|\bwhat (?:did|have|has) .{1,40}\b(?:deploy|release|merge|ship)",
            r"\bwho (?:changed|deployed|released|merged|committed|rolled)\b",
            rf"\b(?:what|which|any|recent|latest|last|list|show|were there|was there)\b.{{0,40}}{_CHANGE_NOUNS}",
            r"\A\W*(?:and )?(?:what )?(?:came |was )?before (?:that|this|it)\W*\Z",
            r"变更|改了什么|改动|部署了|发布了|上线了",
            r"変更|デプロイ|何が変わ|リリース",
        ),
    ),
    (
        QuestionKind.ONGOING,
        (
            r"\bstill\b|\bis (?:it|this|that) (?:over|resolved|gone|fixed)\b|\brecovered\b|\bongoing\b",
            r"\bback to normal\b",
            r"还在|仍然|恢复",
            r"まだ|続いて|復旧",
        ),
    ),
    (
        QuestionKind.ONSET,
        (
            r"\bsince when\b|\bfrom when\b|\bhow long\b|\bwhat time did\b",
            r"\bwhen (?:did|was|were|does)\b|\bwhen it (?:began|started)\b",
            r"什么时候开始|何时开始|从什么时候|从何时|多久",
            r"いつから|いつ始",
        ),
    ),
    (
        QuestionKind.SCOPE,
        (
            r"\b(?:who|what|which|whom|anyone|anything|how many)\b.{0,50}\b(?:affected|impacted|hit|touched)\b",
            r"\bblast radius\b|\b(?:the |what |its )impact\b|\bhow (?:bad|widespread|far)\b",
            r"影响|波及",
            r"影響",
        ),
    ),
    (
        QuestionKind.LOGS,
        (
            rf"\b(?:show|list|find|grep|search|any|give|get|see|print|which|what)\b.{{0,40}}{_LOG_NOUNS}",
            r"日志|报错|错误信息",
            r"ログ|エラー",
        ),
    ),
    (
        QuestionKind.COMPARISON,
        (
            r"\bcompar(?:e|ed|ison)\b|\bdifferen(?:ce|t) (?:between|from)\b|\bversus\b|\bvs\b",
            r"比较|对比",
            r"比べ|比較",
        ),
    ),
    (
        QuestionKind.SUBJECT,
        (rf"{_OPENING}(?:what|how) about\b", r"\btell me (?:more )?about\b", r"\A\W*and (?:the )?[\w./:-]+\W*\Z"),
    ),
    (
        QuestionKind.STATE,
        (
            rf"{_OPENING}(?:is|are|was|were|does|do|has|have|did)\b.{{0,120}}{_FAULTS}",
            rf"\bha(?:s|ve) to act\b|\bneeds? to act\b|{_OPENING}how (?:is|are)\b|\b(?:status|state|health) of\b",
            r"正常吗|有问题吗|健康",
            r"正常です|問題(?:は|が|あ)",
        ),
    ),
)
"""The first row that fits decides: a question for a cause is never taken for anything less."""

_KINDS: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile("|".join(words), re.IGNORECASE | re.DOTALL)) for kind, words in _ROWS
)
_READ = 2_000
"""Characters of a question that are looked at: what is pasted behind it is not the question."""


def question_kind(question: str) -> QuestionKind:
    """What kind of answer a question asks for; CAUSE when nothing says otherwise."""
    head = question[:_READ]
    return next((kind for kind, words in _KINDS if words.search(head)), QuestionKind.CAUSE)
