"""One question of a conversation: what it looks at, and its run. `diag ask` and the prompt of `diag chat` share it."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diag_cli import settings
from diag_cli.conversation import NEW, Conversation
from diag_cli.guidance import runbooks
from diag_cli.question import as_question
from diag_cli.render.display import display_for
from diag_cli.render.streams import complain
from diag_cli.render.words import counted
from diag_cli.settings import Display, Settings
from diag_cli.watch import watching
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from diag_graph.agents.models import ModelSettings
    from diag_graph.outcome import RunDocument
    from diag_graph.sources.ports import Evidence, SkillSource

_SHOWN_ASSUMPTIONS = 3


class Answered(NamedTuple):
    """A run that has ended."""

    document: RunDocument
    kept: bool
    """Whether it stands in the store."""


def run_question(
    question: str,
    *,
    given: Settings,
    evidence: Evidence | None,
    skills: SkillSource | None,
    incident: Path | None,
    thinks: ModelSettings | None,
    conversation: Conversation = NEW,
    since: str | None = None,
    until: str | None = None,
    knows: bool = True,
    quiet: bool = False,
) -> Answered:
    """Ask a question, under the eyes of the store and of a display.

    Args:
        question: What the user wants to know, or the JSON of the alert that asks it.
        given: The settings.
        evidence: Where to look; None: nowhere.
        skills: The skills that may guide the run; None: there are none.
        incident: The folder that the evidence is of, to be remembered with the conversation.
        thinks: The language model that thinks; None: the built-in analyst.
        conversation: What the question goes on with.
        since: Start of the window to look at, as the user wrote it.
        until: Its end.
        knows: Look into the indexed runbooks, if there are any.
        quiet: Show nothing while it runs.

    Raises:
        RunInterruptedError: the user pressed Ctrl-C.
        InputError: the question or a time cannot be used.
        ConfigError: the model cannot be used.
    """
    about = None if incident is None else str(incident.absolute())
    with (
        runbooks(given["knowledge"], wanted=knows) as knowledge,
        watching(given["db"], given["display"], quiet=quiet, incident=about) as watch,
    ):
        from diag_graph.run import diagnose
        from diag_graph.sources.ports import Guidance

        document = diagnose(
            as_question(question),
            evidence=evidence,
            guidance=Guidance(knowledge=knowledge, skills=skills),
            session_id=conversation.session_id,
            history=conversation.history,
            since=since,
            until=until,
            zone=given["zone"],
            model=thinks,
            listeners=watch.listeners,
        )
    return Answered(document, watch.kept)


def chosen_folder(named: Path | None, conversation: Conversation, *, quiet: bool) -> Path | None:
    """The folder that a question looks at: the one that is named, else the one that the conversation is about.

    Raises:
        InputError: that one is not there any more.
    """
    if named is not None or conversation.incident is None:
        return named
    shown = shortest(conversation.incident)
    if not conversation.incident.is_dir():
        raise InputError(
            f"the conversation is about {shown}, and there is no such folder any more",
            "Name where it is now with --incident DIR.",
        )
    if not quiet:
        complain(f"looks at {shown} again, as the conversation did; for another folder: --incident DIR")
    return conversation.incident


def open_evidence(incident: Path | None, zone: str, *, quiet: bool) -> Evidence | None:
    """Open a folder of evidence, with the user's own failure signatures; None when there is none, which is said.

    Raises:
        InputError: the folder or a signature cannot be used.
    """
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
    except SignatureError as error:
        raise InputError(
            str(error), "Mend it or take it out; docs/signatures.md says what each field means."
        ) from error
    except SourceError as error:
        raise InputError(error.message, error.advice) from error
    return replace(evidence, signatures=(*evidence.signatures, *own))


def read_all(evidence: Evidence, wanted: Display | None) -> None:
    """Read the evidence now, and show how far that has come."""
    from diag_graph.events import EvidenceRead
    from diag_graph.sources.watching import watched

    with (
        display_for(wanted, quiet=False) as show,
        watched(evidence, lambda read: show(EvidenceRead(read.source, read.done, read.total))),
    ):
        evidence.inventory.entries()


def say_unread(evidence: Evidence, incident: Path) -> None:
    """Say, once, that a part of the evidence was not seen, and what was assumed in reading the rest."""
    entries = evidence.inventory.entries()
    lost = sum(entry.kind == "unreadable" for entry in entries)
    if lost:
        where = shlex.quote(str(incident))
        complain(f"{lost} of {counted(len(entries), 'file')} could not be read; why: diag doctor --incident {where}")
    assumed = Counter(entry.assumption for entry in entries if entry.assumption)
    for assumption, files in assumed.most_common(_SHOWN_ASSUMPTIONS):
        complain(f"assumed in {counted(files, 'file')}: {assumption}")


def shortest(path: Path) -> str:
    """A path as a person here would write it: from the working directory on, where it lies within."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
