"""Log events that are lines of text: the prefixes that programs, runtimes and collectors put before a message.

Formats: container runtimes' CRI lines, Kubernetes' klog, syslog (RFC 3164 and RFC 5424), the common and combined access
logs of Apache and nginx and their error logs, logfmt, Compose's and kubectl's prefixes, and times in most other shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from diag_graph.analysis.records import LogRecord
from diag_graph.sources.folder import log_formats as formats
from diag_graph.sources.folder.levels import LEVELS, level_in
from diag_graph.sources.folder.log_json import JsonLogReader
from diag_graph.sources.folder.reading import Tally, parse_json
from diag_graph.sources.folder.stack_traces import begins_trace, belongs_to_trace, names_cause
from diag_graph.sources.folder.text import clean
from diag_graph.sources.folder.times import TimeReader


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


_MAX_TOKENS = 6
_PREFIX_REACH = 80
"""Within so many characters stands the mark of a collector's prefix."""
_REMEMBERED = 4
"""Lines whose reading is kept: one is asked for when it ends the event before it, and when its own has ended."""
_MAX_NAMES = 10_000
_HEAD_LINES = 200
_SYSLOG_LEVELS = ("EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE", "INFO", "DEBUG")


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
        self._objects = JsonLogReader(times, "", Tally())
        self._timed = list(formats.TIMED)
        self._seen: dict[str, Line | None] = {}
        self._services: dict[str, bool] = {}
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
        self._in_trace = parsed is not None and (parsed.level or level_in(line)) in {"ERROR", "FATAL"}
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
        if raw in self._seen:
            return self._seen[raw]
        line = clean(raw)
        parsed = self._outer(line) if line[:1] not in {" ", "\t"} else None
        if len(self._seen) >= _REMEMBERED:
            self._seen.pop(next(iter(self._seen)))
        self._seen[raw] = parsed
        return parsed

    def _outer(self, line: str) -> Line | None:
        """Prefixes of collectors, within which the program's own line stands."""
        match = formats.CRI.match(line) if " std" in line[:_PREFIX_REACH] else None
        if match:
            inner = self._inner(match["rest"], self._times.read(match["time"]))
            return replace(
                inner, attributes={"stream": match["stream"], **inner.attributes}, goes_on=match["flag"] == "P"
            )
        for mark, pattern in (("|", formats.COMPOSE), ("pod/", formats.KUBECTL)):
            match = pattern.match(line) if mark in line[:_PREFIX_REACH] else None
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
        match = formats.KLOG.match(line) if line[:1] in {"I", "W", "E", "F"} else None
        if match is None:
            return None
        time = self._times.from_match(match.groupdict())
        return Line(time, match["rest"], LEVELS[match["level"]], attributes={"source": match["place"]})

    def _access(self, line: str) -> Line | None:
        match = formats.ACCESS.match(line) if '] "' in line else None
        if match is None:
            return None
        attributes: dict[str, Any] = {"client": match["client"], "status": int(match["status"])}
        if match["method"]:
            attributes.update(method=match["method"], path=match["path"])
        return Line(self._times.read(match["time"]), match["rest"], attributes=attributes, structured=True)

    def _logfmt(self, line: str) -> Line | None:
        pairs: dict[str, Any] = {}
        end = 0
        while match := formats.PAIR.match(line, end):
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
        match = (formats.RFC5424.match(line) if line[:1] == "<" else None) or formats.SYSLOG.match(line)
        if match is None:
            return None
        parts = match.groupdict()
        time = self._times.read(parts["time"]) if parts["time"] else self._times.from_match(parts)
        service = parts["app"] if parts["app"] != "-" else ""
        if not parts["priority"] and service.upper() in LEVELS:
            return None
        if not parts["priority"] and parts["host"].upper() in LEVELS:  # `TIME ERROR pay: ...` looks like syslog only
            named = formats.SERVICE_NAME.fullmatch(service) is not None
            return Line(time, parts["rest"], LEVELS[parts["host"].upper()], service) if named else None
        level = LEVELS.get(_SYSLOG_LEVELS[int(parts["priority"]) % 8], "") if parts["priority"] else ""
        return Line(time, parts["rest"], level or level_in(parts["rest"]), service, attributes={"host": parts["host"]})

    def _timed_line(self, line: str) -> Line | None:
        for position, pattern in enumerate(self._timed):
            match = pattern.match(line)
            if match is None:
                continue
            lead = LEVELS.get((match["lead"] or "").upper(), "")
            stamp = match["stamp"]
            iso = stamp[4:5] == "-"  # which Python reads faster than any pattern
            time = self._times.read(stamp) if iso else self._times.from_match(match.groupdict())
            if time is None:
                continue
            if position:  # what matched once will match again
                self._timed.insert(0, self._timed.pop(position))
            return self._rest(time, match["rest"], lead)
        match = formats.EPOCH.match(line) if line[:1].isdigit() or line[:1] == "[" else None
        time = self._times.read(match["time"].replace(",", ".")) if match else None
        return self._rest(time, match["rest"], "") if match and time is not None else None

    def _untimed(self, line: str) -> Line | None:
        match = formats.CLOCK_ONLY.match(line)
        if match:
            return self._rest(None, match["rest"], "")
        match = formats.LEVEL_FIRST.match(line)
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
            token = formats.TOKEN.match(text, position)
            if token is None:
                break
            bracket, angle, word, colon = token.groups()
            if word is not None:
                found = LEVELS.get(word.upper()) if len(word) > 1 and (colon or word.isupper()) else None
                if not found:
                    break
                level = level or found
            else:
                name = bracket or angle or ""
                found = LEVELS.get(name.rpartition(":")[2].strip().upper())
                if found:
                    level = level or found
                elif not (service or skipped) and self._names_service(name):
                    service = name
                else:
                    skipped = True
            position = token.end()
            begin = begin if skipped else position
        return Line(time, _unprefixed(text[begin:], at_start=begin == 0), level, service)

    def _names_service(self, word: str) -> bool:
        told = self._services.get(word)
        if told is None:
            if not self._services:
                self._services.update(dict.fromkeys(self._known(), True))
            told = self._services.get(word) or (
                formats.SERVICE_NAME.fullmatch(word) is not None and formats.THREAD_NAME.fullmatch(word) is None
            )
            if len(self._services) < _MAX_NAMES:
                self._services[word] = told
        return told


def _unprefixed(rest: str, *, at_start: bool) -> str:
    """A message without what parts it from its prefix; indentation stays, for it says that an event goes on."""
    if rest[:1] == "\t" or (at_start and rest[:2] == "  "):
        return rest
    return rest[formats.parting_ends(rest) :]


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
    return enough and (begun + continued) * 10 >= len(lines) * 6 and begun * 10 >= len(lines)
