"""`diag replay`: a recorded or hand-written run through the same graph, without any tool."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diag_cli import settings
from diag_cli.conclusion import conclude
from diag_cli.exits import Exit
from diag_cli.model_settings import usable_model
from diag_cli.options import ApiBase, Db, Debug, Json, Model, Quiet, Shown
from diag_cli.render.difference import place_of, side_by_side
from diag_cli.render.streams import complain, say
from diag_cli.render.words import node_words
from diag_cli.settings import Settings
from diag_cli.watch import watching
from diag_graph.errors import InputError

if TYPE_CHECKING:
    from diag_graph.playback import ReplayResult
    from diag_graph.runfile import RunFile

EXAMPLES = """\b
  diag ask "why is checkout slow?" --incident ./incident --save run.json
  diag replay run.json
  diag replay run.json --agents live --model openai/gpt-4.1
"""


class Agents(StrEnum):
    """Who thinks in a replay."""

    RECORDED = "recorded"
    LIVE = "live"


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run file, as `diag ask --save` writes it.")],
    agents: Annotated[
        Agents,
        typer.Option("--agents", help="Who thinks: the recording, or live agents, given the recorded tool results."),
    ] = Agents.RECORDED,
    model: Model = None,
    api_base: ApiBase = None,
    as_json: Json = False,
    display: Shown = None,
    quiet: Quiet = False,
    db: Db = None,
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """Run a recorded or hand-written run through the same graph.

    No model and no tool is called. When the file carries a trace, the replay is held against it: exit 3 when it went
    another way, with the first difference.

    With --agents live, a model or the built-in analyst answers the file's question again, over the recorded tool
    results. A call that was not recorded gets an error; no tool is ever called.
    """
    from diag_graph.runfile import read_run_file

    given = settings.resolve({"db": db, "display": display, "model": model, "api_base": api_base})
    if agents is Agents.RECORDED and (model or api_base):
        raise InputError("a replay of recorded agents calls no model", "Add --agents live, or leave the model out.")
    run_file = read_run_file(file)
    if agents is Agents.LIVE:
        return _what_if(run_file, given, as_json=as_json, quiet=quiet)
    from diag_graph.playback import replay as play

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


def _what_if(run_file: RunFile, given: Settings, *, as_json: bool, quiet: bool) -> int:
    """Let live agents answer; that they come to something else is what was asked for, and no failure."""
    thinks = usable_model(given)
    with watching(given["db"], given["display"], quiet=quiet) as watch:
        from diag_graph.playback import first_difference, what_if

        document = what_if(run_file, model=thinks, listeners=watch.listeners)
    status = conclude(document, kept=watch.kept, as_json=as_json, quiet=quiet)
    if run_file.orchestration_trace and not quiet:
        difference = first_difference(run_file.orchestration_trace, document.run.orchestration_trace or {})
        if difference is None:
            say("It took the recorded run's way through the graph.")
        else:
            say(f"It left the recorded run's way at {place_of(difference)}:\n{side_by_side(difference)}")
    return status


def _differs(result: ReplayResult) -> int:
    if result.divergence is not None:
        complain(f"the replay left its recording: {result.divergence}", _came_from(result))
    elif result.difference is not None:
        complain(f"the replay differs from the recorded trace, first at {place_of(result.difference)}:")
        say(side_by_side(result.difference))
    return Exit.REPLAY_DIFFERS


def _came_from(result: ReplayResult) -> str:
    """How the graph had come to where the recording has no answer."""
    trace = result.document.run.orchestration_trace or {}
    if not trace.get("final_node"):
        return "The run had only begun."
    return f"Before that, {node_words(trace['final_node'])} had ended with {trace['termination_reason']}."
