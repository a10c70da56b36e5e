"""`diag ask`: one question, one run, one answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from diag_cli import settings
from diag_cli.asking import chosen_folder, open_evidence, run_question, say_unread
from diag_cli.conclusion import conclude
from diag_cli.conversation import go_on_with, wanted
from diag_cli.model_settings import usable_model
from diag_cli.options import ApiBase, Continue, Db, Debug, Incident, Json, Model, Quiet, Session, Shown, Skills
from diag_cli.skills import usable_skills
from diag_graph.agents.models.loading import begin_import
from diag_graph.errors import InputError

FROM_STDIN = "-"
_MAX_STDIN_BYTES = 1_000_000

EXAMPLES = """\b
  diag ask "why did checkout latency jump at 14:05?" --incident ./incident
  diag ask --continue "and what changed before that?"
  diag ask "is anything wrong?" --incident ./incident --json --strict
"""


def ask(
    question: Annotated[list[str] | None, typer.Argument(metavar="QUESTION", hidden=True)] = None,
    incident: Incident = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Look from here on: 14:05, 2026-07-16T14:05Z, 2h.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Look up to here.")] = None,
    go_on: Continue = False,
    session: Session = None,
    model: Model = None,
    api_base: ApiBase = None,
    skills: Skills = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Also write the run to a file, for diag replay.")
    ] = None,
    no_knowledge: Annotated[
        bool, typer.Option("--no-knowledge", help="Do not look into the indexed runbooks.")
    ] = False,
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
    given = settings.resolve({"db": db, "model": model, "api_base": api_base, "display": display, "skills": skills})
    reference = wanted(session, go_on=go_on)
    thinks = usable_model(given)
    if thinks is not None:
        begin_import()  # it takes seconds, in which the evidence is opened
    text = _question(question or [])
    if save is not None:
        _check_place(save)
    conversation = go_on_with(given["db"], reference, quiet=quiet)
    folder = chosen_folder(incident, conversation, quiet=quiet)
    knows = not no_knowledge and given["knowledge"].exists()
    evidence = open_evidence(folder, given["zone"], quiet=quiet or knows)
    document, kept = run_question(
        text,
        given=given,
        evidence=evidence,
        skills=usable_skills(given, quiet=quiet),
        incident=folder,
        thinks=thinks,
        conversation=conversation,
        since=since,
        until=until,
        knows=knows,
        quiet=quiet,
    )
    status = conclude(document, kept=kept, save=save, strict=strict, as_json=as_json, quiet=quiet)
    if evidence is not None and folder is not None and not quiet:
        say_unread(evidence, folder)
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


def _check_place(path: Path) -> None:
    """Find out before the run, and not after it, that a file cannot be written there."""
    if path.is_dir() or not path.parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise InputError(f"the run cannot be saved to {path}: {what}", "Name a file in a folder that exists.")
