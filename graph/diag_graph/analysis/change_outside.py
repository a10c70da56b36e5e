"""Failures that no change of the service brought about: what ran out by itself, and what fails at somebody else's.

A certificate ends at its hour, whatever was deployed that morning; a provider that answers 503 does so for all who ask.
Only a change of the very thing (the certificate, the address that is called) can have done that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from diag_graph.analysis.change_subjects import apart

_EXPIRED = re.compile(
    r"certificate (?:has |is )?expired|cert(?:ificate)?[ _]has[ _]expired|certificate_expired", re.IGNORECASE
)
_OUTSIDE_HOST = re.compile(
    r"https?://(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?!(?:svc|local|internal|cluster|lan|test)\b)[a-z]{2,})\b[^\s\"']*"
    r"[^\n|;]{0,40}?(?:\b50[0-4]\b|unavailable|bad gateway|deadline|timed? ?out|time-?out)",
    re.IGNORECASE,
)


def made_elsewhere(text: str) -> Mapping[str, tuple[str, ...]]:
    """Why a failure is not of the service's making, each with words one of which a change at fault would touch.

    Args:
        text: What fails, in words.
    """
    found: dict[str, tuple[str, ...]] = {}
    if _EXPIRED.search(text):
        found["changes no certificate, and one ended at its time"] = ("cert", "issuer", "keystore", "truststore", "pem")
    host = _OUTSIDE_HOST.search(text)
    if host:
        name = host["host"].lower()
        found[f'changes no address, and "{name}", another\'s service, fails to answer'] = (
            apart(name),
            "base url",
            "endpoint",
        )
    return found
