"""The run file (`run.json`, contract section 11): a run's recorded steps, to be played again through the same graph."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from diag_graph.agents.recorded import RecordedStep
from diag_graph.contracts import Frozen, Invocation, JsonObject, Turn
from diag_graph.errors import RunFileError
from diag_graph.outcome import AgentError, AgentStep, RunDocument
from diag_graph.parsing import MAX_DEPTH, InvalidReplyError, strict_loads
from diag_graph.topology import FailureKind, Node

FORMAT = "diag-run/1"
MAX_FILE_BYTES = 256 * 1024 * 1024
_MAX_DEPTH = MAX_DEPTH + 20
"""In a file, results and arguments stand some levels deeper than they were by themselves."""
_AGENTS = (Node.PLANNER, Node.EXECUTOR, Node.VERIFIER, Node.COMPOSER)
_MAX_FAULTS = 3


class FileStep(RecordedStep):
    """A step as it may stand in a file: the output as text, as a JSON object, or null."""

    @field_validator("agent")
    @classmethod
    def _known_agent(cls, agent: str) -> str:
        if agent not in _AGENTS:
            raise ValueError(f"no agent is called {agent[:40]!r}; agents are {', '.join(_AGENTS)}")
        return agent

    @field_validator("output", mode="before")
    @classmethod
    def _object_as_text(cls, output: Any) -> Any:  # noqa: ANN401 - any JSON value
        return json.dumps(output, ensure_ascii=False) if isinstance(output, dict) else output

    @model_validator(mode="after")
    def _consistent(self) -> FileStep:
        if self.error is not None and self.output is not None:
            raise ValueError("a step has either an output or an error, not both")
        if self.invocations and self.agent != Node.EXECUTOR:
            raise ValueError("only an executor's step has invocations")
        if self.error and self.error.kind is FailureKind.TOOL_BLOCKED and self.agent != Node.EXECUTOR:
            raise ValueError("only an executor's step fails with tool_blocked")
        return self


class RunFile(Frozen):
    """A run file, read and checked."""

    format: Literal["diag-run/1"]
    run_id: str | None = Field(default=None, alias="runId")
    question: str
    history: tuple[Turn, ...] = ()
    now: str | None = None
    steps: tuple[FileStep, ...]
    orchestration_trace: JsonObject | None = Field(default=None, alias="orchestrationTrace")

    @field_validator("question")
    @classmethod
    def _asks_something(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        return question

    @field_validator("steps")
    @classmethod
    def _unique_invocations(cls, steps: tuple[FileStep, ...]) -> tuple[FileStep, ...]:
        seen = Counter(invocation.id for step in steps for invocation in step.invocations)
        twice = [invocation_id for invocation_id, count in seen.items() if count > 1]
        if twice:
            raise ValueError(f"the invocation id {twice[0][:40]!r} stands more than once; ids are unique within a run")
        return steps


def read_run_file(path: Path) -> RunFile:
    """Read a run file.

    Args:
        path: Where it is. It is read and never executed; nothing in it names another file.

    Raises:
        RunFileError: it is not there, no regular file, too large, no UTF-8, no JSON, or not of the format (P3).
    """
    text = _read_text(path)
    try:
        document = strict_loads(text, max_depth=_MAX_DEPTH)
    except InvalidReplyError as error:
        raise RunFileError(f"{path} is no run file: {error}", "It may be cut off; save the run again.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else None
        said = f'its "format" is {str(found)[:40]!r}' if found is not None else 'it has no "format"'
        raise RunFileError(f"{path} is no run file: {said}", f'A run file is a JSON object with "format": "{FORMAT}".')
    try:
        return RunFile.model_validate(document)
    except ValidationError as error:
        faults = [f"at {_pointer(fault['loc'])}: {fault['msg']}" for fault in error.errors()[:_MAX_FAULTS]]
        raise RunFileError(f"{path} is not a legal run file {'; '.join(faults)}", "Mend these places.") from None


def run_file_of(document: RunDocument) -> JsonObject:
    """A run as the JSON object of a run file, which replays to the same transitions, verdict and answer (P2)."""
    run = document.run
    out: JsonObject = {"format": FORMAT, "runId": run.run_id, "question": run.question}
    out["history"] = [turn.model_dump() for turn in document.history]
    out["now"] = document.now or run.started_at
    out["steps"] = [_step(step, document.invocations) for step in document.steps]
    out["orchestrationTrace"] = run.orchestration_trace
    return out


def save_run_file(document: RunDocument, path: Path) -> None:
    """Write a run file, whole or not at all.

    Raises:
        RunFileError: the place cannot be written.
    """
    text = json.dumps(run_file_of(document), ensure_ascii=False, indent=1)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text + "\n")
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RunFileError(
            f"the run file {path} cannot be written: {error.strerror}", "Choose another place with --save."
        ) from None


def _step(step: AgentStep, invocations: tuple[Invocation, ...]) -> JsonObject:
    out: JsonObject = {"agent": step.agent}
    if step.agent == Node.EXECUTOR:
        out["invocations"] = [
            call.model_dump(mode="json", include={"id", "tool", "arguments", "status", "result", "error"})
            for call in invocations
            if call.round == step.round
        ]
    if step.error_kind is not None:
        out["error"] = AgentError(kind=step.error_kind, message=step.error or "").model_dump(mode="json")
    else:
        out["output"] = step.output
        if step.truncated:
            out["truncated"] = True
    return out


def _read_text(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise RunFileError(f"{path} is no regular file", "Give the path of a file that `diag ask --save` wrote.")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise RunFileError(f"{path} is too large: at most {MAX_FILE_BYTES:,} bytes are read", "Is it a run file?")
        return content.decode("utf-8-sig")  # editors put a mark in front
    except UnicodeDecodeError as error:
        raise RunFileError(f"{path} is no UTF-8 text: byte {error.start}", "Is it a run file?") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RunFileError(f"{path} cannot be read: {reason}", "Check the path.") from None


def _pointer(location: tuple[int | str, ...]) -> str:
    return "/" + "/".join(str(part) for part in location)
