"""`diag trace`: what a run did, and why it ended where it did."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.options import Db, Debug
from diag_cli.render.streams import put, say

EXAMPLES = """\b
  diag trace last
  diag trace 3f2a --json
  diag trace last --export run.json
"""


def trace(
    run: Annotated[str, typer.Argument(metavar="RUN_ID", help='A run id, a unique beginning of one, or "last".')],
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as one JSON object.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the run to a file, for diag replay.")
    ] = None,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Inspect what a run did, and why it ended where it did.

    Shows the path through the graph with its reasons, the agents' steps, the tool calls and which of them the answer
    cites, the gatekeeper's audit with what failed it, the verdicts, and the answer.
    """
    from diag_graph.store import Store

    given = settings.resolve({"db": db})
    with Store.open(given["db"], create=False) as store:
        document = store.run(store.resolve(run))
    if export is not None:
        from diag_graph.runfile import save_run_file

        save_run_file(document, export)
        say(f"written to {export}; run it with: diag replay {export}")
    if as_json:
        from diag_cli.envelope import as_text, envelope

        put(as_text(envelope(document)))
    elif export is None:
        from diag_cli.render.trace import print_trace

        print_trace(document)
    return Exit.OK
