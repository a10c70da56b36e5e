"""Log events that are lines of text: the prefixes that programs, runtimes and collectors put before a message.

Formats: container runtimes' CRI lines, Kubernetes' klog, syslog (RFC 3164 and RFC 5424), the common and combined access
logs of Apache and nginx and their error logs, logfmt, Compose's and kubectl's prefixes, and times in most other shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from diag_graph.analysis.records import LogRecord
from diag_graph.sources.folder.levels import LEVELS, level_in
from diag_graph.sources.folder.log_json import JsonLogReader
from diag_graph.sources.folder.reading import Tally, parse_json
from diag_graph.sources.folder.stack_traces import begins_trace, belongs_to_trace, names_cause
from diag_graph.sources.folder.text import clean
from diag_graph.sources.folder.times import TIME_PATTERNS, TimeReader


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says before and beside its message.

    Attributes:
        time: None when it gives none.
        message: What is left.
        goes_on: The runtime cut the line here; the next one continues it.
        structured: The message was an object, read by its fields.
    """

    time: float | None
    message: str
    level: str = ""
    service: str = ""
    trace_id: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    goes_on: bool = False
    structured: bool = False


_ISO = r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d))"
_CRI = re.compile(rf"{_ISO} (?P<stream>stdout|stderr) (?P<flag>[FP]) ?(?P<rest>.*)", re.DOTALL)
_RFC5424 = re.compile(
    rf"<(?P<priority>\d{{1,3}})>1 {_ISO} (?P<host>\S+) (?P<app>\S+) (?P<pid>\S+) \S+ (?:-|\[.*?\])\s?(?P<rest>.*)"
)
_KLOG = re.compile(rf"(?P<level>[IWEF]){TIME_PATTERNS[-1]}\s+(?P<thread>\d+) (?P<place>[^\s\]]+:\d+)\] ?(?P<rest>.*)")
_SYSLOG = re.compile(
    rf"(?:<(?P<priority>\d{{1,3}})>)?(?:{_ISO}|{TIME_PATTERNS[-2]}) (?P<host>[\w.:-]+) "
    r"(?P<app>[A-Za-z][\w./-]*?)(?:\[(?P<pid>\d+)\])?: (?P<rest>.*)"
)
_ACCESS = re.compile(
    r"(?:\S+:\d+ )?(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>\d\d?/\w{3}/\d{4}:[^\]]+)\] "
    r"(?P<rest>\"(?:(?P<method>[A-Z]+) (?P<path>\S+)[^\"]*|[^\"]*)\" (?P<status>\d{3}) (?P<bytes>\d+|-).*)"
)
_COMPOSE = re.compile(r"(?P<service>[A-Za-z][\w.-]*?)(?:-\d+)?\s+\| ?(?P<rest>.*)")
_KUBECTL = re.compile(r"\[?pod/(?P<pod>[^/\]\s]+)/(?P<service>[^\]\s]+)\]? (?P<rest>.*)")
_PAIR = re.compile(r"([A-Za-z_@][\w.@-]*)=(\"(?:[^\"\\]|\\.)*\"|[^\s\"]*)(?:\s+|$)")
_LEAD = (
    r"(?:\[?(?P<lead>TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|CRIT(?:ICAL)?|FATAL|PANIC|[DIWEF](?=,))\]?"
    r"[,:]?[ \t|]+"
    r"|\d+:[A-Z] )?"
)
_TIMED = tuple(
    re.compile(rf"{_LEAD}[\[(<]?{pattern}(?: #\d+)?[\])>]?[,:]?(?=\s|\[|$|[|-])(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
    for pattern in TIME_PATTERNS[:-1]
)
_EPOCH = re.compile(r"\[?(?P<time>\d{10}(?:[.,]\d{1,9})?|\d{13})\]?:?\s+(?P<rest>.*)")
_CLOCK_ONLY = re.compile(r"\[?\d\d:\d\d:\d\d[.,]\d{3}\]?\s+(?P<rest>.*)")
_LEVEL_FIRST = re.compile(
    r"(?P<lead>\[[A-Za-z]{4,8}\]|[A-Z]{4,8}|(?:info|warn|fail|crit|dbug|error|warning)(?=:)):?\s+(?P<rest>.*)"
)

_TOKEN = re.compile(
    r"\s*(?:[-|:]+\s+)?(?:\[(?P<bracket>[^\[\]]{0,120})\]|<(?P<angle>\w{1,9})>|(?P<word>[A-Za-z]{1,11}))"
    r"(?P<colon>:?)(?=\s|$|\[)"
)
_MAX_TOKENS = 6
_SERVICE_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_THREAD_NAME = re.compile(
    r"(?:main|worker|exec|thread|pool|nio|http|https|scheduling|task|executor|default|root|kernel|core|master|grpc|event|io|"
    r"client|server|pid|tid|req|request|conn|notice|reactor|async|cron|timer|gc|none|null|-)\b.*"
    r"|.*-(?:thread|exec|pool|worker)-.*"
)


class TextLogReader:
    """Reads log events from lines of text, whatever stands before their messages."""

    def __init__(self, times: TimeReader, service: str, tally: Tally, known: Callable[[], Collection[str]]) -> None:
        """Make a reader for one file.

        Args:
            times: Reads its times.
            service: What its name says the events are from; empty when it does not say.
            tally: Where lines without a known beginning are counted.
            known: Gives services that other evidence names.
        """
        self._times = times
        self._service = service
        self._tally = tally
        self._known = known
        self._known_services: frozenset[str] | None = None
        self._objects = JsonLogReader(times, "", Tally())
        self._timed = list(_TIMED)
        self._seen: tuple[str, Line | None] = ("", None)
        self._in_trace = False
        self._goes_on = False

    def starts(self, line: str) -> bool:
        """Whether an event begins with this line: not in a stack trace, not indented, not a cut line's rest."""
        parsed = self.parse(line)
        goes_on, self._goes_on = self._goes_on, parsed is not None and parsed.goes_on
        if goes_on:
            return False
        body = line if parsed is None else parsed.message
        if parsed is None or not (parsed.level or parsed.structured):
            if body[:1] in {" ", "\t"} and body.strip():
                return False
            if self._in_trace and belongs_to_trace(body):
                return False
            if begins_trace(body):
                self._in_trace = True
                return parsed is not None and not names_cause(body)
        # A line that ends in the name of an exception may begin its trace.
        self._in_trace = parsed is not None and level_in(line) in {"ERROR", "FATAL"}
        return True

    def event(self, text: str, line: int, source: str) -> LogRecord:
        """The event of these lines. One whose first line has no known beginning is counted, and given as it stands."""
        first, _, rest = text.partition("\n")
        parsed = self.parse(first)
        if parsed is None:
            self._tally.miss("have no time or level of their own", line)
            return LogRecord(clean(text), None, self._service, level_in(first), source=source)
        message = parsed.message
        goes_on = parsed.goes_on
        for raw in rest.split("\n") if rest else ():
            following = self.parse(raw)
            body = clean(raw) if following is None else following.message
            message += body if goes_on else "\n" + body
            goes_on = following is not None and following.goes_on
        return LogRecord(
            message.rstrip() or clean(text).strip(),
            parsed.time,
            parsed.service or self._service,
            parsed.level or ("" if parsed.structured else level_in(message)),
            parsed.trace_id,
            parsed.attributes,
            source,
        )

    def parse(self, raw: str) -> Line | None:
        """What stands before the message of a line; None when it begins in no way that is known."""
        if self._seen[0] == raw:
            return self._seen[1]
        line = clean(raw)
        parsed = self._outer(line) if line[:1] not in {" ", "\t"} else None
        self._seen = (raw, parsed)
        return parsed

    def _outer(self, line: str) -> Line | None:
        """Prefixes of collectors, within which the program's own line stands."""
        match = _CRI.match(line)
        if match:
            inner = self._inner(match["rest"], self._times.read(match["time"]))
            return replace(
                inner, attributes={"stream": match["stream"], **inner.attributes}, goes_on=match["flag"] == "P"
            )
        for pattern in (_COMPOSE, _KUBECTL):
            match = pattern.match(line)
            if match:
                inner = self._inner(match["rest"], None)
                return replace(inner, service=inner.service or match["service"])
        return self._plain(line)

    def _inner(self, text: str, time: float | None) -> Line:
        """What a collector's prefix surrounds. The collector's time is the more exact one."""
        inner = self._plain(text) if text[:1] not in {" ", "\t"} else None
        if inner is None:
            return Line(time, text)
        return inner if time is None else replace(inner, time=time)

    def _plain(self, line: str) -> Line | None:
        if line[:1] == "{" and line.rstrip().endswith("}"):
            return self._object(line)
        for read in (self._klog, self._access, self._logfmt, self._syslog, self._timed_line):
            parsed = read(line)
            if parsed is not None:
                return parsed
        return self._untimed(line)

    def _object(self, line: str) -> Line | None:
        try:
            value = parse_json(line)
        except ValueError:
            return None
        if not isinstance(value, dict):
            return None
        record = self._objects.record(value, "")
        return Line(
            record.time,
            record.message,
            record.level,
            record.service,
            record.trace_id,
            record.attributes,
            structured=True,
        )

    def _klog(self, line: str) -> Line | None:
        match = _KLOG.match(line) if line[:1] in {"I", "W", "E", "F"} else None
        if match is None:
            return None
        time = self._times.from_match(match.groupdict())
        return Line(time, match["rest"], LEVELS[match["level"]], attributes={"source": match["place"]})

    def _access(self, line: str) -> Line | None:
        match = _ACCESS.match(line)
        if match is None:
            return None
        attributes: dict[str, Any] = {"client": match["client"], "status": int(match["status"])}
        if match["method"]:
            attributes.update(method=match["method"], path=match["path"])
        return Line(self._times.read(match["time"]), match["rest"], attributes=attributes, structured=True)

    def _logfmt(self, line: str) -> Line | None:
        pairs: dict[str, Any] = {}
        end = 0
        while match := _PAIR.match(line, end):
            pairs[match[1]] = match[2][1:-1].replace('\\"', '"') if match[2][:1] == '"' else match[2]
            end = match.end()
        if len(pairs) < 2 or end < len(line.rstrip()):  # noqa: PLR2004 (one `a=b` may be any text)
            return None
        record = self._objects.record(pairs, "")
        message = record.message if "msg" in pairs or "message" in pairs else line
        return Line(
            record.time, message, record.level, record.service, record.trace_id, record.attributes, structured=True
        )

    def _syslog(self, line: str) -> Line | None:
        match = _RFC5424.match(line) or _SYSLOG.match(line)
        if match is None:
            return None
        parts = match.groupdict()
        time = self._times.read(parts["time"]) if parts["time"] else self._times.from_match(parts)
        service = parts["app"] if parts["app"] != "-" else ""
        if not parts["priority"] and service.upper() in LEVELS:
            return None
        level = LEVELS.get(_SYSLOG_LEVELS[int(parts["priority"]) % 8], "") if parts["priority"] else ""
        return Line(time, parts["rest"], level or level_in(parts["rest"]), service, attributes={"host": parts["host"]})

    def _timed_line(self, line: str) -> Line | None:
        for position, pattern in enumerate(self._timed):
            match = pattern.match(line)
            if match is None:
                continue
            lead = LEVELS.get((match["lead"] or "").upper(), "")
            time = self._times.from_match(match.groupdict())
            if time is None:
                continue
            if position:  # what matched once will match again
                self._timed.insert(0, self._timed.pop(position))
            return self._rest(time, match["rest"], lead)
        match = _EPOCH.match(line) if line[:1].isdigit() or line[:1] == "[" else None
        time = self._times.read(match["time"].replace(",", ".")) if match else None
        return self._rest(time, match["rest"], "") if match and time is not None else None

    def _untimed(self, line: str) -> Line | None:
        match = _CLOCK_ONLY.match(line)
        if match:
            return self._rest(None, match["rest"], "")
        match = _LEVEL_FIRST.match(line)
        level = (
            LEVELS.get(match["lead"].strip("[]").upper().replace("FAIL", "ERROR").replace("DBUG", "DEBUG"), "")
            if match
            else ""
        )
        return self._rest(None, match["rest"], level) if match and level else None

    def _rest(self, time: float | None, text: str, level: str) -> Line:
        """Level and service from the words and brackets at the beginning of what follows the time."""
        service = ""
        position = begin = 0
        skipped = False
        for _ in range(_MAX_TOKENS):
            token = _TOKEN.match(text, position)
            if token is None:
                break
            word = token["bracket"] or token["angle"] or token["word"] or ""
            bare = token["word"] is not None
            found = LEVELS.get(word.rpartition(":")[2].strip().upper(), "")
            if found and (not bare or (len(word) > 1 and (word.isupper() or token["colon"]))):
                level = level or found
            elif bare:
                break
            elif not (service or skipped) and self._names_service(word):
                service = word
            else:
                skipped = True
            position = token.end()
            begin = begin if skipped else position
        rest = text[begin:]
        # Indentation says that a line goes on; a single blank only parts it from its prefix.
        message = (
            rest if rest[:1] == "\t" or (rest[:2] == "  " and not begin) else re.sub(r"^\s*(?:[-|:]+\s+)?", "", rest)
        )
        return Line(time, message, level, service)

    def _names_service(self, word: str) -> bool:
        if self._known_services is None:
            self._known_services = frozenset(self._known())
        return word in self._known_services or (
            _SERVICE_NAME.fullmatch(word) is not None and not word.isdigit() and _THREAD_NAME.fullmatch(word) is None
        )


_SYSLOG_LEVELS = ("EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE", "INFO", "DEBUG")
_HEAD_LINES = 200


def looks_like_log(head: str, times: TimeReader) -> bool:
    """Whether most lines of a text begin like log events or continue one."""
    lines = [line for line in head.splitlines() if line.strip()][:_HEAD_LINES]
    reader = TextLogReader(times, "", Tally(), frozenset)
    timed = levelled = continued = 0
    for line in lines:
        parsed = reader.parse(line)
        starts = reader.starts(line)
        if parsed is not None and parsed.time is not None:
            timed += 1
        elif parsed is not None and parsed.level:
            levelled += 1
        elif not starts:
            continued += 1
    begun = timed + levelled
    if not begun or not lines:
        return False
    enough = timed > 0 or levelled > 2  # noqa: PLR2004 (a word in capitals may begin any text)
    return enough and (begun + continued) * 10 >= len(lines) * 7 and begun * 10 >= len(lines)
