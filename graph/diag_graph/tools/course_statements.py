"""Work that ends early, and calls that do not arrive or are repeated, as citable statements and in fields."""

from __future__ import annotations

from diag_graph.analysis.courses import Course, Event, Share
from diag_graph.analysis.entity_cases import SCALE
from diag_graph.analysis.log_courses import code_place
from diag_graph.analysis.log_masks import masked_column
from diag_graph.analysis.numbers import quantity
from diag_graph.analysis.records import utc
from diag_graph.analysis.share_evidence import worth_of
from diag_graph.analysis.span_courses import FlowChange, FlowKind
from diag_graph.contracts import JsonObject
from diag_graph.tools.scope import clip

TOO_FEW = "only a few cases"
"""What a statement says of itself when a few traces more or less could make it untrue."""
UNLIKE = "some of these began otherwise than any before"
"""What it says when these may be other requests, for which the same is done otherwise."""
SURE = 3.0
"""Common logarithm of the Bayes factor from which they are enough: some thousand pairs are compared in a folder."""
_LINE_CHARS = 70
_NAME_CHARS = 80
_SHARE_OF_SCORE = {
    FlowKind.NOT_ARRIVING: 1.0,
    FlowKind.RETRIED: 0.8,
    FlowKind.FANNED_OUT: 0.5,
    FlowKind.ORPHANED: 0.3,
}
"""Calls that do not arrive are a failure; more calls may be more to do; a lost parent may be the recorder's."""


def log_course_item(course: Course, onset: float) -> JsonObject:
    """The item of a service whose work ends early by its log."""
    shown = course.failure or course.missing or course.after
    return {
        "text": clip(_log_statement(course, onset)),
        "entity": course.service,
        "signal": "log",
        "level": shown.level,
        "template": _line(shown),
        "example": clip(course.failure.text) if course.failure else "",
        "mentions": [],
        **_common(course, "log"),
    }


def span_course_item(course: Course, onset: float) -> JsonObject:
    """The item of a service whose work ends early by its spans."""
    return {
        "text": clip(_span_statement(course, onset)),
        "entity": course.service,
        "signal": "span",
        "operation": (course.failure or course.missing or course.after).kind,
        "callers": [],
        "waits_for": None,
        "database": False,
        **_common(course, "span"),
    }


def flow_item(flow: FlowChange, onset: float) -> JsonObject:
    """The item of calls that do not arrive, are repeated, or come from nowhere."""
    share = flow.share
    return {
        "text": clip(_flow_statement(flow, onset)),
        "entity": flow.entity,
        "signal": "span",
        "operation": flow.operation,
        "callers": [flow.caller] if flow.caller else [],
        "waits_for": None,
        "database": False,
        "direction": "stopped" if flow.kind is FlowKind.NOT_ARRIVING else "more frequent",
        "change": str(flow.kind),
        "before": flow.before if share is None else share.before,
        "after": flow.since if share is None else share.since,
        "unit": "calls" if share is None else "spans",
        "onset": utc(flow.onset),
        "score": round(_SHARE_OF_SCORE[flow.kind] * worth_of(flow.evidence) * SCALE["span"], 3),
    }


def _common(course: Course, signal: str) -> JsonObject:
    share = course.failed or course.missed
    return {
        "direction": "failing" if course.failure else "stopped",
        "change": "fails on its way" if course.failure else "ends early",
        "before": share.before if share else None,
        "after": share.since if share else None,
        "unit": "traces",
        "uncalled": list(course.uncalled),
        "unlike": course.unlike,
        "onset": utc(course.onset),
        "score": round(worth_of(course.evidence) * SCALE[signal], 3),
    }


def _log_statement(course: Course, onset: float) -> str:
    start = f'after logging "{_line(course.after)}"'
    end = f"{_doubt(course)}; first at {utc(course.onset)}."
    missing = f'"{_line(course.missing or course.after)}"'
    if course.failure is None or course.failed is None:
        counts = _counts(course.missed, "trace", onset)
        return f"{course.service} stopped short {start}: {missing} follows in {counts}{end}"
    failure = f'"{_line(course.failure)}" ({course.failure.level})'
    counts = _counts(course.failed, "trace", onset)
    if course.missed is None:
        return f"{course.service} is failing {start}: {failure} follows in {counts}{end}"
    missed = f"in {course.missed.since:,} of {course.missed.all_since:,} traces"
    before = f"before in {course.missed.before:,} of {course.missed.all_before:,}"
    return f"{course.service} is failing {start}: {missing} follows {missed}, {before}, and {failure} in {counts}{end}"


def _span_statement(course: Course, onset: float) -> str:
    after = clip(course.after.kind, _NAME_CHARS)
    first = f"; first at {utc(course.onset)}"
    if course.failure is not None and course.failed is not None:
        return (
            f"Work of {course.service} is failing after {after}: the failing {clip(course.failure.kind, _NAME_CHARS)} "
            f"follows in {_counts(course.failed, 'execution', onset)}{_doubt(course)}{first}."
        )
    missing = course.missing or course.after
    what = f"the call to {clip(missing.kind, _NAME_CHARS)}" if missing.callee else clip(missing.kind, _NAME_CHARS)
    others = [name for name in course.uncalled if name != missing.callee]
    also = f"; nor does it call {', '.join(others[:4])}" if others else ""
    return (
        f"Work of {course.service} stopped short after {after}: {what} follows in "
        f"{_counts(course.missed, 'execution', onset)}{also}{_doubt(course)}{first}."
    )


def _flow_statement(flow: FlowChange, onset: float) -> str:
    first = f"; first at {utc(flow.onset)}"
    doubt = "" if flow.evidence >= SURE else f"; {TOO_FEW}"
    operation = clip(flow.operation, _NAME_CHARS)
    match flow.kind:
        case FlowKind.NOT_ARRIVING:
            return (
                f"Calls of {flow.caller} to {flow.callee} ({operation}) stopped arriving: {flow.callee} recorded "
                f"{_counts(flow.share, 'call', onset)}{doubt}{first}."
            )
        case FlowKind.RETRIED | FlowKind.FANNED_OUT:
            how = "most of them failed" if flow.kind is FlowKind.RETRIED else "most of them succeeded"
            return (
                f"Calls of {flow.caller} to {flow.callee} ({operation}) are more frequent within one execution: "
                f"{quantity(flow.since, '')} (median) since {utc(onset)} against {quantity(flow.before, '')} before, "
                f"{how}{doubt}{first}."
            )
        case FlowKind.ORPHANED:
            by = f"; what usually calls it is {flow.caller}, whose part is not recorded" if flow.caller else ""
            return (
                f"Spans of {flow.callee} without a recorded parent are more frequent: "
                f"{_counts(flow.share, 'span', onset)}{by}{doubt}{first}."
            )


def _counts(share: Share | None, noun: str, onset: float) -> str:
    """`0 of 4 traces since 2026-07-16T06:05:00Z, against 3 of 3 before`."""
    if share is None:
        return ""
    plural = noun if share.all_since == 1 else f"{noun}s"
    since = f"{share.since:,} of {share.all_since:,} {plural} since {utc(onset)}"
    return f"{since}, against {share.before:,} of {share.all_before:,} before"


def _doubt(course: Course) -> str:
    said = (UNLIKE if course.unlike else "", TOO_FEW if course.evidence < SURE else "")
    return "".join(f"; {one}" for one in said if one)


def _line(event: Event) -> str:
    """A log line from the place in the code on that logged it; as its template where it names none."""
    place = code_place(event.text)
    line = event.text[event.text.index(place) :] if place else str(masked_column([event.text])[0])
    return clip(line.replace('"', "'"), _LINE_CHARS)
