"""`search_logs`: lines by text or regular expression, service, level and window; counts first, then lines."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from diag_graph.analysis.log_masks import causes, headline, thrown_text
from diag_graph.analysis.numbers import count, plural
from diag_graph.analysis.records import LogRecord, TimeRange, utc
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import Evidence, LogSource
from diag_graph.tools.definition import Tool, ToolContext, ToolError, ToolOutput
from diag_graph.tools.scope import OnsetArguments, Scope, asked_for, clip, found_of, matches, names, nothing, scope_of

MATCHED_CHARS = 4_000
"""Characters of a line that are searched; what lies beyond is not."""
MAX_LINES = 2_000_000
_BATCH = 20_000
_SHOWN_GROUPS = 6
_MESSAGE_CHARS = 340


class LogSearchArguments(OnsetArguments):
    """Which lines to find."""

    query: str = Field(
        default="", description="Text that a line or its exception must hold, case ignored. Empty: every line."
    )
    regex: bool = Field(
        default=False, description="Read query as a regular expression (no look-around); (?i) ignores case."
    )
    service: str | None = Field(default=None, description="Only these: names or parts of names, comma-separated.")
    level: str | None = Field(default=None, description="Only these levels: ERROR, WARN, ..., comma-separated.")
    limit: int = Field(default=20, ge=1, le=500, description="How many lines to give; those since the onset first.")


def _run(arguments: LogSearchArguments, context: ToolContext) -> ToolOutput:
    scope = scope_of(arguments, context)
    searched = Counter[str]()
    candidates = _candidates(arguments, context.evidence, scope, searched)
    matched = _Matched(scope.onset)
    shown = heapq.nsmallest(
        arguments.limit,
        matched.counted(_matching(arguments, candidates)),
        key=lambda record: _order(record, scope.onset),
    )
    stopped = f" (searching stopped after {MAX_LINES:,} lines)" if searched["cut"] else ""
    asked = _asked(arguments, matched) if shown else asked_for(**_filters(arguments))
    summary = f"{count(matched.lines)} of {plural(searched['lines'], 'line')}{stopped} matched{asked} {scope.words}"
    if not shown:
        text = f"No log line matched{asked} {scope.words}; {plural(searched['lines'], 'line')} searched{stopped}."
        return ToolOutput(nothing(text, "log"), summary, empty=True)
    truncated = None
    if matched.lines > arguments.limit:
        hint = "narrow by service, level, a shorter window or a longer text, or raise limit"
        truncated = {"shown": len(shown), "total": matched.lines, "hint": hint}
    items = [_counts(matched, searched["lines"], asked, scope), *(_line(record) for record in shown)]
    return ToolOutput(items, summary, truncated=truncated, extra={"matched": matched.lines})


def _filters(arguments: LogSearchArguments) -> dict[str, str | None]:
    return {"text": arguments.query, "service": arguments.service, "level": arguments.level}


def _asked(arguments: LogSearchArguments, matched: _Matched) -> str:
    """What was asked for, as far as the lines that were found hold it: of an expression, no digit need stand in any."""
    return asked_for(
        text=re.sub(r"\d", "#", arguments.query) if arguments.regex else arguments.query,
        service=found_of(arguments.service, matched.services),
        level=found_of(arguments.level, matched.levels),
    )


@dataclass(slots=True)
class _Matched:
    """What is counted of matching lines while they go by; of millions of them only those that are shown are kept."""

    onset: float | None
    lines: int = 0
    services: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    dated: int = 0
    later: int = 0
    first: float = math.inf
    last: float = -math.inf

    def counted(self, records: Iterable[LogRecord]) -> Iterator[LogRecord]:
        """Pass the lines on, counted."""
        for record in records:
            self.lines += 1
            self.services[record.service or "(no service)"] += 1
            self.levels[record.level or "(no level)"] += 1
            if record.time is not None:
                self.dated += 1
                self.later += self.onset is not None and record.time >= self.onset
                self.first, self.last = min(self.first, record.time), max(self.last, record.time)
            yield record


def _matching(arguments: LogSearchArguments, candidates: Iterator[LogRecord]) -> Iterator[LogRecord]:
    if not arguments.query:
        return candidates
    if arguments.regex:
        return _by_expression(candidates, arguments.query)
    query = arguments.query.lower()
    return (record for record in candidates if query in _searched(record).lower())


def _candidates(
    arguments: LogSearchArguments, evidence: Evidence, scope: Scope, searched: Counter[str]
) -> Iterator[LogRecord]:
    services, levels = names(arguments.service), names(arguments.level)
    for record in _since_onset_first(evidence.logs, scope) if evidence.logs else ():
        if searched["read"] >= MAX_LINES:
            searched["cut"] = 1
            return
        searched["read"] += 1
        if matches(services, record.service):
            searched["lines"] += 1
            if not levels or record.level.lower() in levels:
                yield record


def _since_onset_first(source: LogSource, scope: Scope) -> Iterator[LogRecord]:
    """The lines of the window, so that where not all can be read, those since the onset are."""
    onset = scope.onset
    if onset is None or onset not in scope.range:
        yield from source.records(scope.range)
        return
    yield from source.records(TimeRange(onset, scope.range.end))
    for record in source.records(TimeRange(scope.range.start, onset)):
        if record.time is not None and record.time < onset:  # those without a time have been given
            yield record


def _by_expression(records: Iterable[LogRecord], expression: str) -> Iterator[LogRecord]:
    """Lines that the expression finds something in, case regarded.

    Polars searches with an automaton whose time grows with the length of the text and nothing else, so that no
    expression can hang a run, as backtracking ones can.
    """
    batch: list[LogRecord] = []
    for record in records:
        batch.append(record)
        if len(batch) >= _BATCH:
            yield from _found(batch, expression)
            batch = []
    yield from _found(batch, expression)


def _found(batch: Sequence[LogRecord], expression: str) -> Iterator[LogRecord]:
    import polars as pl

    messages = pl.Series([_searched(record) for record in batch], dtype=pl.String)
    try:
        mask = messages.str.contains(expression)
    except pl.exceptions.ComputeError as error:
        raise ToolError(_refusal(expression, str(error))) from None
    for record, hit in zip(batch, mask, strict=True):
        if hit:
            yield record


def _searched(record: LogRecord) -> str:
    """What is searched of a line: its message, and the exception that a structured log has beside it."""
    message, thrown = record.message[:MATCHED_CHARS], thrown_text(record.attributes)
    return f"{message}\n{thrown[:MATCHED_CHARS]}" if thrown else message


def _refusal(expression: str, said: str) -> str:
    """Why an expression was refused, with the position where it is known, and what to do."""
    advice = "set regex to false to search for it as text"
    try:
        re.compile(expression)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        return f"query is no regular expression: {error.msg}{where}; {advice}"
    why = said.rsplit("error:", 1)[-1].partition("This error")[0].strip() or "not supported"
    return f"query cannot be searched for safely: {clip(why, 120)}; write it without, or {advice}"


def _order(record: LogRecord, onset: float | None) -> tuple[int, float]:
    """Since the onset, in the order of time; then before it, latest first; then without a time."""
    if record.time is None:
        return 2, 0.0
    if onset is None or record.time >= onset:
        return 0, record.time
    return 1, -record.time


def _counts(matched: _Matched, searched: int, asked: str, scope: Scope) -> JsonObject:
    parts = [
        f"{count(matched.lines)} of {plural(searched, 'line')} matched{asked} {scope.words}",
        _top(matched.services),
        _top(matched.levels),
    ]
    fields: JsonObject = {"before": None, "after": None}
    if matched.dated:
        parts.append(f"first at {utc(matched.first)}, last at {utc(matched.last)}")
    if matched.dated and scope.onset is not None:
        before = matched.dated - matched.later
        fields = {"before": before, "after": matched.later}
        parts.append(f"{count(before)} before the onset {utc(scope.onset)}, {count(matched.later)} since")
    return {
        "text": clip("; ".join(parts) + "."),
        "entity": next(iter(matched.services)) if len(matched.services) == 1 else "",
        "signal": "log",
        "change": "count",
        "onset": utc(matched.first) if matched.dated else None,
        "score": 0.0,
        "matched": matched.lines,
        "services": dict(matched.services.most_common()),
        "levels": dict(matched.levels.most_common()),
        **fields,
    }


def _top(counts: Counter[str]) -> str:
    shown = ", ".join(f"{name} {count(number)}" for name, number in counts.most_common(_SHOWN_GROUPS))
    return shown + (f" and {len(counts) - _SHOWN_GROUPS:,} more" if len(counts) > _SHOWN_GROUPS else "")


def _line(record: LogRecord) -> JsonObject:
    when = utc(record.time) if record.time is not None else "(no time)"
    who = f" {record.service}" if record.service else ""
    level = f" {record.level}" if record.level else ""
    source = f" ({record.source})" if record.source else ""
    return {
        "text": clip(f"{when}{who}{level}: {clip(_shown(record), _MESSAGE_CHARS)}{source}"),
        "entity": record.service,
        "signal": "log",
        "change": "line",
        "onset": None if record.time is None else when,
        "score": 0.0,
        "level": record.level,
        "source": record.source,
        "trace_id": record.trace_id,
        "causes": [clip(cause) for cause in causes(record.message, record.attributes)],
    }


def _shown(record: LogRecord) -> str:
    """The message with the trace that follows it, or with what its fields say was thrown."""
    return record.message if "\n" in record.message else headline(record.message, record.attributes)


def _offered(context: ToolContext) -> bool:
    return context.evidence.logs is not None


SEARCH_LOGS = Tool(
    name="search_logs",
    summary="Log lines by text or regular expression, service, level and window: counts, then lines.",
    arguments=LogSearchArguments,
    run=_run,
    offered=_offered,
)
