"""Calls to what records no spans of its own: databases above all, which their clients' spans alone show.

The self time of such a call is a wait for the peer: the client's trouble or the peer's, which other evidence must tell.
Names of attributes follow OpenTelemetry's conventions for database and client spans, old and new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diag_graph.analysis.records import Edge, Span

MOSTLY = 0.5
"""Share of an operation's spans that must be waits for it to be called one."""

_STATEMENT = re.compile(r"(?:select|insert|update|delete|merge|upsert|commit|rollback|begin|sql)\b", re.IGNORECASE)
"""Operations that are a statement to a database (OpenTelemetry names such spans by the statement's verb)."""
_POOL = "db.client."
"""Attributes of a client's own pool of connections, which is no call."""
_PEER_KEYS = ("peer.service", "server.address", "net.peer.name", "network.peer.address", "peer.hostname", "db.host")
_DATABASE_KEYS = ("db.namespace", "db.name", "db.instance")
_SYSTEM_KEYS = ("db.system.name", "db.system")
_KIND_KEYS = ("span.kind", "kind", "span_kind", "spanKind")
_DATABASE_NAME = re.compile(
    r"(?:^|[^a-z])db(?:$|[^a-z])|database|sql|postgres|maria|mongo|redis|memcache|cassandra|oracle|dynamo|elastic|\brds\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wait:
    """What the self time of an operation is spent waiting for.

    Attributes:
        peer: What is called, as the span or the call graph names it; empty when neither does.
        database: Whether the call is one to a database.
    """

    peer: str
    database: bool


def is_statement(operation: str) -> bool:
    """Whether an operation's name begins with a verb of SQL."""
    return _STATEMENT.match(operation) is not None


def wait_of(span: Span, recording: frozenset[str]) -> Wait | None:
    """What a span without recorded callee waits for; None when it is no call to something else.

    Args:
        span: A span that no span of another service answers.
        recording: Services that have spans of their own: what they do is seen, and need not be guessed.
    """
    attributes = span.attributes
    database = is_statement(span.name) or any(key.startswith("db.") and not key.startswith(_POOL) for key in attributes)
    client = any(str(attributes.get(key, "")).lower().endswith("client") for key in _KIND_KEYS)
    keys = _PEER_KEYS if database or client else _PEER_KEYS[:1]
    peer = next((str(attributes[key]) for key in keys if attributes.get(key)), "")
    if peer in recording or not (database or peer):
        return None
    if not peer:
        peer = next((str(attributes[key]) for key in (*_DATABASE_KEYS, *_SYSTEM_KEYS) if attributes.get(key)), "")
    return Wait(peer, database)


def common_wait(waits: Sequence[Wait | None]) -> Wait | None:
    """What most spans of an operation wait for; None when most of them are no waits."""
    found = Counter(wait for wait in waits if wait is not None)
    if sum(found.values()) < MOSTLY * max(len(waits), 1):
        return None
    return min(found, key=lambda wait: (-found[wait], wait.peer), default=None)


def named_peer(wait: Wait, client: str, edges: Iterable[Edge], known: Iterable[str], recording: frozenset[str]) -> Wait:
    """The wait with its peer as other evidence names it, where that can be told.

    Args:
        wait: As the spans tell it.
        client: Who waits.
        edges: The call graph.
        known: Names of entities that other evidence speaks of.
        recording: Services that have spans of their own.
    """
    by_name = {name.lower(): name for name in known}
    host = wait.peer.lower().partition(":")[0]
    for name in (host, host.partition(".")[0]):
        if name in by_name:
            return Wait(by_name[name], wait.database)
    silent = sorted({edge.callee for edge in edges if edge.caller == client and edge.callee not in recording})
    likely = [name for name in silent if _DATABASE_NAME.search(name)] if wait.database else []
    candidates = likely or silent
    if wait.database and len(candidates) == 1:
        return Wait(candidates[0], database=True)
    return wait
