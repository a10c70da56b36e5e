"""What to do next, by the kind of evidence that a cause rests on: a table, so that it can be read and added to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diag_graph.agents.analyst.kinds import EvidenceKind
from diag_graph.analysis.failure_signatures import Catalogue, Signature
from diag_graph.tools.signature_files import built_in_catalogue

ADVICE: dict[EvidenceKind, str] = {
    EvidenceKind.CHANGE: "Compare {entity} before and after the cited change; roll the change back if that is safe.",
    EvidenceKind.OWN_TIME: "Look at what {entity} does in the cited operation: its own work, locks, and waits.",
    EvidenceKind.OWN_FAILURE: "Look at the cited failing operation of {entity} and at its error messages.",
    EvidenceKind.COURSE: "Look at the code of {entity} between the cited steps: what makes it return or fail there?",
    EvidenceKind.FAILURE_LOG: "Follow one of the cited log messages of {entity} to the code that writes it.",
    EvidenceKind.NAMED_FAILURE: "Look at what the cited failure of {entity} says, and mend that first.",
    EvidenceKind.SYMPTOM: "Collect what shows how {entity} fails: its traces, its error logs, its resource use.",
}
"""What to do about a cause that rests on a kind of evidence, unless a resource says it better."""

RESOURCES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"pool|connection", re.IGNORECASE),
        "See who holds the connections of {entity} and for how long; compare with the pool's limit.",
    ),
    (
        re.compile(r"cpu|throttl|load", re.IGNORECASE),
        "Profile {entity} or see which process uses the CPU; check its CPU limit.",
    ),
    (
        re.compile(r"memory|\bmem\b|heap|rss|resident|\bgc\b|oom", re.IGNORECASE),
        "See what {entity} holds in memory; check its limit and whether it was killed or restarted.",
    ),
    (
        re.compile(r"disk|iops|filesystem|inode", re.IGNORECASE),
        "Check the free space and the load of the disk of {entity}.",
    ),
    (
        re.compile(r"lock|lag\b", re.IGNORECASE),
        "See which sessions or transactions of {entity} block the others.",
    ),
    (
        re.compile(r"queue|backlog|pending|waiting|thread", re.IGNORECASE),
        "See what {entity} waits for: more work came in, or each piece takes longer.",
    ),
)


WAITS = (
    "Ask who runs {peer}, on which {entity} waits, whether it is slow or fails; until then answer without it, or give"
    " that call a short time limit."
)
"""What to do about a service of others, of which nothing but the wait is seen."""
_ELSEWHERE = re.compile(r", (?:waiting for )?a call to (?P<peer>\S+?), which records no spans")


def advice_for(
    entity: str, kinds: frozenset[EvidenceKind], texts: Sequence[str], own: Sequence[Signature] = ()
) -> list[str]:
    """Next steps about one suspected entity.

    Args:
        entity: Whom the claim blames.
        kinds: Kinds of its evidence.
        texts: The matched texts.
        own: Signatures of the user or of the incident, whose advice comes before that of the built-in ones.

    Returns:
        Sentences without numbers, most specific first.
    """
    together = "\n".join(texts)
    steps: list[str] = []
    if EvidenceKind.CHANGE in kinds:
        steps.append(ADVICE[EvidenceKind.CHANGE])
    if EvidenceKind.NAMED_FAILURE in kinds:
        steps.extend(_advice_of_signatures(texts, own))
    if EvidenceKind.SATURATION in kinds:
        steps.extend(step for pattern, step in RESOURCES if pattern.search(together))
    if EvidenceKind.OWN_TIME in kinds or EvidenceKind.OWN_FAILURE in kinds:
        peers = dict.fromkeys(found["peer"] for text in texts if (found := _ELSEWHERE.search(text)) is not None)
        steps.extend(WAITS.replace("{peer}", peer) for peer in peers)
    steps.extend(
        ADVICE[kind]
        for kind in (
            *(() if steps else (EvidenceKind.NAMED_FAILURE,)),
            *(() if _ELSEWHERE.search(together) else (EvidenceKind.OWN_TIME,)),
            EvidenceKind.OWN_FAILURE,
            EvidenceKind.COURSE,
            EvidenceKind.FAILURE_LOG,
        )
        if kind in kinds
    )
    if not steps and EvidenceKind.SYMPTOM in kinds:
        steps.append(ADVICE[EvidenceKind.SYMPTOM])
    return [step.replace("{entity}", entity) for step in steps[:3]]


def _advice_of_signatures(texts: Sequence[str], own: Sequence[Signature]) -> list[str]:
    """What the signatures of the named causes advise."""
    titles = [found["title"] for text in texts if (found := _NAMED_CAUSE.search(text.partition(' It reads: "')[0]))]
    catalogues = (Catalogue(own), built_in_catalogue()) if own else (built_in_catalogue(),)
    named = [next((one for known in catalogues if (one := known.named(title))), None) for title in titles]
    return [signature.advice for signature in named if signature is not None and signature.advice]


_NAMED_CAUSE = re.compile(r": (?P<title>[^:]+?)(?: \([^()]*\))? \(cause\): ")
"""Where a statement of `find_failure_signatures` names the failure."""
