"""What a command says of a run that has ended: the answer or the JSON, what to do next, and the exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from diag_cli.envelope import as_text, envelope
from diag_cli.exits import Exit
from diag_cli.render.answer import print_answer
from diag_cli.render.safe import one_line
from diag_cli.render.streams import complain, put, say
from diag_cli.render.usage import run_usage_words
from diag_cli.render.words import counted, node_words
from diag_graph.agents.models.failures import parted

if TYPE_CHECKING:
    from diag_graph.outcome import RunDocument, RunRow


def conclude(
    document: RunDocument,
    *,
    kept: bool,
    as_json: bool,
    quiet: bool,
    advise: bool = True,
    save: Path | None = None,
    strict: bool = False,
) -> int:
    """Print the run's answer, or its JSON, and say what follows from it.

    Args:
        document: The run.
        kept: Whether it stands in the store.
        as_json: Print the envelope in place of the answer.
        quiet: Print plain text, and nothing that is neither answer nor error.
        advise: Say what to look at next.
        save: Where to write its run file.
        strict: Hold a verdict other than PASS, or a degraded end, for a failure.

    Returns:
        The exit status.
    """
    run = document.run
    if as_json:
        put(as_text(envelope(document)))
    else:
        if run.what_if:
            put(f"{_what_if_words(document)}\n")
        if run.answer:
            print_answer(run.answer, plain=quiet)
    if save is not None:
        from diag_graph.runfile import save_run_file

        save_run_file(document, save)
    if (used := run_usage_words(document)) and not quiet:
        say(f"\n{used}")
    look = f"diag trace {run.run_id}" if kept else ""
    if run.status != "SUCCESS":
        complain(f"the run failed: {run.failure_reason or 'no reason was recorded'}", look and f"See {look}")
        return Exit.RUN_FAILED
    if failed := _failure_words(document):
        what, advice = parted(failed)
        complain(what, advice or (look and f"See {look}"))
    shortfall = _shortfall(run) if strict else ""
    if shortfall:
        complain(f"--strict: {shortfall}", look and f"See {look}")
        return Exit.NOT_PASSED
    if look and advise and not quiet:
        say(f"\nHow it came to this: {look}")
    return Exit.OK


def _what_if_words(document: RunDocument) -> str:
    """What keeps a what-if answer from being taken for an answer about the world."""
    from diag_graph.tools.recorded import NOT_RECORDED

    run, calls = document.run, document.invocations
    whose = f" of run {one_line(run.replay_of)}" if run.replay_of else ""
    missing = sum(call.error == NOT_RECORDED for call in calls)
    lacking = (
        f"; {missing} of {counted(len(calls), 'call')} had not been recorded, and got no result" if missing else ""
    )
    return f"What if: {one_line(run.model)}, given the recorded tool results{whose}. No tool was called{lacking}."


def _failure_words(document: RunDocument) -> str:
    """What an agent that failed kept from the answer; empty where none did, or where that is but played again."""
    run, last = document.run, document.steps[-1] if document.steps else None
    degraded = (run.orchestration_trace or {}).get("degraded")
    if not degraded or last is None or not last.error or (run.is_replay and not run.what_if):
        return ""
    return f"the {node_words(last.agent)} failed: {last.error}"


def _shortfall(run: RunRow) -> str:
    """What a strict reader holds against a run; empty when there is nothing."""
    trace = run.orchestration_trace or {}
    if trace.get("degraded"):
        return f"the run ended in fallback ({trace.get('termination_reason')})"
    return "" if run.verdict == "PASS" else f"the verdict is {run.verdict or 'missing'}"
