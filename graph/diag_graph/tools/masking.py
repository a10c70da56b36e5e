"""Masking secrets in what tools return, before it is stored, shown or sent to a model (X3).

The mask is one fixed word, so that masking is stable (the same text is masked alike each time, and masking twice
changes nothing) and a masked result can be cited. What is masked: values of keys that name a secret, credentials in
URLs and connection strings, authorization headers, private keys, and tokens that their issuers gave a known form.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "[masked]"

_SECRET_NAME = (
    r"(?:[\w-]*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|"
    r"access[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|bearer[_-]?token|client[_-]?secret|credential)"
    r"|pwd|token)"
)
_SECRET_KEY = re.compile(
    rf"\A{_SECRET_NAME}s?\Z|\A(?:proxy-)?authorization\Z|\A(?:set-)?cookie\Z|\Ax-api-key\Z", re.IGNORECASE
)

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), MASK),
    (re.compile(r"(\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@]{0,200}:)[^\s/@]{1,500}(?=@)", re.IGNORECASE), rf"\1{MASK}"),
    (
        re.compile(
            r"(\b(?:proxy-)?authorization\b[\"']?\s{0,5}[:=]\s{0,5}[\"']?(?:(?:basic|bearer|digest|token)\s+)?)"
            r"(?!\[masked\])[^\s\"',;]+",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"(\b(?:bearer|basic)\s+)(?=[\w.~+/=-]*\d)[\w.~+/-]{16,}=*", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), MASK),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), MASK),
    (
        re.compile(
            r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|sk-[\w-]{16,}|"
            r"AIza[\w-]{30,}|hf_\w{20,}|npm_\w{20,}|SG\.[\w-]{16,}\.[\w-]{16,})"
        ),
        MASK,
    ),
    (
        re.compile(
            rf"((?<![\w-]){_SECRET_NAME}[\"']?\s{{0,3}}[=:]\s{{0,3}})\"(?!\[masked\])[^\"\n]{{1,500}}\"", re.IGNORECASE
        ),
        rf'\1"{MASK}"',
    ),
    (
        re.compile(
            rf"((?<![\w-]){_SECRET_NAME}[\"']?\s{{0,3}}[=:]\s{{0,3}})'(?!\[masked\])[^'\n]{{1,500}}'", re.IGNORECASE
        ),
        rf"\1'{MASK}'",
    ),
    (
        re.compile(
            rf"((?<![\w-]){_SECRET_NAME}\s{{0,3}}[=:]\s{{0,3}})(?!\[masked\]|[\"']|\d{{1,6}}\b|(?:true|false|null|none)\b)"
            r"[^\s\"',;&<>(){}]{1,500}",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
)


def mask_text(text: str) -> str:
    """The text with every secret that is recognised replaced by `[masked]`."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def mask(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value with its secrets masked, in strings and behind keys that name a secret; the shape stays."""
    root: list[Any] = [value]
    pending: list[tuple[Any, Any]] = [(root, 0)]
    while pending:
        holder, key = pending.pop()
        item = holder[key]
        if isinstance(item, str):
            named = isinstance(holder, dict) and isinstance(key, str) and _SECRET_KEY.match(key)
            holder[key] = MASK if named and item else mask_text(item)
        elif isinstance(item, dict):
            holder[key] = dict(item)
            pending.extend((holder[key], name) for name in item)
        elif isinstance(item, list | tuple):
            holder[key] = list(item)
            pending.extend((holder[key], index) for index in range(len(item)))
    return root[0]
