"""`find_failure_signatures`: what kubectl, cloud tools and logs print, as causes, consequences and history."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tools_samples import ONSET, Recorded, context

from diag_graph.analysis.failure_signatures import read_signatures
from diag_graph.analysis.records import LogRecord, Window
from diag_graph.contracts import JsonObject
from diag_graph.tools.catalogue import offered_tools
from diag_graph.tools.definition import ToolOutput
from diag_graph.tools.find_failure_signatures import FIND_FAILURE_SIGNATURES

DESCRIBED = """\
$ kubectl describe pod till-7d9f8b6c4-x7k2q -n shop
Name:             till-7d9f8b6c4-x7k2q
Namespace:        shop
Status:           Running
Containers:
  till:
    Image:          registry.example.com/till:1.4
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Ready:          False
    Restart Count:  12
Conditions:
  Type              Status
  Ready             False
Events:
  Type     Reason     Age                  From       Message
  ----     ------     ----                 ----       -------
  Normal   Scheduled  58m                  scheduler  Successfully assigned shop/till-7d9f8b6c4-x7k2q to worker-2
  Warning  BackOff    3m (x256 over 58m)   kubelet    Back-off restarting failed container till in pod till-7d9f8b6c4-x7
"""

RECOVERED = """\
$ kubectl describe pod till-7d9f8b6c4-m2n4p -n shop
Name:             till-7d9f8b6c4-m2n4p
Status:           Running
Containers:
  till:
    State:          Running
    Ready:          True
    Restart Count:  0
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  9m    default-scheduler  0/2 nodes are available: 2 Insufficient cpu.
  Normal   Scheduled         7m    default-scheduler  Successfully assigned shop/till-7d9f8b6c4-m2n4p to worker-3
"""

PODS = """\
$ kubectl get pods -n shop
NAME                      READY   STATUS        RESTARTS      AGE
till-7d9f8b6c4-x7k2q      1/1     Running       0             6d
stock-0                   1/1     Running       2 (9d ago)    29d
old-5c8d7f-zzzzz          0/1     Terminating   4 (2m ago)    40d
"""

RUNBOOK = """\
# KubePodCrashLooping

## Meaning
A pod restarts again and again: CrashLoopBackOff, often after OOMKilled.

## Impact
Requests fail.

## Diagnosis
Look for FailedScheduling, too many connections, no space left on device.
"""


def called(recorded: Recorded, arguments: dict[str, Any] | None = None, **sources: Any) -> ToolOutput:  # noqa: ANN401
    """The tool's output on these records."""
    given = context(recorded)
    window = sources.pop("window", given.window)
    given = replace(given, evidence=replace(given.evidence, **sources), window=window)
    tool = FIND_FAILURE_SIGNATURES
    return tool.run(tool.arguments.model_validate(arguments or {}), given)


def found(
    texts: dict[str, str], logs: Sequence[LogRecord] = (), arguments: dict[str, Any] | None = None
) -> list[JsonObject]:
    """The items for these documents and log lines."""
    recorded = Recorded(texts={name: text.split("\n") for name, text in texts.items()}, log_records=logs)
    return list(called(recorded, arguments).items)


def failure(items: Sequence[JsonObject], signature: str) -> JsonObject:
    """The item of that signature."""
    [item] = [one for one in items if one.get("signature") == signature]
    return item


def test_a_cause_is_told_apart_from_its_consequence() -> None:
    """An OOM kill explains the crash loop: one is the cause, the other its symptom, each with its line."""
    items = found({"describe.txt": DESCRIBED})
    cause, symptom = failure(items, "oom-killed"), failure(items, "crash-loop")
    assert cause["standing"] == "cause"
    assert cause["entity"] == "till-7d9f8b6c4-x7k2q"
    assert cause["text"].startswith(
        "Document describe.txt, line 11: pod till-7d9f8b6c4-x7k2q, container till: OOMKilled (cause): "
    )
    assert 'It reads: "Reason: OOMKilled"' in cause["text"]
    assert symptom["standing"] == "symptom"
    assert symptom["explained_by"] == ["oom-killed"]
    assert "CrashLoopBackOff (symptom of OOMKilled)" in symptom["text"]
    assert cause["score"] > symptom["score"]


def test_a_row_of_a_table_is_a_failure_of_what_it_names() -> None:
    """The row's own name, its heading with the value, its document and line, and the row as it stands there."""
    lag = (
        " application_name |   state   |   replay_lag\n"
        "------------------+-----------+----------------\n"
        " replica-1        | streaming | 00:00:00.001502\n"
        " replica-2        | streaming | 00:14:52.77123\n"
    )
    disks = (
        "Filesystem      Size  Used Avail Use% Mounted on\n"
        "/dev/sda1        50G   50G     0 100% /var\n"
        "/dev/sda2        50G   49G  1.5G  97% /home\n"
        "tmpfs            50G   50G     0 100% /run/user/0\n"
    )
    items = found({"replication.txt": lag, "df.txt": disks})
    replica = failure(items, "replication-lag")
    assert (replica["entity"], replica["sure"], replica["standing"]) == ("replica-2", True, "cause")
    assert replica["text"].startswith(
        "Document replication.txt, line 4: database replica-2: replication lag (replay_lag 00:14:52.77123) (cause): "
    )
    assert 'It reads: "replica-2 | streaming | 00:14:52.77123"' in replica["text"]
    full = [one for one in items if one.get("signature") == "file-system-full"]
    assert [(one["entity"], one["line"], one["lines"]) for one in full] == [("/var", 2, 1), ("/home", 3, 1)]


def test_what_a_pod_got_over_is_history() -> None:
    """A pod that is running and ready now is not held up by a scheduling failure of before."""
    items = found({"describe.txt": RECOVERED})
    past = failure(items, "unschedulable-resources")
    assert past["standing"] == "over"
    assert "(over: it is running and ready now)" in past["text"]
    assert not [one for one in items if one["standing"] == "cause"]


def test_a_pod_that_is_being_deleted_may_fail() -> None:
    """What Kubernetes itself takes down is no crash."""
    pods = {
        "pods": [
            {
                "name": "till-6c4ab5d9c-9kqvz",
                "deletion_timestamp": "2026-07-16T06:38:00Z",
                "containers": [{"name": "till", "ready": False, "state": {"reason": "CrashLoopBackOff"}}],
            },
            {"name": "till-7d9f8b6c4-x7k2q", "containers": [{"name": "till", "ready": True, "restart_count": 0}]},
        ]
    }
    items = found({"pods.json": json.dumps(pods, indent=1)})
    assert failure(items, "crash-loop")["entity"] == "till-6c4ab5d9c-9kqvz"
    assert failure(items, "crash-loop")["text"].count("(over: it is being deleted)") == 1
    [state] = [one for one in items if one["standing"] == "state"]
    assert "1 of 2 objects are running and ready; till-6c4ab5d9c-9kqvz is being deleted" in state["text"]


def test_healthy_pods_and_runbooks_name_no_failure() -> None:
    """X5: pods that run, old restarts and a runbook's examples are a search without a match, which says what it saw."""
    [item] = found({"pods.txt": PODS, "runbook.md": RUNBOOK})
    assert item["empty"] is True
    assert item["text"].startswith("No known failure is named: 2 documents (1 runbook left out) looked through, from ")
    assert "2 of 3 objects are running and ready; old-5c8d7f-zzzzz is being deleted" in item["text"]


def test_lines_of_logs_tell_when_they_were_first_seen() -> None:
    """Log lines come with their time, their service and how many of them there are."""
    logs = [
        LogRecord(
            "FATAL: sorry, too many clients already", ONSET + 60.0 * n, "orders-db", "FATAL", source=f"db.log:{n}"
        )
        for n in range(1, 4)
    ]
    item = failure(found({}, logs), "connection-limit")
    assert item["text"].startswith(
        "Log line db.log:1 at 2026-07-16T06:41:00Z: orders-db: connection limit reached (cause)"
    )
    assert item["lines"] == 3
    assert item["entity"] == "orders-db"


def test_what_was_last_seen_long_before_the_onset_is_history() -> None:
    """A failover of hours before the alert is no cause of it."""
    begun = LogRecord("Multi-AZ instance failover started.", ONSET - 2_000, "orders-db", source="events.json:1")
    done = LogRecord("Multi-AZ instance failover completed.", ONSET - 1_900, "orders-db", source="events.json:2")
    assert "(over: failover completed after it)" in failure(found({}, [begun, done]), "failover")["text"]
    assert failure(found({}, [begun]), "failover")["standing"] == "cause"
    late = ONSET + 2 * 3_600.0
    output = called(Recorded(log_records=[begun]), window=Window(ONSET - 7_200.0, late, late, "a test"))
    assert "(over: last seen long before the onset)" in failure(output.items, "failover")["text"]


def test_messages_of_level_info_name_no_failure() -> None:
    """A retry that is logged at INFO is what the program expects."""
    log = LogRecord("retrying: dial tcp 10.0.0.1:80: connect: connection refused", ONSET, "till", "INFO")
    [item] = found({"till.log": "2026-07-16T06:41:00Z INFO retrying: connection refused"}, [log])
    assert item["empty"] is True


def test_the_last_words_of_a_crash_that_nothing_explains_are_quoted() -> None:
    """A crash loop without a known cause is shown with the last line of the pod's log."""
    row = "NAME   READY   STATUS   RESTARTS   AGE\ntill-7d9f8b6c4-x7k2q   0/1   CrashLoopBackOff   62 (2m ago)   2d"
    log = "$ kubectl logs till-7d9f8b6c4-x7k2q --previous\nstarting\nledger sequence mismatch: 41 after 43\n"
    items = found({"pods.txt": row, "kubectl_logs.txt": log})
    last = failure(items, "last-log-line")
    assert last["entity"] == "till-7d9f8b6c4-x7k2q"
    assert 'It reads: "ledger sequence mismatch: 41 after 43"' in last["text"]


@pytest.mark.parametrize("size", [3, 300_000])
def test_a_document_of_any_length_is_looked_through(size: int) -> None:
    """A long text is not tried line by line with every signature; what is left out of it is said."""
    lines = ["2026-07-16T06:41:00Z request 42 completed in 34 ms"] * size
    lines[-1] = "write /data/wal: no space left on device"
    begun = time.perf_counter()
    output = called(Recorded(texts={"app.log": lines}))
    assert time.perf_counter() - begun < 10.0
    assert failure(output.items, "disk-full")["line"] == size
    assert ("of app.log only the beginning and the end" in output.summary) is (size > 100_000)


def test_an_item_fits_into_a_citation() -> None:
    """However long a line is, the item is at most 480 characters and still says what it is."""
    items = found(
        {
            "app.log": "x" * 5_000 + " no space left on device " + "y" * 5_000,
            "b.log": "a no space left on device " + "y" * 9_000,
        }
    )
    assert all(len(one["text"]) <= 480 for one in items)
    assert "disk full (cause)" in failure(items, "disk-full")["text"]


def test_signatures_that_come_with_the_evidence_are_used() -> None:
    """A user's own signature stands beside the built-in ones."""
    own = {
        "id": "ledger-gap",
        "title": "ledger gap",
        "means": "bookings are missing",
        "severity": "cause",
        "phrases": ["ledger sequence mismatch"],
        "examples": ["ledger sequence mismatch: 41 after 43"],
    }
    recorded = Recorded(texts={"till.log": ["ledger sequence mismatch: 41 after 43"]})
    output = called(recorded, signatures=tuple(read_signatures({"signature": [own]}, "own.toml")))
    item = failure(output.items, "ledger-gap")
    assert item["standing"] == "cause"


def test_the_tool_is_offered_where_there_is_text() -> None:
    """Without documents and logs there is nothing to look through."""
    assert FIND_FAILURE_SIGNATURES in offered_tools(context(Recorded(texts={"a.txt": ["a"]})))
    assert FIND_FAILURE_SIGNATURES not in offered_tools(context(Recorded()))


def test_the_statement_that_loads_a_database_is_a_hint() -> None:
    """What Performance Insights lists is shown with its numbers, and accuses nobody by itself."""
    report = {"db_instance_identifier": "shopdb", "top_sql": [{"statement": "SELECT * FROM till", "db_load_avg": 7.5}]}
    item = failure(found({"pi.json": json.dumps(report, indent=1)}), "statement-load")
    assert item["standing"] == "hint"
    assert item["entity"] == "shopdb"
    assert item["text"].startswith("Document pi.json, line 5: database shopdb: statement with much load (hint): ")
    assert "a database load of 7.5 for this query, of 7.5 for all" in item["text"]
    assert item["text"].endswith('It reads: "SELECT * FROM till"')


def test_a_lost_node_is_the_cause_and_not_the_pod_that_is_lost_with_it() -> None:
    """Where one line says which node it was, a pod's own state is only what that did to it."""
    pod = {
        "name": "till-0",
        "conditions": [
            {"type": "Ready", "status": "Unknown", "reason": "NodeLost"},
            {"message": "Node worker-2 which was running pod till-0 is unresponsive"},
        ],
    }
    items = [
        one
        for one in found({"pods.json": json.dumps({"kind": "PodList", "pods": [pod]}, indent=1)})
        if one.get("signature") == "node-not-ready"
    ]
    assert {one["entity"]: one["standing"] for one in items} == {"worker-2": "cause", "till-0": "symptom"}


def test_a_network_policy_is_a_hint_about_the_pod_whose_tree_shows_it() -> None:
    """A tree's branches belong to the object at its root."""
    tree = (
        "NAME   READY   AGE\nPod/till-0   1/1   38m\n├── Service/till   -   38m\n└── NetworkPolicy/deny-all   -   38m\n"
    )
    failed = "dial tcp: lookup stock.shop.svc: no such host\n"
    log = f"$ kubectl logs till-0\nok\n{failed}{failed}"
    items = found({"kube-lineage.txt": tree, "kubectl_logs_till-0.txt": log})
    assert failure(items, "network-policy")["entity"] == "till-0"
    assert failure(items, "dns-failure")["standing"] == "cause"
    assert failure(items, "dns-failure")["entity"] == "till-0"
