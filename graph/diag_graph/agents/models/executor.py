"""The executor that is a language model: a loop of requests and tool calls, which ends with an evidence document.

The calls of the plan are made at once, before the model is asked for the first time: each would cost it a turn. Then
the model calls what it needs, until it writes its document or a budget is used up; then it is asked, once, to conclude.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from diag_graph.agents.models.asking import Asker, reply_of, section
from diag_graph.agents.models.budget import Budget, Oddity
from diag_graph.agents.models.calls import Call, asked_calls
from diag_graph.agents.models.prompts import DataBlocks, filled, prompt
from diag_graph.agents.models.replies import Completion
from diag_graph.agents.models.schema import AskedCalls, EvidenceDocument, json_schema, outline
from diag_graph.agents.models.settings import Budgets
from diag_graph.agents.models.toolcards import (
    known_arguments,
    names_by_wire,
    native_tools,
    shared_lines,
    tool_lines,
    wire_name,
)
from diag_graph.agents.models.transcript import Entry, Shown, Transcript
from diag_graph.agents.ports import AgentReply, Toolbox
from diag_graph.contracts import Invocation, InvocationStatus, JsonObject, RetryContext
from diag_graph.errors import AgentFailure
from diag_graph.parsing import InvalidReplyError, parse_object
from diag_graph.state import ExecutorInput
from diag_graph.tools.definition import LOOKUP_KNOWLEDGE, READ_SKILL, ToolSpec
from diag_graph.topology import FailureKind, Node
from diag_graph.usage import NO_USAGE, Usage

ROOM = 0.95
"""Of what a model holds beside its reply, what a request may take: counts are estimates."""


class ModelExecutor:
    """Gathers evidence by letting a model call tools."""

    def __init__(self, asker: Asker, budgets: Budgets) -> None:
        """Ask this model, within these limits a round."""
        self._asker = asker
        self._budgets = budgets

    def execute(self, request: ExecutorInput, tools: Toolbox) -> AgentReply:
        """An evidence document as JSON text.

        Raises:
            AgentFailure: a request failed, or a tool was refused and no legal document came out.
        """
        return _Round(self._asker, Budget(self._budgets), tools, request.plan.selected_skill).run(request)


class _Round:
    """One executor call."""

    def __init__(self, asker: Asker, budget: Budget, tools: Toolbox, skill: str | None) -> None:
        self._asker = asker
        self._model = asker.model
        self._budget = budget
        self._tools = tools
        self._specs = tuple(spec for spec in tools.specs() if spec.name != READ_SKILL or skill)
        self._names = names_by_wire(self._specs)
        self._native = native_tools(self._specs) if asker.model.abilities.tools else []
        self._blocks = asker.new_blocks()
        self._seen: set[str] = set()
        self._citable: list[str] = []
        self._blocked = False
        self._transcript = self._begin()

    def run(self, request: ExecutorInput) -> AgentReply:
        if request.retry_context is not None:
            earlier = (one.source_invocation_id for one in request.retry_context.prior_verified_evidence)
            self._citable.extend(dict.fromkeys(earlier))
        self._transcript.add(Entry("user", task_of(request, self._blocks), self._planned(request)))
        while True:
            completion, last = self._ask()
            calls = () if last or completion.truncated else asked_calls(completion)
            if not calls:
                return self._finish(completion)
            self._answer(completion, calls)

    def _begin(self) -> Transcript:
        abilities = self._model.abilities
        room = round((abilities.context_tokens - abilities.output_tokens) * ROOM)
        transcript = Transcript(system_prompt(self._specs, native=bool(self._native)), room, self._blocks.block)
        transcript.reserve(self._native)
        return transcript

    def _planned(self, request: ExecutorInput) -> list[Shown]:
        """Read the plan's skill, and make the plan's calls.

        A planner has not seen the evidence. So an argument that a tool does not take is left out, and where nothing is
        found of what the plan asks for by name, the tool is asked again without the name.
        """
        needs = {spec.name: set(spec.arguments.get("required", ())) for spec in self._specs}
        known = {spec.name: spec for spec in self._specs}
        planned = [
            (step.tool, known_arguments(known[step.tool], step.arguments))
            for step in request.plan.steps
            if step.tool in known and needs[step.tool] <= step.arguments.keys()
        ]
        if request.plan.selected_skill and READ_SKILL in known:
            planned.insert(0, (READ_SKILL, {"name": request.plan.selected_skill}))
        made = self._make(planned)
        if request.retry_context is None:
            vain = (call.tool for call in made if call.status is InvocationStatus.EMPTY and call.arguments)
            made += self._make([(tool, {}) for tool in dict.fromkeys(vain) if not needs[tool]])
        distinct = {call.id: call for call in made}
        return self._shown(list(distinct.values()))

    def _make(self, asked: Sequence[tuple[str, JsonObject]]) -> list[Invocation]:
        """Make calls, as far as the budget goes."""
        return list(self._tools.call_many(asked[: self._budget.grant(len(asked))]))

    def _ask(self) -> tuple[Completion, bool]:
        """One request; whether it was the last."""
        self._budget.note(Oddity.SHORTENED, self._transcript.fit())
        reason = self._budget.reached(self._transcript.tokens())
        if reason:
            self._transcript.add(Entry("user", filled("conclude", reason=reason)))
            self._budget.note(Oddity.SHORTENED, self._transcript.fit())
        try:
            completion = self._model.complete(
                self._transcript.messages(),
                schema=self._schema(last=bool(reason)),
                tools=self._native,
                may_call=not reason,
            )
        except AgentFailure as failure:
            raise self._failed(failure.kind, failure.message, failure.usage) from None
        self._budget.spend(completion.usage)
        self._transcript.learn(completion.usage.prompt_tokens)
        self._asker.progress(Node.EXECUTOR, self._budget.usage)
        return completion, bool(reason)

    def _schema(self, *, last: bool) -> JsonObject | None:
        """What a reply is held to. With native tools only the last one is: not every provider can take both."""
        if self._native and not last:
            return None
        contracts = (EvidenceDocument,) if last else (EvidenceDocument, AskedCalls)
        choices = {"tool": list(self._names.values()), "source_invocation_id": list(dict.fromkeys(self._citable))}
        return json_schema(Node.EXECUTOR, *contracts, choices=choices)

    def _answer(self, completion: Completion, calls: Sequence[Call]) -> None:
        """Make the calls of a turn, and show the model what came of each."""
        native = calls[0].call_id is not None
        if self._native and not native:
            self._budget.note(Oddity.CALLS_AS_TEXT)
        granted = calls[: self._budget.grant(len(calls))]
        readable = [
            (self._names.get(call.tool, call.tool), call.arguments) for call in granted if call.arguments is not None
        ]
        results = self._shown(self._tools.call_many(readable))
        self._budget.turn(brought_something_new=not all(shown.repeated for shown in results))
        waiting = iter(results)
        answers = [
            next(waiting)
            if index < len(granted) and call.arguments is not None
            else self._refusal(call, index < len(granted))
            for index, call in enumerate(calls)
        ]
        if native:
            self._add_native(completion, calls, answers)
        else:
            self._add_written(completion, answers)

    def _refusal(self, call: Call, granted: bool) -> str:
        if not granted:
            return f"{call.tool} was not run: the budget is used up."
        self._budget.note(Oddity.BROKEN_ARGUMENTS)
        return f"{call.tool} was not run: its arguments cannot be read: {call.problem}. Give them as one JSON object."

    def _add_native(self, completion: Completion, calls: Sequence[Call], answers: Sequence[Shown | str]) -> None:
        asked = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": wire_name(call.tool), "arguments": json.dumps(call.arguments or {})},
            }
            for call in calls
        ]
        self._transcript.add_reply(completion.text, tool_calls=asked)
        for call, answer in zip(calls, answers, strict=True):
            entry = Entry("tool", extra={"tool_call_id": call.call_id})
            if isinstance(answer, str):
                entry.text = answer
            else:
                entry.results.append(answer)
            self._transcript.add(entry)

    def _add_written(self, completion: Completion, answers: Sequence[Shown | str]) -> None:
        self._transcript.add_reply(completion.text)
        results = [answer for answer in answers if isinstance(answer, Shown)]
        refusals = [answer for answer in answers if isinstance(answer, str)]
        self._transcript.add(Entry("user", "\n".join(refusals), results))

    def _shown(self, calls: Sequence[Invocation]) -> list[Shown]:
        shown = []
        for call in calls:
            self._budget.note(Oddity.REPEATED, int(call.id in self._seen))
            if call.id not in self._seen and call.result is not None and call.tool != READ_SKILL:
                self._citable.append(call.id)
            self._seen.add(call.id)
            if call.status is InvocationStatus.BLOCKED:
                self._blocked = True
                self._budget.note(Oddity.UNKNOWN_TOOL)
            shown.append(Shown(call, repeated=self._transcript.shows(call.id)))
        return shown

    def _finish(self, completion: Completion) -> AgentReply:
        if self._blocked and not (completion.truncated or is_document(completion.text)):
            raise self._failed(
                FailureKind.TOOL_BLOCKED, "a tool was refused, and no evidence document was formed", NO_USAGE
            )
        return reply_of(completion, self._budget.usage, self._budget.account())

    def _failed(self, kind: FailureKind, message: str, usage: Usage) -> AgentFailure:
        said = "; ".join(part for part in (message, self._budget.account()) if part)
        return AgentFailure(kind, said, self._budget.usage + usage)


def is_document(text: str | None) -> bool:
    """Whether a text is an evidence document, as far as its shape goes."""
    try:
        return isinstance(parse_object(text).get("claims"), list)
    except InvalidReplyError:
        return False


def system_prompt(specs: Sequence[ToolSpec], *, native: bool) -> str:
    """The executor's system prompt, with its tools when they cannot be told natively."""
    calling = (
        filled("calling_native", shared=shared_lines(specs))
        if native
        else filled("calling_json", calls=outline(AskedCalls), tools=tool_lines(specs))
    )
    told = filled(Node.EXECUTOR, calling=calling, contract=outline(EvidenceDocument), data=prompt("data"))
    guided = any(spec.name == LOOKUP_KNOWLEDGE for spec in specs)
    return told + "\n\n" + prompt("executor_guidance") if guided else told


def task_of(request: ExecutorInput, blocks: DataBlocks) -> str:
    """All that an executor may know, as a message; results of the plan's calls follow it."""
    steps = "\n".join(
        f"- {step.goal}" + (f" ({step.tool} {json.dumps(step.arguments, ensure_ascii=False)})" if step.tool else "")
        for step in request.plan.steps
    )
    parts = [section("Now", request.now), section("Question", request.question), section("Plan", steps)]
    if request.plan.selected_skill:
        advice = prompt("executor_skill")
        parts.append(section("Skill", f"{request.plan.selected_skill}. {advice}"))
    if request.retry_context is not None:
        parts.append(_second_round(request.retry_context, blocks))
    return "".join(parts).strip()


def _second_round(context: RetryContext, blocks: DataBlocks) -> str:
    gaps = "\n".join(f"- {gap.fact} ({gap.verification}: {gap.reason})" for gap in context.evidence_gaps)
    prior = context.prior_verified_output.model_dump_json(by_alias=True, exclude={"claims": {"__all__": {"flags"}}})
    evidence = "\n".join(
        f"[{one.source_invocation_id} {one.raw_path}] {' '.join(one.matched_text.split())}"
        for one in context.prior_verified_evidence
    )
    return (
        prompt("executor_gaps")
        + "\n\n"
        + "".join(
            [
                section("Gaps", blocks.block(gaps)),
                section("Your first document, checked", blocks.block(prior)),
                section("Its evidence", blocks.block(evidence) if evidence else ""),
            ]
        )
    )
