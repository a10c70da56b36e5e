"""Reading statements: what a text says of entities, directions and times.

The verifier is given matched texts and claims and nothing else, so it reads sentences as a person does. The tools write
them in one regular grammar (rose / fell / appeared / stopped / froze / slower / failing / new / more frequent): that
makes it safe. What a statement quotes (a log message, a title, an error) is somebody else's words: it is taken
out before anything is read.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum


class Direction(StrEnum):
    """Which way a statement says that something went."""

    UP = "up"
    DOWN = "down"
    APPEARED = "appeared"
    STOPPED = "stopped"
    FROZE = "froze"


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
EXAMPLE = re.compile(r", (?:example|error): \"")
"""Where a statement begins to quote what somebody else wrote."""
_QUOTED = re.compile(r"\".*\"", re.DOTALL)
_CHANGE_TITLE = re.compile(r"(\A(?:Deploy|Commit|Flag|Config|Change|Diff)\b.*?)(?: by [^:]{1,80})?: .*", re.DOTALL)
_CALLS = re.compile(r"\A(?P<caller>.+?) calls (?P<callee>.+?) \((?:call graph|seen in [\d,]+ spans?)\)\.\Z")
_ALERT_SINCE = re.compile(rf"\AAlert .*? since ({_TIME.pattern})")
_LINE_TIME = re.compile(rf"\A({_TIME.pattern}) ")
_OWN_TIMES = tuple(re.compile(rf"\b{words} ({_TIME.pattern})") for words in ("first at", "at"))
"""Where a statement says when its own trouble began. "since" elsewhere names the onset that it was compared by."""
_DIRECTIONS: tuple[tuple[re.Pattern[str], Direction], ...] = (
    (re.compile(r"\brose\b|\bslower\b|\bmore frequent\b|\bfailing\b", re.IGNORECASE), Direction.UP),
    (re.compile(r"\bfell\b|\bfaster\b|\bless frequent\b", re.IGNORECASE), Direction.DOWN),
    (re.compile(r"\bappeared\b|\bnew\b", re.IGNORECASE), Direction.APPEARED),
    (re.compile(r"\bstopped\b|\bgone\b", re.IGNORECASE), Direction.STOPPED),
    (re.compile(r"\bfroze\b", re.IGNORECASE), Direction.FROZE),
)


def plain(text: str) -> str:
    """A statement without what it quotes: its examples, its messages, and the title that an author gave a change."""
    head = EXAMPLE.split(text, maxsplit=1)[0]
    return _QUOTED.sub('""', _CHANGE_TITLE.sub(r"\1", head))


def times(text: str) -> tuple[float, ...]:
    """The UTC times that a text states, in seconds since the epoch, in their order."""
    found = []
    for match in _TIME.finditer(text):
        try:
            found.append(datetime.fromisoformat(match.group()).timestamp())
        except ValueError:
            continue
    return tuple(found)


def began(text: str) -> float | None:
    """When what a statement tells of began, by its own words; None when it does not say."""
    if text.startswith("Alert "):
        patterns: tuple[re.Pattern[str], ...] = (_ALERT_SINCE,)
    else:
        patterns = (_LINE_TIME, *_OWN_TIMES)
    # The time of the first line stands before the example, so that nothing is lost with it.
    bare = plain(text)
    found = next((match for pattern in patterns if (match := pattern.search(bare))), None)
    stated = times(found.group(1)) if found else ()
    return stated[0] if stated else None


def directions(text: str) -> frozenset[Direction]:
    """The directions that a text states, in its own words."""
    bare = plain(text)
    return frozenset(direction for pattern, direction in _DIRECTIONS if pattern.search(bare))


def names_entity(text: str, entity: str) -> bool:
    """Whether a text names an entity, as a word of its own and in any case.

    Words end where ASCII letters, digits, `_` and `-` do, so that a name within Chinese or Japanese text is seen.
    """
    name = r"\s+".join(re.escape(part) for part in entity.split())
    return bool(name) and re.search(rf"(?<![\w-]){name}(?![\w-])", text, re.IGNORECASE | re.ASCII) is not None


def calls(tool: str, text: str) -> tuple[str, str] | None:
    """Caller and callee, when the tool that knows the call graph says that one calls the other."""
    found = _CALLS.match(text) if tool == "list_evidence" else None
    return (found["caller"], found["callee"]) if found else None


def says_just(claim: str, texts: str) -> bool:
    """Whether each sentence of a claim stands in its texts as it is, the frames of an accusation aside."""
    said, shown = _squeezed(claim), _squeezed(texts)
    said = _FRAME.sub("", said)
    return all(part.strip(" .") in shown for part in _BEFORE.split(said))


_BEFORE = re.compile(r" (?:just before|about then): ")
_FRAME = re.compile(r"\Athe trouble starts at .{1,200}?\. |\Athe file \".{1,300}?\" says: ")


def _squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()
