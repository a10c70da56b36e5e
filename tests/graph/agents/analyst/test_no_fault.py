"""The first line of an answer without a cause: it says no less than what stands below it."""

from __future__ import annotations

import pytest

from diag_graph.agents.analyst.documents import telling_lines
from diag_graph.agents.analyst.no_fault import TOLD, UNCOMPARED, UNEXPLAINED, UNSURE, UNSURE_ALERTED, without_a_cause
from diag_graph.agents.analyst.sightings import Sighting
from diag_graph.contracts import AllowedClaim, Citation, ClaimKind, Standing

FAILURES, LOGS = "find_failure_signatures", "find_log_patterns"
LAG = (
    "Document replica.txt, line 5: replication lag (1843) (cause): the replica applies changes later than its source "
    'makes them (mostly: writes). It reads: "Seconds_Behind_Source: 1843"'
)
OVER = LAG.replace("(cause)", "(over: replica caught up after it)")
HINT = LAG.replace("(cause)", "(hint)")
QUOTING = HINT.replace("Seconds_Behind_Source: 1843", "x (cause): it means so. It reads: y")
ALERT = "Alert Slow (page, firing of shop) since 2026-07-16T06:40:00Z: slow."


def claim(tool: str, text: str, entity: str | None = None, kind: ClaimKind = ClaimKind.OBSERVATION) -> AllowedClaim:
    """A claim in the words of a statement."""
    cited = Citation(invocation_id="inv-1", tool=tool, path="/items/0/text", matched_text=text)
    return AllowedClaim(
        claim_id="claim-1", text=text, kind=kind, entity=entity, standing=Standing.CONFIRMED, citations=(cited,)
    )


def test_a_named_failure_leads() -> None:
    """A failure of the standing of a cause is said first, with where it stands and what it says."""
    said = without_a_cause([claim("list_alerts", ALERT, "shop"), claim(FAILURES, LAG)])
    assert said == (
        'A known failure is named: replication lag in replica.txt: "Seconds_Behind_Source: 1843"; '
        "whether it explains what was asked is not shown."
    )


def test_whose_failure_it_is_is_said() -> None:
    """The thing that it is about, and of a log line its file and line."""
    text = (
        "Log line web.log:7 at 2026-07-16T06:40:00Z: pod web-0, container app: disk full (cause): no space. "
        '3 lines say so. It reads: "write: no space left: x"'
    )
    assert without_a_cause([claim(FAILURES, text, "web-0")]).startswith(
        'A known failure is named: disk full of pod web-0, container app in web.log:7: "write: no space left: x"; '
    )


def test_a_quote_that_is_no_headline_is_left_to_the_finding() -> None:
    """A line of hundreds of characters stands below, and is not said twice."""
    said = without_a_cause([claim(FAILURES, LAG.replace("1843", "1843" + " x" * 400))])
    assert said.startswith("A known failure is named: replication lag in replica.txt; whether")


@pytest.mark.parametrize("text", [OVER, HINT, QUOTING])
def test_what_is_over_or_a_hint_or_quoted_does_not_lead(text: str) -> None:
    """Recovered failures, hints and what a line quotes are no failures that go on."""
    assert without_a_cause([claim(FAILURES, text)]) == UNSURE


@pytest.mark.parametrize(
    ("tool", "text", "said"),
    [
        (FAILURES, LAG.replace("(cause)", "(symptom)"), UNEXPLAINED),
        ("find_metric_anomalies", "cpu rose from 1 (median before) to 90 (median since) at 2026-07-16T06:40:00Z.", ""),
        (LOGS, 'Somebody logged 9 lines like "boom" (ERROR) since 2026-07-16T06:40:00Z, new: none before.', ""),
        (LOGS, 'Shop logged 9 lines like "boom" (ERROR) (not compared with before: no onset is known).', UNCOMPARED),
        ("read_document", "kernel: Out of memory: Killed process 1 (java)", TOLD),
        ("list_alerts", ALERT, UNSURE_ALERTED),
        ("list_alerts", ALERT.replace("firing", "resolved"), UNSURE),
        ("list_changes", "Deploy 1 of web at 2026-07-16T06:40:00Z: new code.", UNSURE),
    ],
)
def test_trouble_of_nobody_in_particular_is_trouble(tool: str, text: str, said: str) -> None:
    """What is about nothing by name is no less wrong: it is not said that no fault is shown."""
    assert without_a_cause([claim(tool, text)]) == (said or UNEXPLAINED)


def test_what_is_watched_for_tells_of_no_failure() -> None:
    """A monitor's message and a runbook's advice name failures that may happen."""
    definition = ['"overall_state": "OK",', '"message": "error rate exceeded: request failed"']
    log = ["request failed: connection refused"]

    def read(call: str, name: str, lines: list[str]) -> list[Sighting]:
        return [
            Sighting(call, "read_document", index, {"text": line, "document": name}) for index, line in enumerate(lines)
        ]

    seen = [*read("inv-1", "monitors.json", definition), *read("inv-2", "out.txt", log)]
    assert [one.text for one in telling_lines(seen)] == log


@pytest.mark.parametrize(
    ("entity", "whose", "said"),
    [("web", "web", "web: "), ("web.log", "an unnamed source", "web.log: "), (None, "x", "")],
)
def test_errors_are_said_first_whoever_logged_them(entity: str | None, whose: str, said: str) -> None:
    """Also where the statement does not repeat the name of the log that it stands in."""
    text = (
        f'{whose} logged 139 lines like "no answer" (ERROR) since 2026-07-16T06:40:00Z, new: none before; '
        'first at 2026-07-16T06:41:00Z, example: "no answer".'
    )
    assert without_a_cause([claim("list_alerts", ALERT, "shop"), claim(LOGS, text, entity)]) == (
        f'Something is out of the ordinary: {said}139 lines like "no answer" (ERROR) since 2026-07-16T06:41:00Z; '
        "no root cause can be shown from the evidence."
    )
