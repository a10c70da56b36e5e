"""Subjects that a change and a failure can share: what a setting or a step is about, and what a failure speaks of.

A time limit that was cut and calls that run into one are of one subject, though they share no word. Each subject is two
lists of word stems: what changes of it are written with, and what failures of it are reported with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Subject(StrEnum):
    """What changes and failures are about, in words that fit "is about ..."."""

    TIME_LIMIT = "time limits"
    POOL = "connections and their pools"
    CACHE = "caches"
    RETRY = "retries"
    VOLUME = "how many calls or writes are made"
    MEMORY = "memory"
    QUERY = "queries and their schema"
    LOCK = "locks and concurrent use"
    MISSING_VALUE = "values that may be missing"
    DISK = "how much is written to disk"
    CERTIFICATE = "certificates and TLS"
    ADDRESS = "names and addresses"
    PERMISSION = "permissions"
    QUEUE = "queues and workers"
    REGISTRATION = "what is registered or found"
    FORMAT = "formats of data"
    CPU = "computing"
    CONTAINER = "images and probes"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The stems of one subject; each begins a word of a text taken `apart` (of `maxConns`: `max`, `conns`)."""

    changed: re.Pattern[str]
    failing: re.Pattern[str]


def _stems(*stems: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(stems)})[a-z0-9]*")


def _words(changed: str, failing: str) -> Vocabulary:
    """Two lists of stems, with `_` for a blank within one."""
    return Vocabulary(*(_stems(*(stem.replace("_", " ") for stem in text.split())) for text in (changed, failing)))


SUBJECTS: dict[Subject, Vocabulary] = {
    Subject.TIME_LIMIT: _words(
        "timeout time_?out deadline breaker", "timeout timed_out deadline cancel(?:l?ed)? expired"
    ),
    Subject.POOL: _words("pool conn(?:s|ections?)?\\b", "pool connection conns? too_many_clients acquire"),
    Subject.CACHE: _words("cache ttl evict memo invalidat", "cache hit_ratio miss(?:es)?\\b stampede evict"),
    Subject.RETRY: _words("retr(?:y|ies) attempts? backoff jitter", "retr(?:y|ies) attempt budget_exhausted backoff"),
    Subject.VOLUME: _words(
        "batch bulk chunk limit quota rate burst concurren throttl page fan",
        "throttl capacity 429 quota rate_exceeded too_many_requests batch throughput",
    ),
    Subject.MEMORY: _words(
        "memory mem\\b heap xmx leak retain remember keep buffer unbounded history",
        "memory oom heap rss resident gc\\b",
    ),
    Subject.QUERY: _words(
        "query quer(?:y|ies) sql select join index migrat schema column table where orm",
        "query queries slow_query statement column table relation seq_scan sql select",
    ),
    Subject.LOCK: _words(
        "lock mutex mu\\b unlock synchroni atomic transaction isolation semaphore",
        "lock deadlock concurrent race mutex blocked waiting_sessions transaction",
    ),
    Subject.MISSING_VALUE: _words(
        "nil null none undefined optional guard default",
        "nil null none undefined dereference npe key_error panic attribute_error type_error",
    ),
    Subject.DISK: _words(
        "log level debug verbos sampl retention rotat dump volume disk sink",
        "disk space enospc filesystem inode read-only storage volume",
    ),
    Subject.CERTIFICATE: _words("cert tls ssl x509 issuer truststore keystore cipher", "x509 cert tls ssl handshake"),
    Subject.ADDRESS: _words(
        "host dns url endpoint address domain port resolver upstream region",
        "no_such_host name_resolution dns nxdomain unknown_host refused no_route unreachable",
    ),
    Subject.PERMISSION: _words(
        "auth token permission role rbac polic iam scope credential password secret grant",
        "unauthori forbidden denied permission 401 403 authentication credential",
    ),
    Subject.QUEUE: _words(
        "queue worker consumer partition prefetch topic thread pool executor", "queue lag backlog consumer rebalanc"
    ),
    Subject.REGISTRATION: _words(
        "register registr seed bootstrap init route mount bind import enable",
        "not_found unknown missing unregistered 404 no_such",
    ),
    Subject.FORMAT: _words(
        "parse encod decod serial format schema json proto field type unmarshal",
        "parse unmarshal decod unexpected malformed invalid deserial syntax cannot_be_cast",
    ),
    Subject.CPU: _words("loop regex sort hash compress encrypt recurs iterat", "cpu throttl load saturat"),
    Subject.CONTAINER: _words(
        "image tag probe entrypoint command configmap requests? limits? replicas?",
        "image_pull err_image crash_loop create_container probe readiness liveness",
    ),
}


def changed_subjects(text: str) -> dict[Subject, str]:
    """The subjects that a text of a change speaks of, each with the word that says so."""
    return _spoken(text, failing=False)


def failing_subjects(text: str) -> dict[Subject, str]:
    """The subjects that a text of a failure speaks of, each with the word that says so."""
    return _spoken(text, failing=True)


def _spoken(text: str, *, failing: bool) -> dict[Subject, str]:
    parted = apart(text)
    found = {}
    for subject, vocabulary in SUBJECTS.items():
        match = (vocabulary.failing if failing else vocabulary.changed).search(parted)
        if match:
            found[subject] = match.group()
    return found


def apart(text: str) -> str:
    """A text with the parts of its compound names apart, in lower case: `defaultMaxConns` is `default max conns`."""
    return _HUMPS.sub(" ", text).replace("_", " ").replace(".", " ").lower()


_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
