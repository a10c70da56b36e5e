"""From what the tools showed to claims: whom to blame, what else was observed, what was looked for in vain.

Every claim is made of statements that stand in the results, so that its numbers and times are theirs; each is bound to
the whole statement. Root causes stand first, most likely first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.contracts import ClaimKind, JsonObject

ADVISED = "A runbook advises: "
"""How a claim begins that rests on a runbook."""
NEAREST = "The nearest that the runbooks have: "
"""How it begins when the runbook is hardly about what was asked."""

MAX_CAUSES = 3
MAX_CAUSE_BINDINGS = 6
MAX_OBSERVATIONS = 6
MAX_PER_ENTITY = 2
"""Observations about one entity, so that a loud one does not crowd out the others."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why one entity may be where the trouble starts.

    Attributes:
        entity: Whom to blame.
        lead: The statement that says it best.
        change: What was changed about it just before, if anything.
        support: Further statements about it: other signs of its own, and who calls whom.
    """

    entity: str
    lead: Sighting
    change: Sighting | None = None
    support: tuple[Sighting, ...] = ()

    @property
    def text(self) -> str:
        """The accusation, in the words of the statements that it rests on."""
        # The onset is an estimate: what came a moment after it may still have come first.
        when = "About then" if self.change and " after the onset)" in self.change.text else "Just before"
        before = f" {when}: {self.change.text}" if self.change else ""
        return f"The trouble starts at {self.entity}. {self.lead.text}{before}"

    @property
    def evidence(self) -> tuple[Sighting, ...]:
        """All its statements, those that are said in full first."""
        return (self.lead, *((self.change,) if self.change else ()), *self.support)


@dataclass(slots=True)
class Claims:
    """The claims of one document, numbered as they are added."""

    claims: list[JsonObject] = field(default_factory=list)
    _said: set[str] = field(default_factory=set)

    def add_prior(self, claim: JsonObject) -> None:
        """Take over a claim that stands verified, under its own id and in its own words (E3)."""
        self.claims.append(claim)
        self._said.add(claim["claim"])

    def add_causes(self, suspicions: Iterable[Suspicion]) -> None:
        """Claim that the trouble starts at these entities."""
        blamed = {claim["entity"] for claim in self.claims if claim["kind"] == ClaimKind.ROOT_CAUSE}
        room = MAX_CAUSES - len(blamed)
        fresh = [suspicion for suspicion in suspicions if suspicion.entity not in blamed]
        for suspicion in fresh[: max(room, 0)]:
            said = suspicion.evidence[:MAX_CAUSE_BINDINGS]
            self._add(suspicion.text, ClaimKind.ROOT_CAUSE, suspicion.entity, said)
            self._said.update(one.text for one in (suspicion.lead, suspicion.change) if one)

    def add_observations(self, statements: Iterable[Sighting]) -> None:
        """State what was observed, in the tools' own words."""
        for statement in statements:
            kind = ClaimKind.NO_EVIDENCE if statement.empty else ClaimKind.OBSERVATION
            if statement.said not in self._said:
                self._add(statement.said, kind, statement.entity or None, [statement])

    def add_advice(self, passages: Iterable[Sighting], introduced: str = ADVISED) -> None:
        """State what runbooks advise, in their own words: that it is advised, and nothing more (G6)."""
        for passage in passages:
            said = f"{introduced}{passage.text}"
            if said not in self._said:
                self._add(said, ClaimKind.OBSERVATION, None, [passage])

    def strengthen(self, entity: str, statements: Sequence[Sighting]) -> None:
        """Bind further statements to the claim that blames an entity; its words stay."""
        for claim in self.claims:
            if claim["kind"] == ClaimKind.ROOT_CAUSE and claim["entity"] == entity:
                bound = claim["evidence_bindings"]
                known = {(one["source_invocation_id"], one["raw_path"]) for one in bound}
                new = [binding for statement in statements for binding in statement.bindings()]
                added = [one for one in new if (one["source_invocation_id"], one["raw_path"]) not in known]
                bound.extend(added[:MAX_CAUSE_BINDINGS])

    def _add(self, text: str, kind: ClaimKind, entity: str | None, evidence: Sequence[Sighting]) -> None:
        self._said.add(text)
        taken = {claim["claim_id"] for claim in self.claims}
        number = len(self.claims) + 1
        while f"claim-{number}" in taken:
            number += 1
        self.claims.append(
            {
                "claim_id": f"claim-{number}",
                "claim": text,
                "kind": kind,
                "entity": entity,
                "evidence_bindings": [binding for statement in evidence for binding in statement.bindings()],
            }
        )
