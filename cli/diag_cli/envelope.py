"""A run as the JSON object that `--json` prints (contract section 10).

Names are camelCase at this boundary; documents within (the audit, the trace, arguments, results) keep theirs. The
trace stands under `run` and nowhere else (J1).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from diag_cli.render.safe import harmless_json

if TYPE_CHECKING:
    from pydantic import BaseModel

    from diag_graph.outcome import RunDocument, RunRow


def envelope(document: RunDocument) -> dict[str, Any]:
    """The envelope of a run."""
    audit = document.gatekeeper
    return {
        "run": run_object(document.run),
        "findings": [
            {
                "claimId": claim.claim_id,
                "kind": claim.kind,
                "standing": claim.standing,
                "entity": claim.entity,
                "text": claim.text,
                "citations": [camel(citation) for citation in claim.citations],
            }
            for claim in document.findings
        ],
        "selfEvaluation": {
            "gatekeeper": None if audit is None else audit.model_dump(),
            "verifier": document.verifier,
        },
        "steps": [camel(step) for step in document.steps],
        "invocations": [camel(invocation) for invocation in document.invocations],
    }


def run_object(run: RunRow) -> dict[str, Any]:
    """A run's own data; `diag runs --json` lists these."""
    return camel(run)


def as_text(value: object) -> str:
    """JSON for people and programs: indented, any script as it is, nothing that a terminal would act upon."""
    return harmless_json(json.dumps(value, ensure_ascii=False, indent=2))


def camel(model: BaseModel) -> dict[str, Any]:
    """A model's fields under camelCase names; what the fields hold is left as it is."""
    return {_camel_name(name): value for name, value in model.model_dump().items()}


def _camel_name(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
