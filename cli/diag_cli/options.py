"""Options that several commands share, each worded once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from diag_cli.settings import SETTINGS, Display

_LOG_NAME = "diag --debug"


@dataclass(slots=True)
class Asked:
    """What the command line says about diag itself; Click's context carries it."""

    debug: bool = False


def _note_debug(context: typer.Context, debug: bool) -> None:
    if debug:
        context.find_root().ensure_object(Asked).debug = True
        _show_log()


def _show_log() -> None:
    """Let the engine's log go to stderr: of what it survived, the traceback stands there alone."""
    import logging

    log = logging.getLogger("diag_graph")
    if all(handler.get_name() != _LOG_NAME for handler in log.handlers):
        handler = logging.StreamHandler()
        handler.set_name(_LOG_NAME)
        log.addHandler(handler)


Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an error.", callback=_note_debug, is_eager=True),
]
Db = Annotated[str | None, typer.Option("--db", metavar="FILE", help=SETTINGS["db"].help)]
Index = Annotated[str | None, typer.Option("--index", metavar="FILE", help=SETTINGS["knowledge"].help)]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help=SETTINGS["model"].help)]
ApiBase = Annotated[str | None, typer.Option("--api-base", metavar="URL", help=SETTINGS["api_base"].help)]
Skills = Annotated[str | None, typer.Option("--skills", metavar="DIR", help=SETTINGS["skills"].help)]
Shown = Annotated[Display | None, typer.Option("--display", help=SETTINGS["display"].help)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but the answer, as plain text, and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the run as one JSON object.")]
Incident = Annotated[
    Path | None,
    typer.Option("--incident", metavar="DIR", help="Look at a recorded incident: a folder of metrics, logs, traces."),
]
Session = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help='Go on with a conversation, by its id or a unique beginning; "last".'),
]
Continue = Annotated[
    bool, typer.Option("--continue", "-c", help="Go on with the last conversation, and the folder that it is about.")
]
