"""Vocabularies of the graph in words, for people. Each table is total over its vocabulary; a test says so."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from diag_cli.render.safe import one_line
from diag_graph.topology import RETRY_KEY, Node, Reason

if TYPE_CHECKING:
    from diag_graph.contracts import Invocation
    from diag_graph.events import EvidenceRead

NODE_WORDS: dict[Node, str] = {
    Node.PLANNER: "planner",
    Node.EXECUTOR: "executor",
    Node.GATEKEEPER: "gatekeeper",
    Node.VERIFIED_INPUT: "verified input",
    Node.VERIFIER: "verifier",
    Node.EVIDENCE_RETRY: "evidence retry",
    Node.COMPOSER: "composer",
    Node.FALLBACK: "fallback",
}

_UNKNOWN = "its status was not one that the graph knows"
_ERROR = "an error inside the node"

REASON_WORDS: dict[Reason, str] = {
    Reason.PLANNER_COMPLETED: "made a plan",
    Reason.PLANNER_INVALID_OUTPUT: "its output was no legal plan",
    Reason.PLANNER_RETRYABLE_FAILED: "the call failed, in a way that may pass",
    Reason.PLANNER_NON_RETRYABLE_FAILED: "the call failed, in a way that does not pass",
    Reason.PLANNER_UNKNOWN_STATUS: _UNKNOWN,
    Reason.PLANNER_ERROR: _ERROR,
    Reason.EXECUTOR_COMPLETED: "handed in its evidence",
    Reason.EXECUTOR_INVALID_OUTPUT: "its output was no legal evidence document",
    Reason.EXECUTOR_TOOL_BLOCKED: "a tool call was refused, and no document was formed",
    Reason.EXECUTOR_FAILED: "the call failed, and no document was formed",
    Reason.EXECUTOR_UNKNOWN_STATUS: _UNKNOWN,
    Reason.EXECUTOR_ERROR: _ERROR,
    Reason.GATEKEEPER_PASS: "every citation is true",
    Reason.GATEKEEPER_LOW_CONFID: "some citations did not pass, none is forged",
    Reason.GATEKEEPER_NO_VERIFIED_BINDING: "no citation passed",
    Reason.GATEKEEPER_REJECT: "a citation does not stand in what the tools returned",
    Reason.GATEKEEPER_UNKNOWN_STATUS: _UNKNOWN,
    Reason.GATEKEEPER_ERROR: _ERROR,
    Reason.VERIFIED_INPUT_BUILT: "kept what passed, and nothing else",
    Reason.VERIFIED_INPUT_UNKNOWN_STATUS: _UNKNOWN,
    Reason.VERIFIED_INPUT_ERROR: _ERROR,
    Reason.VERIFIER_PASS: "the evidence supports the claims",
    Reason.VERIFIER_REJECT: "the evidence does not support a cause",
    Reason.VERIFIER_LOW_CONFID_CEILING: "not certain; not every citation had passed",
    Reason.VERIFIER_LOW_CONFID_NO_GAP: "not certain, and no gap that a second look could close",
    Reason.VERIFIER_LOW_CONFID_RETRY_SPENT: "not certain, also after the second look",
    Reason.VERIFIER_EVIDENCE_GAP: "not certain; a gap is worth a second look",
    Reason.VERIFIER_INVALID_OUTPUT: "its output was no legal verdict",
    Reason.VERIFIER_RETRYABLE_FAILED: "the call failed, in a way that may pass",
    Reason.VERIFIER_NON_RETRYABLE_FAILED: "the call failed, in a way that does not pass",
    Reason.VERIFIER_UNKNOWN_STATUS: _UNKNOWN,
    Reason.VERIFIER_ERROR: _ERROR,
    Reason.EVIDENCE_RETRY_PREPARED: "sends the gaps into a second round",
    Reason.EVIDENCE_RETRY_UNKNOWN_STATUS: _UNKNOWN,
    Reason.EVIDENCE_RETRY_ERROR: _ERROR,
    Reason.COMPOSER_COMPLETED: "worded the answer",
    Reason.COMPOSER_INVALID_OUTPUT: "its output was no legal answer",
    Reason.COMPOSER_RETRYABLE_FAILED: "the call failed, in a way that may pass",
    Reason.COMPOSER_NON_RETRYABLE_FAILED: "the call failed, in a way that does not pass",
    Reason.COMPOSER_UNKNOWN_STATUS: _UNKNOWN,
    Reason.COMPOSER_ERROR: _ERROR,
    Reason.FALLBACK_ERROR: _ERROR,
}


class Tone(StrEnum):
    """How something went, for the eye; the value is the style that shows it."""

    GOOD = "green"
    DOUBTFUL = "yellow"
    BAD = "red"


_GOOD = frozenset({"COMPLETED", "PASS", "SUCCESS", "ok", "pass"})
NO_VERDICT = "FALLBACK"
"""In place of a verdict: the fixed, safe answer, from before anything was verified; `diag trace` says why."""

_DOUBTFUL = frozenset({"LOW_CONFID", NO_VERDICT, "RUNNING", "INTERRUPTED", "empty"})
_DOUBTFUL_REASONS = frozenset(
    {
        Reason.VERIFIER_REJECT,
        Reason.VERIFIER_LOW_CONFID_CEILING,
        Reason.VERIFIER_LOW_CONFID_NO_GAP,
        Reason.VERIFIER_LOW_CONFID_RETRY_SPENT,
        Reason.VERIFIER_EVIDENCE_GAP,
    }
)


def tone(outcome: str, node: str = "", reason_code: str = "") -> Tone:
    """How a node attempt, a call, a run or a verdict went."""
    if node == Node.FALLBACK or reason_code in _DOUBTFUL_REASONS or outcome in _DOUBTFUL:
        return Tone.DOUBTFUL
    return Tone.GOOD if outcome in _GOOD else Tone.BAD


def attempt_words(node: str, reason_code: str) -> str:
    """How a node attempt ended, in words; fallback's reason is that of the node before it."""
    return "gives a fixed, safe answer" if node == Node.FALLBACK else reason_words(reason_code)


def counted_attempt(node: str, number: int) -> str:
    """`attempt 2`, or `round 2`: the trace's `attempt` counts rounds for a node that is never tried again."""
    return f"{'attempt' if node in RETRY_KEY else 'round'} {number}"


def node_words(node: str) -> str:
    """A node's name as people read it; of a node that this version does not know, the name."""
    return NODE_WORDS[Node(node)] if node in set(Node) else one_line(node)


def reason_words(code: str) -> str:
    """A reason code in words; of a code that this version does not know, nothing."""
    return REASON_WORDS[Reason(code)] if code in set(Reason) else ""


def failure_words(code: str) -> str:
    """Why a binding or a claim failed its check, in words and by its code."""
    from diag_graph.contracts import FailureCode

    words = {
        FailureCode.INCOMPLETE_BINDING: "a field of the citation is missing",
        FailureCode.UNKNOWN_INVOCATION: "no such tool call was made in this run",
        FailureCode.INVOCATION_FAILED: "that tool call returned no result",
        FailureCode.PATH_MISMATCH: "the text does not stand at that path",
        FailureCode.EXCERPT_MISMATCH: "the text does not stand in that result",
        FailureCode.TRIVIAL_EXCERPT: "the text is too short to say anything",
        FailureCode.UNBOUND_CLAIM: "it cites nothing",
        FailureCode.MALFORMED_CLAIM: "it has no id or no text",
        FailureCode.DUPLICATE_CLAIM_ID: "its id is used twice",
    }
    return f"{words[FailureCode(code)]} ({code})" if code in words else one_line(code)


def arguments_words(arguments: dict[str, Any]) -> str:
    """Arguments of a tool call on one line: `service=checkout, level=error`."""
    return ", ".join(
        f"{one_line(name)}={_value_words(value)}" for name, value in arguments.items() if value is not None
    )


def _value_words(value: object) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def outcome_words(invocation: Invocation) -> str:
    """What came out of a tool call, on one line: its error, or its own summary."""
    if invocation.error:
        return one_line(invocation.error)
    result = invocation.result
    summary = result.get("summary") if isinstance(result, dict) else None
    return one_line(summary) if isinstance(summary, str) else ""


_SECOND, _MINUTE = 1000, 60_000


def seconds(milliseconds: int | None) -> str:
    """A duration as people read it: `12 ms`, `3.4 s`, `2m 05s`; empty when it is not known."""
    if milliseconds is None:
        return ""
    if milliseconds < _SECOND:
        return f"{milliseconds} ms"
    if milliseconds < _MINUTE:
        return f"{milliseconds / _SECOND:.1f} s"
    minutes, rest = divmod(round(milliseconds / _SECOND), 60)
    return f"{minutes}m {rest:02d}s"


def counted(number: int, noun: str) -> str:
    """`1 binding`, `2 bindings`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def reading_words(read: EvidenceRead) -> str:
    """What is being read and how far that has come: `reading payment.log: 45 of 1,350 MB, 3%`."""
    done = min(read.done, read.total)
    share = 100 * done // max(read.total, 1)
    return f"reading {one_line(read.source)}: {done >> 20:,} of {read.total >> 20:,} MB, {share}%"
