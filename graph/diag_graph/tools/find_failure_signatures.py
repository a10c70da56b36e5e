"""`find_failure_signatures`: known failures that documents and logs name, told apart from their mere consequences."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from diag_graph.analysis.document_subjects import State
from diag_graph.analysis.failure_links import FailureSighting, linked, merged
from diag_graph.analysis.failure_signatures import Severity, TextKind
from diag_graph.analysis.numbers import plural
from diag_graph.analysis.records import utc
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import Evidence
from diag_graph.tools.definition import MAX_ITEM_TEXT, Tool, ToolContext, ToolOutput
from diag_graph.tools.failure_lines import Found, read_documents, read_patterns_of_logs
from diag_graph.tools.load_items import load_items
from diag_graph.tools.log_reading import patterns_about
from diag_graph.tools.scope import CUT, Scope, WindowArguments, asked_for, clip, cut_to, nothing, scope_of
from diag_graph.tools.signature_files import catalogue_of

TOOL_NAME = "find_failure_signatures"
_MIN_QUOTE = 80
"""Characters of a quoted line that are shown, whatever else an item says."""
_WORTH = {Severity.CAUSE: 3.0, Severity.HINT: 1.0, Severity.CONSEQUENCE: 1.5, Severity.RECOVERY: 0.5}
_PER_CONSEQUENCE, _EXPLAINED, _OVER = 0.5, 0.8, 0.3
_SHOWN_STATES = 5
_LAST_WORDS = frozenset({"crash-loop", "container-exited", "job-failed"})
"""Consequences of which, when nothing explains them, the log's last line is shown."""


class SignatureArguments(WindowArguments):
    """What to look for, and where."""

    service: str | None = Field(default=None, description="Only failures of what has this in its name.")
    document: str | None = Field(default=None, description="Only documents that have this in their name; no logs.")
    limit: int = Field(default=40, ge=1, le=200, description="How many failures to give.")


def _run(arguments: SignatureArguments, context: ToolContext) -> ToolOutput:
    scope = scope_of(arguments, context)
    names = _names(arguments, context.evidence)
    found, lines = _looked_through(arguments, names, context, scope)
    seen = linked(merged(found.sightings), found.states, scope.onset)
    wanted = (arguments.service or "").lower()
    chosen = [one for one in seen if not wanted or any(wanted in name.lower() for name in one.names)]
    if not any(one.over for one in chosen):  # what only says that nothing is wrong is no answer to what is
        chosen = [one for one in chosen if one.signature.severity is not Severity.RECOVERY]
    chosen.sort(key=lambda one: -_score(one, seen))
    where = _where(found, lines, arguments.document)
    loads = load_items(context.evidence.documents, names) if context.evidence.documents and not wanted else []
    if not chosen and not loads:
        asked = asked_for(service=arguments.service, document=arguments.document)
        text = f"No known failure is named{asked}: {where} looked through, {scope.words_with_onset}.{_states(found)}"
        return ToolOutput(nothing(text, "document"), "nothing matched", empty=True)
    items = [_item(one, _score(one, seen)) for one in chosen]
    items.extend(_last_words(chosen, found))
    items.extend(loads)
    items.sort(key=lambda one: -float(one["score"]))
    over = all(one.over or one.signature.severity is Severity.RECOVERY for one in chosen)
    if over and (states := _states(found)):  # beside a failure that goes on, "all are ready" would be untrue
        items.append(
            {"text": f"State of what documents show:{states}", "signal": "document", "entity": "", "standing": "state"}
        )
    shown, truncated = cut_to(items, arguments.limit, "raise limit, or ask for one service or document")
    causes = sum(one.signature.severity is Severity.CAUSE and not one.over and not one.explained_by for one in chosen)
    cut = f"; of {', '.join(found.cut)} only the beginning and the end" if found.cut else ""
    summary = f"{plural(len(chosen), 'known failure')}, {plural(causes, 'cause')} among them, in {where}{cut}"
    return ToolOutput(shown, summary, truncated=truncated)


def _names(arguments: SignatureArguments, evidence: Evidence) -> list[str]:
    wanted = (arguments.document or "").lower()
    return [name for name in (evidence.documents.names() if evidence.documents else ()) if wanted in name.lower()]


def _looked_through(
    arguments: SignatureArguments, names: Sequence[str], context: ToolContext, scope: Scope
) -> tuple[Found, int]:
    catalogue, evidence = catalogue_of(context.evidence), context.evidence
    found = read_documents(evidence.documents, names, catalogue) if evidence.documents else Found()
    if evidence.logs is None or arguments.document:
        return found, 0
    survey = patterns_about(evidence, scope.range, scope.onset)
    found.sightings.extend(read_patterns_of_logs(survey.patterns, catalogue))
    return found, survey.lines


def _where(found: Found, lines: int, document: str | None) -> str:
    parts = [plural(found.documents, "document")] if found.documents or document else []
    if lines:
        parts.append(plural(lines, "log line"))
    left = f" ({plural(len(found.guides), 'runbook')} left out)" if found.guides else ""
    return (" and ".join(parts) or "no text") + left


def _states(found: Found) -> str:
    """How many of the objects in documents are ready now, and which are not."""
    if not found.states:
        return ""
    ready = sum(state is State.READY for state in found.states.values())
    others = [f"{name} is {state}" for name, state in found.states.items() if state is not State.READY]
    total = len(found.states)
    if not others:
        return (
            f" All {total:,} objects whose state is shown are running and ready."
            if total > 1
            else " It is running and ready."
        )
    return f" {ready:,} of {plural(total, 'object')} are running and ready; {'; '.join(others[:_SHOWN_STATES])}."


def _score(one: FailureSighting, seen: Sequence[FailureSighting]) -> float:
    score = _WORTH[one.signature.severity]
    if one.signature.severity is Severity.CAUSE:
        score += _PER_CONSEQUENCE * sum(one.signature in other.explained_by for other in seen)
    if one.explained_by:
        score = min(score, _WORTH[Severity.CONSEQUENCE]) * _EXPLAINED
    return round(score * (_OVER if one.over else 1.0), 2)


def standing(one: FailureSighting) -> str:
    """What a failure is in the argument: `cause`, `hint`, `recovery`, `symptom`, `symptom of X` or `over: why`."""
    if one.over:
        return f"over: {one.over}"
    if one.explained_by:
        return f"symptom of {', '.join(signature.title for signature in one.explained_by[:2])}"
    return "symptom" if one.signature.severity is Severity.CONSEQUENCE else str(one.signature.severity)


def _item(one: FailureSighting, score: float) -> JsonObject:
    title = one.signature.title + (f" ({one.detail[:60]})" if one.detail else "")
    more = f" {one.lines:,} lines say so." if one.lines > 1 else ""
    text = f"{_place(one)}: {_about(one)}{title} ({standing(one)}): {one.signature.means}.{more}"
    return {
        "text": _with_quote(text, one.quote),
        "entity": one.entity,
        "signal": "document",
        "change": "failure",
        "signature": one.signature.id,
        "severity": str(one.signature.severity),
        "standing": standing(one).partition(":")[0].partition(" of ")[0],
        "explained_by": [signature.id for signature in one.explained_by],
        "explains": list(one.signature.explains),
        "about": one.subject.name,
        "onset": None if one.first is None else utc(one.first),
        "score": score,
        "lines": one.lines,
        "sure": _sure(one, score),
        "file": one.place.source,
        "line": one.place.line,
        "quote": clip(one.quote),
        "source": one.place.source if one.place.line is None else f"{one.place.source}:{one.place.line}",
    }


def _sure(one: FailureSighting, score: float) -> bool:
    """Whether it is more than one stray line of a log: said twice, or it has a consequence, or is a state by itself."""
    stated = one.row or one.signature.until_ready or one.signature.about
    if one.kind in {TextKind.KUBERNETES, TextKind.CLOUD} or stated:
        return True
    return one.lines > 1 or score > _WORTH[Severity.CAUSE]


def _place(one: FailureSighting) -> str:
    if one.place.line is not None:
        return f"Document {one.place.source}, line {one.place.line}"
    return f"Log line {one.place.source}" + (f" at {utc(one.first)}" if one.first is not None else "")


def _about(one: FailureSighting) -> str:
    """`pod web-0, container app: `; `quota compute, seen at web-6c8: `; nothing where nothing is known."""
    if not one.entity:
        return ""
    if one.entity != one.subject.name:
        seen = f", seen at {one.subject.name}" if one.subject.name else ""
        return f"{_word(one.signature.about)}{one.entity}{seen}: "
    container = f", container {one.subject.container}" if one.subject.container else ""
    return f"{_word(one.subject.kind)}{one.entity}{container}: "


def _word(kind: str) -> str:
    return "" if kind in {"", "object"} else f"{kind} "


def _with_quote(text: str, quote: str) -> str:
    """The statement and the line that it rests on, within an item's length."""
    room = max(MAX_ITEM_TEXT - len(text) - len(' It reads: ""'), _MIN_QUOTE)
    said = f' It reads: "{clip(quote, room)}"'
    return (
        text[: MAX_ITEM_TEXT - len(said) - len(CUT)] + CUT + said if len(text + said) > MAX_ITEM_TEXT else text + said
    )


def _last_words(seen: Sequence[FailureSighting], found: Found) -> list[JsonObject]:
    """For what ends again and again and nobody says why: the last line that it logged."""
    items: list[JsonObject] = []
    for one in seen:
        if one.signature.id not in _LAST_WORDS or one.over or one.explained_by:
            continue
        spoken = found.last_words.get(one.subject.name)
        if spoken is None or any(item["entity"] == one.subject.name for item in items):
            continue
        place, line = spoken
        where = f"Document {place.source}, line {place.line}"
        text = f"{where}: pod {one.subject.name}: last log line (hint): its log ends here."
        items.append(
            {
                "text": _with_quote(text, line),
                "entity": one.subject.name,
                "signal": "document",
                "change": "failure",
                "signature": "last-log-line",
                "severity": str(Severity.HINT),
                "standing": "hint",
                "explained_by": [],
                "explains": [],
                "about": one.subject.name,
                "onset": None,
                "score": _WORTH[Severity.HINT],
                "lines": 1,
                "file": place.source,
                "line": place.line,
                "quote": clip(line),
                "source": f"{place.source}:{place.line}",
            }
        )
    return items


def _offered(context: ToolContext) -> bool:
    documents = context.evidence.documents
    return context.evidence.logs is not None or (documents is not None and bool(documents.names()))


FIND_FAILURE_SIGNATURES = Tool(
    name=TOOL_NAME,
    summary="Known failures that documents and logs name (OOMKilled, DNS, disk full...): causes and mere consequences.",
    arguments=SignatureArguments,
    run=_run,
    offered=_offered,
)
