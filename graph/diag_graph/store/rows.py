"""Contracts as rows, and rows as contracts. JSON stands in text columns; text of any kind can be written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

from diag_graph.contracts import AllowedClaim, GatekeeperAudit, Invocation, JsonObject, Turn
from diag_graph.outcome import AgentStep, RunDocument, RunRow

Row = Mapping[str, Any]

_SURROGATE = re.compile("[\ud800-\udfff]")
_FINDINGS = TypeAdapter(tuple[AllowedClaim, ...])
_HISTORY = TypeAdapter(tuple[Turn, ...])


def storable(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate (half of a character) becomes U+FFFD; all else stays as it is."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_json(value: object) -> str:
    """JSON text, readable as it stands in the file. Lone surrogates are kept, as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _cells(model: BaseModel, *, as_json: frozenset[str]) -> dict[str, Any]:
    """A model's fields as cells; those in `as_json` as JSON text, a null as NULL."""
    return {
        name: None if value is None else to_json(value) if name in as_json else _cell(value)
        for name, value in model.model_dump().items()
    }


def _cell(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


def _parsed(row: Row, *, as_json: frozenset[str]) -> dict[str, Any]:
    return {name: json.loads(value) if name in as_json and value is not None else value for name, value in row.items()}


_RUN_JSON = frozenset({"orchestration_trace"})
_INVOCATION_JSON = frozenset({"arguments", "result", "retrieval_details"})


def of_run(run: RunRow) -> dict[str, Any]:
    """A run's row in `diagnosis_run`, without its findings and history."""
    return _cells(run, as_json=_RUN_JSON)


def to_run(row: Row) -> RunRow:
    """The run that a row holds, as it is stored: RUNNING also when its process is gone."""
    return RunRow.model_validate(_parsed(row, as_json=_RUN_JSON))


def of_outcome(document: RunDocument) -> dict[str, Any]:
    """The rest of a run's row in `diagnosis_run`: its findings, and the clock and conversation that it was given."""
    return {
        "now": document.now,
        "findings": to_json([claim.model_dump() for claim in document.findings]),
        "history": to_json([turn.model_dump() for turn in document.history]),
    }


def to_findings(row: Row) -> tuple[AllowedClaim, ...]:
    """The findings that a row of `diagnosis_run` holds."""
    return _FINDINGS.validate_python(json.loads(row["findings"] or "[]"))


def to_history(row: Row) -> tuple[Turn, ...]:
    """The conversation that a row of `diagnosis_run` holds."""
    return _HISTORY.validate_python(json.loads(row["history"] or "[]"))


def of_step(step: AgentStep) -> dict[str, Any]:
    """A step's row in `agent_step`, without its key."""
    return _cells(step, as_json=frozenset())


def to_step(row: Row) -> AgentStep:
    """The step that a row holds."""
    return AgentStep.model_validate(row)


def of_invocation(invocation: Invocation) -> dict[str, Any]:
    """An invocation's row in `tool_invocation`; the run's part of the key is left to the caller."""
    cells = _cells(invocation, as_json=_INVOCATION_JSON)
    return {"invocation_id": cells.pop("id"), **cells}


def to_invocation(row: Row) -> Invocation:
    """The invocation that a row holds."""
    return Invocation.model_validate({**_parsed(row, as_json=_INVOCATION_JSON), "id": row["invocation_id"]})


def of_evaluation(document: RunDocument) -> dict[str, Any]:
    """What the checks of a run said: its row in `self_evaluation`, without the key."""
    audit = document.gatekeeper
    return {
        "gatekeeper_audit": None if audit is None else to_json(audit.model_dump()),
        "verifier_evaluation": None if document.verifier is None else to_json(document.verifier),
    }


def to_evaluation(row: Row) -> tuple[GatekeeperAudit | None, JsonObject | None]:
    """The gatekeeper's audit and the verifier's evaluation."""
    audit, verifier = row["gatekeeper_audit"], row["verifier_evaluation"]
    return (
        None if audit is None else GatekeeperAudit.model_validate(json.loads(audit)),
        None if verifier is None else json.loads(verifier),
    )
