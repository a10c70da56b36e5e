"""The analyst's executor: makes the planned calls, follows what they show, and binds claims to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diag_graph.agents.analyst.alerted_series import alerted_series
from diag_graph.agents.analyst.asked_statements import asked_statements, silence_about
from diag_graph.agents.analyst.asked_steps import can_show
from diag_graph.agents.analyst.claims import ADVISED, NEAREST, Claims
from diag_graph.agents.analyst.documents import telling_lines
from diag_graph.agents.analyst.guidance import asked_passages, is_nearest, runbook_advice
from diag_graph.agents.analyst.guilt import says_less, with_guilty_change
from diag_graph.agents.analyst.kinds import CAUSAL, evidence_kind
from diag_graph.agents.analyst.named_failures import named_suspicions, stated_failures, with_named_failures
from diag_graph.agents.analyst.observations import observations
from diag_graph.agents.analyst.question_kinds import QuestionKind, question_kind
from diag_graph.agents.analyst.reading import names_entity
from diag_graph.agents.analyst.sightings import Sighting, sightings
from diag_graph.agents.analyst.skill_steps import follow_skill, not_said
from diag_graph.agents.analyst.suspicions import suspicions
from diag_graph.agents.analyst.writing import reply
from diag_graph.agents.ports import AgentReply, Toolbox
from diag_graph.contracts import EVIDENCE_SCHEMA, Invocation, JsonObject, RetryContext
from diag_graph.state import ExecutorInput
from diag_graph.tools.definition import LOOKUP_KNOWLEDGE

MAX_DOCUMENTS = 8
"""Documents that are read when nothing with numbers or times shows what happened."""
DOCUMENT_LINES = 400


class AnalystExecutor:
    """Gathers evidence by the plan and its skill, and claims what the statements carry."""

    def execute(self, request: ExecutorInput, tools: Toolbox) -> AgentReply:
        """An evidence document as JSON text."""
        advised = follow_skill(request.plan.selected_skill, tools)
        made = [tools.call(step.tool, step.arguments) for step in request.plan.steps if step.tool]
        kind = question_kind(request.question)
        if request.retry_context is not None:
            document = _second_round(request.retry_context, sightings(made))
        elif kind is QuestionKind.RUNBOOK and made and all(call.tool == LOOKUP_KNOWLEDGE for call in made):
            document = _advice(made)
        elif can_show(kind, {call.tool for call in made}):
            document = _facts(kind, request, made, tools)
        else:
            document = self._first_round(request.question, made, advised, tools)
        return reply(document)

    def _first_round(
        self, question: str, made: list[Invocation], advised: list[Invocation], tools: Toolbox
    ) -> JsonObject:
        """Whom to blame is weighed by the survey, which looks at all alike; a skill's calls add to what is seen."""
        survey = sightings(made)
        seen = [*survey, *not_said(sightings(advised), survey)]
        claims = Claims()
        suspected = with_named_failures(suspicions(question, survey), survey) or named_suspicions(question, survey)
        suspected, weighed = with_guilty_change(suspected, survey, tools)
        stated = stated_failures(question, seen)
        read: Sequence[Sighting] = ()
        if not suspected and not stated:
            read = telling_lines(sightings(_documents(seen, tools)))
        claims.add_causes(suspected)
        judged = [*(one.change for one in suspected if one.change), *weighed]
        claims.add_observations(observations(question, [one for one in seen if not says_less(one, judged)], suspected))
        claims.add_observations(weighed)
        claims.add_observations(stated)
        claims.add_observations(read)
        if not suspected:
            claims.add_observations(alerted_series(seen, tools))
        if question_kind(question) is QuestionKind.STATE:
            claims.add_observations(silence_about(question, seen, tools))
        overview = [one for one in seen if one.field("section") == "overview"]
        if not claims.claims or any(" holds nothing. " in one.text for one in overview):
            claims.add_observations(overview)
        claims.add_advice(runbook_advice(question, suspected, [*stated, *read], tools))
        return _document(claims, [*made, *advised])


def _advice(made: list[Invocation]) -> JsonObject:
    """What the runbooks that were asked for say; when none says anything, that."""
    seen = sightings(made)
    claims = Claims()
    passages = asked_passages(seen)
    claims.add_advice(passages, NEAREST if is_nearest(passages) else ADVISED)
    if not claims.claims:
        claims.add_observations(one for one in seen if one.empty)
    return _document(claims, made)


def _facts(kind: QuestionKind, request: ExecutorInput, made: list[Invocation], tools: Toolbox) -> JsonObject:
    """What was asked for, and nobody blamed; when the tools show none of it, what documents say."""
    found = asked_statements(kind, request.question, request.plan, made, tools)
    claims = Claims()
    claims.add_observations(found)
    if all(one.empty for one in found):
        claims.add_observations(telling_lines(sightings(_documents(sightings(made), tools))))
    return _document(claims, made)


def _documents(seen: Iterable[Sighting], tools: Toolbox) -> list[Invocation]:
    """Read the documents that the inventory names, when there is nothing better."""
    names = [name for one in seen if isinstance(name := one.field("document"), str)]
    return [
        tools.call("read_document", {"name": name, "limit": DOCUMENT_LINES})
        for name in list(dict.fromkeys(names))[:MAX_DOCUMENTS]
    ]


def _second_round(context: RetryContext, seen: Sequence[Sighting]) -> JsonObject:
    """The full snapshot: what stood verified, and what the increments add (E3)."""
    claims = Claims()
    for claim in context.prior_verified_output.claims:
        claims.add_prior(claim.model_dump(mode="json", include=set(_CLAIM_FIELDS)))
    for entity in dict.fromkeys(claim.entity for claim in context.prior_verified_output.claims if claim.entity):
        found = [one for one in seen if not one.empty and names_entity(one.text, entity)]
        causal = [one for one in found if evidence_kind(one.tool, one.text, entity) in CAUSAL]
        counted = {one.invocation_id for one in causal}
        counts = [one for one in seen if one.field("change") == "count" and one.invocation_id in counted]
        claims.strengthen(entity, [*causal[:3], *counts[:2]])
    claims.add_observations(observations("", seen, ()))
    return _document(claims, ())


_CLAIM_FIELDS = ("claim_id", "claim", "kind", "entity", "evidence_bindings")


def _document(claims: Claims, made: Iterable[Invocation]) -> JsonObject:
    failed = [f"{call.tool} gave no result: {call.error}" for call in made if call.result is None]
    return {"schema": EVIDENCE_SCHEMA, "claims": claims.claims, "missing_info": failed}
