"""One agent call: ask, parse, judge technically, record the step. Shared by the four nodes that have an agent."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from diag_graph.agents.ports import AgentReply
from diag_graph.errors import AgentFailure, RunAborted
from diag_graph.events import AgentFinished
from diag_graph.gate.values import well_formed
from diag_graph.nodes.deps import NodeCall
from diag_graph.outcome import AgentStep
from diag_graph.parsing import InvalidReplyError, parse_object
from diag_graph.tools.masking import is_free_of_secrets, mask, mask_text
from diag_graph.topology import RETRYABLE_KINDS, AgentStatus, FailureKind, Node
from diag_graph.usage import Usage

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
    """A planner's, verifier's or composer's status (contract section 4)."""
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
    usage = Usage()
    try:
        reply = _masked(ask())
        usage = reply.usage
        if reply.truncated:
            raise InvalidReplyError("the model's token limit cut the reply off")
        value, note = parse(reply.text)
        answer = Answer(value)
    except InvalidReplyError as error:
        note = f"{'missing' if error.missing else 'malformed'}: {error}"
    except AgentFailure as failure:
        answer, note, usage = Answer(None, failure.kind), failure.message, failure.usage
    except RunAborted:
        raise
    except Exception as error:  # noqa: BLE001 - contract section 4: any other exception of an agent is a failure of that call
        _log.exception("the %s agent failed", node)
        answer, note = Answer(None, FailureKind.OTHER), f"{type(error).__name__}: {error}"
    step = _step(node, call, reply, usage, answer.failure, note, status_of(answer), begun)
    call.deps.emit(AgentFinished(step))
    return answer


def _masked(reply: AgentReply) -> AgentReply:
    """The reply without secrets (X3) and as text that can be stored, before anybody reads it.

    So what is recorded is what was read (P2). A legal reply is masked as the object that it holds: masking its text
    might break the JSON.
    """
    if reply.text is None:
        return reply
    text = well_formed(reply.text)
    if text != reply.text:
        reply = replace(reply, text=text)
    if is_free_of_secrets(text):
        return reply
    try:
        document = parse_object(text)
    except InvalidReplyError:
        return replace(reply, text=mask_text(text))
    clean = mask(document)
    if clean == document and mask_text(text) == text:
        return reply
    return replace(reply, text=json.dumps(clean, ensure_ascii=False))


def _step(
    node: Node,
    call: NodeCall,
    reply: AgentReply | None,
    usage: Usage,
    failure: FailureKind | None,
    note: str | None,
    status: str,
    begun: float,
) -> AgentStep:
    notes = [said for said in (reply.note if reply else None, note) if said]
    return AgentStep(
        agent=node,
        attempt=call.attempt,
        round=call.round,
        status=status,
        output=reply.text if reply else None,
        error=mask_text(well_formed("; ".join(notes))) if notes else None,
        error_kind=failure,
        truncated=reply.truncated if reply else False,
        model=usage.model,
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        completion_tokens=usage.completion_tokens,
        cost_usd=usage.cost_usd,
        duration_ms=round((call.deps.clock() - begun) * 1000),
    )
