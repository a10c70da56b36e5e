"""`list_evidence`: what is there to look at, overview first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from pydantic import Field

from diag_graph.analysis.numbers import plural
from diag_graph.analysis.records import Edge, utc
from diag_graph.analysis.span_times import call_counts
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import Evidence
from diag_graph.tools.definition import Tool, ToolArguments, ToolContext, ToolOutput
from diag_graph.tools.log_reading import count_lines
from diag_graph.tools.metric_statements import entity_of
from diag_graph.tools.scope import clip, names

Section = Literal["sources", "services", "metrics", "documents", "calls"]
_SHOWN_NAMES = 12


class EvidenceArguments(ToolArguments):
    """What to list."""

    section: Section | None = Field(default=None, description="Only this part, in full. Default: all parts, bounded.")
    query: str | None = Field(default=None, description="Only entries that hold this text.")
    limit: int = Field(default=40, ge=1, le=500, description="Entries a section.")


def _run(arguments: EvidenceArguments, context: ToolContext) -> ToolOutput:
    chosen = [arguments.section] if arguments.section else list(_SECTIONS)
    query = names(arguments.query)
    items: list[JsonObject] = [] if arguments.section or query else list(_overview(context))
    cut: list[str] = []
    shown, total = len(items), len(items)
    for section in chosen:
        entries = [
            item for item in _SECTIONS[section](context.evidence) if all(part in item["text"].lower() for part in query)
        ]
        items.extend(entries[: arguments.limit])
        shown, total = shown + min(len(entries), arguments.limit), total + len(entries)
        if len(entries) > arguments.limit:
            cut.append(section)
    if not items:
        what = f"{arguments.section or 'evidence'}" + (f" that holds {arguments.query!r}" if arguments.query else "")
        text = f"No {what} is in {context.evidence.inventory.name}."
        return ToolOutput([{"text": clip(text), "signal": "document", "empty": True}], "nothing matched", empty=True)
    truncated = None
    if cut:
        hint = f"cut: {', '.join(cut)}; ask for one section with a query or a higher limit"
        truncated = {"shown": shown, "total": total, "hint": hint}
    return ToolOutput(items, f"what {context.evidence.inventory.name} holds", truncated=truncated)


def _overview(context: ToolContext) -> Iterator[JsonObject]:
    evidence, window = context.evidence, context.window
    entries = evidence.inventory.entries()
    kinds = Counter(entry.kind for entry in entries if entry.kind != "unreadable")
    unread = sum(entry.kind == "unreadable" for entry in entries)
    span = evidence.inventory.span()
    held = ", ".join(f"{kind} ({count:,})" for kind, count in kinds.most_common()) or "nothing"
    lost = f" {plural(unread, 'source')} could not be read." if unread else ""
    times = f" Times run from {utc(span.start)} to {utc(span.end)}." if span else " Nothing in it carries a time."
    yield _entry(f"{evidence.inventory.name} holds {held}.{lost}{times}", "overview")
    onset = "no onset is known" if window.onset is None else f"the trouble is taken to begin at {utc(window.onset)}"
    yield _entry(
        f"The window looked at runs from {utc(window.start)} to {utc(window.end)}; {onset}, from {window.origin}.",
        "overview",
        onset=None if window.onset is None else utc(window.onset),
    )


def _entry(text: str, section: str, *, entity: str = "", **fields: object) -> JsonObject:
    return {
        "text": clip(text),
        "entity": entity,
        "signal": "call" if section == "calls" else "document",
        "section": section,
        **fields,
    }


def _sources(evidence: Evidence) -> Iterator[JsonObject]:
    entries = evidence.inventory.entries()
    for entry in sorted(entries, key=lambda one: one.problem is None):
        problem = f" Not all of it could be read: {entry.problem}" if entry.problem else ""
        assumed = f" Assumed: {entry.assumption}." if entry.assumption else ""
        if entry.kind == "unreadable":
            yield _entry(f"{entry.name} could not be read: {entry.problem or entry.detail}", "sources", problem=True)
        else:
            text = f"{entry.name} holds {entry.kind}: {entry.detail}.{assumed}{problem}"
            yield _entry(text, "sources", kind=entry.kind, problem=bool(entry.problem))
    for name, note in evidence.notes.items():
        yield _entry(f"Note on {name}: {note}", "sources", kind="note")


def _services(evidence: Evidence) -> Iterator[JsonObject]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for series in evidence.metrics.series() if evidence.metrics else ():
        found[entity_of(series)]["series"] += 1
    lines = count_lines(evidence)
    for service, number in lines.services.items():
        found[service]["log line"] += number
    for span in evidence.spans.spans() if evidence.spans else ():
        found[span.service]["span"] += 1
    plurals = {"series": "series"}
    for service in sorted(found):
        has = ", ".join(
            f"log lines ({number:,} of {lines.sampled:,} looked at)"
            if noun == "log line" and lines.sampled
            else plural(number, noun, plurals.get(noun, ""))
            for noun, number in found[service].items()
        )
        text = f"{service} has {has}." if service else f"No service is named by {has}."
        yield _entry(text, "services", entity=service, counts=dict(found[service]))


def _metrics(evidence: Evidence) -> Iterator[JsonObject]:
    owners: dict[str, list[str]] = defaultdict(list)
    for series in evidence.metrics.series() if evidence.metrics else ():
        entity = entity_of(series)
        if entity not in owners[series.metric]:
            owners[series.metric].append(entity)
    for metric in sorted(owners):
        of = _some([name for name in owners[metric] if name])
        yield _entry(f"Metric {metric} is recorded" + (f" for {of}." if of else "."), "metrics", metric=metric)


def _documents(evidence: Evidence) -> Iterator[JsonObject]:
    source = evidence.documents
    for name in source.names() if source else ():
        length = len(source.lines(name)) if source else 0
        yield _entry(f"Document {name} has {plural(length, 'line')}.", "documents", document=name, lines=length)


def _calls(evidence: Evidence) -> Iterator[JsonObject]:
    for edge, seen in known_calls(evidence):
        origin = "call graph" if seen is None else f"seen in {plural(seen, 'span')}"
        text = f"{edge.caller} calls {edge.callee} ({origin})."
        yield _entry(text, "calls", entity=edge.callee, caller=edge.caller, callee=edge.callee)


def known_calls(evidence: Evidence) -> list[tuple[Edge, int | None]]:
    """Calls between services: those of the call graph (no count), then those that only spans show, with their count."""
    graph = list(dict.fromkeys(evidence.topology.edges())) if evidence.topology else []
    seen = call_counts(evidence.spans.spans()) if evidence.spans else {}
    listed = set(graph)
    return [
        *((edge, None) for edge in graph),
        *sorted(
            ((e, n) for e, n in seen.items() if e not in listed), key=lambda pair: (pair[0].caller, pair[0].callee)
        ),
    ]


def _some(values: Sequence[str]) -> str:
    shown = ", ".join(values[:_SHOWN_NAMES])
    return shown + (f" and {len(values) - _SHOWN_NAMES:,} more" if len(values) > _SHOWN_NAMES else "")


_SECTIONS: dict[Section, Callable[[Evidence], Iterator[JsonObject]]] = {
    "sources": _sources,
    "services": _services,
    "documents": _documents,
    "calls": _calls,
    "metrics": _metrics,
}


def _offered(context: ToolContext) -> bool:
    return bool(context.evidence.inventory.name)


LIST_EVIDENCE = Tool(
    name="list_evidence",
    summary="What there is to look at: sources, services and their signals, metric names, documents, time span, calls.",
    arguments=EvidenceArguments,
    run=_run,
    offered=_offered,
)
