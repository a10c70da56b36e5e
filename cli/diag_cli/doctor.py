"""`diag doctor`: what is set up and within reach, and what to do about what is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.model_settings import ROLES, model_settings
from diag_cli.options import ApiBase, Db, Debug, Incident, Model
from diag_cli.render.safe import one_line
from diag_cli.render.streams import is_styled, is_terminal, put, put_drawn
from diag_cli.render.words import Tone, counted
from diag_cli.settings import Origin, Settings
from diag_cli.skills import offered
from diag_graph.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from diag_graph.agents.models.settings import ModelSettings

_PACKAGES = ("langgraph", "litellm", "pydantic", "sqlite-utils", "polars", "typer", "rich", "pyyaml")
_LANGSMITH = ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
_SIGNS: dict[Tone, str] = {Tone.GOOD: "ok", Tone.DOUBTFUL: "note", Tone.BAD: "fault"}


class Finding(NamedTuple):
    """One thing that was looked at."""

    tone: Tone
    topic: str
    said: str
    advice: str = ""


def doctor(
    incident: Incident = None,
    model: Model = None,
    api_base: ApiBase = None,
    probe: Annotated[
        bool, typer.Option("--probe", help="Also ask the model three tiny questions, and say what works.")
    ] = False,
    db: Db = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as a JSON array.")] = False,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Say what is set up and within reach, and what to do about what is not.

    Exit status 2 when something is at fault.
    """
    given = settings.resolve({"db": db, "model": model, "api_base": api_base})
    findings = [*_program(), *_settings(given), *_store(given["db"]), *_model(given, probe=probe)]
    findings += [*_evidence(incident), *_runbooks(given["knowledge"]), *_skills(given), *_signatures(), *_around()]
    if as_json:
        from diag_cli.envelope import as_text

        names = ("state", "topic", "said", "advice")
        put(as_text([dict(zip(names, (_SIGNS[f.tone], *f[1:]), strict=True)) for f in findings]))
    else:
        put_drawn(lambda _: _page(findings))
    return Exit.USAGE if any(finding.tone is Tone.BAD for finding in findings) else Exit.OK


def _program() -> Iterator[Finding]:
    import platform
    from importlib import metadata

    from diag_graph import __version__

    yield Finding(Tone.GOOD, "diag", f"{__version__}, Python {platform.python_version()} on {platform.system()}")
    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            yield Finding(
                Tone.BAD, "packages", f"{name} is not installed", "Install diag again, with its dependencies."
            )
    yield Finding(Tone.GOOD, "packages", ", ".join(versions))


def _settings(given: Settings) -> Iterator[Finding]:
    files = ", ".join(map(str, given.files)) or f"no file ({settings.user_file()} would be read)"
    yield Finding(Tone.GOOD, "settings", files)
    for name, value in given.values.items():
        if value.origin is not Origin.DEFAULT:
            yield Finding(Tone.GOOD, "settings", f"{name} is {value.value}, by {value.source} ({value.origin})")


def _store(path: Path) -> Iterator[Finding]:
    from diag_graph.database.problems import FileProblem
    from diag_graph.store import Store, StoreError

    try:
        with Store.open(path, create=False, wait_s=2) as store:
            store.check_writable()
            yield Finding(Tone.GOOD, "store", f"{path}, writable, {counted(store.count(), 'run')}")
    except StoreError as error:
        if error.problem is FileProblem.MISSING:
            yield Finding(Tone.GOOD, "store", f"{path} will be created by the first question")
        else:
            yield Finding(Tone.BAD, "store", error.message, error.advice)


def _model(given: Settings, *, probe: bool) -> Iterator[Finding]:
    from diag_graph.agents.models.keys import check_keys

    thinks = model_settings(given)
    if thinks is None:
        said = "none is set: the built-in analyst answers, without a model, a key or a network"
        yield Finding(Tone.GOOD, "model", said)
        return
    where = f" at {thinks.api_base}" if thinks.api_base else ""
    yield Finding(Tone.GOOD, "model", f"{thinks.label()}{where}")
    try:
        check_keys(thinks)
    except ConfigError as error:
        yield Finding(Tone.BAD, "model", error.message, error.advice)
        return
    if not probe:
        yield Finding(Tone.GOOD, "model", "not tried: diag doctor --probe asks it three tiny questions")
        return
    for name in dict.fromkeys(map(thinks.model_of, ROLES)):
        yield from _probed(thinks, name)


def _probed(thinks: ModelSettings, name: str) -> Iterator[Finding]:
    """What a model showed when it was asked, and where diag takes it for something else."""
    from diag_graph.agents.models.probe import Ability, probe

    found = probe(thinks, name)
    able = found.taken_for
    for seen in found.sightings:
        works = f"{name}: {seen.ability}: {seen.said}"
        if seen.ability is Ability.TEXT:
            yield Finding(Tone.GOOD if seen.works else Tone.BAD, "model", works)
            continue
        taken = able.json_schema if seen.ability is Ability.JSON_SCHEMA else able.tools
        setting = "json_schema" if seen.ability is Ability.JSON_SCHEMA else "tool_calls"
        if seen.works == taken:
            yield Finding(Tone.GOOD, "model", works if seen.works else f"{works}; it is not needed")
        else:
            better = "on" if seen.works else "off"
            advice = f'Set {setting} = "{better}" ({settings.SETTINGS[setting].variable}): diag takes it for the other.'
            yield Finding(Tone.DOUBTFUL, "model", works, advice)
    told = f"{name}: holds {able.context_tokens:,} tokens, replies with at most {able.output_tokens:,}"
    advice = "" if able.context_known else "Nobody says how many it holds: set context_tokens to what it does."
    yield Finding(Tone.GOOD if able.context_known else Tone.DOUBTFUL, "model", told, advice)
    if not able.priced:
        yield Finding(Tone.GOOD, "model", f"{name}: no price is known, so that runs cost null")


def _skills(given: Settings) -> Iterator[Finding]:
    from diag_graph.sources.errors import SkillFolderError
    from diag_graph.sources.skills import open_skills

    folder = given.values["skills"]
    try:
        found = offered(open_skills(folder.value))
    except SkillFolderError as error:
        if folder.origin is Origin.DEFAULT and not folder.value.exists():
            yield Finding(Tone.GOOD, "skills", f"none; they would be read from {folder.value}")
        else:
            yield Finding(Tone.DOUBTFUL, "skills", error.message, error.advice)
        return
    names = ", ".join(card.name for card in found.cards()) or "none that can be used"
    yield Finding(Tone.GOOD, "skills", f"{folder.value}: {names}")
    for one in found.refused:
        yield Finding(Tone.DOUBTFUL, "skills", f"{one.name}: {one.message}", f"{one.path}: {one.advice}")


def _signatures() -> Iterator[Finding]:
    """The user's own failure signatures, and whether they can be used."""
    from diag_graph.analysis.failure_signatures import SignatureError
    from diag_graph.tools.signature_files import OWN_FILE, own_signatures

    path = settings.config_folder() / OWN_FILE
    try:
        own = own_signatures(path.parent)
    except SignatureError as error:
        advice = "Mend it or take it out; docs/signatures.md says what each field means."
        yield Finding(Tone.BAD, "signatures", str(error), advice)
        return
    if own:
        names = ", ".join(one.id for one in own)
        yield Finding(Tone.GOOD, "signatures", f"{path}: {names}, beside the built-in ones")
    else:
        yield Finding(Tone.GOOD, "signatures", f"the built-in ones; your own would be read from {path}")


def _evidence(incident: Path | None) -> Iterator[Finding]:
    if incident is None:
        yield Finding(Tone.DOUBTFUL, "evidence", "no source is named", "Name a folder to look at: --incident DIR")
        return
    from diag_cli.render.plain import PlainDisplay
    from diag_graph.events import EvidenceRead
    from diag_graph.sources.errors import SourceError
    from diag_graph.sources.folder import open_folder
    from diag_graph.sources.watching import watched

    show = PlainDisplay()
    try:
        evidence = open_folder(incident)
        with watched(evidence, lambda read: show(EvidenceRead(read.source, read.done, read.total))):
            entries = evidence.inventory.entries()
    except SourceError as error:
        yield Finding(Tone.BAD, "evidence", error.message, error.advice)
        return
    for entry in entries:
        if entry.problem:
            yield Finding(Tone.DOUBTFUL, "evidence", f"{entry.name}: {entry.problem}")
        else:
            assumed = f" ({entry.assumption})" if entry.assumption else ""
            yield Finding(Tone.GOOD, "evidence", f"{entry.name}: {entry.kind}, {entry.detail}{assumed}")


def _runbooks(path: Path) -> Iterator[Finding]:
    """What is indexed, where it lies, and what of it could not be read or is not there any more."""
    from diag_graph.database.problems import FileProblem
    from diag_graph.knowledge import KnowledgeError, KnowledgeIndex

    try:
        with KnowledgeIndex.open(path, wait_s=2) as index:
            roots = index.roots()
    except KnowledgeError as error:
        if error.problem is FileProblem.MISSING:
            roots = []
        else:
            yield Finding(Tone.BAD, "runbooks", error.message, error.advice)
            return
    if not roots:
        yield Finding(Tone.GOOD, "runbooks", "none are indexed: diag knowledge add DIR makes answers advise by yours")
    for root in roots:
        said = f"{root.path}: {counted(root.files, 'file')}, {counted(root.passages, 'passage')}, as of {root.read_at}"
        if not Path(root.path).exists():
            advice = f"Take it out: diag knowledge remove {root.path}"
            yield Finding(Tone.DOUBTFUL, "runbooks", f"{said}; it is not there any more", advice)
            continue
        lost = f"; {counted(len(root.refused), 'file')} not read: diag knowledge list" if root.refused else ""
        yield Finding(Tone.DOUBTFUL if lost else Tone.GOOD, "runbooks", said + lost)


def _around() -> Iterator[Finding]:
    where = "a terminal" if is_terminal(sys.stdout) else "no terminal: plain lines"
    styles = "with colours" if is_styled(sys.stdout) else "without colours"
    yield Finding(Tone.GOOD, "terminal", f"{where}, {styles}, {sys.stdout.encoding}")
    if found := [name for name in _LANGSMITH if os.environ.get(name)]:
        switched = os.environ.get("DIAG_LANGSMITH") == "1"
        said = "and are followed: DIAG_LANGSMITH is 1" if switched else "and are ignored: nothing is sent to LangSmith"
        yield Finding(Tone.DOUBTFUL if switched else Tone.GOOD, "LangSmith", f"{', '.join(found)} are set, {said}")


def _page(findings: list[Finding]) -> Table:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=5, no_wrap=True)
    grid.add_column(width=10, no_wrap=True)
    grid.add_column(overflow="fold")
    topic = ""
    for finding in findings:
        name = finding.topic if finding.topic != topic else ""
        topic = finding.topic
        said = Text(one_line(finding.said))
        if finding.advice:
            said.append(f"\n{one_line(finding.advice)}", style="dim")
        grid.add_row(Text(_SIGNS[finding.tone], style=finding.tone), Text(name, style="bold"), said)
    return grid
