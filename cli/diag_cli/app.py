"""The command line: its commands, and the one place where an error becomes an exit status."""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from diag_cli import ask, chat, doctor, evals, knowledge, replay, runs, sessions, skills, trace
from diag_cli.exits import Exit
from diag_cli.options import Asked, Debug
from diag_cli.render.streams import ReaderGoneError, be_lenient, complain, is_terminal, put, say
from diag_cli.watch import RunInterruptedError
from diag_graph.errors import DiagError, InputError

_STDIN_SECONDS, _STDIN_BYTES = 0.3, 4096
"""How long a pipe may take to begin, and how much of it is looked at."""

HELP = """Diagnosis for people on call: answers whose every statement is bound to text that a tool really returned.

\b
  diag ask "why did checkout latency jump at 14:05?" --incident ./incident
  diag                     on a terminal: a prompt for a conversation

Nothing needs to be set up: without a language model, the built-in analyst reads the evidence.
"""

app = typer.Typer(
    name="diag",
    help=HELP,
    rich_markup_mode=None,  # plain help: it starts fast, and reads the same in a pipe
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,  # locals hold secrets
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from diag_graph import __version__

        put(f"diag {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def diag(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.", callback=_version)] = False,  # noqa: ARG001
    debug: Debug = False,  # noqa: ARG001 - its callback has noted it
) -> int:
    """The options that stand before a command; without a command, a prompt on a terminal, and help elsewhere."""
    if context.invoked_subcommand is not None:
        return Exit.OK
    if all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        return chat.chat()
    if _is_piped_in():
        raise InputError("a question came in on stdin, and no command that reads it", "Ask it: diag ask -")
    put(context.get_help())
    return Exit.OK


def _is_piped_in() -> bool:
    """Whether something stands in a stdin that is no terminal; one that stays silent is not waited for."""
    if sys.stdin is None or sys.stdin.closed or is_terminal(sys.stdin):
        return False
    try:
        ready, _, _ = select.select([sys.stdin], [], [], _STDIN_SECONDS)
        return bool(ready and os.read(sys.stdin.fileno(), _STDIN_BYTES).strip())
    except (OSError, ValueError):  # it is no file, or none that can be waited for here
        return False


app.command(epilog=ask.EXAMPLES, short_help="Ask, watch the graph work, get an answer.")(ask.ask)
app.command(short_help="Open a prompt for a conversation; `diag` alone does too.")(chat.chat)
app.command(epilog=replay.EXAMPLES)(replay.replay)
app.command(epilog=trace.EXAMPLES)(trace.trace)
app.command()(runs.runs)
app.command()(sessions.sessions)
app.command(epilog=skills.EXAMPLES, short_help="List the skills and check them.")(skills.skills)
app.command(short_help="Say what is set up, and what to do about what is not.")(doctor.doctor)
app.command("eval", epilog=evals.EXAMPLES, short_help="Score the diagnosis on cases with known answers.")(
    evals.evaluate
)
app.add_typer(knowledge.app, short_help="Index runbooks, and see what a diagnosis finds in them.")


def main() -> NoReturn:
    """The `diag` program."""
    be_lenient()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(Exit.TERMINATED))  # so that the terminal is left as it was
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line.

    Returns:
        The exit status.
    """
    asked = Asked()
    try:
        status = app(list(arguments), prog_name="diag", standalone_mode=False, obj=asked) or Exit.OK
    except typer.TyperException as error:  # what Typer finds wrong with the command line
        return _usage(error)
    except DiagError as error:
        complain(error.message, error.advice)
        return _with_traceback(asked, Exit.USAGE)
    except RunInterruptedError as error:
        complain("interrupted", error.advice)
        return Exit.INTERRUPTED
    except ReaderGoneError:
        return Exit.READER_GONE
    except Exception as error:  # noqa: BLE001 - the last door: a user is never shown a traceback unasked
        complain(
            f"unexpected error: {type(error).__name__}: {error}",
            "This is a fault of diag. Run it again with --debug for the traceback.",
        )
        return _with_traceback(asked, Exit.RUN_FAILED)
    if status == Exit.INTERRUPTED and not isinstance(status, Exit):  # what Typer makes of Ctrl-C that no command took
        complain("interrupted")
    return int(status)


def _usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "diag"
    formatted = getattr(error, "format_message", None)
    said = formatted() if formatted else str(error)
    complain(said.replace("Value error, ", ""), f"See `{command} --help`.")
    return Exit.USAGE


def _with_traceback(asked: Asked, status: Exit) -> Exit:
    if asked.debug:
        say(traceback.format_exc().rstrip())
    return status
