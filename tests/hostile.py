"""Anything that an agent, a file or a tool may bring: strategies, and what must hold of a run whatever came.

Most of what is drawn is a legal document with a fault or two in it, for what is noise all through gets no further than
the parser.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from diag_graph.contracts import InvocationStatus
from diag_graph.gate.normalise import normalise
from diag_graph.gate.pointer import resolve
from diag_graph.gate.values import text_of, well_formed
from diag_graph.outcome import RunDocument, RunStatus
from diag_graph.parsing import MAX_DEPTH, is_deeper
from diag_graph.tools.ledger import as_json
from diag_graph.topology import Node, Reason, Verdict
from recordings import POOL, SLOW, bind, claim, composer, executor, fact, plan, verifier

EVIDENCE_HEADING = "\nEvidence\n"


def examples(usual: int) -> int:
    """How many examples to try: so many, or as many as DIAG_FUZZ_EXAMPLES says."""
    return int(os.environ.get("DIAG_FUZZ_EXAMPLES", "0")) or usual


# --- JSON values -------------------------------------------------------------------------------------------------

ODD_TEXTS = st.sampled_from(
    [
        *("", " ", "\x00", "\ud800", "a\udfffb", "\u202e\u200b", "[/bold][red]", "\x1b[31m", "inv-1", "claim-1", "NaN"),
        *(
            "PASS",
            "/items/0/text",
            "/",
            "~",
            "null",
            "é" * 600,
            "x" * 5000,
            POOL,
            "5",
            "-0",
            "\r\n",
            "```json\n{}\n```",
        ),
    ]
)
TEXTS = st.text(max_size=12) | ODD_TEXTS
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**30), 1e308, float("nan"), float("-inf"), -0.0])
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)


@st.composite
def spoilt(draw: st.DrawFn, document: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value with up to three of its places replaced, taken away, doubled, wrapped or buried deep."""
    root = [deepcopy(document)]
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(_places(root)))
        here = holder[key]
        fault = draw(st.integers(0, 5))
        if fault <= 1:
            holder[key] = draw(VALUES)
        elif fault == 2 and holder is not root:
            del holder[key]
        elif fault == 3 and isinstance(holder, list) and not is_deeper(here, 50):
            holder.insert(key, deepcopy(here))
        elif fault == 4:
            holder[key] = draw(st.sampled_from([[here], {"": here}, [here, here], written(here)]))
        elif fault == 5:
            for _ in range(draw(st.sampled_from([3, 150, 250, 3000]))):
                here = [here]
            holder[key] = here
    return root[0]


def _places(root: list[Any]) -> list[tuple[Any, Any]]:
    """Each place of a value, as what holds it and the key there; not all of a deep one."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [root]
    while waiting and len(found) < 200:
        holder = waiting.pop()
        for key, here in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            found.append((holder, key))
            if isinstance(here, dict | list):
                waiting.append(here)
    return found


def written(value: Any, *, ascii_only: bool = True) -> str:  # noqa: ANN401 - any JSON value
    """A value as an agent without manners writes it: NaN and half characters too, and as deep as it goes."""
    try:
        return json.dumps(value, ensure_ascii=ascii_only)
    except RecursionError:
        return '{"a":' * 3000 + "null" + "}" * 3000


# --- replies of agents ---------------------------------------------------------------------------------------------

LEGAL: dict[str, Any] = {
    Node.PLANNER: json.loads(plan().output or ""),
    Node.EXECUTOR: json.loads(
        executor(
            claim(),
            claim("claim-2", "checkout p95 latency rose to 1,840 ms", bind(SLOW, "inv-2"), kind="observation"),
            missing_info=["what filled the pool"],
        ).output
        or ""
    ),
    Node.VERIFIER: json.loads(
        verifier(
            "PASS",
            fact(),
            fact("indirect_support", "claim-2", "latency rose"),
            missing_info=["what filled the pool"],
            recommended_actions=["look at the pool"],
        ).output
        or ""
    ),
    Node.COMPOSER: json.loads(composer(limitations=["no traces"], next_steps=["look at the pool"]).output or ""),
}


@st.composite
def replies(draw: st.DrawFn, agent: str) -> str | None:
    """What an agent says: what it should, that with faults in it, or noise."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.none() | TEXTS | VALUES.map(written))
    document = draw(legal(agent))
    if kind > 3:
        document = draw(spoilt(document))
    text = written(document, ascii_only=draw(st.booleans()))
    return draw(_dressed(text)) if kind >= 8 else text


def legal(agent: str) -> st.SearchStrategy[Any]:
    """What an agent should say; a verifier's verdict may be any."""
    verdicts = st.sampled_from([*Verdict]) if agent == Node.VERIFIER else st.none()
    return verdicts.map(lambda verdict: LEGAL[agent] | ({"verdict": verdict} if verdict else {}))


def _dressed(text: str) -> st.SearchStrategy[str]:
    """The same with something around it, cut off, or with a name twice."""
    return st.sampled_from(
        [
            f"<think>{{}} perhaps</think>{text}",
            f"<think>{text}",
            f"Here it is:\n```json\n{text}\n```\nand that is all {{really}}.",
            f"[{text}]",
            text + text,
            "{" + text,
            text + "}",
            text[: len(text) // 2],
            text.replace("{", '{"claims": [], "verdict": "PASS", ', 1),
            "{" * 2000 + text,
            text + " " * 100_000,
        ]
    )


# --- recorded calls ------------------------------------------------------------------------------------------------

RESULT = {"items": [{"text": POOL, "value": 20}, {"text": SLOW}], "summary": "2 found", "truncated": None}


@st.composite
def calls(draw: st.DrawFn, first: int = 1) -> list[dict[str, Any]]:
    """Up to three recorded calls, as a run file holds them; the legal document cites the first two of a run."""
    made = []
    for number in range(first, first + draw(st.integers(2, 3) if first == 1 else st.integers(0, 2))):
        call = {
            "id": f"inv-{number}",
            "tool": "search_logs",
            "arguments": {},
            "status": "ok",
            "result": RESULT if number == 1 else {**RESULT, "items": [{"text": SLOW}]},
            "error": None,
        }
        if draw(st.integers(0, 4)) == 0:
            call |= {
                "tool": draw(st.sampled_from(["search_logs", "lookup_knowledge", "[red]\x1b[2J", ""])),
                "arguments": as_recorded(draw(st.dictionaries(TEXTS, VALUES, max_size=2))),
                "status": draw(st.sampled_from([*InvocationStatus])),
                "result": as_recorded(draw(spoilt(call["result"]) | VALUES)),
                "error": draw(st.none() | TEXTS),
            }
        made.append(call)
    return made


def as_recorded(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A value as the ledger keeps it."""
    return {} if is_deeper(value, MAX_DEPTH) else as_json(value)


# --- run files -----------------------------------------------------------------------------------------------------

RUNS = Path(__file__).parents[1] / "fixtures" / "runs"
SEEDS = [
    (RUNS / f"{name}.json").read_bytes()
    for name in ("evidence-round", "forged-citation", "graph/composer-invalid-once")
]
Edit = Callable[[bytes, int, int, bytes], bytes]
EDITS: list[Edit] = [
    lambda data, at, end, piece: data[:at] + piece + data[end:],
    lambda data, at, end, piece: data[:at] + data[end:],
    lambda data, at, end, piece: data[:end] + data[at:],
    lambda data, at, end, piece: data[:at],
    lambda data, at, end, piece: data[:at] + piece + data[at:],
    lambda data, at, end, piece: data.replace(data[at:end], piece),
]
PIECES = st.binary(max_size=4) | st.sampled_from(
    [
        b"null",
        b"NaN",
        b"[]",
        b"{}",
        b'"',
        b"\\ud800",
        b"\\u0000",
        b"1e999",
        b"-",
        b"0",
        b'"inv-1"',
        b"\xef\xbb\xbf",
        b"," * 9,
    ]
)


@st.composite
def edited_bytes(draw: st.DrawFn) -> bytes:
    """A run file with some of its bytes changed."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        end = at + draw(st.integers(1, 40))
        data = draw(st.sampled_from(EDITS))(data, at, end, draw(PIECES))
    return data


@st.composite
def edited_documents(draw: st.DrawFn) -> bytes:
    """A run file with some of its values changed."""
    document = draw(spoilt(json.loads(draw(st.sampled_from(SEEDS)))))
    return written(document).encode("utf-8", "surrogatepass")


def run_files() -> st.SearchStrategy[bytes]:
    """What may stand in a file that is said to be a run: a damaged run, mostly, and sometimes noise."""
    noise = st.binary(max_size=60) | VALUES.map(lambda value: written(value).encode())
    return st.one_of(edited_bytes(), edited_documents(), edited_documents(), noise)


# --- what must hold ------------------------------------------------------------------------------------------------


def check_honest(document: RunDocument) -> None:
    """The run gave a safe answer, no node broke, and each text that it cites is in what a tool of this run returned."""
    run = document.run
    assert run.status is RunStatus.SUCCESS
    assert run.answer
    run.answer.encode()
    _check_reasons(document)
    if run.verdict is None:
        assert document.findings == ()
        assert EVIDENCE_HEADING not in run.answer
    returned = {call.id: call for call in document.invocations if call.status in ("ok", "empty")}
    for finding in document.findings:
        assert finding.citations
        for citation in finding.citations:
            call = returned[citation.invocation_id]
            found = resolve(call.result, citation.path)
            assert found is not None
            assert citation.tool == call.tool
            assert normalise(citation.matched_text) in normalise(well_formed(text_of(found.value)))
    _check_cited(document)


def _check_reasons(document: RunDocument) -> None:
    trace = document.run.orchestration_trace or {}
    reasons = [row["reason_code"] for row in trace["transitions"]] + [trace["termination_reason"]]
    assert set(reasons) <= {*Reason}
    assert not [reason for reason in reasons if reason.endswith(("_error", "_unknown_status"))]


def _check_cited(document: RunDocument) -> None:
    """What stands under the answer's own heading of evidence is what findings cite, and nothing else."""
    _, _, listed = (document.run.answer or "").partition(EVIDENCE_HEADING)
    quoted = [line.strip() for line in listed.splitlines()[1::2]]
    cited = {f'"{" ".join(c.matched_text.split())}"' for finding in document.findings for c in finding.citations}
    assert set(quoted) <= cited
