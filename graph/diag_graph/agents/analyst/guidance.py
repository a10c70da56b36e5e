"""What runbooks advise about what was found: looked up by the failure's own words, once it is known.

A runbook steers nothing: it is looked up after the suspects and the statements are settled, what it says becomes claims
that rest on it alone, and those are no findings (G6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from diag_graph.agents.analyst.claims import Suspicion
from diag_graph.agents.analyst.question_kinds import QuestionKind, question_kind
from diag_graph.agents.analyst.runbook_questions import runbook_subject
from diag_graph.agents.analyst.sightings import Sighting, sightings
from diag_graph.agents.ports import Toolbox
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import Relevance
from diag_graph.tools.definition import LOOKUP_KNOWLEDGE

MAX_ADVICE = 3
"""Passages that are passed on beside a diagnosis."""
MAX_EACH = 2
"""Passages that are passed on of one runbook."""
MAX_ASKED_FOR = 5
"""Passages that are passed on when runbooks are what the question asks for."""
SUSPECTS, SIGNS = 2, 3
"""For how many suspects, and for how many signs of each, runbooks are looked up."""
PASSAGES = 4
"""Passages that are given of a lookup."""
MAX_QUERY = 300
"""Characters of a question that are looked up: what is pasted behind it is not the question."""
ADVISING = frozenset({QuestionKind.CAUSE, QuestionKind.ADVICE, QuestionKind.STATE, QuestionKind.RUNBOOK})
"""Kinds of questions whose answers say what to do next."""
_USABLE = (Relevance.HIGH, Relevance.MEDIUM)

_FAILURE = re.compile(r": (?P<title>[^:]+?)(?: \([^()]*\))? \((?:cause|symptom|hint)(?: of [^)]*|: [^)]*)?\): ")
_MESSAGE = re.compile(r" lines? like \"(?P<message>.{1,300}?)\" \(|, error: \"(?P<error>.{1,300}?)\"")
_OPERATION = re.compile(r"\AOperation (?P<operation>.{1,120}?) of \S+ (?P<trouble>got slower|is failing)")
_HOLES = re.compile(r"<\*>|\b(?:trace|span|request)_id=\S*|\S*\d{4,}\S*")


def runbook_advice(
    question: str, suspected: Sequence[Suspicion], stated: Sequence[Sighting], tools: Toolbox
) -> list[Sighting]:
    """The passages to pass on, most to the point first; none when nothing relevant is found.

    Args:
        question: As typed.
        suspected: Whom the evidence speaks against.
        stated: What else is stated, most important first.
        tools: The executor's tools.
    """
    kind = question_kind(question)
    if kind not in ADVISING or LOOKUP_KNOWLEDGE not in {spec.name for spec in tools.specs()}:
        return []
    queries = [query for one in suspected[:SUSPECTS] for query in _queries(one.entity, one.evidence)]
    if not queries:
        queries = [query for one in stated[:SIGNS] for query in _queries(one.entity, [one])]
    if _MENTIONS.search(question[:MAX_QUERY]) or (kind is QuestionKind.ADVICE and not queries):
        queries.append(runbook_subject(question[:MAX_QUERY]))  # of another question, its words are no failure's own
    found = _usable(_looked_up(dict.fromkeys(queries), tools))
    advising = [one for one in found if _use(one) < _DESCRIBING]
    alike = [one for one in advising if _is_cjk(one.text) == _is_cjk(question)]
    return in_file_order(_few_each(alike or advising)[:MAX_ADVICE])


def _looked_up(queries: Iterable[str], tools: Toolbox) -> list[Sighting]:
    asked: list[tuple[str, JsonObject]] = [(LOOKUP_KNOWLEDGE, {"query": one, "limit": PASSAGES}) for one in queries]
    # One by one: a passage that one lookup found by chance, another finds because it is about just that.
    return [one for call in tools.call_many(asked) for one in sightings([call]) if not one.empty]


def asked_passages(seen: Sequence[Sighting]) -> list[Sighting]:
    """The passages that a planned lookup found, when runbooks are what was asked for."""
    found = [one for one in seen if one.tool == LOOKUP_KNOWLEDGE and not one.empty]
    usable = _usable(found)
    acting = [one for one in usable if _use(one) < _DESCRIBING]
    said = [one for one in usable if one in acting or not any(_same_file(one, other) for other in acting)]
    return in_file_order(said[:MAX_ASKED_FOR]) or _nearest(found)


def is_nearest(passages: Sequence[Sighting]) -> bool:
    """Whether passages that are passed on are only the nearest that there are."""
    return bool(passages) and not any(one.field("relevance") in _USABLE for one in passages)


def in_file_order(passages: Sequence[Sighting]) -> list[Sighting]:
    """Passages of one file in their order in it: what is to be checked stands before what is to be done."""
    files = list(dict.fromkeys(one.field("source") for one in passages))
    return sorted(passages, key=lambda one: (files.index(one.field("source")), _first_line(one), one.index))


def _first_line(passage: Sighting) -> int:
    first = str(passage.field("lines")).partition("-")[0]
    return int(first) if first.isdecimal() else 0


def _nearest(found: Sequence[Sighting]) -> list[Sighting]:
    """The best passage that was found when none is really about it."""
    return [one for one in found if one.field("lines") == found[0].field("lines") and _same_file(one, found[0])]


def _same_file(one: Sighting, other: Sighting) -> bool:
    return bool(one.field("source") == other.field("source"))


def _usable(passages: Sequence[Sighting]) -> list[Sighting]:
    """Those that are relevant, each once, in the order of the lookups; of one lookup, what to do stands first."""
    relevant: dict[str, Sighting] = {}
    for one in passages:
        if one.field("relevance") in _USABLE:
            relevant.setdefault(one.text, one)
    order = list(dict.fromkeys(one.invocation_id for one in passages))
    return sorted(relevant.values(), key=lambda one: (order.index(one.invocation_id), _use(one)))


def _few_each(passages: Sequence[Sighting]) -> list[Sighting]:
    """A few of each runbook."""
    chosen: list[Sighting] = []
    for passage in passages:
        if sum(_same_file(one, passage) for one in chosen) < MAX_EACH:
            chosen.append(passage)
    return chosen


def _use(passage: Sighting) -> int:
    """How soon what a passage says can be used, by the heading above it."""
    headings = passage.field("headings")
    heading = str(headings[-1]) if isinstance(headings, list) and headings else ""
    return 0 if _ACTS.search(heading) else _DESCRIBING if _DESCRIBES.search(heading) else 1


def _is_cjk(text: str) -> bool:
    """Whether a text is mostly Chinese or Japanese: such a character says about as much as a few letters."""
    return len(_CJK.findall(text)) * 3 > len(_LATIN.findall(text))


_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]")
_MENTIONS = re.compile(r"\b(?:run-?|play)books?\b|手册|预案|ランブック|手順書", re.IGNORECASE)
_DESCRIBING = 2
_ACTS = re.compile(
    r"mitigat|what to do|\bfix|resol[uv]|recover|remed|\bsteps?\b|releas|\bfree\b|drain|roll"
    r"|处理|解决|恢复|対処|復旧|手順",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(r"signs?\b|symptom|looks? like|what happened|afterwards|现象|症状|現象", re.IGNORECASE)


def _queries(entity: str, signs: Sequence[Sighting]) -> Iterator[str]:
    """What to look up about an entity: each sign's failure, in the words that name it."""
    for sign in signs[:SIGNS]:
        words = _failure_words(sign)
        if words:
            yield f"{entity} {words}".strip()


def _failure_words(sign: Sighting) -> str:
    """The words of a statement that name the failure: its title, metric, message or operation."""
    metric = sign.field("metric")
    if isinstance(metric, str) and metric:
        return metric
    text = sign.text
    title, message, operation = _FAILURE.search(text), _MESSAGE.search(text), _OPERATION.match(text)
    if title:
        return title["title"]
    if message:
        return " ".join(_HOLES.sub(" ", message["message"] or message["error"]).split())[:MAX_QUERY]
    return f"{operation['operation']} {operation['trouble']}" if operation else ""
