"""Prometheus' text exposition and OpenMetrics: what `curl .../metrics` gives, one scrape or several in a row.

Formats: https://prometheus.io/docs/instrumenting/exposition_formats/ (timestamps in milliseconds) and OpenMetrics 1.0
(https://prometheus.io/docs/specs/om/open_metrics_spec/: timestamps in seconds, exemplars behind ` # `), also with
quoted UTF-8 names (Prometheus 3). An exporter rarely states times. Then a sample is from the time that stands on a line
of its own before it (`date; curl ...`), or from the time in the file's name; without either it has none, and is no
series.

`prometheus_client.parser` was weighed: it stops at the first damaged line, and knows no scrapes in a row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from diag_graph.analysis.records import utc
from diag_graph.analysis.series_groups import COUNTER_TYPE, TYPE_LABEL, counts_by_name
from diag_graph.sources.folder import fields
from diag_graph.sources.folder.columns import SeriesName, from_labels
from diag_graph.sources.folder.documents import document_lines
from diag_graph.sources.folder.reading import Reading, Tally, count, series_detail
from diag_graph.sources.folder.samples import make_series
from diag_graph.sources.folder.text import TextFile, clean
from diag_graph.sources.folder.times import TimeReader

_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_TYPE = re.compile(
    rf"#\s*TYPE\s+(?P<name>[A-Za-z_:][\w:.]*|{_QUOTED})\s+"
    r"(?P<type>counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram)\s*"
)
_SAMPLE = re.compile(
    rf'\s*(?P<name>[A-Za-z_:][\w:.]*)?(?:\{{(?P<labels>(?:[^"{{}}]|{_QUOTED})*+)\}})?'
    r"\s+(?P<value>[+-]?(?:\d[\d.]*(?:e[+-]?\d+)?|\.\d+|inf(?:inity)?|nan))"
    r"(?:\s+(?P<time>-?\d+(?:\.\d*)?(?:e[+-]?\d+)?))?\s*(?:#.*)?",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"\s*(?:(?P<key>[A-Za-z_][\w.]*|{_QUOTED})\s*=\s*)?(?P<value>{_QUOTED})\s*(?:,|$)")
_ESCAPED = re.compile(r"\\(.)")
_NAMED_TIME = re.compile(
    r"(?<!\d)(?:(\d{4})-?(\d\d)-?(\d\d)[T_ -]?(\d\d)[:_-]?(\d\d)(?:[:_-]?(\d\d))?(Z?)|(1\d{9}(?:\d{3})?))(?!\d)"
)
_TIMED_PART = re.compile(rf"[-_.]*(?:{_NAMED_TIME.pattern})")
_STATED = re.compile(r".*?(?:\bat |: )(.+)")
_JUDGED = 40
_MOSTLY = 0.8
UNTIMED = (
    "no sample has a time, nor does the file's name say one: kept as text (call it metrics-20260716T060500Z.prom, or "
    "put a line with the time before each scrape)"
)


def looks_like_exposition(head: str) -> bool:
    """Whether a text begins like one: it states a type, or nearly all of its lines are samples, some with labels."""
    lines = [line for line in head.splitlines() if line.strip()][:_JUDGED]
    if any(_TYPE.fullmatch(line) for line in lines):
        return True
    found = [match for line in lines if not line.startswith("#") and (match := _SAMPLE.fullmatch(line))]
    told = [match for match in found if match["labels"] is not None and (match["name"] or '"' in match["labels"])]
    return bool(told) and len(found) >= _MOSTLY * sum(not line.startswith("#") for line in lines)


def first_time(file: TextFile, times: TimeReader) -> float | None:
    """The time of the first sample of its beginning that has one; None when none has, and it gives no series."""
    scrapes = _Scrapes(times, time_in_name(file.name, times))
    for number, line in enumerate(file.head.splitlines(), start=1):
        scrapes.take(line, number)
        for points in scrapes.points.values():
            return points[0][0]
    return None


def time_in_name(name: str, times: TimeReader) -> float | None:
    """The time that a file's name says (`metrics-20260716T060500Z.prom`, `1784181900.txt`); None when it says none."""
    for match in _NAMED_TIME.finditer(name.rpartition("/")[2]):
        year, month, day, hour, minute, second, zone, epoch = match.groups()
        text = epoch or f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{zone}"
        moment = times.read(text)
        if moment is not None:
            return moment
    return None


def service_in_name(name: str) -> str:
    """The service that the name of a file or of its folder speaks of, its time left out; empty when none."""
    folder, _, last = name.rpartition("/")
    return fields.service_of_file(f"{folder}/{_TIMED_PART.sub('', last)}".lstrip("/"))


def read_exposition(file: TextFile, times: TimeReader, service: str) -> Reading:
    """Read the samples of one or several scrapes.

    Args:
        file: The text.
        times: Reads its times.
        service: What its series belong to when their labels do not say; empty when unknown.

    Returns:
        Series; without any, the text as a document, with why.
    """
    named = time_in_name(file.name, times)
    scrapes = _Scrapes(times, named)
    number = 0
    for number, (_, line) in enumerate(file.lines(), start=1):
        scrapes.take(clean(line), number)
    problems = scrapes.tally.sentences(number)
    found = []
    for (metric, labels), points in scrapes.points.items():
        series = make_series(_named(metric, dict(labels), service, scrapes.types), points, file.name)
        if series is not None:
            found.append(series)
    if not found:
        lines = document_lines(file)
        detail = count(len(lines), "line of text", "lines of text")
        return Reading(lines=lines, details=(detail,), problems=(UNTIMED,) if scrapes.untimed else problems)
    if scrapes.untimed:
        problems = (f"{count(scrapes.untimed, 'sample')} without a time", *problems)
    assumed = (
        (f"samples without a time taken at {utc(named)}, as the file's name says",)
        if named is not None and scrapes.by_name
        else ()
    )
    return Reading(series=tuple(found), details=(series_detail(found),), problems=problems, assumptions=assumed)


@dataclass
class _Scrapes:
    """Collects samples line by line.

    Attributes:
        named: The time of samples without another; None when the file's name says none.
        untimed: Samples without any time.
        by_name: Samples whose time is the file name's.
    """

    times: TimeReader
    named: float | None
    types: dict[str, str] = field(default_factory=dict)
    points: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[float, float]]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    untimed: int = 0
    by_name: int = 0
    _stated: float | None = None

    def take(self, line: str, number: int) -> None:
        """Take one line."""
        if line.lstrip().startswith("#"):
            self._comment(line.strip())
            return
        match = _SAMPLE.fullmatch(line)
        sample = _sample(match) if match else None
        if match is None or sample is None:
            if line.strip() and not self._states_time(line.strip()):
                self.tally.miss("are no samples", number)
            return
        moment = self.times.read(float(match["time"])) if match["time"] else self._stated
        if moment is None and self.named is not None:
            moment = self.named
            self.by_name += 1
        if moment is None:
            self.untimed += 1
            return
        self.points.setdefault(sample, []).append((moment, fields.number_of(match["value"])))

    def _comment(self, line: str) -> None:
        typed = _TYPE.fullmatch(line)
        if typed:
            self.types[_unquoted(typed["name"])] = typed["type"]
        elif not line.startswith(("# HELP", "# UNIT", "# EOF")):
            self._states_time(line.lstrip("# "))

    def _states_time(self, text: str) -> bool:
        """Whether a text is a time, or ends in one, which is then that of the samples after it."""
        within = _STATED.fullmatch(text)
        for part in (text, within[1] if within else ""):
            moment = self.times.read(part.strip())
            if moment is not None:
                self._stated = moment
                return True
        return False


def _sample(match: re.Match[str]) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Name and labels of a sample; None when they are no such things."""
    name, labels, text = match["name"] or "", {}, match["labels"] or ""
    at = 0
    while at < len(text.rstrip()):
        part = _LABEL.match(text, at)
        if part is None:
            return None
        if part["key"] is None:
            name = name or _unquoted(part["value"])
        else:
            labels[_unquoted(part["key"])] = _unquoted(part["value"])
        at = part.end()
    return (name, tuple(sorted(labels.items()))) if name else None


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    return _ESCAPED.sub(lambda escape: "\n" if escape[1] == "n" else escape[1], text[1:-1])


def _named(metric: str, labels: dict[str, str], service: str, types: Mapping[str, str]) -> SeriesName:
    """Whose the series is: what a label that means a service says, then the file, then any label that may mean one."""
    if types.get(metric) == COUNTER_TYPE and not counts_by_name(metric):
        labels[TYPE_LABEL] = COUNTER_TYPE
    if service and fields.key_of(tuple(labels), fields.SERVICE) is None:
        return SeriesName(service, metric, {key: value for key, value in labels.items() if value})
    return from_labels(labels, metric)
