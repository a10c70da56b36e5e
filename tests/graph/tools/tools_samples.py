"""An incident held in memory: the pool of orders-db was cut at 06:40, checkout waits for it and fails.

Everything that a tool reads is a record; no file is involved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diag_graph.analysis.records import Alert, Change, Edge, LogRecord, Series, Span, TimeRange, Window, utc
from diag_graph.contracts import JsonObject
from diag_graph.sources.ports import (
    NO_GUIDANCE,
    Evidence,
    FoundPassage,
    Guidance,
    Relevance,
    Retrieval,
    SourceEntry,
)
from diag_graph.sources.skills import open_skills
from diag_graph.tools.definition import AnyTool, ToolContext, ToolOutput
from skill_samples import SHIPPED

START = 1_784_181_600.0
"""2026-07-16T06:00:00Z."""
MINUTE = 60.0
ONSET = START + 40 * MINUTE
SPAN = TimeRange(START, START + 59 * MINUTE)


@dataclass(frozen=True)
class Recorded:
    """Every source at once, over lists of records."""

    name: str = "recorded"
    metric_series: Sequence[Series] = ()
    log_records: Sequence[LogRecord] = ()
    trace_spans: Sequence[Span] = ()
    alert_list: Sequence[Alert] = ()
    change_list: Sequence[Change] = ()
    calls: Sequence[Edge] = ()
    texts: dict[str, Sequence[str]] | None = None
    source_entries: Sequence[SourceEntry] = ()
    runbooks: Sequence[FoundPassage] = ()

    def entries(self) -> Sequence[SourceEntry]:
        """Everything that was looked at."""
        return self.source_entries

    def span(self) -> TimeRange | None:
        """From the first to the last time."""
        return SPAN

    def series(
        self, *, services: Sequence[str] = (), metrics: Sequence[str] = (), window: TimeRange | None = None
    ) -> Sequence[Series]:
        """Series, cut to the window."""
        found = []
        for one in self.metric_series:
            keep = np.ones(one.times.size, dtype=bool)
            if window is not None:
                keep = (one.times >= window.start) & (one.times <= window.end)
            wanted = (not services or one.service in services) and (not metrics or one.metric in metrics)
            if wanted and keep.any():
                found.append(Series(one.service, one.metric, one.times[keep], one.values[keep], one.labels, one.source))
        return found

    def records(self, window: TimeRange | None = None) -> Iterator[LogRecord]:
        """Lines in the window."""
        return (one for one in self.log_records if window is None or one.time is None or one.time in window)

    def spans(self, window: TimeRange | None = None) -> Sequence[Span]:
        """Spans in the window."""
        return [one for one in self.trace_spans if window is None or one.start in window]

    def alerts(self) -> Sequence[Alert]:
        """All alerts."""
        return self.alert_list

    def changes(self, window: TimeRange | None = None) -> Sequence[Change]:
        """Changes in the window."""
        return [one for one in self.change_list if window is None or one.time is None or one.time in window]

    def edges(self) -> Sequence[Edge]:
        """All calls."""
        return self.calls

    def names(self) -> Sequence[str]:
        """Names of documents."""
        return list(self.texts or {})

    def lines(self, name: str) -> Sequence[str]:
        """Lines of one."""
        return (self.texts or {})[name]

    def domains(self) -> Sequence[str]:
        """The map of the runbooks."""
        return [f"{one.domain}: {one.headings[0]}" for one in self.runbooks]

    def search(self, question: str, *, domain: str | None = None, limit: int = 5) -> Retrieval:
        """Passages that hold a word of the question."""
        words = question.lower().split()
        found = [one for one in self.runbooks if any(word in " ".join(one.units).lower() for word in words)]
        return Retrieval(found[:limit], {"layer": "L1"}, len(self.runbooks), len(found))


def series(
    service: str, metric: str, before: float, after: float, seed: int = 0, source: str = "metrics.csv"
) -> Series:
    """A series with one sample a minute that steps at the onset (or does not, for equal levels)."""
    noise = np.random.default_rng(seed).normal(0.0, 0.02 * max(before, 0.01), 60)
    values = np.where(np.arange(60) < 40, before, after) + noise
    return Series(service, metric, START + MINUTE * np.arange(60), np.maximum(values, 0.0), {}, source)


def spans(minutes: range, pool_ms: float, *, failed: bool = False) -> list[Span]:
    """One request of storefront a minute that passes through checkout to the database's pool."""
    found = []
    for n in minutes:
        begin, lasts = START + n * MINUTE + 5.0, pool_ms * float(np.random.default_rng(n).uniform(0.9, 1.1))
        attributes = {"exception.message": "pool timeout"} if failed else {}
        found += [
            Span(f"t{n}", "a", None, "storefront", "GET /cart", begin, lasts + 30.0, failed),
            Span(f"t{n}", "b", "a", "checkout", "POST /checkout", begin + 0.01, lasts + 10.0, failed),
            Span(f"t{n}", "c", "b", "checkout", "pool.acquire", begin + 0.012, lasts, failed, "", attributes),
        ]
    return found


def logs() -> list[LogRecord]:
    """Requests all along, and pool timeouts since the onset."""
    found = [
        LogRecord(f"handled request {n}", START + 15.0 * n, "storefront", "INFO", source=f"shop.log:{n + 1}")
        for n in range(236)
    ]
    found += [
        LogRecord(
            f"pool timeout after {5_000 + n} ms calling storefront",
            ONSET + 30.0 + 10.0 * n,
            "checkout",
            "ERROR",
            trace_id=f"t{40 + n % 19}",
            source=f"shop.log:{300 + n}",
        )
        for n in range(60)
    ]
    return sorted(found, key=lambda record: record.time or 0.0)


def incident(*, more_logs: bool = False) -> Recorded:
    """The whole incident, on request with a second new log pattern."""
    retries = [LogRecord(f"retry {n}", ONSET + 10.0 * n, "storefront", "WARN") for n in range(50 if more_logs else 0)]
    return Recorded(
        metric_series=[
            series("checkout", "request_latency_p95_seconds", 0.12, 1.9, 1),
            series("checkout", "db_pool_waiting", 0.0, 12.0, 2),
            series("storefront", "requests_per_second", 50.0, 50.0, 3),
            series("storefront", "cpu_usage_percent", 35.0, 35.0, 4),
        ],
        log_records=[*logs(), *retries],
        trace_spans=[*spans(range(40), 4.0), *spans(range(40, 60), 1_900.0, failed=True)],
        alert_list=[
            Alert(
                "CheckoutSlow",
                "firing",
                ONSET,
                None,
                "critical",
                "checkout",
                "p95 above 1 s",
                {"alertname": "CheckoutSlow", "metric": "request_latency_p95_seconds"},
                {"description": "observed 1.9 s"},
            ),
            Alert("DiskFull", "resolved", START, START + MINUTE, "warning", "batch", "disk above 90%"),
        ],
        change_list=[
            Change(
                "deploy",
                ONSET - 130.0,
                "checkout",
                "1.8.2",
                "Smaller pools",
                "mara",
                {"commit_sha": "0123456789abcdef"},
            ),
            Change(
                "commit",
                ONSET - 600.0,
                "",
                "0123456789abcdef0123456789abcdef01234567",
                "Cut the pool to ten",
                "mara",
                {"files_changed": [f"db/file{n}.py" for n in range(9)], "diff": "@@ -1 +1 @@\n-size = 50\n+size = 10"},
            ),
            Change("flag", ONSET + 300.0, "storefront", "badge", "", "tom", {"change": "off->on"}),
            Change("deploy", START - 9 * 86_400.0, "batch", "0.1", "long ago"),
        ],
        calls=[Edge("storefront", "checkout")],
        texts={
            "notes/describe-pod.txt": [
                "Name: checkout-1",
                "",
                "Status: Running",
                "Last State: OOMKilled",
                f"No space left on device {'x' * 876}",
            ],
            "plan.md": ["# Plan"],
        },
        runbooks=[
            FoundPassage("runbooks/pool.md", ("Pool",), 3, 3, "db", ("End idle sessions.",), Relevance.HIGH, 2.0, 1.0),
            FoundPassage("runbooks/pool.md", ("Pool",), 5, 5, "db", ("Raise the pool.",), Relevance.LOW, 1.0, 0.2),
        ],
        source_entries=[
            SourceEntry("metrics.csv", "metrics", "240 samples, 4 series"),
            SourceEntry("broken.json", "unreadable", "JSON", "it ends in the middle of line 7"),
        ],
    )


def evidence(recorded: Recorded) -> Evidence:
    """The records behind their protocols; kinds of which there is nothing are None."""
    return Evidence(
        inventory=recorded,
        metrics=recorded if recorded.metric_series else None,
        logs=recorded if recorded.log_records else None,
        spans=recorded if recorded.trace_spans else None,
        alerts=recorded if recorded.alert_list else None,
        changes=recorded if recorded.change_list else None,
        topology=recorded if recorded.calls else None,
        documents=recorded if recorded.texts else None,
    )


def context(recorded: Recorded | None = None, onset: float | None = ONSET) -> ToolContext:
    """What tools work on, with the onset as the run's window has it."""
    window = Window(SPAN.start, SPAN.end, onset, "the start of alert CheckoutSlow")
    looked_at = recorded if recorded is not None else incident()
    guidance = Guidance(looked_at, open_skills(SHIPPED)) if looked_at.runbooks else NO_GUIDANCE
    return ToolContext(evidence(looked_at), window, utc(SPAN.end), guidance=guidance, selected_skill="latency")


def call(
    tool: AnyTool, recorded: Recorded | None = None, *, known: float | None = ONSET, **arguments: object
) -> ToolOutput:
    """Call a tool as the ledger would, arguments through its model; `known` is the onset of the run's window."""
    return tool.run(tool.arguments(**arguments), context(recorded, known))


def texts(output: ToolOutput) -> list[str]:
    """The statements of a result."""
    return [item["text"] for item in output.items]


def item(output: ToolOutput, **fields: object) -> JsonObject:
    """The only item with these fields."""
    (found,) = [one for one in output.items if all(one.get(name) == value for name, value in fields.items())]
    return found
