"""What a question for runbooks is about: its words without those that only ask for a runbook."""

from __future__ import annotations

import re

_ENGLISH = re.compile(
    r"\b(?:(?:can|could|would|will) (?:you|we|i)|please|show|give|find|tell|get|read|open|look(?:ing)? up|search"
    r"|list|me|us|is there|are there|do we have|have we(?: got)?|do you have|there is|any"
    r"|what(?:'s| is| are| does| do| did)?"
    r"|which|how (?:does|do)|our|the|an?|team'?s?|run-?books?|playbooks?|post-?mortems?|knowledge base|says?|said"
    r"|advises?|advice|recommends?|recommended|suggests?|contains?|about|regarding|concerning|on|for|of|in|to|from)\b",
    re.IGNORECASE,
)
_CHINESE = (
    r"(?:运维)?(?:手册|预案)(?:里面|里|中|上)?|里面|关于|对于|有没有|有什么|有哪些|怎么说|怎样说|如何说|怎么写|怎么讲|说了?什么"
    r"|写了?什么|说明|请问?|给我|帮我|看一下|看看|查一下|查找|显示|展示|告诉我|我们的?|是什么|什么|怎么办|怎么|如何|的"
)
_JAPANESE = (
    r"ランブック|手順書|について|に関して|に関する|関する|何と言って(?:い?ますか|いる)?|なんと言って(?:い?ますか|いる)?|何が書いて"
    r"|何と書いて|書いて(?:あ|い)り?ますか|言って(?:い?ますか|いる)|教えて|見せて|表示して|探して|ください|下さい|ありますか|あります|"
    r"何ですか|ですか|ますか|でしょうか|どう(?:すれば|したら)?|(?<=[\u30a0-\u30ff\u4e00-\u9fff])[はがをにでのと](?=\W|\Z)|\A[はがをにでのと](?=[\u30a0-\u30ff\u4e00-\u9fff])"
)
_CJK = re.compile(f"{_CHINESE}|{_JAPANESE}")
_WORD = re.compile(r"\w")


def runbook_subject(question: str) -> str:
    """What to look up; the question itself when it names nothing besides runbooks.

    Args:
        question: One for runbooks, in English, Chinese or Japanese.
    """
    subject = _ENGLISH.sub(" ", question)
    for _ in range(2):  # what stood between two such words stands at an end when they are gone
        subject = _CJK.sub(" ", subject).strip()
    subject = " ".join(subject.split()).strip(" ?!.,:;\u3002\uff1f\uff01\uff0c\u3001'\"")
    return subject if _WORD.search(subject) else question
