"""Runs of one round and of two, in which each agent fails in each way, and all endings of a second round."""

from __future__ import annotations

from diag_graph.runfile import FileStep
from diag_graph.topology import RETRYABLE_KINDS, FailureKind
from recordings import (
    FORGED,
    SLOW,
    UNBOUND,
    bind,
    call,
    claim,
    composer,
    executor,
    fact,
    fails,
    no_facts,
    plan,
    says,
    speechless,
    verifier,
)

Steps = list[FileStep]

GAP = fact("no_evidence", None, "why the pool filled up", "no line speaks of it")
LOW = verifier("LOW_CONFID", fact(), GAP)
SLOW_CALL = call("inv-2", SLOW, tool="query_metrics", arguments={"metric": "latency"})
RISEN = claim("claim-2", "checkout p95 latency rose from 210 ms to 1,840 ms", bind(SLOW, "inv-2"), kind="observation")
AGAIN = executor(claim(), RISEN, calls=[SLOW_CALL])
BOTH = verifier("PASS", fact(), fact(claim_id="claim-2"))
CUT_OFF = '{"claims": [{"claim_id": "claim-1", "cla'
TWICE = [plan(), executor(), LOW]
"""What leads into a second round."""

ROUNDS: dict[str, tuple[Steps, FileStep, FileStep]] = {
    "": ([], executor(), verifier()),
    "second-round-": (TWICE, AGAIN, BOTH),
}
"""The beginning of a file's name: what went before that round, its executor's step, and its verifier's."""

INVALID: dict[str, list[FileStep]] = {
    "planner": [says("planner", "I would look at the logs."), says("planner", {"steps": []})],
    "verifier": [says("verifier", {"verdict": "pass"}), says("verifier", "")],
    "composer": [composer("It took 99 seconds."), composer("x", ("Something else.", ["claim-9"]))],
}
"""Two replies of an agent that do not keep its contract."""


def failures() -> dict[str, Steps]:
    """A replay for each round, agent and kind of failure: overcome where it may be retried, and twice; else once."""
    runs: dict[str, Steps] = {}
    for prefix, (earlier, document, verdict) in ROUNDS.items():
        straight = [plan(), document, verdict, composer()]
        for place, agent in enumerate(("planner", "executor", "verifier", "composer")):
            before, after = [*earlier, *straight[:place]], straight[place:]
            for kind in FailureKind:
                if kind is FailureKind.TOOL_BLOCKED and agent != "executor":
                    continue
                failed = fails(agent, kind, f"{kind} in {agent}")
                name = f"{prefix}{agent}-fails-{kind.replace('_', '-')}"
                if agent != "executor" and kind in RETRYABLE_KINDS:
                    runs[f"{name}-once"] = [*before, failed, *after]
                    runs[f"{name}-twice"] = [*before, failed, failed]
                else:
                    runs[name] = [*before, failed]
            if agent in INVALID:
                runs[f"{prefix}{agent}-invalid-once"] = [*before, INVALID[agent][0], *after]
                runs[f"{prefix}{agent}-invalid-twice"] = [*before, *INVALID[agent]]
    return runs


def second_rounds() -> dict[str, Steps]:
    """The other endings of a second round: each status of its executor and gate, and each verdict."""
    into = [*TWICE, plan()]
    endings: dict[str, Steps] = {
        "executor-invalid-missing": [says("executor", None, [SLOW_CALL])],
        "executor-invalid-broken": [says("executor", CUT_OFF, [SLOW_CALL])],
        "executor-invalid-no-object": [says("executor", "[]", [SLOW_CALL])],
        "executor-invalid-no-claims": [says("executor", {"claims": {}}, [SLOW_CALL])],
        "gatekeeper-pass-with-no-claims": [executor(claims=[], calls=[]), no_facts("PASS"), speechless()],
        "gatekeeper-low-confid-with-verified": [executor(claim(), UNBOUND, calls=[]), verifier(), composer()],
        "gatekeeper-low-confid-none-verified": [executor(UNBOUND, calls=[SLOW_CALL])],
        "gatekeeper-reject": [executor(claim("claim-1", "Payment ran out of memory", FORGED), calls=[])],
        "verifier-pass": [AGAIN, BOTH, composer()],
        "verifier-reject": [AGAIN, verifier("REJECT", fact("contradicted")), speechless()],
        "verifier-low-confid-retry-spent": [AGAIN, LOW, composer()],
        "verifier-low-confid-no-gap": [AGAIN, verifier("LOW_CONFID", fact()), composer()],
        "verifier-low-confid-ceiling": [executor(claim(), UNBOUND, calls=[]), LOW, composer()],
        "composer-fails-after-retry-spent": [AGAIN, LOW, fails("composer", "config")],
        "with-a-call-that-found-nothing": [
            executor(calls=[call("inv-2", "no deploy of payment was found", tool="list_changes", status="empty")]),
            verifier(),
            composer(),
        ],
    }
    return {f"second-round-{name}": [*into, *steps] for name, steps in endings.items()}
