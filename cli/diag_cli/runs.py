"""`diag runs`: what was asked before."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.options import Db, Debug
from diag_cli.render.safe import one_line, shortened
from diag_cli.render.streams import is_terminal, put, put_drawn, say
from diag_cli.render.words import NO_VERDICT, seconds, tone

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from diag_graph.outcome import RunRow

_PIPED_QUESTION = 200
_SHORT_ID = 8
"""Digits of an id that tell runs apart well enough for a narrow terminal; `diag trace` takes a unique beginning."""

_ROOMY = 100
"""Columns from which on ids and dates are shown in full."""


def runs(
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many, the latest first.")] = 20,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Those of one conversation alone, as `diag sessions` names it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """List the runs in the store, the latest first.

    STATUS says whether there is a safe answer, VERDICT how far it is supported. FALLBACK stands where nothing could be
    verified, so that the answer says so and no more; `diag trace RUN` shows why.
    """
    from diag_graph.database.problems import FileProblem
    from diag_graph.store import Store, StoreError

    given = settings.resolve({"db": db})
    try:
        with Store.open(given["db"], create=False) as store:
            found = store.runs(limit, session_id=store.resolve_session(session) if session else None)
    except StoreError as error:
        if error.problem is not FileProblem.MISSING:
            raise
        found = []
    if as_json:
        from diag_cli.envelope import as_text, run_object

        put(as_text([run_object(run) for run in found]))
    elif found:
        put_drawn(lambda console: _table(found, console))
    else:
        say('No runs yet. Ask something: diag ask "why did checkout latency jump?" --incident DIR')
    return Exit.OK


def _table(found: list[RunRow], console: Console) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    piped = not is_terminal(sys.stdout)
    if piped:
        console.width = 100 + _PIPED_QUESTION  # a pipe has no edge to wrap at: a line a run, for grep and cut
    full = piped or console.width >= _ROOMY
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False, expand=True)
    for name, width in (
        ("RUN", 16 if full else _SHORT_ID),
        ("STARTED", 16 if full else 11),
        ("STATUS", 11),
        ("VERDICT", 10),
    ):
        table.add_column(name, no_wrap=True, width=width)
    table.add_column("TOOK", no_wrap=True, width=7, justify="right")
    table.add_column("QUESTION", no_wrap=True, overflow="ellipsis", ratio=1)
    for run in found:
        verdict = _verdict(run)
        moment = one_line(run.started_at)[:16].replace("T", " ")
        table.add_row(
            Text(run.run_id if full else run.run_id[:_SHORT_ID]),
            Text(moment if full else moment[5:]),
            Text(run.status, style=tone(run.status)),
            Text(verdict, style="dim" if verdict == "-" else tone(verdict)),
            Text(seconds(run.duration_ms) or "-", style="dim"),
            Text(_question(run)),
        )
    return table


def _verdict(run: RunRow) -> str:
    from diag_graph.outcome import RunStatus

    if run.verdict is None and run.failure_reason and run.status == RunStatus.SUCCESS:
        return NO_VERDICT
    return run.verdict or "-"


def _question(run: RunRow) -> str:
    return shortened(("replay: " if run.is_replay else "") + one_line(run.question), _PIPED_QUESTION)
