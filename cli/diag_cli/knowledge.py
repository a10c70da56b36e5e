"""`diag knowledge`: the index of runbooks that an answer's next steps can quote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.options import Debug, Index
from diag_cli.render.safe import one_line
from diag_cli.render.streams import complain, put, put_drawn, say
from diag_cli.render.words import counted
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from diag_graph.knowledge import KnowledgeIndex
    from diag_graph.knowledge.indexing import Changes

EXAMPLES = """\b
  diag knowledge add ./runbooks
  diag knowledge search "connection pool exhausted"
  diag knowledge list
"""
_SHOWN = 10
"""Files that are named of each kind of change."""

app = typer.Typer(
    name="knowledge",
    help="Index Markdown runbooks, and see what a diagnosis finds in them.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.callback(invoke_without_command=True)
def knowledge(context: typer.Context) -> None:
    """What stands before a command; nothing but help."""
    if context.invoked_subcommand is None:
        put(context.get_help())


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders of Markdown files, or files.")],
    index: Index = None,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Index Markdown runbooks and postmortems; of paths that are known, only what changed.

    Files that were renamed keep their passages, and files that are gone leave the index. A file that cannot be read is
    told, and stops nothing. The domain of a runbook is the top folder that it lies in, or what its front matter says as
    `domain:`.
    """
    from diag_cli.render.progress import counting
    from diag_graph.knowledge import KnowledgeIndex
    from diag_graph.sources.errors import SourceError

    given = settings.resolve({"knowledge": index})
    with KnowledgeIndex.open(given["knowledge"], create=True) as knowledge:
        for path in paths:
            try:
                with counting("files", quiet=quiet) as progress:
                    changes = knowledge.add(path, progress)
            except SourceError as error:
                raise InputError(error.message, error.advice) from error
            put(_told(changes))
            for refused in changes.refused:
                complain(f"not read: {one_line(refused.name)}: {one_line(refused.why)}")
    return Exit.OK


def _told(changes: Changes) -> str:
    where = one_line(changes.root)
    files = changes.unchanged + len(changes.added) + len(changes.changed) + len(changes.renamed)
    total = f"{counted(files, 'file')}, {counted(changes.passages, 'passage')}"
    if not files:
        return f"{where}: no Markdown files are there" + _lost(changes)
    if changes.nothing_new:
        return f"{where}: nothing changed; {total}"
    kinds = (
        ("added", changes.added),
        ("changed", changes.changed),
        ("renamed", [f"{old} to {new}" for old, new in changes.renamed]),
        ("removed", changes.removed),
    )
    said = ", ".join(f"{len(names):,} {kind}" for kind, names in kinds if names)
    lines = [f"{where}: {said}; {total}"]
    for kind, names in kinds:
        if changes.unchanged:  # the first time, everything is new
            lines += [f"  {kind}: {one_line(name)}" for name in names[:_SHOWN]]
            lines += [f"  {kind}: and {len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
    return "\n".join(lines)


def _lost(changes: Changes) -> str:
    return f"; {len(changes.removed):,} removed" if changes.removed else ""


@app.command()
def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for, in your own words.")],
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="NAME", help="Only runbooks of this domain.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=10, help="How many passages.")] = 4,
    as_json: AsJson = False,
    index: Index = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Show what an agent would get from lookup_knowledge: passages, how relevant each is, and what was left out."""
    from diag_cli.render.knowledge import found
    from diag_graph.contracts import InvocationStatus
    from diag_graph.tools.lookup_alone import looked_up

    if not " ".join(query).strip():
        raise InputError("there is nothing to search for", 'Name it: diag knowledge search "pool exhausted"')
    given = settings.resolve({"knowledge": index})
    with _opened(given["knowledge"]) as knowledge:
        arguments = {"query": " ".join(query), "domain": domain, "limit": limit}
        invocation = looked_up(knowledge, arguments)
    if invocation.status not in {InvocationStatus.OK, InvocationStatus.EMPTY}:
        raise InputError(f"the search failed: {invocation.error}", "See `diag knowledge search --help`.")
    if as_json:
        from diag_cli.envelope import as_text

        put(as_text({"result": invocation.result, "retrievalDetails": invocation.retrieval_details}))
    else:
        put_drawn(lambda _: found(invocation))
    return Exit.OK


@app.command("list")
def list_(
    as_json: AsJson = False,
    index: Index = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """List what was added: paths, domains, and what could not be read."""
    from diag_graph.database.problems import FileProblem
    from diag_graph.knowledge import KnowledgeError, KnowledgeIndex

    given = settings.resolve({"knowledge": index})
    try:
        with KnowledgeIndex.open(given["knowledge"]) as knowledge:
            roots, domains = knowledge.roots(), knowledge.domains()
    except KnowledgeError as error:
        if error.problem is not FileProblem.MISSING:
            raise
        roots, domains = [], ()
    if as_json:
        from dataclasses import asdict

        from diag_cli.envelope import as_text

        put(as_text({"roots": [asdict(root) for root in roots], "domains": list(domains)}))
        return Exit.OK
    if not roots:
        say("No runbooks are indexed yet. Add some: diag knowledge add DIR")
        return Exit.OK
    lines = []
    for root in roots:
        lines.append(f"{one_line(root.path)}: {counted(root.files, 'file')}, {counted(root.passages, 'passage')}")
        lines += [f"  not read: {one_line(refused.name)}: {one_line(refused.why)}" for refused in root.refused]
    lines += ["", "Domains", *(f"  {one_line(line)}" for line in domains)]
    put("\n".join(lines))
    return Exit.OK


@app.command()
def remove(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="As `diag knowledge list` shows them.")],
    index: Index = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Take paths that were added out of the index; the files themselves stay."""
    given = settings.resolve({"knowledge": index})
    with _opened(given["knowledge"]) as knowledge:
        for path in paths:
            root = knowledge.remove(path)
            put(f"{one_line(root.path)}: {counted(root.files, 'file')} taken out of the index")
    return Exit.OK


def _opened(path: Path) -> KnowledgeIndex:
    from diag_graph.knowledge import KnowledgeIndex

    return KnowledgeIndex.open(path)
