"""Masking secrets in what tools return, before it is stored, shown or sent to a model (X3).

The mask is one fixed word, and masking is stable: the same text is masked alike each time, masking twice changes
nothing, and a part of a masked text that begins and ends at words is left as it is. So a masked result can be cited.
For the last of these, no rule may look at what stands left of a word to find that it is no secret.

What is masked: values of keys that name a secret, credentials in URLs and connection strings, authorization headers,
cookies, private keys, and tokens that their issuers gave a known form. A number of a few digits is a count and no
token (`tokens=512`).

Every rule reads a text in time that grows with its length: one attempt for each run of characters, or bounded ones.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

MASK = "[masked]"
_MASKED = r"\[(?:masked(?:\]|\Z)|\Z)"
"""The mask, or as much of it as a cut text shows."""


class Rule(NamedTuple):
    """What is masked.

    Attributes:
        hints: The rule can only match a text that holds one of these words, in lower case; looking for them is cheap.
        pattern: Finds the secret, and what must stay around it.
        replacement: What stands there then.
    """

    hints: str
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]


_WORDS = (
    r"(?:password|passwd|passphrase|pwd|secret|credential|"
    r"(?:api|access|account|private|signing|encryption|master)[_-]?key|(?:db|user|admin|root|smtp)[_-]?pass|"
    r"x-amz-signature)"
)
_NAME = rf"(?:{_WORDS}|token)"
"""How the name of a secret ends; what stands before it (`db_password`) makes no difference."""
_SECRET_KEY = re.compile(
    rf"\A(?:[\w-]*{_WORDS}s?|(?:proxy-)?authorization|(?:set-)?cookie|(?P<token>[\w-]*token))\Z", re.IGNORECASE
)
_NO_SECRET = re.compile(r"(?:\d{1,3}|true|false|null|none)?\Z", re.IGNORECASE)
_NO_TOKEN = re.compile(r"(?:\d{1,6}|true|false|null|none)?\Z", re.IGNORECASE)

_SCHEMES = r"(?:basic|bearer|token|apikey|api-key|key|negotiate|ntlm|splunk)"
_LONG_SCHEMES = r"(?:digest|aws4-hmac-sha256)"
"""Schemes whose credentials are a list that runs to the end of the line."""

_IS = r"\\{0,3}[\"']?[ \t]{0,3}[=:][ \t]{0,3}"
_NAMED = rf"({_NAME}{_IS})"
_ENDS = r"(?!\w|[.-]\w)"


def _plain(digits: int) -> str:
    """No match where a value begins that is masked already, or no secret."""
    masked = rf"{_MASKED}(?:[\s\"',;&<>(){{}}\\]|\Z)"
    return rf"(?!{masked}|(?:\d{{1,{digits}}}|true|false|null|none){_ENDS})"


def _rule(
    hints: str, pattern: str, replacement: str | Callable[[re.Match[str]], str], flags: int = re.IGNORECASE
) -> Rule:
    return Rule(hints, re.compile(pattern, flags), replacement)


def _web_tokens(run: re.Match[str]) -> str:
    """A run of words with its JSON web tokens masked: a header in base64, which begins `eyJ`, payload, signature."""
    parts = deque(run[0].split("."))
    shown: list[str] = []
    while parts:
        part = parts.popleft()
        header = re.search(r"\beyJ[\w-]{8}", part)
        if header and parts and len(parts[0]) >= 8:  # noqa: PLR2004 - no payload is shorter
            part = part[: header.start()] + MASK
            parts.popleft()  # payload
            if parts:
                parts.popleft()  # signature
        shown.append(part)
    return ".".join(shown)


_NAMES = (
    "password passwd passphrase pwd secret credential x-amz-signature token "
    "_key -key apikey accesskey accountkey privatekey signingkey encryptionkey masterkey "
    "_pass -pass dbpass userpass adminpass rootpass smtppass"
)
_UNQUOTED = r"[^\s\"',;&<>(){}\\]+"

_RULES: tuple[Rule, ...] = (
    _rule(
        "-----begin",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
        MASK,
    ),
    _rule(
        "://", r"(\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@]{0,200}:)[^\s/\"'<>]{1,500}(?=@(?!sha256(?::|\Z)))", rf"\1{MASK}"
    ),
    _rule("authorization", rf"(\bauthorization{_IS}[\"']?{_LONG_SCHEMES}[ ])(?!{_MASKED})[^\n]+", rf"\1{MASK}"),
    _rule(
        "authorization",
        rf"(\bauthorization{_IS}\\{{0,3}}[\"']?(?:{_SCHEMES}[ ]{{1,3}})?)"
        rf"(?!{_MASKED}|(?:{_SCHEMES}|{_LONG_SCHEMES}|(?-i:[a-z]{{1,12}}))(?![\w.~+/=-])){_UNQUOTED}",
        rf"\1{MASK}",
    ),
    _rule(
        "cookie",
        rf"(\bcookie{_IS}\\{{0,3}}[\"']?)(?=[^\s\"';=]{{1,200}}=)(?!{_MASKED})[^\n\"'\\]+",
        rf"\1{MASK}",
    ),
    _rule("bearer basic", r"(\b(?:bearer|basic)[ ]{1,3})(?=[\w.~+/=-]*\d)[\w.~+/-]{16,}=*", rf"\1{MASK}"),
    _rule("eyj", r"(?<![\w.-])(?=[\w.-]*eyJ)[\w.-]+", _web_tokens, re.NOFLAG),
    _rule(
        "akia asia ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox sk- k_live k_test aiza hf_ npm_ sg.",
        r"\b(?:A[KS]IA[A-Z0-9]{16}\b|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|"
        r"xox[abeprs]-[\w-]{10,}|sk-(?:[\w-]{0,24}-)?[A-Za-z0-9_]{20,}[\w-]*|[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}|"
        r"AIza[\w-]{30,}|(?:hf|npm)_[A-Za-z0-9]{30,}|SG\.[\w-]{16,}\.[\w-]{16,})",
        MASK,
        re.NOFLAG,
    ),
    _rule("hooks.slack.com", r"(\bhooks\.slack\.com/services/)[\w/]{8,}", rf"\1{MASK}"),
    _rule(_NAMES, rf'{_NAMED}"(?!{_MASKED})(?:[^"\\\n]|\\[^\n]?)+(?:"|(?=\n|\Z))', rf'\1"{MASK}"'),
    _rule(_NAMES, rf"{_NAMED}'(?!{_MASKED})(?:[^'\\\n]|\\[^\n]?)+(?:'|(?=\n|\Z))", rf"\1'{MASK}'"),
    _rule(_NAMES, rf"{_NAMED}(\\{{1,3}}[\"'])(?!{_MASKED})[^\"'\\\n]+", rf"\1\2{MASK}"),
    _rule(_NAMES, rf"({_WORDS}{_IS}){_plain(3)}{_UNQUOTED}", rf"\1{MASK}"),
    _rule(_NAMES, rf"(token{_IS}){_plain(6)}{_UNQUOTED}", rf"\1{MASK}"),
    _rule(
        _NAMES,
        rf"((?<!-)--[\w-]{{0,60}}?{_NAME}[ ]{{1,3}})"
        rf"(?!-|{_MASKED}|(?:is|was|not|must|and|or|has|may|for|flag|option)\b){_UNQUOTED}",
        rf"\1{MASK}",
    ),
    _rule(
        _NAMES,
        rf"(\bname{_IS}[\"']?[\w-]{{0,60}}?{_NAME}[\"']?,?\s{{1,80}}[\"']?value{_IS}[\"']?)(?!{_MASKED})[^\s\"',}}][^\"'\n,}}]*",
        rf"\1{MASK}",
    ),
)


_HINTS: tuple[tuple[str, tuple[str, ...]], ...] = tuple(
    (hints, tuple(hints.split())) for hints in dict.fromkeys(rule.hints for rule in _RULES)
)


def mask_text(text: str) -> str:
    """The text with every secret that is recognised replaced by `[masked]`."""
    hinted = _hinted(text)
    if hinted:
        for rule in _RULES:
            if rule.hints in hinted:
                text = rule.pattern.sub(rule.replacement, text)
    return text


def is_free_of_secrets(text: str) -> bool:
    r"""Whether a JSON text surely holds none, in strings or keys: no word in it that any rule looks for.

    An escape may spell such a word (`\u0070assword`, `:\/\/`), so that a text with one is not vouched for.
    """
    return "\\u" not in text and "\\/" not in text and not _hinted(text)


def _hinted(text: str) -> set[str]:
    """The hints of rules that may match; a plain loop, for it runs over everything that is recorded."""
    lowered = text.lower()
    found = set()
    for hints, words in _HINTS:
        for word in words:
            if word in lowered:
                found.add(hints)
                break
    return found


def mask(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value with its secrets masked, in strings and behind keys that name a secret; the shape stays."""
    root: list[Any] = [value]
    pending: list[tuple[Any, Any, str]] = [(root, 0, "")]
    while pending:
        holder, at, name = pending.pop()
        item = holder[at]
        if isinstance(item, str):
            holder[at] = MASK if _is_secret(name, item) else mask_text(item)
        elif isinstance(item, dict):
            holder[at] = dict(item)
            pending.extend((holder[at], key, key_name) for key, key_name in _named_members(item))
        elif isinstance(item, list | tuple):
            holder[at] = list(item)
            pending.extend((holder[at], index, name) for index in range(len(item)))
    return root[0]


def _named_members(item: dict[Any, Any]) -> Iterator[tuple[Any, str]]:
    """Each key, and the name under which its value is to be judged.

    In `{"name": "DB_PASSWORD", "value": "..."}`, as Kubernetes writes environments, the value is the named one's.
    """
    named = item.get("name")
    for key in item:
        yield key, named if key == "value" and isinstance(named, str) else str(key)


def _is_secret(name: str, value: str) -> bool:
    found = _SECRET_KEY.match(name)
    if found is None:
        return False
    return not (_NO_TOKEN if found["token"] else _NO_SECRET).match(value)
