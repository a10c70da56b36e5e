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
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from diag_graph.contracts import CompletedQuery, Invocation, InvocationStatus, JsonObject
from diag_graph.events import Listener, ToolFinished, ToolStarted
from diag_graph.tools.definition import AnyTool, ToolContext, ToolError, ToolOutput, ToolSpec
from diag_graph.tools.masking import mask, mask_text

TIME_LIMIT_SECONDS = 60.0
MAX_RESULT_CHARS = 2_000_000

_SUCCEEDED = (InvocationStatus.OK, InvocationStatus.EMPTY)
_log = logging.getLogger(__name__)

Outcome = tuple[InvocationStatus, ToolOutput | None, str | None]
"""Status, output, error of one executed call."""


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
        self._round = 1
        self._lock = threading.RLock()

    @property
    def invocations(self) -> tuple[Invocation, ...]:
        """The calls of this run so far, in order."""
        return tuple(self._invocations)

    def begin_round(self, number: int) -> None:
        """Say which evidence round the calls from now on belong to."""
        self._round = number

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that are offered, as an executor sees them."""
        return tuple(ToolSpec(t.name, t.summary, t.arguments.model_json_schema()) for t in self._tools.values())

    def completed_queries(self) -> tuple[CompletedQuery, ...]:
        """The calls that succeeded, empty ones too."""
        done = (call for call in self._invocations if call.status in _SUCCEEDED)
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
        with self._lock:
            wanted = self._canonical(tool, arguments)
            for earlier in self._invocations:
                same = earlier.tool == tool and earlier.status in _SUCCEEDED
                if same and self._canonical(tool, earlier.arguments) == wanted:
                    self._emit(ToolFinished(earlier, reused=True))
                    return earlier
            invocation_id = f"inv-{len(self._invocations) + 1}"
            shown = mask(arguments)
            self._emit(ToolStarted(invocation_id, tool, shown))
            begun = time.perf_counter()
            status, output, error = self._outcome(tool, arguments)
            return self._record(
                Invocation(
                    id=invocation_id,
                    tool=tool,
                    arguments=shown,
                    status=status,
                    result=self._limited(output.as_result()) if output else None,
                    error=error,
                    duration_ms=round((time.perf_counter() - begun) * 1000),
                    retrieval_details=output.retrieval_details if output else None,
                )
            )

    def adopt(self, invocation: Invocation) -> Invocation:
        """Take over a recorded call, under its own id, masked like any other."""
        with self._lock:
            self._emit(ToolStarted(invocation.id, invocation.tool, mask(invocation.arguments)))
            return self._record(invocation)

    def _record(self, invocation: Invocation) -> Invocation:
        clean = invocation.model_copy(
            update={
                "round": self._round,
                "arguments": mask(invocation.arguments),
                "result": mask(invocation.result),
                "error": None if invocation.error is None else mask_text(invocation.error),
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

    def _outcome(self, tool: str, arguments: JsonObject) -> Outcome:
        definition = self._tools.get(tool)
        if definition is None or self._context is None:
            known = ", ".join(sorted(self._tools)) or "none"
            return InvocationStatus.BLOCKED, None, f"no tool named {tool!r} is offered; offered are: {known}"
        try:
            parsed = definition.arguments.model_validate(arguments)
        except ValidationError as error:
            faults = (f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in error.errors())
            return InvocationStatus.ERROR, None, f"the arguments do not fit: {'; '.join(faults)}"
        return _run_limited(definition, parsed, self._context, self._time_limit)

    def _limited(self, result: JsonObject) -> JsonObject:
        """Cut a result that is too large, from the end of its items, and say so (X4)."""
        room = self._max_result_chars - len(json.dumps({**result, "items": []}, default=str))
        kept: list[JsonObject] = []
        for item in result["items"]:
            room -= len(json.dumps(item, default=str)) + 1
            if room < 0:
                break
            kept.append(item)
        total = len(result["items"])
        if len(kept) == total:
            return result
        hint = f"cut at {self._max_result_chars:,} characters: ask for less (a shorter window, one service)"
        earlier = result["truncated"] or {"total": total}
        return {**result, "items": kept, "truncated": {"shown": len(kept), "total": earlier["total"], "hint": hint}}


def _run_limited(tool: AnyTool, arguments: Any, context: ToolContext, limit: float) -> Outcome:  # noqa: ANN401
    """Run a tool on a thread of its own, so that a call that hangs costs its time limit and no more.

    The thread of a call that ran out of time is left behind; tools only read, so that it can do no harm.
    """
    answer: list[Outcome] = []

    def work() -> None:
        answer.append(_run(tool, arguments, context))

    thread = threading.Thread(target=work, name=f"tool-{tool.name}", daemon=True)
    thread.start()
    thread.join(limit)
    if not answer:
        return (
            InvocationStatus.ERROR,
            None,
            f"timed out after {limit:g} s; ask for less (a shorter window, one service)",
        )
    return answer[0]


def _run(tool: AnyTool, arguments: Any, context: ToolContext) -> Outcome:  # noqa: ANN401
    try:
        output = tool.run(arguments, context)
    except ToolError as error:
        return InvocationStatus.ERROR, None, str(error)
    except Exception as error:  # noqa: BLE001 - a fault of one tool must cost that call alone, never the run
        _log.exception("tool %s failed", tool.name)
        return InvocationStatus.ERROR, None, f"the tool failed: {type(error).__name__}: {error}"
    return (InvocationStatus.EMPTY if output.empty else InvocationStatus.OK), output, None
