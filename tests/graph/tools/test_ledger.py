"""The ledger: runs, limits, masks, records and de-duplicates tool calls (E2, X2, X3, X4)."""

from __future__ import annotations

import json
import logging
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import Field

from diag_graph.analysis.records import TimeRange, Window
from diag_graph.contracts import Invocation, InvocationStatus
from diag_graph.events import Event, ToolFinished, ToolStarted
from diag_graph.parsing import MAX_DEPTH
from diag_graph.sources.ports import Evidence, SourceEntry
from diag_graph.tools.definition import Tool, ToolArguments, ToolContext, ToolError, ToolOutput
from diag_graph.tools.ledger import Ledger
from diag_graph.tools.masking import MASK


class Nothing:
    """A source with nothing in it."""

    name = "nothing"

    def entries(self) -> list[SourceEntry]:
        """No entries."""
        return []

    def span(self) -> TimeRange | None:
        """No time."""
        return None


class Asked(ToolArguments):
    """Arguments of a search, with defaults."""

    text: str = ""
    services: tuple[str, ...] = ()
    limit: int = Field(default=20, ge=1)


Run = Callable[[Asked, ToolContext], ToolOutput]


def found(*texts: str, **fields: Any) -> ToolOutput:  # noqa: ANN401 - a result's fields
    """An output with these items."""
    return ToolOutput(items=[{"text": text} for text in texts], summary=f"{len(texts)} found", **fields)


class Search:
    """A tool that counts how often it is run, and does then what a test wants."""

    def __init__(self, run: Run) -> None:
        self.runs: list[Asked] = []
        self._run = run

    def __call__(self, arguments: Asked, context: ToolContext) -> ToolOutput:
        """Run it."""
        self.runs.append(arguments)
        return self._run(arguments, context)


def ledger(run: Run, heard: list[Event] | None = None, **limits: Any) -> tuple[Ledger, Search]:  # noqa: ANN401
    """A ledger that offers one tool, `search`, and that tool."""
    search = Search(run)
    tool = Tool("search", "finds text", Asked, search, offered=lambda evidence: True)
    context = ToolContext(Evidence(inventory=Nothing()), Window(0, 1, None, "a test"), "2026-07-16T14:20:00Z")
    emit = heard.append if heard is not None else lambda event: None
    return Ledger((tool,), context, emit, **limits), search


# --- recording -------------------------------------------------------------------------------------------------------


def test_a_call_is_run_recorded_and_told_as_it_happens() -> None:
    """D2: the invocation has the next id and everything that came of it, and listeners hear begin and end."""
    heard: list[Event] = []
    book, search = ledger(lambda arguments, context: found("one", retrieval_details={"layer": "L1"}), heard)
    made = book.call("search", {"text": "a"})
    assert made.model_dump(exclude={"duration_ms"}) == {
        "id": "inv-1",
        "tool": "search",
        "arguments": {"text": "a"},
        "status": InvocationStatus.OK,
        "result": {"items": [{"text": "one"}], "summary": "1 found", "truncated": None},
        "error": None,
        "round": 1,
        "retrieval_details": {"layer": "L1"},
    }
    assert heard == [ToolStarted("inv-1", "search", {"text": "a"}), ToolFinished(made)]
    assert book.invocations == (made,)
    assert search.runs == [Asked(text="a")]


def test_ids_count_up_over_failed_calls_too() -> None:
    """Section 9: `inv-1`, `inv-2`, ... in order, whatever came of the calls."""
    book, _ = ledger(lambda arguments, context: found("x"))
    made = [book.call("search", {"text": "a"}), book.call("nope", {}), book.call("search", {"limit": 0})]
    assert [(call.id, call.status) for call in made] == [("inv-1", "ok"), ("inv-2", "blocked"), ("inv-3", "error")]
    assert book.counts() == {"ok": 1, "empty": 0, "error": 1, "blocked": 1}


def test_an_empty_result_is_recorded_with_its_item() -> None:
    """X5: it can be cited, and counts as a query that succeeded."""
    book, _ = ledger(lambda arguments, context: found("nothing matched a in 14:00-14:20", empty=True))
    assert book.call("search", {}).status == "empty"
    assert [query.tool for query in book.completed_queries()] == ["search"]


# --- asked before (E2) -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        {"text": "a", "services": ["b"]},
        {"services": ["b"], "text": "a"},
        {"text": "a", "services": ["b"], "limit": 20},
        {"limit": 20, "services": ["b"], "text": "a"},
    ],
)
def test_a_call_equal_to_one_that_succeeded_is_answered_from_the_record(again: dict[str, Any]) -> None:
    """E2: equal in canonical form: the order of names, and defaults written out or not, make no difference."""
    heard: list[Event] = []
    book, search = ledger(lambda arguments, context: found("x"), heard)
    first = book.call("search", {"text": "a", "services": ["b"]})
    book.begin_round(2)
    assert book.call("search", again) is first
    assert len(search.runs) == 1
    assert book.invocations == (first,)
    assert heard[-1] == ToolFinished(first, reused=True)


@pytest.mark.parametrize(
    "other",
    [
        {"text": "A", "services": ["b"]},
        {"text": "a", "services": ["b", "c"]},
        {"text": "a"},
        {"text": "a", "limit": 21},
    ],
)
def test_a_call_that_differs_is_run(other: dict[str, Any]) -> None:
    """E2: only an equal call is spared."""
    book, search = ledger(lambda arguments, context: found("x"))
    book.call("search", {"text": "a", "services": ["b"]})
    assert book.call("search", other).id == "inv-2"
    assert len(search.runs) == 2


def test_an_empty_answer_counts_as_success_and_is_not_asked_for_again() -> None:
    """E2: nothing found is an answer."""
    book, search = ledger(lambda arguments, context: found("nothing", empty=True))
    assert book.call("search", {}) is book.call("search", {})
    assert len(search.runs) == 1


def test_a_call_that_failed_may_be_made_again() -> None:
    """E2 speaks of calls that succeeded."""
    outcomes: Iterator[ToolOutput | None] = iter([None, found("x")])

    def flaky(arguments: Asked, context: ToolContext) -> ToolOutput:
        outcome = next(outcomes)
        if outcome is None:
            raise ToolError("try again")
        return outcome

    book, _ = ledger(flaky)
    assert [book.call("search", {}).status, book.call("search", {}).status] == ["error", "ok"]
    assert [call.id for call in book.invocations] == ["inv-1", "inv-2"]


def test_calls_that_differ_in_a_masked_secret_are_not_equal() -> None:
    """E2, X3: what is recorded looks alike, and was not asked alike."""
    book, search = ledger(lambda arguments, context: found("x"))
    book.call("search", {"text": "password=one"})
    second = book.call("search", {"text": "password=two"})
    assert (second.id, second.arguments) == ("inv-2", {"text": f"password={MASK}"})
    assert book.call("search", {"text": "password=two"}) is second
    assert len(search.runs) == 2


def test_equal_calls_of_one_turn_share_one() -> None:
    """E2: also when they are asked for at the same time; order and ids are those of the asking."""
    book, search = ledger(lambda arguments, context: found(arguments.text))
    made = book.call_many(
        [("search", {"text": "a"}), ("search", {"text": "b"}), ("search", {"text": "a", "limit": 20})]
    )
    assert [call.id for call in made] == ["inv-1", "inv-2", "inv-1"]
    assert len(search.runs) == 2
    assert [call.id for call in book.invocations] == ["inv-1", "inv-2"]


def test_many_calls_keep_their_order() -> None:
    """Calls that run side by side are recorded in the order asked, whichever ends first."""
    book, _ = ledger(lambda arguments, context: found(arguments.text))
    made = book.call_many([("search", {"text": str(number)}) for number in range(30)])
    assert [call.id for call in made] == [f"inv-{number}" for number in range(1, 31)]
    assert [call.result["items"][0]["text"] for call in made] == [str(number) for number in range(30)]


# --- refused, failed, slow -------------------------------------------------------------------------------------------


def test_a_tool_that_is_not_offered_is_blocked() -> None:
    """X2: it names what is offered; nothing is run."""
    book, search = ledger(lambda arguments, context: found("x"))
    made = book.call("restart_pod", {"pod": "payment-1"})
    assert (made.status, made.result) == ("blocked", None)
    assert "restart_pod" in (made.error or "")
    assert "search" in (made.error or "")
    assert search.runs == []


def test_without_a_context_everything_is_blocked() -> None:
    """A replay calls no tool, whatever asks."""
    tool = Tool("search", "finds text", Asked, lambda arguments, context: found("x"), offered=lambda evidence: True)
    assert Ledger((tool,), None, lambda event: None).call("search", {}).status == "blocked"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"limit": 0}, "limit"), ({"txet": "a"}, "txet"), ({"text": 3}, "text"), ({"limit": "many"}, "limit")],
)
def test_arguments_that_do_not_fit_are_an_error_that_names_them(arguments: dict[str, Any], named: str) -> None:
    """A caller can mend it; the tool is not run."""
    book, search = ledger(lambda arguments, context: found("x"))
    made = book.call("search", arguments)
    assert made.status == "error"
    assert named in (made.error or "")
    assert search.runs == []


class Panic(BaseException):
    """What a native library raises."""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolError("no such service; services are: payment"), "no such service; services are: payment"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
        (RecursionError(), "RecursionError"),
        (Panic("the table panicked"), "the table panicked"),
        (SystemExit(1), "SystemExit"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_tool_that_fails_costs_its_call_alone(error: BaseException, said: str) -> None:
    """The run goes on, and the record says what happened."""

    def failing(arguments: Asked, context: ToolContext) -> ToolOutput:
        raise error

    book, _ = ledger(failing)
    made = book.call("search", {})
    assert (made.status, made.result) == ("error", None)
    assert said in (made.error or "")


@pytest.mark.parametrize("odd", [None, "text", {"items": []}], ids=repr)
def test_a_tool_that_returns_something_else_failed(odd: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """It is said at once, and not taken for a call that ran out of time."""
    book, _ = ledger(lambda arguments, context: odd)
    assert (book.call("search", {}).error or "").startswith("the tool failed")


def test_a_call_that_hangs_costs_its_time_limit() -> None:
    """X4: it is recorded as timed out, says how to ask for less, and the next call is served."""
    release = threading.Event()

    def slow(arguments: Asked, context: ToolContext) -> ToolOutput:
        if arguments.text == "hang":
            release.wait(60)
        return found("x")

    book, _ = ledger(slow, time_limit=0.05)
    made = book.call("search", {"text": "hang"})
    release.set()
    assert (made.status, made.result) == ("error", None)
    assert "timed out after 0.05 s" in (made.error or "")
    assert "ask for less" in (made.error or "")
    assert book.call("search", {"text": "b"}).id == "inv-2"


# --- size (X4) -------------------------------------------------------------------------------------------------------


def test_a_result_that_is_too_large_is_cut_and_says_so() -> None:
    """X4: whole items from the front, how many of how many, and how to narrow the call."""
    book, _ = ledger(
        lambda arguments, context: found(*(f"line {number}" for number in range(100))), max_result_chars=400
    )
    result = book.call("search", {}).result
    shown = len(result["items"])
    assert 0 < shown < 100
    assert result["items"] == [{"text": f"line {number}"} for number in range(shown)]
    assert (result["truncated"]["shown"], result["truncated"]["total"]) == (shown, 100)
    assert "ask for less" in result["truncated"]["hint"]


def test_a_cut_counts_what_the_tool_had_left_out_already() -> None:
    """X4: the total is the tool's own, when it had shortened its result before."""
    earlier = {"shown": 100, "total": 5000, "hint": "narrow"}
    book, _ = ledger(lambda arguments, context: found(*["line"] * 100, truncated=earlier), max_result_chars=400)
    assert book.call("search", {}).result["truncated"]["total"] == 5000


def test_a_result_that_fits_is_left_alone() -> None:
    """The tool's own note on what it left out stays."""
    note = {"shown": 1, "total": 9, "hint": "narrow"}
    book, _ = ledger(lambda arguments, context: found("x", truncated=note, extra={"unit": "ms"}))
    assert book.call("search", {}).result == {
        "items": [{"text": "x"}],
        "summary": "1 found",
        "truncated": note,
        "unit": "ms",
    }


# --- what is recorded ------------------------------------------------------------------------------------------------


def test_secrets_are_masked_before_anybody_hears_of_them() -> None:
    """X3: in arguments, result, error and retrieval details, in the record and in every event."""
    heard: list[Event] = []

    def leaky(arguments: Asked, context: ToolContext) -> ToolOutput:
        if arguments.text.startswith("fail"):
            raise ToolError("postgres://shop:hunter2@db refused")
        details = {"hits": ["password=hunter2"]}
        return found("password=hunter2", extra={"api_key": "hunter2"}, retrieval_details=details)

    book, search = ledger(leaky, heard)
    book.call("search", {"text": "password=hunter2"})
    book.call("search", {"text": "fail"})
    assert search.runs[0].text == "password=hunter2"  # the tool itself is asked what was meant
    assert "hunter2" not in repr(book.invocations)
    assert "hunter2" not in repr(heard)
    assert book.invocations[0].result["items"] == [{"text": f"password={MASK}"}]


def test_what_is_recorded_is_plain_json() -> None:
    """P2: no NaN, no half characters, no other types: a saved run reads back the same."""
    odd = {"text": "half \ud800", "value": math.nan, "peak": math.inf, "pair": (1, 2), "kind": InvocationStatus.OK}
    book, _ = ledger(lambda arguments, context: ToolOutput(items=[odd], summary="s", extra={"what": object}))
    made = book.call("search", {})
    assert made.result["items"] == [{"text": "half �", "value": None, "peak": None, "pair": [1, 2], "kind": "ok"}]
    assert json.loads(json.dumps(made.result, allow_nan=False)) == made.result


def test_a_result_that_no_saved_run_could_hold_is_an_error() -> None:
    """P2: what is nested deeper than a run file is read costs the call; a level less is kept."""
    deep: Any = "needle"
    for _ in range(MAX_DEPTH - 3):
        deep = [deep]
    extra = {"at the limit": deep}
    book, _ = ledger(lambda arguments, context: ToolOutput(items=[], summary="s", extra=extra))
    assert book.call("search", {}).status is InvocationStatus.OK
    extra["beyond"] = [[[[deep]]]]
    beyond = book.call("search", {"text": "again"})
    assert (beyond.status, beyond.result) == (InvocationStatus.ERROR, None)
    assert "nested deeper" in (beyond.error or "")


def test_names_and_errors_are_text_that_can_be_stored(caplog: pytest.LogCaptureFixture) -> None:
    """P2: a model may ask for half a character, and a file's name may hold one."""
    caplog.set_level(logging.CRITICAL, logger="diag_graph.tools.ledger")  # what is logged could not be sent on

    def fail(arguments: Asked, context: ToolContext) -> ToolOutput:
        raise OSError("cannot read log-\udcff.txt")

    book, _ = ledger(fail)
    book.call("search", {})
    book.call("sea\ud800rch", {})
    assert [made.tool for made in book.invocations] == ["search", "sea\ufffdrch"]
    assert "log-\ufffd.txt" in (book.invocations[0].error or "")
    assert all((made.error or "").encode() for made in book.invocations)


def test_adopted_calls_keep_their_ids_and_are_masked() -> None:
    """Section 11: a replay takes calls over as they are, in the round that it is in."""
    heard: list[Event] = []
    book = Ledger((), None, heard.append)
    book.begin_round(2)
    recorded = Invocation(
        id="call-seven",
        tool="srv.tool",
        arguments={"token": "a1b2c3"},
        status="ok",
        result={"a": "password=x"},
        round=1,
    )
    made = book.adopt(recorded)
    assert (made.id, made.round, made.arguments) == ("call-seven", 2, {"token": MASK})
    assert made.result == {"a": f"password={MASK}"}
    assert book.invocations == (made,)
    assert [type(event) for event in heard] == [ToolStarted, ToolFinished]
    assert recorded.result == {"a": "password=x"}


def test_specs_describe_what_is_offered() -> None:
    """The planner sees names and a line each; a model gets the schema of the arguments too."""
    book, _ = ledger(lambda arguments, context: found("x"))
    (spec,) = book.specs()
    assert (spec.name, spec.summary) == ("search", "finds text")
    assert set(spec.arguments["properties"]) == {"text", "services", "limit"}
