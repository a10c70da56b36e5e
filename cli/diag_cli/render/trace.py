"""`diag trace` for people: the path with its reasons, who did what, what was checked, and where it ended and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from diag_cli.render.answer import drawn
from diag_cli.render.checks import audit_lines, second_round_lines, verdict_lines
from diag_cli.render.lines import indented, line_of, text_of
from diag_cli.render.safe import one_line
from diag_cli.render.streams import put_drawn
from diag_cli.render.usage import tokens_words
from diag_cli.render.words import (
    Tone,
    arguments_words,
    counted,
    counted_attempt,
    node_words,
    outcome_words,
    reason_words,
    seconds,
    tone,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from diag_graph.contracts import JsonObject
    from diag_graph.outcome import AgentStep, RunDocument, RunRow


class _Stop(NamedTuple):
    """One node attempt on the path."""

    node: str
    reason_code: str
    attempt: int | None
    step: AgentStep | None


def print_trace(document: RunDocument) -> None:
    """Print everything that a run left behind."""
    put_drawn(lambda console: _page(document, console))


def _page(document: RunDocument, console: Console) -> RenderableType:
    from rich.console import Group

    sections: list[tuple[str, list[RenderableType]]] = [
        ("Path", list(_path(document))),
        ("Agents", list(_agents(document))),
        ("Tool calls", list(_calls(document))),
        ("Gatekeeper", list(audit_lines(document))),
        ("Second round", list(second_round_lines(document))),
        ("Verdict", list(verdict_lines(document))),
        ("Answer", [drawn(document.run.answer, console)] if document.run.answer else []),
    ]
    page: list[RenderableType] = list(_head(document))
    for title, body in sections:
        if body:
            page += [text_of(""), text_of(title, "bold"), *(indented(part) for part in body)]
    return Group(*page)


def _head(document: RunDocument) -> Iterator[RenderableType]:
    from rich.text import Text

    run = document.run
    status = Text(f"Run {run.run_id}  ").append(run.status, f"bold {tone(run.status)}")
    if run.failure_reason and run.status != "SUCCESS":
        status.append(f"  {one_line(run.failure_reason)}")
    yield status
    yield text_of(one_line(run.question))
    facts = [f"{_when(run.started_at)}", one_line(run.model), seconds(run.duration_ms), f"session {run.session_id}"]
    if run.replay_of:
        facts.append(f"{'what if, on' if run.what_if else 'replay of'} {one_line(run.replay_of)}")
    if run.prompt_tokens is not None or run.completion_tokens is not None:
        facts.append(tokens_words(run.prompt_tokens, run.completion_tokens))
    if run.cost_usd is not None:
        facts.append(f"$ {run.cost_usd:.4f}")
    yield text_of("  ·  ".join(fact for fact in facts if fact), "dim")


def _path(document: RunDocument) -> Iterator[RenderableType]:
    stops = list(_stops(document))
    for number, stop in enumerate(stops):
        first, last = number == 0, number == len(stops) - 1
        edge = "╶" if first and last else "┌" if first else "└" if last else "├"
        went = tone(_outcome_of(stop.reason_code), stop.node, stop.reason_code)
        told = text_of(one_line(stop.reason_code), went)
        if stop.attempt and stop.attempt > 1:
            told.append(f"  {counted_attempt(stop.node, stop.attempt)}", "dim")
        took = seconds(stop.step.duration_ms) if stop.step else ""
        yield line_of((1, 14, None, 8), edge, node_words(stop.node), told, text_of(took, "dim", right=True))
        if went is not Tone.GOOD and not last:
            yield line_of((1, 14, None), "│", "", text_of(reason_words(stop.reason_code), "dim"))
    trace = document.run.orchestration_trace
    if trace is None:
        yield text_of(
            "The run left no path: it was cut short. What its agents and tools had done stands below.", "yellow"
        )
    elif stops:
        yield text_of("")
        yield _ending(document.run, trace)


def _stops(document: RunDocument) -> Iterator[_Stop]:
    """The path, each attempt of an agent with the step that it left."""
    trace = document.run.orchestration_trace or {}
    steps: dict[str, list[AgentStep]] = defaultdict(list)
    for step in document.steps:
        steps[step.agent].append(step)

    def next_step(node: str) -> AgentStep | None:
        return steps[node].pop(0) if steps[node] else None

    for passed in trace.get("transitions", []):
        node = str(passed.get("from", ""))
        yield _Stop(node, str(passed.get("reason_code", "")), passed.get("attempt"), next_step(node))
    final = trace.get("final_node")
    if final:
        yield _Stop(final, str(trace.get("termination_reason") or ""), None, next_step(final))


def _ending(run: RunRow, trace: JsonObject) -> RenderableType:
    """Where it ended and why, in one sentence."""
    if run.status != "SUCCESS":
        last = node_words(str(trace.get("final_node")))
        return text_of(f"Cut short after {last}: {one_line(run.failure_reason or run.status)}.", Tone.DOUBTFUL)
    reason = str(trace.get("termination_reason") or "")
    words = reason_words(reason) or one_line(reason)
    node = node_words(str(trace.get("final_node")))
    if trace.get("degraded"):
        return text_of(f"Ended in {node}: {words} ({one_line(reason)}).", Tone.DOUBTFUL)
    rounds = "after a second evidence round" if trace.get("evidence_retry_count") else "in one evidence round"
    return text_of(f"Ended in {node}, {rounds}: {words} ({one_line(reason)}).")


def _outcome_of(reason_code: str) -> str:
    """Whether a reason is one of going on; the trace's transitions carry no outcome."""
    good = ("_completed", "_pass", "_built", "_prepared", "_low_confid", "_gap")
    return "COMPLETED" if reason_code.endswith(good) or "_low_confid" in reason_code else "FAILED"


def _agents(document: RunDocument) -> Iterator[RenderableType]:
    for step in document.steps:
        counts = [f"round {step.round}"] * (step.round > 1) + [f"attempt {step.attempt}"] * (step.attempt > 1)
        tokens = ""
        if step.prompt_tokens is not None or step.completion_tokens is not None:
            tokens = tokens_words(step.prompt_tokens, step.completion_tokens, step.cached_tokens or 0)
        told = text_of("").append(step.status, tone(step.status))
        rest = [one_line(part) for part in (*counts, _skill(step), step.model or "", tokens, step.error or "") if part]
        told.append("".join(f"  {part}" for part in rest), "dim")
        yield line_of((14, None, 8), one_line(step.agent), told, text_of(seconds(step.duration_ms), "dim", right=True))


def _skill(step: AgentStep) -> str:
    """Which skill a plan selected; whether it was read shows among the tool calls."""
    if step.agent != "planner":
        return ""
    from diag_graph.contracts import Plan
    from diag_graph.parsing import InvalidReplyError, parse_model

    try:
        name = parse_model(step.output, Plan).selected_skill
    except InvalidReplyError:
        return ""
    return f"skill {name}" if name else ""


def _calls(document: RunDocument) -> Iterator[RenderableType]:
    cited: Counter[str | None] = Counter()
    passed: Counter[str | None] = Counter()
    for binding in document.gatekeeper.checked_bindings if document.gatekeeper else ():
        cited[binding.source_invocation_id] += 1
        passed[binding.source_invocation_id] += binding.status == "pass"
    for call in document.invocations:
        times = f"cited by {counted(cited[call.id], 'binding')}" if cited[call.id] else ""
        if cited[call.id] > passed[call.id]:
            times += f", {cited[call.id] - passed[call.id]} failed"
        took = text_of(seconds(call.duration_ms), "dim", right=True)
        label = text_of(one_line(call.tool)).append(f"  {times}" if times else "", "cyan")
        if call.round > 1:
            label.append(f"  round {call.round}", "dim")
        yield line_of((7, 7, None, 8), one_line(call.id), text_of(call.status, tone(call.status)), label, took)
        for line in (arguments_words(call.arguments), outcome_words(call)):
            if line:
                yield line_of((7, 7, None, 8), "", "", text_of(line, "dim"), "")


def _when(moment: str) -> str:
    """An ISO time as people read it."""
    return one_line(moment).replace("T", " ").split(".")[0].removesuffix("Z") + " UTC"
