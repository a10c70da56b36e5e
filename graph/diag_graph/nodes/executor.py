"""Executor: a plan becomes an evidence document, through tools."""

from __future__ import annotations

from diag_graph.contracts import JsonObject
from diag_graph.nodes.agent_call import Answer, ask_agent
from diag_graph.nodes.deps import NodeCall
from diag_graph.parsing import InvalidReplyError, parse_object
from diag_graph.state import ExecutorChannels, ExecutorInput, Update
from diag_graph.topology import ExecutorStatus, FailureKind, Node


def run(view: ExecutorChannels, call: NodeCall) -> Update:
    """Ask the executor for its evidence document."""
    context, plan = view["diagnosis_context"], view["planner_plan"]
    if plan is None:
        raise ValueError("the executor was reached without a plan")
    request = ExecutorInput(
        question=context.question, now=context.now, plan=plan, retry_context=view.get("retry_context")
    )
    call.deps.ledger.begin_round(call.round, plan.selected_skill)
    answer = ask_agent(
        Node.EXECUTOR,
        call,
        lambda: call.deps.agents.executor.execute(request, call.deps.ledger),
        lambda text: (read_document(text), None),
        executor_status,
    )
    return {"executor_output": answer.value, "executor_status": executor_status(answer)}


def read_document(text: str | None) -> JsonObject:
    """Read an evidence document as far as its shape goes: what is wrong inside a claim is the gatekeeper's to judge."""
    document = parse_object(text)
    if not isinstance(document.get("claims"), list):
        raise InvalidReplyError("`claims` is no array")
    return document


def executor_status(answer: Answer[JsonObject]) -> ExecutorStatus:
    """The executor's status (contract section 4): about its output, not about how its tools fared."""
    if answer.failure is FailureKind.TOOL_BLOCKED:
        return ExecutorStatus.TOOL_BLOCKED
    if answer.failure is not None:
        return ExecutorStatus.FAILED
    return ExecutorStatus.INVALID_OUTPUT if answer.value is None else ExecutorStatus.COMPLETED
