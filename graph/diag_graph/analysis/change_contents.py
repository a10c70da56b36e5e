"""What a change does, read from its description and its diff: settings that got another value, steps that are gone.

A diff is read as unified diffs are (GNU diffutils manual, "Unified Format"). Only its net effect counts: a line that is
taken out here and put in there was moved, and a name that occurs as often after as before was not touched. The kind of
a change is taken from where its files lie and from its type as in Conventional Commits 1.0.0 (`docs:`, `test:`, `ci:`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

MAX_LINES = 400
"""Lines of one diff that are read; a longer one is a release, of which no single line says anything."""
MAX_PAIRS = 12
"""Added lines that a removed one is compared with."""
ALIKE = 0.6
"""Lines that agree in this share of their parts are the same line before and after."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that was changed, as the diff writes it."""

    name: str
    before: str
    after: str

    @property
    def factor(self) -> float:
        """By how much a number changed, at least 1; 4 where a value is no number or its unit changed."""
        one, other = _number(self.before), _number(self.after)
        if one is None or other is None or one[1] != other[1] or not one[0] or not other[0]:
            return 4.0
        return max(abs(one[0] / other[0]), abs(other[0] / one[0]))


@dataclass(frozen=True, slots=True)
class Contents:
    """What is known of what a change does.

    Attributes:
        known: Whether anything is: a title, files or a diff.
        inert: Why it can hardly change how a program runs ("changes documents only"); empty when it can.
        settings: Values that it changes.
        gone: Names of calls and conditions that it takes out and puts in nowhere else.
        touched: Names whose number of uses it changes, those that are gone among them.
        files: Its files.
        title: Its title.
        is_read: Whether a diff was there to read, so that what it does is known.
        telemetry: Whether it changes what is logged or measured, and nothing else.
        packages: Whether it changes versions of packages, and nothing else: what those do is not recorded.
    """

    known: bool
    inert: str
    settings: tuple[Setting, ...]
    gone: tuple[str, ...]
    touched: tuple[str, ...]
    files: tuple[str, ...]
    title: str
    is_read: bool
    telemetry: bool
    packages: bool


def contents_of(title: str, files: Sequence[str], diff: str) -> Contents:
    """Read what a change does.

    Args:
        title: Its title or message.
        files: Paths that it changes.
        diff: A unified diff, with or without its headers; empty when there is none.
    """
    removed, added = net_lines(diff)
    before, after = (Counter(name for line in lines for name in _NAME.findall(line)) for lines in (removed, added))
    touched = [name for name in (*before, *after) if before[name] != after[name]]
    calls = [match for line in removed for match in _STEP.findall(line)]
    after_all = [line[1:].strip() for line in diff.splitlines()[:MAX_LINES] if not line.startswith("-")]
    left = {name for line in after_all if not _COMMENT.match(line) for name in _NAME.findall(line)}
    gone = [name for name in dict.fromkeys(calls) if name not in left]
    return Contents(
        known=bool(title or files or diff),
        inert=_inert(title, files, diff),
        settings=tuple(dict.fromkeys(_settings(removed, added))),
        gone=tuple(gone),
        touched=tuple(dict.fromkeys(touched)),
        files=tuple(files),
        title=title,
        is_read=bool(removed or added),
        telemetry=_is_whole(diff) and _is_telemetry((*removed, *added)),
        packages=any(_PACKAGES.search(path) for path in files)
        and all(_PACKAGES.search(path) or _DOCUMENTS.search(path) for path in files),
    )


def net_lines(diff: str) -> tuple[list[str], list[str]]:
    """The lines that a diff takes out and puts in, without moved ones, comments and blanks."""
    removed: list[str] = []
    added: list[str] = []
    for line in diff.splitlines()[:MAX_LINES]:
        sign, text = line[:1], line[1:].strip()
        if sign not in {"+", "-"} or line.startswith(("+++", "---")) or not text or _COMMENT.match(text):
            continue
        (added if sign == "+" else removed).append(text)
    squeezed = [Counter("".join(line.split()) for line in lines) for lines in (removed, added)]
    moved = squeezed[0] & squeezed[1]
    return _without(removed, Counter(moved)), _without(added, Counter(moved))


_COMMENT = re.compile(
    r"//|#(?!\w*\[|!|(?:define|undef|include|if|ifn?def|el(?:se|if)|endif|pragma)\b)|/\*|\*(?:\s|/|\Z)"
    r"|--\s|;|<!--|\"\"\""
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_STEP = re.compile(r"[A-Za-z_]\w{2,}(?=\s*\()|(?<=[ !(])(?:nil|null|None|undefined)\b")


def _without(lines: Sequence[str], moved: Counter[str]) -> list[str]:
    kept = []
    for line in lines:
        squeezed = "".join(line.split())
        if moved[squeezed] > 0:
            moved[squeezed] -= 1
        else:
            kept.append(line)
    return kept


_VALUE = re.compile(
    r"""(?P<value>-?\d[\d_.]*(?:\s*\*\s*[A-Za-z][\w.]*|[A-Za-z%]+)?   # 300, 5m, 15 * time.Second
        |\b(?:true|false|on|off|yes|no|nil|null|None|True|False)\b
        |"[^"]*"|'[^']*')
        |(?P<name>[A-Za-z_][\w.-]*[A-Za-z0-9_]|[A-Za-z_])|(?P<sign>\S)""",
    re.VERBOSE,
)
_PLAIN_SETTING = re.compile(r"(?:-\s+)?([\w.-]+)\s*[:=]\s*([\w.%/:-]+)\s*,?")
_ASSIGNS = frozenset("(=:")


def _settings(removed: Sequence[str], added: Sequence[str]) -> Iterator[Setting]:
    free = list(added)
    for line in removed:
        pairs = [(_alike(line, other), other) for other in free[:MAX_PAIRS]]
        score, other = max(pairs, default=(0.0, ""))
        if score < ALIKE:
            continue
        free.remove(other)
        yield from _changed_values(line, other)


def _alike(one: str, other: str) -> float:
    ratio = SequenceMatcher(None, [part for part, _ in _parts(one)], [part for part, _ in _parts(other)]).ratio()
    plain = _PLAIN_SETTING.fullmatch(one), _PLAIN_SETTING.fullmatch(other)
    return 1.0 if plain[0] and plain[1] and plain[0][1] == plain[1][1] else ratio


def _changed_values(before: str, after: str) -> Iterator[Setting]:
    plain = _PLAIN_SETTING.fullmatch(before), _PLAIN_SETTING.fullmatch(after)
    if plain[0] and plain[1]:
        if plain[0][1] == plain[1][1] and plain[0][2] != plain[1][2]:
            yield Setting(plain[0][1], plain[0][2], plain[1][2])
        return
    one, other = _parts(before), _parts(after)
    matcher = SequenceMatcher(None, [part for part, _ in one], [part for part, _ in other], autojunk=False)
    for tag, start, end, begin, stop in matcher.get_opcodes():
        old, new = one[start : start + 1], other[begin : begin + 1]
        if tag == "replace" and end > start and stop > begin and old[0][1] == new[0][1] == "value":
            name = _name_before(one[:start])
            if name:
                yield Setting(name, _bare(old[0][0]), _bare(new[0][0]))


def _parts(line: str) -> list[tuple[str, str]]:
    return [(found.group(), found.lastgroup or "") for found in _VALUE.finditer(line)]


def _name_before(parts: Sequence[tuple[str, str]]) -> str:
    """The name that a value is given to: the nearest before it that is assigned to, or called with it."""
    named = [part for (part, kind), (sign, _) in pairwise(parts) if kind == "name" and sign in _ASSIGNS]
    quoted = [part for (part, kind), (sign, _) in pairwise(parts) if kind == "value" and sign == ":"]
    return _bare((named or quoted or [""])[-1]).rpartition(".")[2]


def _bare(text: str) -> str:
    return " ".join(text.split()).strip("\"'")


def _number(text: str) -> tuple[float, str] | None:
    found = re.match(r"(-?\d[\d_]*(?:\.\d+)?)\s*(.*)", text)
    return (float(found[1].replace("_", "")), found[2]) if found else None


_TYPE = re.compile(r"(?P<type>[a-z]+)(?:\((?P<scope>[^)]*)\))?!?:\s")
_DOCUMENTS = re.compile(
    r"(?:\A|/)(?:docs?|runbooks?)/|\.(?:md|rst|adoc)\Z"
    r"|(?:\A|/)(?:CODEOWNERS|LICENSE|OWNERS|README|CHANGELOG|NOTICE)(?:\.txt)?\Z",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"(?:\A|/)(?:tests?|spec|testdata|fixtures|__tests__|e2e)/|[._-](?:test|spec)\.\w+\Z|(?:\A|/)test_\w+\.py\Z",
    re.IGNORECASE,
)
_BUILD = re.compile(
    r"(?:\A|/)\.(?:github|gitlab|circleci|buildkite)/|(?:\A|/)(?:Jenkinsfile|\.[\w.-]*(?:lint|editorconfig|gitignore|prettier)[\w.-]*)\Z|\.gitlab-ci\.yml\Z",
    re.IGNORECASE,
)
_LOOKS = re.compile(r"\.(?:css|scss|less|svg|png|ico|woff2?)\Z|(?:\A|/)templates?/[^/]*\.html\Z", re.IGNORECASE)
_PACKAGES = re.compile(
    r"(?:\A|/)(?:go\.(?:mod|sum)|package(?:-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.(?:toml|lock)|poetry\.lock"
    r"|uv\.lock|Pipfile(?:\.lock)?|requirements[\w.-]*\.txt|pom\.xml|build\.gradle(?:\.kts)?|Gemfile(?:\.lock)?|composer\.lock)\Z"
)
_FILES: tuple[tuple[re.Pattern[str], str], ...] = (
    (_DOCUMENTS, "changes documents only"),
    (_TESTS, "changes tests only"),
    (_BUILD, "changes how the code is built and checked only"),
    (_LOOKS, "changes how pages look only"),
)
_TYPES: dict[str, str] = {
    "docs": "changes documents only",
    "test": "changes tests only",
    "tests": "changes tests only",
    "ci": "changes how the code is built and checked only",
    "style": "changes how the code is laid out only",
}
_TELEMETRY = re.compile(
    r"\b(?:log|logger|logging|slog|console|metrics?|prometheus|tracer?|span|counter)\w*\s*[.(]|\bLOG_\w+|\bprint(?:f|ln)?\(",
    re.IGNORECASE,
)
_LOGGED = re.compile(r"\A\W*\w+\s*(?::=|=)\s*[\w.]+\(|\A[)}\]]+[,;]?\Z|\A\W+\Z")


def _inert(title: str, files: Sequence[str], diff: str) -> str:
    if files:
        for pattern, words in _FILES:
            if any(pattern.search(path) for path in files) and all(
                pattern.search(path) or _DOCUMENTS.search(path) for path in files
            ):
                return words
    changed = _changed_lines(diff)
    found = _TYPE.match(title)
    if found and found["type"] in _TYPES and not changed:
        return _TYPES[found["type"]]
    if changed and _is_whole(diff) and all(_COMMENT.match(line) for line in changed):
        return "changes comments only"
    return ""


def _changed_lines(diff: str) -> list[str]:
    """The lines that are taken out or put in, without blank ones."""
    lines = (line for line in diff.splitlines()[:MAX_LINES] if line[:1] in {"+", "-"})
    return [text for line in lines if not line.startswith(("+++", "---")) and (text := line[1:].strip())]


def _is_whole(diff: str) -> bool:
    """Whether all of a diff is read: of a part, nothing can be said that holds for all."""
    return diff.count("\n") < MAX_LINES


def _is_telemetry(lines: Sequence[str]) -> bool:
    telling = [line for line in lines if not _LOGGED.search(line)]
    return bool(telling) and all(_TELEMETRY.search(line) for line in telling)
