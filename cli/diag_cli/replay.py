"""`diag replay`: a recorded or hand-written run through the same graph, without any model or tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.conclusion import conclude
from diag_cli.exits import Exit
from diag_cli.options import Db, Debug, Json, Quiet, Shown
from diag_cli.render.streams import complain, say
from diag_cli.watch import watching

if TYPE_CHECKING:
    from diag_graph.playback import Difference, ReplayResult

EXAMPLES = """\b
  diag ask "why is checkout slow?" --incident ./incident --save run.json
  diag replay run.json
"""


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run file, as `diag ask --save` writes it.")],
    as_json: Json = False,
    display: Shown = None,
    quiet: Quiet = False,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Run a recorded or hand-written run through the same graph.

    No model and no tool is called. When the file carries a trace, the replay is held against it: exit 3 when it went
    another way, with the first difference.
    """
    from diag_graph.playback import replay as play
    from diag_graph.runfile import read_run_file

    given = settings.resolve({"db": db, "display": display})
    run_file = read_run_file(file)
    with watching(given["db"], given["display"], quiet=quiet) as watch:
        result = play(run_file, listeners=watch.listeners)
    if result.divergence is not None and not as_json:
        return _differs(result)
    status = conclude(result.document, kept=watch.kept, as_json=as_json, quiet=quiet, advise=result.matches)
    if not result.matches:
        return _differs(result)
    if result.compared and not quiet:
        say("The replay went as recorded.")
    return status


def _differs(result: ReplayResult) -> int:
    if result.divergence is not None:
        complain(f"the replay left its recording: {result.divergence}", "The file's steps do not fit the graph's path.")
    elif result.difference is not None:
        complain(_in_words(result.difference), "Expected is what the file's trace says, found what this replay did.")
    return Exit.REPLAY_DIFFERS


def _in_words(difference: Difference) -> str:
    expected, found = (json.dumps(side, ensure_ascii=False) for side in (difference.expected, difference.actual))
    return (
        f"the replay differs from the recorded trace, first at {difference.where}: expected {expected}, found {found}"
    )
