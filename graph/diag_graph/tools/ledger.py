"""The ledger of a run: the one way to a tool. It runs, limits, masks, records and de-duplicates calls.

Each executed call becomes an `Invocation` with the next id, written as it happens (D2). A call equal to one that
already succeeded in this run is answered from the record, and no second one is written (E2).
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from pydantic import ValidationError

from diag_graph.contracts import CompletedQuery, Invocation, InvocationStatus, JsonObject
from diag_graph.events import Listener, ToolFinished, ToolStarted
from diag_graph.gate.values import well_formed
from diag_graph.parsing import MAX_DEPTH, is_deeper
from diag_graph.tools.definition import AnyTool, Tool, ToolArguments, ToolContext, ToolError, ToolSpec
from diag_graph.tools.masking import mask, mask_text

TIME_LIMIT_SECONDS = 60.0
MAX_RESULT_CHARS = 2_000_000
SIDE_BY_SIDE = 8
"""Calls of one turn that run at the same time."""

SUCCEEDED = (InvocationStatus.OK, InvocationStatus.EMPTY)
"""Ends of a call that need not be made again."""

_log = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """What came of one executed call."""

    status: InvocationStatus
    result: JsonObject | None = None
    error: str | None = None
    retrieval_details: JsonObject | None = None


Wait = Callable[[], tuple[Outcome, int]]
"""Waits for a call that has begun: how it ended, and after how many milliseconds."""


class _Running(NamedTuple):
    """A call that has begun: its id, its arguments as they are shown, and how to wait for it."""

    invocation_id: str
    arguments: JsonObject
    wait: Wait


class Ledger:
    """The record of one run's tool calls, and the only way to make one. Safe to call from several threads."""

    def __init__(
        self,
        tools: Sequence[AnyTool],
        context: ToolContext | None,
        emit: Listener,
        *,
        time_limit: float = TIME_LIMIT_SECONDS,
        max_result_chars: int = MAX_RESULT_CHARS,
    ) -> None:
        """Begin a run's record.

        Args:
            tools: The tools that are offered; a call to any other is blocked.
            context: What tools work on; None when no tool is offered (a replay).
            emit: Who hears of each call.
            time_limit: Seconds that one call may take.
            max_result_chars: Size limit of one recorded result, as JSON text.
        """
        self._tools = {tool.name: tool for tool in tools}
        self._context = context
        self._emit = emit
        self._time_limit = time_limit
        self._max_result_chars = max_result_chars
        self._invocations: list[Invocation] = []
        self._succeeded: dict[tuple[str, str], Invocation] = {}
        self._round = 1
        self._lock = threading.RLock()

    @property
    def invocations(self) -> tuple[Invocation, ...]:
        """The calls of this run so far, in order."""
        return tuple(self._invocations)

    def begin_round(self, number: int, selected_skill: str | None = None) -> None:
        """Say which evidence round the calls from now on belong to, and which skill its plan selected."""
        self._round = number
        if self._context is not None:
            self._context = replace(self._context, selected_skill=selected_skill)

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that are offered, as an executor sees them."""
        tools: Iterable[Tool[ToolArguments]] = self._tools.values()
        return tuple(ToolSpec(tool.name, tool.summary, _schema(tool.arguments)) for tool in tools)

    def completed_queries(self) -> tuple[CompletedQuery, ...]:
        """The calls that succeeded, empty ones too."""
        done = (call for call in self._invocations if call.status in SUCCEEDED)
        return tuple(CompletedQuery(tool=call.tool, arguments=call.arguments) for call in done)

    def counts(self) -> Mapping[InvocationStatus, int]:
        """How many calls ended in which way; every status has an entry."""
        seen = Counter(call.status for call in self._invocations)
        return {status: seen[status] for status in InvocationStatus}

    def call(self, tool: str, arguments: JsonObject) -> Invocation:
        """Run a tool, or answer from the record when an equal call already succeeded in this run (E2).

        Args:
            tool: The tool's name.
            arguments: Its arguments, a JSON object.

        Returns:
            The recorded call; whatever went wrong stands in its status and error. Never raises for a tool.
        """
        return self.call_many([(tool, arguments)])[0]

    def call_many(self, asked: Sequence[tuple[str, JsonObject]]) -> tuple[Invocation, ...]:
        """Run several calls side by side, as one turn of a model asks for them, and record them in the order asked.

        Args:
            asked: Tools and their arguments.

        Returns:
            The recorded calls, one for each that was asked for; equal ones share one (E2).
        """
        with self._lock:
            answered: list[Invocation] = []
            for first in range(0, len(asked), SIDE_BY_SIDE):
                answered.extend(self._side_by_side(asked[first : first + SIDE_BY_SIDE]))
            return tuple(answered)

    def _side_by_side(self, asked: Sequence[tuple[str, JsonObject]]) -> Iterator[Invocation]:
        keys = [(tool, self._canonical(tool, arguments)) for tool, arguments in asked]
        running: dict[tuple[str, str], _Running] = {}
        for key, (tool, arguments) in zip(keys, asked, strict=True):
            if key not in self._succeeded and key not in running:
                invocation_id = f"inv-{len(self._invocations) + len(running) + 1}"
                shown = mask(as_json(arguments))
                self._emit(ToolStarted(invocation_id, tool, shown))
                running[key] = _Running(invocation_id, shown, self._begin(tool, arguments))
        recorded: dict[tuple[str, str], Invocation] = {}
        for key in keys:
            earlier = self._succeeded.get(key) or recorded.get(key)
            if earlier is not None:
                self._emit(ToolFinished(earlier, reused=True))
                yield earlier
                continue
            recorded[key] = self._record_call(key[0], running[key])
            if recorded[key].status in SUCCEEDED:
                self._succeeded[key] = recorded[key]
            yield recorded[key]

    def _record_call(self, tool: str, call: _Running) -> Invocation:
        outcome, duration_ms = call.wait()
        return self._record(
            Invocation(
                id=call.invocation_id,
                tool=tool,
                arguments=call.arguments,
                status=outcome.status,
                result=outcome.result,
                error=outcome.error,
                duration_ms=duration_ms,
                retrieval_details=outcome.retrieval_details,
            )
        )

    def adopt(self, invocation: Invocation) -> Invocation:
        """Take over a recorded call, under its own id, made legal JSON and masked like any other."""
        legal = invocation.model_copy(
            update={
                "arguments": as_json(invocation.arguments),
                "result": as_json(invocation.result),
                "retrieval_details": as_json(invocation.retrieval_details),
            }
        )
        with self._lock:
            self._emit(ToolStarted(legal.id, legal.tool, mask(legal.arguments)))
            return self._record(legal)

    def _record(self, invocation: Invocation) -> Invocation:
        clean = invocation.model_copy(
            update={
                "round": self._round,
                "tool": well_formed(invocation.tool),
                "arguments": mask(invocation.arguments),
                "result": mask(invocation.result),
                "error": None if invocation.error is None else mask_text(well_formed(invocation.error)),
                "retrieval_details": mask(invocation.retrieval_details),
            }
        )
        self._invocations.append(clean)
        self._emit(ToolFinished(clean))
        return clean

    def _canonical(self, tool: str, arguments: JsonObject) -> str:
        """One spelling for equal arguments: read through the tool's model where that works, names sorted."""
        definition = self._tools.get(tool)
        value: Any = arguments
        if definition is not None:
            try:
                value = definition.arguments.model_validate(arguments).model_dump(mode="json")
            except ValidationError:
                value = arguments
        return json.dumps(value, sort_keys=True, default=str)

    def _begin(self, tool: str, arguments: JsonObject) -> Wait:
        """Begin a call; what comes back waits for its end, and says how it ended."""
        definition = self._tools.get(tool)
        if definition is None or self._context is None:
            known = ", ".join(sorted(self._tools)) or "none"
            said = f"no tool named {tool[:80]!r} is offered; offered are: {known}"
            return _ended(Outcome(InvocationStatus.BLOCKED, error=said))
        try:
            parsed = definition.arguments.model_validate(arguments)
        except ValidationError as error:
            faults = (f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in error.errors())
            return _ended(Outcome(InvocationStatus.ERROR, error=f"the arguments do not fit: {'; '.join(faults)}"))
        return self._begin_limited(definition, parsed, self._context)

    def _begin_limited(self, tool: AnyTool, arguments: ToolArguments, context: ToolContext) -> Wait:
        """Run a tool on a thread of its own, so that a call that hangs costs its time limit and no more.

        The thread of a call that ran out of time is left behind; tools only read, so that it can do no harm.
        """
        answer: list[tuple[Outcome, int]] = []
        begun = time.perf_counter()

        def work() -> None:
            outcome = _run(tool, arguments, context, self._max_result_chars)
            answer.append((outcome, round((time.perf_counter() - begun) * 1000)))

        def wait() -> tuple[Outcome, int]:
            thread.join(max(0.0, begun + self._time_limit - time.perf_counter()))
            if answer:
                return answer[0]
            said = f"timed out after {self._time_limit:g} s; ask for less (a shorter window, one service)"
            return Outcome(InvocationStatus.ERROR, error=said), round(self._time_limit * 1000)

        thread = threading.Thread(target=work, name=f"tool-{tool.name}", daemon=True)
        thread.start()
        return wait


def _ended(outcome: Outcome) -> Wait:
    """A call that ended before it ran."""
    return lambda: (outcome, 0)


def _run(tool: AnyTool, arguments: ToolArguments, context: ToolContext, max_chars: int) -> Outcome:
    try:
        output = tool.run(arguments, context)
        result, details = as_json(_cut(output.as_result(), max_chars)), as_json(output.retrieval_details)
        if is_deeper(result, MAX_DEPTH) or is_deeper(details, MAX_DEPTH):
            raise ToolError(f"the result is nested deeper than {MAX_DEPTH} levels, which no saved run could hold")
    except ToolError as error:
        return Outcome(InvocationStatus.ERROR, error=str(error))
    except BaseException as error:  # noqa: BLE001
        # A fault of one tool costs that call and never the run. A native library's panic is no Exception, and nobody
        # interrupts this thread.
        _log.exception("tool %s failed", tool.name)
        return Outcome(InvocationStatus.ERROR, error=f"the tool failed: {type(error).__name__}: {error}")
    status = InvocationStatus.EMPTY if output.empty else InvocationStatus.OK
    return Outcome(status, result, retrieval_details=details)


def _cut(result: JsonObject, max_chars: int) -> JsonObject:
    """Cut a result that is too large, from the end of its items, and say so (X4)."""
    room = max_chars - len(json.dumps({**result, "items": []}, default=str))
    kept: list[JsonObject] = []
    for item in result["items"]:
        room -= len(json.dumps(item, default=str)) + 1
        if room < 0:
            break
        kept.append(item)
    total = len(result["items"])
    if len(kept) == total:
        return result
    hint = f"cut at {max_chars:,} characters: ask for less (a shorter window, one service)"
    earlier = result["truncated"] or {"total": total}
    return {**result, "items": kept, "truncated": {"shown": len(kept), "total": earlier["total"], "hint": hint}}


def as_json(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A tool's value as the JSON that a saved run reads back: null for NaN and infinity, U+FFFD for half characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.loads(whole, parse_constant=lambda _: None)


@cache
def _schema(arguments: type[ToolArguments]) -> JsonObject:
    """The JSON schema of a tool's arguments, built once a process: pydantic takes half a millisecond for each."""
    return arguments.model_json_schema()
