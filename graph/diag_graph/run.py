"""The composition root: puts agents, tools, graph and listeners together for one run."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from diag_graph.agents.ports import AgentSet
from diag_graph.analysis.failure_signatures import Signature
from diag_graph.analysis.follow_ups import timed_question
from diag_graph.contracts import (
    DiagnosisContext,
    GatekeeperAudit,
    Invocation,
    JsonObject,
    Turn,
    VerifiedDocument,
    VerifierResult,
)
from diag_graph.errors import InputError, RunAborted
from diag_graph.events import AgentFinished, Event, EvidenceRead, Listener, ModelAnswered, RunFinished, RunStarted, tell
from diag_graph.gate.values import well_formed
from diag_graph.history import bounded
from diag_graph.nodes.composer import view_claims
from diag_graph.nodes.deps import Deps
from diag_graph.outcome import INTERRUPTED_REASON, AgentFlow, AgentStep, RunDocument, RunRow, RunStatus, used_by
from diag_graph.sources.ports import NO_GUIDANCE, Evidence, Guidance
from diag_graph.sources.watching import watched
from diag_graph.state import DiagnosisState
from diag_graph.tools.definition import GUIDANCE, AnyTool, ToolContext
from diag_graph.tools.ledger import Ledger
from diag_graph.topology import RECURSION_LIMIT, Node, PlannerMode
from diag_graph.trace import orchestration_trace

if TYPE_CHECKING:
    from diag_graph.agents.models import ModelSettings

MAX_QUESTION_CHARS = 20_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one run is about, and who does it.

    Attributes:
        question: The user's question.
        agents: Who thinks.
        tools: What they may call; empty in a replay.
        context: What the tools work on, guidance too; None in a replay.
        session_id: The conversation.
        history: Its earlier turns, oldest first.
        now: The run's clock, ISO 8601 in UTC; it stands still while the run goes on.
        flow: Who asked.
        replay_of: Of a replay: the run id that the file names.
        recorded: Of a what-if run: the tool calls of the earlier run, which answer in place of tools.
    """

    question: str
    agents: AgentSet
    now: str
    session_id: str
    tools: tuple[AnyTool, ...] = ()
    context: ToolContext | None = None
    history: tuple[Turn, ...] = ()
    flow: AgentFlow = AgentFlow.CHAT
    replay_of: str | None = None
    recorded: tuple[Invocation, ...] | None = None


def diagnose(
    question: str,
    *,
    evidence: Evidence | None = None,
    guidance: Guidance = NO_GUIDANCE,
    session_id: str | None = None,
    history: Sequence[Turn] = (),
    now: datetime | None = None,
    since: str | None = None,
    until: str | None = None,
    zone: str = "UTC",
    model: str | ModelSettings | None = None,
    listeners: Sequence[Listener] = (),
) -> RunDocument:
    """Ask a question of the evidence.

    Args:
        question: What the user wants to know.
        evidence: Where the tools look; None: nowhere.
        guidance: Runbooks and skills, which advise and are no evidence.
        session_id: The conversation that this goes on with; None begins one.
        history: Its earlier turns, oldest first; the run is told of the latest, within bounds.
        now: The run's clock; None: the machine's.
        since: Start of the window to look at, as the user wrote it.
        until: End of the window.
        zone: The user's time zone (IANA name), in which times without one are read.
        model: The language model that thinks, by LiteLLM's name for it or with settings; None: the built-in analyst.
        listeners: Who hears what happens, as it happens.

    Returns:
        The run with its answer; its status is FAILED only when no safe answer could be made (D1).

    Raises:
        InputError: the question or a time cannot be used.
        ConfigError: the model cannot be used.
    """
    from diag_graph.sources.nowhere import nowhere
    from diag_graph.tools.catalogue import offered_tools
    from diag_graph.tools.run_window import run_window

    clean = well_formed(question).strip()
    if not clean:
        raise InputError("the question is empty", 'Ask something: diag ask "why did checkout latency jump at 14:05?"')
    if len(clean) > MAX_QUESTION_CHARS:
        raise InputError(f"the question has {len(clean):,} characters, more than {MAX_QUESTION_CHARS:,}", "Shorten it.")
    moment = iso(now or datetime.now(UTC))
    context = None
    with watched(evidence, lambda read: tell(listeners, EvidenceRead(read.source, read.done, read.total))):
        if evidence is not None or guidance != NO_GUIDANCE:
            looked_at = evidence or nowhere()
            about = timed_question(clean, [turn.question for turn in history])
            window = run_window(looked_at, about, now or datetime.now(UTC), since=since, until=until, zone=zone)
            context = ToolContext(looked_at, window, moment, zone, guidance)
        return execute(
            Assignment(
                question=clean,
                agents=live_agents(
                    model, listeners, evidence.signatures if evidence else (), looks=evidence is not None
                ),
                tools=offered_tools(context) if context else (),
                context=context,
                session_id=session_id or new_id(),
                history=tuple(history),
                now=moment,
            ),
            listeners,
        )


def live_agents(
    model: str | ModelSettings | None,
    listeners: Sequence[Listener],
    signatures: Sequence[Signature] = (),
    *,
    looks: bool = True,
) -> AgentSet:
    """Who thinks in a run: a language model, or the built-in analyst (who advises by signatures) when there is none.

    `looks` is whether there is any evidence; the analyst says it when there is none.

    Raises:
        ConfigError: the model cannot be used.
    """
    if not model:
        from diag_graph.agents.analyst import built_in_analyst

        return built_in_analyst(signatures, looks=looks)
    from diag_graph.agents.models import ModelSettings, model_agents

    settings = ModelSettings(model) if isinstance(model, str) else model
    return model_agents(settings, lambda role, usage: tell(listeners, ModelAnswered(role, usage)))


def execute(assignment: Assignment, listeners: Sequence[Listener] = ()) -> RunDocument:
    """Run the graph once.

    Args:
        assignment: What to do, and with whom.
        listeners: Who hears what happens.

    Returns:
        The run, also when it failed.

    Raises:
        RunAborted: an agent ended the run from inside (a replay that diverged); listeners have heard the end before.
        KeyboardInterrupt, SystemExit: likewise.
    """
    return _Run(assignment, listeners).execute()


class _Run:
    """One run, from its first event to its last."""

    def __init__(self, assignment: Assignment, listeners: Sequence[Listener]) -> None:
        self._assignment = assignment
        self._listeners = tuple(listeners)
        self._history = bounded(assignment.history)
        self._steps: list[AgentStep] = []
        self._ledger = self._tools(assignment)
        self._state: dict[str, Any] = {}
        self._begun = time.perf_counter()
        self._row = RunRow(
            run_id=new_id(),
            session_id=assignment.session_id,
            agent_flow=assignment.flow,
            status=RunStatus.RUNNING,
            question=assignment.question,
            model=assignment.agents.label,
            started_at=iso(datetime.now(UTC)),
            replay_of=assignment.replay_of,
            what_if=assignment.recorded is not None,
        )

    def _tools(self, assignment: Assignment) -> Ledger:
        if assignment.recorded is None:
            return Ledger(assignment.tools, assignment.context, self._emit)
        from diag_graph.tools.recorded import RecordedTools

        return RecordedTools(assignment.recorded, self._emit)

    def execute(self) -> RunDocument:
        self._emit(RunStarted(self._row))
        try:
            self._stream()
        except RunAborted:
            self._finish("replay_diverged")
            raise
        except (KeyboardInterrupt, SystemExit):
            self._finish(INTERRUPTED_REASON)
            raise
        except Exception as error:  # noqa: BLE001 - a graph that dies still leaves its run, as far as it got (T2)
            _log.exception("the graph died")
            return self._finish(f"graph_error: {type(error).__name__}")
        return self._finish(None)

    def _stream(self) -> None:
        """Run the graph, keeping the last state that it reached."""
        from langchain_core.runnables import RunnableConfig

        from diag_graph.build import build_graph
        from diag_graph.telemetry import tracing_as_configured

        assignment, row = self._assignment, self._row
        guidance = assignment.context.guidance if assignment.context else NO_GUIDANCE
        deps = Deps(
            assignment.agents,
            self._ledger,
            self._emit,
            skills=None if assignment.agents.recorded else guidance.skill_cards,
            knowledge_domains=tuple(guidance.knowledge.domains()) if guidance.knowledge else (),
            guidance_tools=GUIDANCE | {tool.name for tool in assignment.tools if tool.guidance},
        )
        initial: DiagnosisState = {
            "diagnosis_context": DiagnosisContext(
                question=assignment.question,
                history=self._history,
                session_id=row.session_id,
                run_id=row.run_id,
                now=assignment.now,
            ),
            "planner_mode": PlannerMode.NORMAL,
            "planner_retry_count": 0,
            "verifier_retry_count": 0,
            "composer_retry_count": 0,
            "evidence_retry_count": 0,
            "orchestration_events": [],
        }
        config: RunnableConfig = {
            "recursion_limit": RECURSION_LIMIT,
            "configurable": {"thread_id": row.run_id},
            "metadata": {"run_id": row.run_id, "session_id": row.session_id},
        }
        with tracing_as_configured():
            for values in build_graph().stream(initial, config, context=deps, stream_mode="values"):
                self._state = dict(values)

    def _finish(self, death: str | None) -> RunDocument:
        """Put the run together and tell everybody; `death` says why the graph did not end by itself."""
        state = self._state
        events = state.get("orchestration_events") or []
        rests = death is None and _rests_on_verdict(events)
        verdict = state.get("effective_verdict") if rests else None
        answer = state.get("final_answer") if death is None else None
        done = self._row.model_copy(
            update={
                "status": RunStatus.SUCCESS if answer else RunStatus.FAILED,
                "answer": answer,
                "verdict": verdict,
                "model_verdict": state.get("verifier_model_verdict"),
                **used_by(self._steps),
                "tool_calls": len(self._ledger.invocations),
                "duration_ms": round((time.perf_counter() - self._begun) * 1000),
                "failure_reason": death or state.get("failure_reason") or (None if answer else "no_answer"),
                "finished_at": iso(datetime.now(UTC)),
                "orchestration_trace": orchestration_trace(events, state.get("evidence_retry_count", 0)),
            }
        )
        audit = state.get("gatekeeper_result")
        document = RunDocument(
            run=done,
            findings=view_claims(state) if rests else (),  # type: ignore[arg-type]
            gatekeeper=audit if isinstance(audit, GatekeeperAudit) else None,
            verifier=_evaluation(state, verdict),
            history=self._history,
            now=self._assignment.now,
            steps=tuple(self._steps),
            invocations=self._ledger.invocations,
        )
        self._emit(RunFinished(document))
        return document

    def _emit(self, event: Event) -> None:
        if isinstance(event, AgentFinished):
            self._steps.append(event.step)
        tell(self._listeners, event)


def _rests_on_verdict(events: Sequence[Any]) -> bool:
    """Whether the answer rests on the verdict: the composer ended the run, or its failure led to fallback."""
    nodes = [event["node"] for event in events]
    return nodes[-1:] == [Node.COMPOSER] or nodes[-2:] == [Node.COMPOSER, Node.FALLBACK]


def _evaluation(state: dict[str, Any], verdict: str | None) -> JsonObject | None:
    result = state.get("verifier_output")
    if not isinstance(result, VerifierResult):
        return None
    verified = state.get("verified_executor_output")
    claims = verified.claims if isinstance(verified, VerifiedDocument) else ()
    return {
        "verdict": verdict,
        "model_verdict": state.get("verifier_model_verdict"),
        "ceiling": state.get("verifier_verdict_ceiling"),
        "facts_checked": [fact.model_dump(mode="json") for fact in result.facts_checked],
        "missing_info": list(result.missing_info),
        "recommended_actions": list(result.recommended_actions),
        "claim_flags": [{"claim_id": c.claim_id, "flags": [str(flag) for flag in c.flags]} for c in claims if c.flags],
    }


def new_id() -> str:
    """A new run or session id: 16 hexadecimal digits, of which a unique beginning will do to name it."""
    return uuid.uuid4().hex[:16]


def iso(moment: datetime) -> str:
    """A time as contracts state it: ISO 8601 in UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
