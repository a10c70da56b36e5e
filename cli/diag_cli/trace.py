"""`diag trace`: what a run did, and why it ended where it did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.options import Db, Debug
from diag_cli.render.streams import put, say
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from diag_graph.outcome import RunDocument

EXAMPLES = """\b
  diag trace last
  diag trace last --invocation inv-3
  diag trace 3f2a --json
  diag trace last --export run.json
"""


def trace(
    run: Annotated[str, typer.Argument(metavar="RUN_ID", help='A run id, a unique beginning of one, or "last".')],
    invocation: Annotated[
        str | None,
        typer.Option(
            "--invocation", metavar="ID", help="Print one tool call's recorded result, the cited parts marked."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run, or the call, as one JSON object.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the run to a file, for diag replay.")
    ] = None,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Inspect what a run did, and why it ended where it did.

    Shows the path through the graph with its reasons, the agents' steps, the tool calls and how often each is cited,
    the gatekeeper's audit with what failed it, what a second round added, the verdicts, and the answer.
    """
    from diag_graph.store import Store

    given = settings.resolve({"db": db})
    with Store.open(given["db"], create=False) as store:
        document = store.run(store.resolve(run))
    if export is not None:
        from diag_graph.runfile import save_run_file

        save_run_file(document, export)
        say(f"written to {export}; run it with: diag replay {export}")
    if invocation is not None:
        _print_call(document, invocation, as_json=as_json)
    elif as_json:
        from diag_cli.envelope import as_text, envelope

        put(as_text(envelope(document)))
    elif export is None:
        from diag_cli.render.trace import print_trace

        print_trace(document)
    return Exit.OK


def _print_call(document: RunDocument, wanted: str, *, as_json: bool) -> None:
    from diag_cli.render.invocation import print_invocation, print_invocation_json

    found = next((call for call in document.invocations if call.id == wanted), None)
    if found is None:
        there = ", ".join(call.id for call in document.invocations) or "none"
        raise InputError(f'run {document.run.run_id} has no tool call "{wanted}"', f"It has: {there}.")
    (print_invocation_json if as_json else print_invocation)(document, found)
