"""`diag sessions`: the conversations that there are, to go on with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.exits import Exit
from diag_cli.options import Db, Debug
from diag_cli.render.safe import one_line, shortened
from diag_cli.render.streams import is_terminal, put, put_drawn, say
from diag_cli.render.words import tone

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from diag_graph.outcome import SessionRow

_PIPED_TITLE = 200
_SHORT_ID = 8
_ROOMY = 100
"""Columns from which on ids and dates are shown in full."""


def sessions(
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many, the latest first.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """List the conversations, the latest first.

    Go on with one: diag ask --session ID "and what changed before that?"
    """
    from diag_graph.database.problems import FileProblem
    from diag_graph.store import Store, StoreError

    given = settings.resolve({"db": db})
    try:
        with Store.open(given["db"], create=False) as store:
            found = store.sessions(limit)
    except StoreError as error:
        if error.problem is not FileProblem.MISSING:
            raise
        found = []
    if as_json:
        from diag_cli.envelope import as_text, camel

        put(as_text([camel(one) for one in found]))
    elif found:
        put_drawn(lambda console: _table(found, console))
    else:
        say('No conversations yet. Begin one: diag ask "why did checkout latency jump?" --incident DIR')
    return Exit.OK


def _table(found: list[SessionRow], console: Console) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    piped = not is_terminal(sys.stdout)
    if piped:
        console.width = 100 + _PIPED_TITLE  # a pipe has no edge to wrap at: a line a conversation, for grep and cut
    full = piped or console.width >= _ROOMY
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False, expand=True)
    table.add_column("CONVERSATION", no_wrap=True, width=16 if full else 12)
    table.add_column("LAST ASKED", no_wrap=True, width=16 if full else 11)
    table.add_column("RUNS", no_wrap=True, width=4, justify="right")
    table.add_column("VERDICT", no_wrap=True, width=10)
    table.add_column("BEGAN WITH", no_wrap=True, overflow="ellipsis", ratio=1)
    for one in found:
        verdict, moment = one.last_verdict or "-", one_line(one.last_asked)[:16].replace("T", " ")
        name = one_line(one.session_id)
        table.add_row(
            Text(name if full else name[:_SHORT_ID]),
            Text(moment if full else moment[5:]),
            Text(str(one.runs)),
            Text(verdict, style=tone(verdict) if one.last_verdict else "dim"),
            Text(shortened(one_line(one.title), _PIPED_TITLE)),
        )
    return table
