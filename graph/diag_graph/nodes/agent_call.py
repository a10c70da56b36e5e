"""One agent call: ask, parse, judge technically, record the step. Shared by the four nodes that have an agent."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from diag_graph.agents.ports import AgentReply
from diag_graph.contracts import AgentStep
from diag_graph.errors import AgentFailure, RunAborted
from diag_graph.events import AgentFinished
from diag_graph.nodes.deps import NodeCall
from diag_graph.parsing import InvalidReplyError
from diag_graph.tools.masking import mask_text
from diag_graph.topology import RETRYABLE_KINDS, AgentStatus, FailureKind, Node

FORMAT_REMINDER = (
    "Your last reply could not be read. Answer with one JSON object of the given schema and nothing else: "
    "no prose around it, no comments, no second object."
)
"""What a technical retry adds to the same input (R3)."""

_log = logging.getLogger(__name__)
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Answer(Generic[ValueT]):
    """What came of an agent call: a value when it kept its contract, else why not.

    Attributes:
        value: The parsed document; None unless the agent kept its contract.
        failure: Why the call gave no text; None when it gave one.
    """

    value: ValueT | None
    failure: FailureKind | None = None


def format_reminder(call: NodeCall) -> str | None:
    """The reminder for this attempt: none on the first."""
    return FORMAT_REMINDER if call.attempt > 1 else None


def agent_status(answer: Answer[ValueT]) -> AgentStatus:
    """A planner's, verifier's or composer's status (SPEC section 4)."""
    if answer.failure is not None:
        retryable = answer.failure in RETRYABLE_KINDS
        return AgentStatus.RETRYABLE_FAILED if retryable else AgentStatus.NON_RETRYABLE_FAILED
    return AgentStatus.INVALID_OUTPUT if answer.value is None else AgentStatus.COMPLETED


def ask_agent(
    node: Node,
    call: NodeCall,
    ask: Callable[[], AgentReply],
    parse: Callable[[str | None], tuple[ValueT, str | None]],
    status_of: Callable[[Answer[ValueT]], str] = agent_status,
) -> Answer[ValueT]:
    """Ask an agent once, read its reply, and record the step.

    Args:
        node: Whose agent it is.
        call: The attempt.
        ask: Makes the call.
        parse: Reads the reply: a value and a note for the record; raises InvalidReplyError.
        status_of: Turns the answer into the status that is recorded.

    Returns:
        The answer; an agent's failures never raise. Only what aborts the run as a whole passes through.
    """
    begun = call.deps.clock()
    reply: AgentReply | None = None
    answer: Answer[ValueT] = Answer(None)
    note: str | None = None
    try:
        reply = ask()
        if reply.truncated:
            raise InvalidReplyError("the model's token limit cut the reply off")
        value, note = parse(reply.text)
        answer = Answer(value)
    except InvalidReplyError as error:
        note = f"{'missing' if error.missing else 'malformed'}: {error}"
    except AgentFailure as failure:
        answer, note = Answer(None, failure.kind), failure.message
    except RunAborted:
        raise
    except Exception as error:  # noqa: BLE001 - SPEC section 4: any other exception of an agent is a failure of that call
        _log.exception("the %s agent failed", node)
        answer, note = Answer(None, FailureKind.OTHER), f"{type(error).__name__}: {error}"
    call.deps.emit(AgentFinished(_step(node, call, reply, answer.failure, note, status_of(answer), begun)))
    return answer


def _step(
    node: Node,
    call: NodeCall,
    reply: AgentReply | None,
    failure: FailureKind | None,
    note: str | None,
    status: str,
    begun: float,
) -> AgentStep:
    text = reply.text if reply else None
    return AgentStep(
        agent=node,
        attempt=call.attempt,
        round=call.round,
        status=status,
        output=None if text is None else mask_text(text),
        error=None if note is None else mask_text(note),
        error_kind=failure,
        truncated=reply.truncated if reply else False,
        model=reply.model if reply else None,
        prompt_tokens=reply.prompt_tokens if reply else None,
        completion_tokens=reply.completion_tokens if reply else None,
        cost_usd=reply.cost_usd if reply else None,
        duration_ms=round((call.deps.clock() - begun) * 1000),
    )
