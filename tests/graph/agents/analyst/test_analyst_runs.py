"""The built-in analyst through the real graph, on small folders made here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from diag_graph.agents.analyst.sightings import sightings
from diag_graph.agents.analyst.suspicions import suspicions
from diag_graph.contracts import Invocation, InvocationStatus
from diag_graph.outcome import RunDocument
from diag_graph.run import diagnose
from diag_graph.sources.folder import open_folder

Values = Callable[[float], float]

START = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
ONSET = 30
MINUTES = 45


def stamp(minute: float) -> str:
    """A minute of the recording as a time."""
    return (START + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def metrics(folder: Path, **series: Values) -> None:
    """Write series as long CSV: `service__metric=function of the minute`."""
    rows = ["timestamp,service,metric,value"]
    for name, value in series.items():
        service, metric = name.split("__")
        rows += [f"{stamp(minute)},{service},{metric},{value(minute):.6g}" for minute in range(MINUTES)]
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")


def logs(folder: Path, *lines: tuple[float, str, str, str]) -> None:
    """Write JSON lines: minute, service, level, message."""
    texts = [
        json.dumps({"timestamp": stamp(minute), "service": service, "level": level, "message": message})
        for minute, service, level, message in sorted(lines)
    ]
    (folder / "logs.ndjson").write_text("\n".join(texts) + "\n")


def steady(level: float) -> Values:
    """A series that wobbles around a level."""
    return lambda minute: level * (1 + 0.02 * math.sin(minute * 1.7))


def jump(before: float, after: float) -> Values:
    """A series that changes its level at the onset."""
    return lambda minute: steady(after if minute >= ONSET else before)(minute)


def ask(folder: Path, question: str = "why is shopfront slow since 10:30?") -> RunDocument:
    """Ask the analyst."""
    return diagnose(question, evidence=open_folder(folder), now=START + timedelta(hours=1))


def path(document: RunDocument) -> list[str]:
    """The nodes in the order in which they ran."""
    trace = document.run.orchestration_trace
    assert trace is not None
    return [row["from"] for row in trace["transitions"]] + [trace["final_node"]]


def test_a_healthy_folder_gives_no_cause_and_says_that_nothing_abnormal_was_found(tmp_path: Path) -> None:
    """Abstention, in words and verdict; what was searched is cited."""
    metrics(tmp_path, shopfront__latency_p95_seconds=steady(0.2), orders__latency_p95_seconds=steady(0.1))
    logs(tmp_path, *((minute, "shopfront", "INFO", f"request {minute} done") for minute in range(MINUTES)))
    document = ask(tmp_path)
    assert [finding.kind for finding in document.findings if finding.kind == "root_cause"] == []
    assert document.run.verdict == "PASS"
    assert (document.run.answer or "").startswith("Nothing abnormal was found")


def test_a_symptom_without_a_mechanism_asks_for_a_second_round_and_stays_low(tmp_path: Path) -> None:
    """LOW_CONFID, one evidence round, and a cause that is called possible at most (contract section 6)."""
    metrics(tmp_path, shopfront__latency_p95_seconds=jump(0.2, 2.0), orders__latency_p95_seconds=steady(0.1))
    document = ask(tmp_path)
    assert document.run.verdict == "LOW_CONFID"
    assert path(document).count("evidence_retry") == 1
    assert document.run.orchestration_trace is not None
    assert document.run.orchestration_trace["evidence_retry_count"] == 1
    causes = [finding for finding in document.findings if finding.kind == "root_cause"]
    assert [(finding.entity, finding.standing) for finding in causes] == [("shopfront", "possible")]
    assert "may start at shopfront" in (document.run.answer or "")


def test_the_second_round_can_close_the_gap(tmp_path: Path) -> None:
    """E1, E3: increments about the suspect find its error, and the snapshot keeps the claims of round one."""
    metrics(tmp_path, shopfront__latency_p95_seconds=jump(0.2, 2.0), orders__latency_p95_seconds=steady(0.1))
    lines = [(minute, "orders", "INFO", f"order {minute} placed") for minute in range(MINUTES)]
    logs(tmp_path, *lines, (ONSET + 0.1, "shopfront", "ERROR", "render worker gave up on a page"))
    document = ask(tmp_path)
    assert path(document).count("evidence_retry") == 1
    rounds = {invocation.round for invocation in document.invocations}
    assert rounds == {1, 2}
    assert document.run.verdict == "PASS"
    cause = document.findings[0]
    assert cause.entity == "shopfront"
    assert any("gave up on a page" in citation.matched_text for citation in cause.citations)


def test_no_call_of_the_second_round_repeats_one_of_the_first(tmp_path: Path) -> None:
    """E2: equal calls are made once."""
    metrics(tmp_path, shopfront__latency_p95_seconds=jump(0.2, 2.0))
    calls = [(one.tool, json.dumps(one.arguments, sort_keys=True)) for one in ask(tmp_path).invocations]
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize("question", ["what time is it?", "why?", "为什么结账很慢？"])
def test_any_question_gets_a_safe_answer(tmp_path: Path, question: str) -> None:
    """Also with nothing to look at, and in any script."""
    document = ask(tmp_path, question)
    assert document.run.status == "SUCCESS"
    assert document.run.answer


def test_fields_of_a_wrong_type_are_as_good_as_absent() -> None:
    """A result that was recorded by hand may hold anything beside its text; the text is what counts."""
    odd = {"text": "a rose", "entity": 7, "score": "high", "signal": ["metric"], "mentions": "b", "onset": 3}
    made = Invocation(id="inv-1", tool="find_metric_anomalies", status=InvocationStatus.OK, result={"items": [odd]})
    seen = sightings([made])
    assert suspicions("why?", seen) == []
    assert [one.text for one in seen] == ["a rose"]


POOL = "-max_connections = 60\n+max_connections = 6"
LISTING = "-    return page(rows)\n+    return page(rows, title)"


def changed(folder: Path, *made: tuple[str, float, str, str, str]) -> None:
    """Write commits and their deploys: commit, minute, service, message, diff."""
    shas = [sha.ljust(40, "0") for sha, *_ in made]
    commits = [
        {
            "sha": sha,
            "timestamp": stamp(minute - 1),
            "message": message,
            "files_changed": [f"{service}/x"],
            "diff": diff,
        }
        for sha, (_, minute, service, message, diff) in zip(shas, made, strict=True)
    ]
    deploys = [
        {"timestamp": stamp(minute), "service": service, "version": f"v{minute:g}", "commit_sha": sha}
        for sha, (_, minute, service, *_) in zip(shas, made, strict=True)
    ]
    (folder / "changes.json").write_text(json.dumps({"commits": commits, "deploys": deploys}))


def pool_used_up(folder: Path) -> None:
    """Orders waits for connections since the onset."""
    metrics(folder, orders__db_pool_waiting=jump(0.1, 40), orders__latency_p95_seconds=jump(0.1, 5))
    logs(folder, *((m, "orders", "ERROR", "no connection from the pool in 5 s") for m in range(ONSET, MINUTES)))


def test_the_change_that_fits_is_blamed_and_a_nearer_one_that_does_not_is_said_not_to_fit(tmp_path: Path) -> None:
    """The reasons stand in the answer, each cited; the commit is that of the deploy that brought it."""
    pool_used_up(tmp_path)
    changed(tmp_path, ("bad", 25, "orders", "Tune the database", POOL), ("600d", 29.5, "orders", "Title", LISTING))
    document = ask(tmp_path)
    cause = next(finding for finding in document.findings if finding.kind == "root_cause")
    assert "Deploy v25 of orders (commit bad000000000) at 2026-11-30T10:25:00Z" in cause.text
    assert 'sets "max_connections" from "60" to "6", and what fails speaks of connections' in cause.text
    others = [finding.text for finding in document.findings if "does not fit what fails" in finding.text]
    assert len(others) == 1
    assert "commit 600d00000000" in others[0]


def test_a_change_is_told_once_with_one_distance(tmp_path: Path) -> None:
    """How it stands to the failure says all that the bare record says."""
    pool_used_up(tmp_path)
    changed(tmp_path, ("bad", 25, "orders", "Tune the database", POOL), ("600d", 29.5, "orders", "Title", LISTING))
    told = [finding.text for finding in ask(tmp_path).findings if "Deploy " in finding.text]
    assert len(told) == 2
    assert not [text for text in told if "before the onset" in text or "after the onset" in text]


def test_when_no_change_fits_the_answer_says_so_and_blames_none(tmp_path: Path) -> None:
    """A deploy long before that does something else is no cause; that none fits is a cited statement."""
    pool_used_up(tmp_path)
    changed(tmp_path, ("600d", 10, "orders", "Title", LISTING))
    document = ask(tmp_path)
    cause = next(finding for finding in document.findings if finding.kind == "root_cause")
    assert "Deploy" not in cause.text
    assert "No recorded change fits what fails at orders" in (document.run.answer or "")


def test_an_alert_without_a_fault_is_told_with_what_its_series_did(tmp_path: Path) -> None:
    """A stale alert: no fault is shown, and the normal values of what it watches stand beside it, cited."""
    metrics(tmp_path, shopfront__latency_p95_seconds=steady(0.2), orders__latency_p95_seconds=steady(0.1))
    alert = {
        "labels": {"alertname": "LatencyP95High", "service": "orders"},
        "status": "firing",
        "startsAt": stamp(ONSET),
    }
    (tmp_path / "alert.json").write_text(json.dumps({"version": "4", "status": "firing", "alerts": [alert]}))
    answer = ask(tmp_path, "LatencyP95High fired for orders: what is wrong?").run.answer or ""
    first = answer.partition("\n\n")[0]
    assert first.startswith("Nothing abnormal was found in what was compared: no fault and no root cause is shown.")
    assert "What was alerted on: latency_p95_seconds of orders, median 0.09" in first
    assert "query_metrics inv-" in answer


@pytest.mark.parametrize(
    "line",
    ['"unavailable": 0', '"failures": [],', "errors: none", "0 errors in 3 checks", '"name": "API Error Rate",',
     "no failed jobs, no errors", "liveness probe: no failures"],
)  # fmt: skip
def test_lines_that_say_that_there_was_none_tell_of_no_failure(line: str) -> None:
    """A zero, an empty list, a negation and a name of what is watched for are no failure."""
    from diag_graph.agents.analyst.documents import telling_lines
    from diag_graph.agents.analyst.sightings import Sighting

    assert telling_lines([Sighting("inv-1", "read_document", 0, {"text": line})]) == []


def test_a_resource_that_was_back_by_itself_while_nobody_felt_it_is_no_confirmed_cause(tmp_path: Path) -> None:
    """A backup writes for ten minutes: the alert is about it, and nothing was slower or failed meanwhile."""

    def backup(minute: float) -> float:
        return steady(9e7 if ONSET <= minute < ONSET + 10 else 1e6)(minute)

    metrics(tmp_path, db__disk_write_bytes=backup, db__latency_p95_seconds=steady(0.02), shop__error_ratio=steady(0.01))
    alert = {"labels": {"alertname": "DiskWrites", "service": "db"}, "status": "firing", "startsAt": stamp(ONSET)}
    (tmp_path / "alert.json").write_text(json.dumps({"version": "4", "status": "firing", "alerts": [alert]}))
    run = ask(tmp_path, "DiskWrites fired for db: what is wrong?").run
    assert run.verdict == "LOW_CONFID"
    assert "and was back at 2026-11-30T10:40:00Z" in (run.answer or "").partition("\n\n")[0]


def test_what_grows_as_requests_do_is_no_confirmed_cause(tmp_path: Path) -> None:
    """Twice the traffic takes twice the computing time: the service that computes is not where that begins."""
    metrics(tmp_path, cart__request_rate_per_second=jump(40, 80), cart__process_cpu_cores=jump(0.2, 0.41))
    document = ask(tmp_path, "is anything wrong?")
    assert document.run.verdict == "LOW_CONFID"
    assert "what it uses grew as its requests did" in (document.run.answer or "")


def test_what_grows_far_more_than_requests_do_is_a_cause(tmp_path: Path) -> None:
    """A fifth more requests do not explain three times the computing time."""
    metrics(tmp_path, cart__request_rate_per_second=jump(40, 48), cart__process_cpu_cores=jump(0.2, 0.62))
    document = ask(tmp_path, "is anything wrong?")
    assert document.run.verdict == "PASS"
    assert "The trouble starts at cart" in (document.run.answer or "")


def test_errors_that_ended_are_told_with_the_last_of_them(tmp_path: Path) -> None:
    """Who reads the first line sees that it is over: the log goes on without them."""
    ended = [(ONSET + m / 4, "orders", "ERROR", "ledger answered 503") for m in range(16)]
    logs(tmp_path, *ended, *((m, "orders", "INFO", "order stored") for m in range(MINUTES)))
    metrics(tmp_path, orders__request_rate=steady(40))
    answer = ask(tmp_path, "why do orders fail since 10:30?").run.answer or ""
    assert f", the last at {stamp(ONSET + 3.75)}" in answer.splitlines()[0]


def test_silence_is_no_all_clear_where_nobody_knows_when_the_trouble_was(tmp_path: Path) -> None:
    """No alert, no time and no common change: one service's short trouble may hide, so a time is asked for."""
    metrics(tmp_path, shop__latency_p95_seconds=steady(0.2), orders__latency_p95_seconds=steady(0.1))
    document = ask(tmp_path, "why did orders fail?")
    answer = document.run.answer or ""
    assert document.run.verdict == "LOW_CONFID"
    assert answer.startswith("No common change stands out, and no time was named")
    assert "--since" in answer
    assert ask(tmp_path, "why did orders fail at 10:30?").run.verdict == "PASS"


def test_trouble_that_came_and_went_gets_no_all_clear_without_a_time(tmp_path: Path) -> None:
    """Six minutes of an hour, no alert and no time in the question: what may be missed is not called absent."""

    def pulse(before: float, meanwhile: float) -> Values:
        return lambda minute: steady(meanwhile if 25 <= minute < 31 else before)(minute)

    metrics(
        tmp_path,
        orders__error_ratio=pulse(0.001, 0.3),
        orders__latency_p95_seconds=pulse(0.1, 3.0),
        web__error_ratio=pulse(0.001, 0.3),
        db__connections=pulse(10.0, 90.0),
    )
    document = ask(tmp_path, "why did orders fail?")
    assert document.run.verdict == "LOW_CONFID"
    assert "Nothing abnormal" not in (document.run.answer or "")
    assert "T10:25:00Z" in (ask(tmp_path, "why did orders fail at 10:25?").run.answer or "").partition("\n\n")[0]
