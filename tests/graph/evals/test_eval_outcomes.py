from __future__ import annotations

from diag_graph.contracts import AllowedClaim, Citation, Invocation
from diag_graph.evals.outcomes import outcome_of
from diag_graph.outcome import RunDocument, RunRow, RunStatus

ITEMS = [{"text": "Deploy 2.1 of till.", "commit": "abcdef1234"}, {"text": "Deploy 9 of web.", "commit": ""}]
RECORDED = (
    Invocation(id="inv-1", tool="list_changes", status="ok", result={"items": ITEMS}),
    Invocation(
        id="inv-2", tool="search_logs", status="ok", result={"items": [{"text": "till failed", "commit": "no"}]}
    ),
)
DEPLOY = Citation(invocation_id="inv-1", tool="list_changes", path="/items/0/text", matched_text="Deploy 2.1 of till.")
LINE = Citation(invocation_id="inv-2", tool="search_logs", path="/items/0/text", matched_text="till  failed")


def claim(*citations: Citation, kind: str = "root_cause", entity: str | None = "till") -> AllowedClaim:
    """A claim of the answer."""
    return AllowedClaim(
        claim_id="claim-1", kind=kind, standing="confirmed", entity=entity, text="till broke", citations=citations
    )


def document(*claims: AllowedClaim, status: RunStatus = RunStatus.SUCCESS) -> RunDocument:
    """A run that ended with these claims."""
    row = RunRow(
        run_id="r",
        session_id="s",
        status=status,
        question="why?",
        answer="till broke",
        verdict="PASS",
        failure_reason=None if status is RunStatus.SUCCESS else "graph_error: KeyError",
        started_at="2026-07-16T14:20:00Z",
        orchestration_trace={"degraded": False, "termination_reason": "composer_completed"},
    )
    return RunDocument(run=row, findings=claims, invocations=RECORDED)


def test_root_causes_are_ranked_as_the_answer_orders_them() -> None:
    """Observations accuse nobody; a cause without an entity is a cause all the same, and no abstention."""
    run = document(claim(LINE, entity="till"), claim(LINE, entity="web", kind="observation"), claim(LINE, entity=None))
    found = outcome_of("c", run, model_calls=2, seconds=1.5)
    assert found.ranked == ("till", "till broke")
    assert (found.case, found.answer, found.verdict, found.ended) == ("c", "till broke", "PASS", "composer_completed")
    assert (found.model_calls, found.seconds, found.crash) == (2, 1.5, None)


def test_a_statement_counts_as_cited_when_all_that_it_cites_stands_in_what_was_recorded() -> None:
    """White space apart; another's text, tool, path or invocation is no citation, and nothing cited is none."""
    forged = [
        LINE.model_copy(update=changed)
        for changed in (
            {"matched_text": "till died"},
            {"tool": "query_metrics"},
            {"path": "/items/7/text"},
            {"invocation_id": "inv-9"},
        )
    ]
    claims = [claim(LINE), claim(LINE, DEPLOY), claim(), *(claim(DEPLOY, one) for one in forged)]
    found = outcome_of("c", document(*claims), model_calls=0, seconds=0)
    assert (found.statements, found.cited) == (7, 2)


def test_the_commit_that_a_run_blames_is_that_of_the_first_change_that_a_cause_cites() -> None:
    """From the item's field; an observation's change is not blamed, nor what another tool calls a commit."""
    assert outcome_of("c", document(claim(LINE, DEPLOY)), model_calls=0, seconds=0).commit == "abcdef1234"
    nobody = document(claim(LINE), claim(DEPLOY, kind="observation"))
    assert outcome_of("c", nobody, model_calls=0, seconds=0).commit == "none"
    without = claim(DEPLOY.model_copy(update={"path": "/items/1/text"}))
    assert outcome_of("c", document(without), model_calls=0, seconds=0).commit == "none"


def test_a_failed_run_is_a_crash() -> None:
    """D1: FAILED means that no safe answer could be made."""
    found = outcome_of("c", document(status=RunStatus.FAILED), model_calls=0, seconds=0)
    assert found.crash == "the run failed: graph_error: KeyError"
