"""`diag ask`: one question, one run, one answer."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.conclusion import conclude
from diag_cli.model_settings import model_settings
from diag_cli.options import ApiBase, Db, Debug, Incident, Json, Model, Quiet, Shown
from diag_cli.render.streams import complain
from diag_cli.render.words import counted
from diag_cli.watch import watching
from diag_graph.agents.models.loading import begin_import
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from diag_graph.sources.ports import Evidence
    from diag_graph.store import Store

FROM_STDIN = "-"
HISTORY_TURNS = 6
"""How many earlier questions and answers of a conversation a run is given."""

_MAX_STDIN_BYTES = 1_000_000
_SHOWN_ASSUMPTIONS = 3

EXAMPLES = """\b
  diag ask "why did checkout latency jump at 14:05?" --incident ./incident
  diag ask "and what changed before that?" --session last --incident ./incident
  diag ask "is anything wrong?" --incident ./incident --json --strict
"""


def ask(
    question: Annotated[list[str] | None, typer.Argument(metavar="QUESTION", hidden=True)] = None,
    incident: Incident = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Look from here on: 14:05, 2026-07-16T14:05Z, 2h.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Look up to here.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help='Go on with a conversation; "last" is the latest.')
    ] = None,
    model: Model = None,
    api_base: ApiBase = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Also write the run to a file, for diag replay.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 unless the verdict is PASS.")] = False,
    as_json: Json = False,
    display: Shown = None,
    quiet: Quiet = False,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Ask a question, watch the graph work, get an answer with citations.

    QUESTION is what you want to know, in your own words; a single dash reads it from stdin.

    Exit status: 0 a safe answer, 1 the run failed, 2 the command or a setting is wrong, 4 --strict and no PASS, 130
    interrupted.
    """
    given = settings.resolve({"db": db, "model": model, "api_base": api_base, "display": display})
    thinks = model_settings(given)
    if thinks is not None:
        begin_import()  # it takes seconds, in which the evidence is opened
    text = _question(question or [])
    if save is not None:
        _check_place(save)
    evidence = _evidence(incident, given["zone"], quiet=quiet)
    with watching(given["db"], given["display"], quiet=quiet) as watch:
        from diag_graph.run import diagnose

        session_id = _conversation(watch.store, session, quiet=quiet)
        document = diagnose(
            text,
            evidence=evidence,
            session_id=session_id,
            history=watch.store.history(session_id, HISTORY_TURNS) if watch.store and session_id else (),
            since=since,
            until=until,
            zone=given["zone"],
            model=thinks,
            listeners=watch.listeners,
        )
    status = conclude(document, kept=watch.kept, save=save, strict=strict, as_json=as_json, quiet=quiet)
    if evidence is not None and incident is not None and not quiet:
        _say_unreadable(evidence, incident)
    return status


def _question(words: list[str]) -> str:
    """The question, with or without quotes around it."""
    if not words:
        raise InputError("there is no question", 'Ask one: diag ask "why did checkout latency jump at 14:05?"')
    if words != [FROM_STDIN]:
        return " ".join(words)
    raw = sys.stdin.buffer.read(_MAX_STDIN_BYTES + 1)
    if len(raw) > _MAX_STDIN_BYTES:
        raise InputError(f"more than {_MAX_STDIN_BYTES:,} bytes came in on stdin", "Ask a shorter question.")
    return raw.decode("utf-8", "replace")


def _evidence(incident: Path | None, zone: str, *, quiet: bool) -> Evidence | None:
    if incident is None:
        if not quiet:
            complain("there is nothing to look at", "Name a folder of metrics, logs and traces: --incident DIR")
        return None
    from diag_graph.analysis.failure_signatures import SignatureError
    from diag_graph.sources.errors import SourceError
    from diag_graph.sources.folder import open_folder
    from diag_graph.tools.signature_files import own_signatures

    try:
        evidence = open_folder(incident, zone=zone)
        own = own_signatures(settings.config_folder())
    except (SourceError, SignatureError) as error:
        raise InputError(str(error)) from error
    return replace(evidence, signatures=(*evidence.signatures, *own))


def _say_unreadable(evidence: Evidence, incident: Path) -> None:
    """Say, once, that a part of the evidence was not seen, and what was assumed in reading the rest."""
    entries = evidence.inventory.entries()
    lost = sum(entry.kind == "unreadable" for entry in entries)
    if lost:
        where = shlex.quote(str(incident))
        complain(f"{lost} of {counted(len(entries), 'file')} could not be read; why: diag doctor --incident {where}")
    assumed = Counter(entry.assumption for entry in entries if entry.assumption)
    for assumption, files in assumed.most_common(_SHOWN_ASSUMPTIONS):
        complain(f"assumed in {counted(files, 'file')}: {assumption}")


def _conversation(store: Store | None, session: str | None, *, quiet: bool) -> str | None:
    """The id of the conversation to go on with; None begins one."""
    from diag_graph.store.runs import LATEST

    if store is None or session is None:
        return session
    if session == LATEST:
        return store.latest_session()
    if not store.has_session(session) and not quiet:
        complain(f"a new conversation begins: {session}", "`diag runs` shows the conversations that there are.")
    return session


def _check_place(path: Path) -> None:
    """Find out before the run, and not after it, that a file cannot be written there."""
    if path.is_dir() or not path.parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise InputError(f"the run cannot be saved to {path}: {what}", "Name a file in a folder that exists.")
