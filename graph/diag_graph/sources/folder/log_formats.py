"""What stands before the messages of log lines, as patterns; `log_text` says what is made of them.

Sources: Kubernetes' container runtime interface (CRI logging format) and klog, RFC 3164 and RFC 5424, the common log
format of Apache and nginx, logfmt, and the prefixes of `docker compose logs` and `kubectl logs --prefix`.
"""

from __future__ import annotations

import re

from diag_graph.sources.folder.times import TIME_PATTERNS, ZONE_PATTERN

_ISO = r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d))"
CRI = re.compile(rf"{_ISO} (?P<stream>stdout|stderr) (?P<flag>[FP]) ?(?P<rest>.*)", re.DOTALL)
RFC5424 = re.compile(
    rf"<(?P<priority>\d{{1,3}})>1 {_ISO} (?P<host>\S+) (?P<app>\S+) (?P<pid>\S+) \S+ (?:-|\[.*?\])\s?(?P<rest>.*)"
)
KLOG = re.compile(rf"(?P<level>[IWEF]){TIME_PATTERNS[-1]}\s+(?P<thread>\d+) (?P<place>[^\s\]]+:\d+)\] ?(?P<rest>.*)")
SYSLOG = re.compile(
    rf"(?:<(?P<priority>\d{{1,3}})>)?(?:{_ISO}|{TIME_PATTERNS[-2]}) (?P<host>[\w.:-]+) "
    r"(?P<app>[A-Za-z][\w./-]*?)(?:\[(?P<pid>\d+)\])?: (?P<rest>.*)"
)
ACCESS = re.compile(
    r"(?:\S+:\d+ )?(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>\d\d?/\w{3}/\d{4}:[^\]]+)\] "
    r"(?P<rest>\"(?:(?P<method>[A-Z]+) (?P<path>\S+)[^\"]*|[^\"]*)\" (?P<status>\d{3}) (?P<bytes>\d+|-).*)"
)
COMPOSE = re.compile(r"(?P<service>[A-Za-z][\w.-]*?)(?:-\d+)?\s+\| ?(?P<rest>.*)")
KUBECTL = re.compile(r"\[?pod/(?P<pod>[^/\]\s]+)/(?P<service>[^\]\s]+)\]? (?P<rest>.*)")
PAIR = re.compile(r"([A-Za-z_@][\w.@-]*)=(\"(?:[^\"\\]|\\.)*\"|[^\s\"]*)(?:\s+|$)")
_LEAD = (
    r"(?:\[?(?P<lead>TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|CRIT(?:ICAL)?|FATAL|PANIC|[DIWEF](?=,))\]?"
    r"[,:]?[ \t|]+"
    r"|\d+:[A-Z] )?"
)
TIMED = tuple(
    re.compile(
        rf"{_LEAD}[\[(<]?(?P<stamp>{pattern})(?: #\d+)?[\])>]?[,:]?(?=\s|\[|$|[|-])(?P<rest>.*)",
        re.IGNORECASE | re.DOTALL,
    )
    for pattern in TIME_PATTERNS[:-1]
)
CLOCK = re.compile(r"\d:\d\d")
"""What every time of day holds."""
EPOCH = re.compile(r"\[?(?P<time>\d{10}(?:[.,]\d{1,9})?|\d{13})\]?:?\s+(?P<rest>.*)")
CLOCK_ONLY = re.compile(r"\[?\d\d:\d\d:\d\d[.,]\d{3}\]?\s+(?P<rest>.*)")
LEVEL_FIRST = re.compile(
    r"(?P<lead>\[[A-Za-z]{4,8}\]|[A-Z]{4,8}|(?:info|warn|fail|crit|dbug|error|warning)(?=:)):?\s+(?P<rest>.*)"
)

TOKEN = re.compile(
    r"\s*(?:[-|:]+\s+)?(?:\[(?P<bracket>[^\[\]]{0,120})\]|<(?P<angle>\w{1,9})>|(?P<word>[A-Za-z]{1,11}))"
    r"(?P<colon>:?)(?=\s|$|\[)"
)
MAX_TOKENS = 6
_HEAD = f"(?:{re.sub('[?]P<[a-z]+>', '?:', TOKEN.pattern)}){{0,{MAX_TOKENS}}}+"
HEAD = re.compile(_HEAD)
"""As many of them in a row as are looked at."""
ISO_FIRST = re.compile(
    r"(?P<second>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    rf"(?:(?P<zone>Z|[+-]\d\d:?\d\d)\b|(?!\s*{ZONE_PATTERN}))(?! #\d)[,:]?(?=[ \t\[]|$)(?P<head>{_HEAD})"
)
"""What `TIMED` and `HEAD` find in most lines, told so strictly that one look will do."""
SERVICE_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
THREAD_NAME = re.compile(
    r"(?:main|worker|exec|thread|pool|nio|http|https|scheduling|task|executor|default|root|kernel|core|master|grpc|event|io|"
    r"client|server|pid|tid|req|request|conn|notice|reactor|async|cron|timer|gc|none|null|-)\b.*"
    r"|.*-(?:thread|exec|pool|worker)-.*"
)

_PARTING = re.compile(r"\s*(?:[-|:]+\s+)*")


def parting_ends(text: str) -> int:
    """Where the dashes, bars and colons that part a message from its prefix end."""
    match = _PARTING.match(text)
    return match.end() if match else 0
