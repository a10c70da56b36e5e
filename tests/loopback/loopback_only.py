"""Keeps a Python process on loopback.

An audit hook sees every connection and every name that is looked up, whichever library asks, and cannot be taken away
again. The suite's own process installs it in `conftest.py`; the programs that tests start do so by `sitecustomize`.
"""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

HOSTS = frozenset({"", "localhost", "localhost.localdomain"})


class NotLoopbackError(ConnectionError):
    """Something tried to leave the machine."""


def install() -> None:
    """Refuse, from now on and for good, whatever would leave the machine."""
    sys.addaudithook(_refuse)


def is_loopback(host: object) -> bool:
    """Whether a host is this machine."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name is None or not isinstance(name, str) or name.lower().rstrip(".") in HOSTS:
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in {"socket.connect", "socket.sendto"}:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
    else:
        return
    if not is_loopback(host):
        raise NotLoopbackError(f"a test tried to reach {host!r}, which is not this machine")
