"""Log events that are lines of text: the prefixes that programs, runtimes and collectors put before a message.

Formats: container runtimes' CRI lines, Kubernetes' klog, syslog (RFC 3164 and RFC 5424), the common and combined access
logs of Apache and nginx and their error logs, logfmt, Compose's and kubectl's prefixes, and times in most other shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from diag_graph.sources.folder import log_formats as formats
from diag_graph.sources.folder.levels import LEVELS, level_in
from diag_graph.sources.folder.log_event import NOTHING, ReadEvent
from diag_graph.sources.folder.log_heads import HeadReader, message_of
from diag_graph.sources.folder.log_json import JsonLogReader
from diag_graph.sources.folder.reading import Tally, parse_json
from diag_graph.sources.folder.stack_traces import announces_message, begins_trace, belongs_to_trace, names_cause
from diag_graph.sources.folder.text import clean
from diag_graph.sources.folder.times import TimeReader


class Line(NamedTuple):
    """What a line says before and beside its message.

    Attributes:
        time: None when it gives none.
        message: What is left.
        goes_on: The runtime cut the line here; the next one continues it.
        structured: The message was an object, read by its fields.
        bare: Only a collector's prefix stood before it, and none of the program's own.
    """

    time: float | None
    message: str
    level: str = ""
    service: str = ""
    trace_id: str = ""
    attributes: Mapping[str, Any] = NOTHING
    goes_on: bool = False
    structured: bool = False
    bare: bool = False


_REMEMBERED = 1_000
"""Lines of one event whose beginnings are kept until the event is read."""
_PREFIX_REACH = 80
"""Within so many characters stands the mark of a collector's prefix."""
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
        self._heads = HeadReader(known)
        self._objects = JsonLogReader(times, "", Tally())
        self._timed = list(formats.TIMED)
        self._ended: list[tuple[str, Line | None]] = []
        self._open: list[tuple[str, Line | None]] = []
        self._leads: dict[str, str] = {}
        self._in_trace = False
        self._goes_on = False

    def starts(self, line: str) -> bool:
        """Whether an event begins with this line: not in a stack trace, not indented, not a cut line's rest."""
        parsed = self.parse(line)
        begins = self._begins(line, parsed)
        if begins:
            self._ended, self._open = self._open, [(line, parsed)]
        elif len(self._open) < _REMEMBERED:
            self._open.append((line, parsed))
        return begins

    def _begins(self, line: str, parsed: Line | None) -> bool:
        body = line if parsed is None else parsed.message
        goes_on = self._goes_on
        self._goes_on = announces_message(body) or (parsed is not None and parsed.goes_on)
        if goes_on:
            return False
        bare = parsed is None or parsed.bare
        if parsed is None or not (parsed.level or parsed.structured):
            if body[:1] in {" ", "\t"} and body.strip():
                return False
            if self._in_trace and (belongs_to_trace(body) or (bare and not body.strip())):
                return False
            if begins_trace(body):
                begun, self._in_trace = self._in_trace, True
                return not (bare and begun) and parsed is not None and not names_cause(body)
        # A line that ends in the name of an exception may begin its trace.
        self._in_trace = parsed is not None and (parsed.level or level_in(line)) in {"ERROR", "FATAL"}
        return True

    def event(self, text: str, line: int) -> ReadEvent:
        """The event of these lines. One whose first line has no known beginning is counted, and given as it stands."""
        lines = text.split("\n") if "\n" in text else [text]
        parsed = self._parsed(lines)
        first = parsed[0]
        if first is None:
            self._tally.miss("have no time or level of their own", line)
            return ReadEvent(clean(text), None, self._service, level_in(lines[0]))
        message = first.message
        goes_on = first.goes_on
        for raw, following in zip(lines[1:], parsed[1:], strict=True):
            body = clean(raw) if following is None else following.message
            message += body if goes_on else "\n" + body
            goes_on = following is not None and following.goes_on
        return ReadEvent(
            message.rstrip() or clean(text).strip(),
            first.time,
            first.service or self._service,
            first.level or ("" if first.structured else level_in(message)),
            first.trace_id,
            first.attributes,
        )

    def _parsed(self, lines: list[str]) -> list[Line | None]:
        """What stands before the messages of an event's lines; `starts` has just looked at them, as a rule."""
        for seen in (self._ended, self._open):
            if len(seen) == len(lines) and all(raw == line for (raw, _), line in zip(seen, lines, strict=True)):
                return [parsed for _, parsed in seen]
        return [self.parse(line) for line in lines]

    def parse(self, raw: str) -> Line | None:
        """What stands before the message of a line; None when it begins in no way that is known."""
        line = raw if raw.isprintable() else clean(raw)
        parsed = None if " std" in line[:_PREFIX_REACH] else self._iso_first(line)
        if parsed is None and line[:1] not in {" ", "\t"}:
            parsed = self._outer(line)
        return parsed

    def _iso_first(self, line: str) -> Line | None:
        """The shortest way for what most lines begin with; None for whatever has to be looked at more closely."""
        match = formats.ISO_FIRST.match(line)
        if match is None or '] "' in line:
            return None
        second, fraction, zone, text = match.groups()
        if zone is not None:
            if second[10] == "T" and formats.SYSLOG.match(line):
                return None
            second += zone
        time = self._times.read_second(second, fraction)
        if time is None:
            return None
        head = self._heads.head(text)
        return Line(time, message_of(line, match.start(4) + head.end, head.end), head.level, head.service)

    def _outer(self, line: str) -> Line | None:
        """Prefixes of collectors, within which the program's own line stands."""
        match = formats.CRI.match(line) if " std" in line[:_PREFIX_REACH] else None
        if match:
            inner = self._inner(match["rest"], self._times.read(match["time"]))
            stream = {"stream": match["stream"], **inner.attributes}
            return Line(*inner[:5], stream, match["flag"] == "P", *inner[7:])
        for mark, pattern in (("|", formats.COMPOSE), ("pod/", formats.KUBECTL)):
            match = pattern.match(line) if mark in line[:_PREFIX_REACH] else None
            if match:
                inner = self._inner(match["rest"], None)
                return inner._replace(service=inner.service or match["service"])
        return self._plain(line)

    def _inner(self, text: str, time: float | None) -> Line:
        """What a collector's prefix surrounds. The collector's time is the more exact one."""
        inner = self._plain(text) if text[:1] not in {" ", "\t"} else None
        if inner is None:
            return Line(time, text, bare=True)
        return inner if time is None else Line(time, *inner[1:])

    def _plain(self, line: str) -> Line | None:
        if line[:1] == "{" and line.rstrip().endswith("}"):
            return self._object(line)
        timed = ":" in line and formats.CLOCK.search(line) is not None
        parsed = (self._klog(line) or self._access(line)) if timed else None
        if parsed is None and "=" in line:
            parsed = self._logfmt(line)
        if parsed is None:
            parsed = (self._syslog(line) or self._timed_line(line)) if timed else self._epoch_first(line)
        return parsed or self._untimed(line, timed=timed)

    def _object(self, line: str) -> Line | None:
        try:
            value = parse_json(line)
        except ValueError:
            return None
        if not isinstance(value, dict):
            return None
        record = self._objects.parsed(value)
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
        record = self._objects.parsed(pairs)
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
        return self._epoch_first(line)

    def _epoch_first(self, line: str) -> Line | None:
        match = formats.EPOCH.match(line) if line[:1].isdigit() or line[:1] == "[" else None
        time = self._times.read(match["time"].replace(",", ".")) if match else None
        return self._rest(time, match["rest"], "") if match and time is not None else None

    def _untimed(self, line: str, *, timed: bool) -> Line | None:
        match = formats.CLOCK_ONLY.match(line) if timed else None
        if match:
            return self._rest(None, match["rest"], "")
        match = formats.LEVEL_FIRST.match(line)
        level = self._lead(match["lead"]) if match else ""
        return self._rest(None, match["rest"], level) if match and level else None

    def _lead(self, word: str) -> str:
        level = self._leads.get(word)
        if level is None:
            name = word.strip("[]").upper().replace("FAIL", "ERROR").replace("DBUG", "DEBUG")
            level = LEVELS.get(name, "")
            if level:
                self._leads[word] = level
        return level

    def _rest(self, time: float | None, text: str, level: str) -> Line:
        """Level and service from what follows the time; a level that stood before the time goes first."""
        head, message = self._heads.read(text)
        return Line(time, message, level or head.level, head.service)


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
