from typing import Any

import pytest
from analysis_samples import ONSET

from diag_graph.analysis.ranking import Role, Suspect, rank_entities
from diag_graph.analysis.records import Edge, utc
from diag_graph.analysis.troubles import Trouble, metric_trouble

CALLS = (Edge("storefront", "checkout"), Edge("checkout", "payment"), Edge("payment", "payment-db"))


def metric(entity: str, name: str, score: float = 4.0, late: float = 0.0, direction: str = "up") -> dict[str, Any]:
    """A changed series."""
    return {
        "entity": entity,
        "signal": "metric",
        "metric": name,
        "direction": direction,
        "score": score,
        "onset": utc(ONSET + late),
        "step": 10.0,
    }


def log(entity: str, score: float = 4.0, mentions: tuple[str, ...] = (), example: str = "failed") -> dict[str, Any]:
    """A changed log pattern."""
    return {
        "entity": entity,
        "signal": "log",
        "score": score,
        "mentions": list(mentions),
        "example": example,
        "onset": utc(ONSET),
    }


def span(
    entity: str, direction: str = "slower", change: str = "slower", callers: tuple[str, ...] = ()
) -> dict[str, Any]:
    """A changed operation."""
    return {
        "entity": entity,
        "signal": "span",
        "direction": direction,
        "change": change,
        "callers": list(callers),
        "score": 8.0,
        "onset": utc(ONSET),
    }


def change(entity: str, before: float, kind: str = "deploy") -> dict[str, Any]:
    """A deploy or another change, so many seconds before the onset."""
    return {"entity": entity, "signal": "change", "change": kind, "score": 0.9, "onset": utc(ONSET - before)}


def ranked(*results: list[dict[str, Any]], edges: tuple[Edge, ...] = CALLS) -> list[Suspect]:
    """Rank these results."""
    return rank_entities(results, edges, ONSET)


def test_a_slow_callee_is_suspected_before_its_callers() -> None:
    """A caller of a slow callee is a symptom, and the ranking says of what."""
    first, second, third = ranked([metric(name, "latency_p95") for name in ("storefront", "checkout", "payment")])
    assert first.entity == "payment"
    assert first.support[0].role is Role.CAUSE
    assert {second.support[0].role, third.support[0].role} == {Role.SYMPTOM}
    assert "payment" in second.explained_by


def test_a_resource_at_its_limit_outranks_latency() -> None:
    """Pool, cpu, memory and disk are causes; latency is what they do."""
    items = [metric("checkout", "latency_p95"), metric("payment", "db_pool_waiting")]
    assert [one.entity for one in ranked(items, edges=())] == ["payment", "checkout"]


def test_an_earlier_trouble_is_suspected_before_a_later_one() -> None:
    """Causes precede symptoms."""
    items = [metric("a", "latency_p95", late=600.0), metric("b", "latency_p95")]
    assert [one.entity for one in ranked(items, edges=())] == ["b", "a"]


def test_a_change_just_before_counts_and_one_after_does_not() -> None:
    """A deploy shortly before its own trouble speaks against it."""
    items = [metric("a", "latency_p95"), metric("b", "latency_p95"), metric("c", "latency_p95")]
    first, second, third = ranked(items, [change("b", 120.0), change("c", -600.0)], edges=())
    assert first.entity == "b"
    assert [support.role for support in first.support] == [Role.CAUSE, Role.CHANGE]
    assert second.score == third.score


def test_failing_services_that_name_another_one_point_at_it() -> None:
    """`upstream payment timed out` in two services' errors is evidence about payment, which may be silent itself."""
    items = [log("checkout", mentions=("payment",)), log("storefront", mentions=("payment",))]
    suspects = ranked(items, edges=())
    named = next(one for one in suspects if one.entity == "payment")
    assert named.named_by == ("checkout", "storefront")
    assert {support.role for support in named.support} == {Role.RELATION}


def test_a_callee_whose_failures_name_its_caller_does_not_explain_it() -> None:
    """Who is blamed by its callee is not the callee's victim."""
    items = [metric("checkout", "error_ratio"), metric("payment", "error_ratio"), log("payment", 1.0, ("checkout",))]
    assert ranked(items)[0].entity == "checkout"


def test_given_up_work_does_not_explain_who_gave_up() -> None:
    """Cancellations at a callee are the caller's deadline."""
    items = [metric("payment", "rpc_server_cancelled_rate"), metric("checkout", "rpc_client_error_rate")]
    assert [one.entity for one in ranked(items)] == ["checkout", "payment"]
    assert ranked([log("payment", example="call canceled by client")])[0].score < ranked([log("payment")])[0].score


def test_waiting_calls_of_a_starved_caller_do_not_blame_the_callee() -> None:
    """A caller short of cpu makes its own calls wait."""
    items = [span("payment", change="calls slower", callers=("checkout",)), metric("checkout", "cpu_usage_percent")]
    assert [one.entity for one in ranked(items)] == ["checkout", "payment"]


def test_a_slow_statement_is_the_databases_symptom_when_the_database_shows_its_own_trouble() -> None:
    """A client's spans show its statements; a database that has none shows in its metrics."""
    statement = {**span("payment"), "operation": "UPDATE accounts"}
    assert ranked([statement], [metric("payment-db", "lock_waiting_sessions")])[0].entity == "payment-db"
    assert ranked([statement])[0].support[0].role is Role.CAUSE


def waiting(client: str, peer: str) -> dict[str, Any]:
    """A statement of the client that got slower."""
    return {**span(client), "operation": "UPDATE accounts", "waits_for": peer, "database": True}


def test_the_blame_for_a_wait_moves_to_a_database_with_trouble_of_its_own() -> None:
    """Locks of the database fill the client's pool and fail its requests; the wait itself speaks against it."""
    client = [waiting("payment", "payment-db"), metric("payment", "db_pool_waiting"), log("payment")]
    locked = [metric("payment-db", "lock_waiting_sessions", 3.0), metric("payment-db", "longest_transaction_seconds")]
    first, second, *_ = ranked(client, locked)
    assert (first.entity, second.entity) == ("payment-db", "payment")
    assert first.named_by == ("payment",)
    assert second.explained_by == ("payment-db",)


def test_a_wait_for_a_database_that_is_merely_used_longer_stays_with_its_client() -> None:
    """Long transactions and many connections are what clients do."""
    client = [waiting("payment", "payment-db"), metric("payment", "db_pool_waiting")]
    used = [metric("payment-db", "longest_transaction_seconds"), metric("payment-db", "connections_active")]
    assert ranked(client, used)[0].entity == "payment"


def recorded(*names: str) -> list[dict[str, Any]]:
    """What `list_evidence` says is measured."""
    return [{"signal": "document", "section": "metrics", "metric": name} for name in names]


def test_a_resource_that_moved_while_nobody_is_slower_or_fails_counts_for_little() -> None:
    """Latency is measured and did not change: memory that grew is no incident, until a caller gets slower."""
    moved, measured = [metric("payment", "memory_bytes")], recorded("request_latency_p95", "memory_bytes")
    felt = [*moved, metric("checkout", "request_latency_p95", 1.0)]
    assert ranked(measured, moved)[0].score < 0.5 * ranked(moved)[0].score
    assert ranked(measured, felt)[0].score == ranked(felt)[0].score


def listed(*services: str) -> list[dict[str, Any]]:
    """What the inventory says of services that have series."""
    return [{"section": "services", "entity": name, "signal": "document", "counts": {"series": 5}} for name in services]


def lone(entity: str, name: str) -> dict[str, Any]:
    """A series of which the very last sample stands out."""
    return metric(entity, name, score=2.4) | {"change": "spike"}


def test_one_last_sample_counts_for_less_unless_an_alert_or_a_question_tells_of_trouble_too() -> None:
    """Nobody knows whether it is over with the next one."""
    sample = [lone("checkout", "latency_p99")]
    alert = {"entity": "checkout", "signal": "alert", "metric": "latency_p99"}
    (doubted,) = ranked(sample)
    (alerted,) = ranked([alert], sample)
    (asked,) = rank_entities([sample], CALLS, ONSET, noticed=True)
    assert doubted.score < 0.5 * alerted.score
    assert asked.score == alerted.score


def test_less_memory_in_use_is_no_shortage_and_less_free_memory_is() -> None:
    """What fell by itself fell because there was less to do, or because the process was begun anew."""
    (used,) = ranked([metric("checkout", "MemoryUsage(Mi)", direction="down")])
    (free,) = ranked([metric("checkout", "MemoryFree(Mi)", direction="down")])
    (risen,) = ranked([metric("checkout", "MemoryUsage(Mi)")])
    (fewer,) = ranked([metric("checkout", "replicas", direction="down")])
    assert used.score < 0.5 * risen.score
    assert free.score == risen.score == fewer.score


def test_a_resource_counts_for_little_where_its_entity_is_but_a_bit_slower_and_no_caller_is() -> None:
    """Who waits for it would be slower too; a much slower one is felt by those who do, and they may be few."""
    known = [*recorded("latency_p99"), *listed("storefront", "checkout", "payment")]
    memory = metric("payment", "memory_mb", score=2.0)

    def strength(slower: float, *more: dict[str, Any]) -> float:
        found = ranked([*known, memory, metric("payment", "latency_p99", score=slower), *more])
        return next(one.score for one in found if one.entity == "payment")

    bit, much = strength(1.5), strength(2.5)
    assert bit < 0.5 * much
    assert strength(1.5, metric("checkout", "latency_p99", score=1.0)) > 2 * bit
    (unlisted,) = ranked([*recorded("latency_p99"), memory, metric("payment", "latency_p99", score=1.5)])
    assert unlisted.score > 2 * bit


def test_other_work_than_before_counts_for_less_where_no_alert_tells_of_trouble() -> None:
    """What follows in requests of another kind says nothing about those of this kind."""
    course = span("checkout", direction="stopped", change="ends early")
    (same,) = ranked([course | {"unlike": False}])
    (other,) = ranked([course | {"unlike": True}])
    assert other.score < 0.5 * same.score


def test_an_alert_about_an_entity_is_somebody_who_noticed() -> None:
    """Whoever is alerted need not look for the effect."""
    alert = [{"entity": "checkout", "signal": "alert", "metric": "checkout_slow"}]
    moved = [metric("payment", "memory_bytes")]
    assert ranked(recorded("latency_p95"), alert, moved)[0].score == ranked(alert, moved)[0].score


def test_the_latency_of_what_is_hardly_called_any_more_counts_for_less() -> None:
    """Its few calls are no sample."""
    slow = metric("payment", "latency_p95")
    stopped = {**metric("payment", "requests_per_second", 1.0, direction="down"), "before": 90.0, "after": 1.0}
    going_on = {**stopped, "after": 80.0}
    assert ranked([slow, stopped])[0].score < ranked([slow, going_on])[0].score


def test_the_address_of_a_service_is_suspected_after_the_service() -> None:
    """A load balancer stands in call graphs beside the service behind it, and only its callers measure it."""
    edges = (Edge("shop", "search.lb"), Edge("shop", "search"), Edge("search", "index"))
    both = [metric("search.lb", "latency_p95"), metric("search", "latency_p95", 3.0)]
    assert ranked(both, edges=edges)[0].entity == "search"


@pytest.mark.parametrize(
    "search",
    [
        metric("search", "requests_per_second"),
        metric("search", "latency_p95", 0.5),
        metric("search", "latency_p95", 4.0, 600.0),
    ],
)
def test_an_endpoint_whose_neighbour_has_other_trouble_is_suspected_itself(search: dict[str, Any]) -> None:
    """Another company's service is a leaf too, and nobody else has its trouble."""
    edges = (Edge("shop", "bank"), Edge("shop", "search"), Edge("search", "index"))
    assert ranked([metric("bank", "latency_p95"), search], edges=edges)[0].entity == "bank"


def test_trouble_long_after_it_was_noticed_counts_for_less() -> None:
    """What begins a quarter of an hour later did not cause it; within two samples it may have."""
    on_time, sampled, late = (
        rank_entities([[metric("a", "latency_p95", late=late)]], (), ONSET)[0].score for late in (0.0, 100.0, 900.0)
    )
    assert on_time == sampled > late


def test_better_is_not_worse() -> None:
    """Latency that fell is rather what trouble elsewhere leaves."""
    items = [metric("a", "latency_p95", direction="down"), metric("b", "latency_p95")]
    assert [one.entity for one in ranked(items, edges=())] == ["b", "a"]
    items = [metric("a", "availability", direction="up"), metric("b", "availability", direction="down")]
    assert [one.entity for one in ranked(items, edges=())] == ["b", "a"]


def test_the_alerts_kind_of_symptom_weighs_and_what_it_cannot_reach_weighs_less() -> None:
    """An availability alert is about errors, and about what its subject calls."""
    alert = {"entity": "storefront", "signal": "alert", "metric": "availability", "score": 1.0}
    errors, slow, aside = (
        metric("payment", "error_ratio"),
        metric("checkout", "latency_p95"),
        metric("batch", "error_ratio"),
    )
    assert [one.entity for one in ranked([alert], [slow, errors, aside])] == ["payment", "batch", "checkout"]


def test_calls_in_a_circle_explain_nobody_by_themselves() -> None:
    """Mutual callers are ranked by their own evidence, and the search ends."""
    circle = (Edge("a", "b"), Edge("b", "a"))
    suspects = ranked([metric("a", "latency_p95", 4.0), metric("b", "latency_p95", 3.0)], edges=circle)
    assert [(one.entity, one.explained_by) for one in suspects] == [("a", ()), ("b", ())]


def test_empty_results_and_items_that_are_no_anomalies_give_no_suspect() -> None:
    """A calm system has nobody to blame, and changes alone blame nobody."""
    empty = {"text": "No series changed.", "signal": "metric", "empty": True}
    summary = {"entity": "a", "signal": "metric", "metric": "m", "score": 0.0, "change": "summary"}
    assert ranked([], [empty], [summary], [change("a", 60.0)]) == []


def test_support_points_at_the_results_and_items_that_were_given() -> None:
    """Positions count results, indices count items: that is how a suspicion is cited."""
    call = {"entity": "payment", "signal": "call", "caller": "checkout", "callee": "payment"}
    results = [
        [call],
        [],
        [metric("x", "latency_p95", 0.1), metric("payment", "latency_p95")],
        [change("payment", 60.0)],
    ]
    payment = ranked(*results)[0]
    assert [(s.position, s.index, s.role) for s in payment.support] == [
        (2, 1, Role.CAUSE),
        (3, 0, Role.CHANGE),
        (0, 0, Role.RELATION),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("container_cpu_usage_seconds_total", Trouble.RESOURCE),
        ("http_server_duration_p99_ms", Trouble.LATENCY),
        ("http_requests_failed_total", Trouble.ERRORS),
        ("availability_average", Trouble.ERRORS),
        ("kube_pod_container_status_restarts_total", Trouble.RESTART),
        ("http_requests_total", Trouble.TRAFFIC),
        ("rpc_server_cancelled_rate", Trouble.CANCELLED),
        ("ReplicaLag", Trouble.RESOURCE),
        ("lock_waiting_sessions", Trouble.RESOURCE),
        ("longest_transaction_seconds", Trouble.USE),
        ("connections_idle_in_transaction", Trouble.USE),
        ("db_pool_waiting", Trouble.POOL),
        ("temperature", Trouble.OTHER),
    ],
)
def test_kinds_of_trouble_are_read_from_names(name: str, kind: Trouble) -> None:
    """Names of metrics say what they measure."""
    assert metric_trouble(name) is kind


def test_what_is_called_less_because_its_caller_ends_early_is_the_callers_symptom() -> None:
    """The callee's operations and bytes fell, nobody waits for it, and the caller's work ends before the call."""
    fell = [metric("payment", name, direction="down") for name in ("requests_per_second", "bytes_received")]
    suspects = ranked([*fell, span("checkout", direction="stopped", change="ends early")])
    assert suspects[0].entity == "checkout"
    assert suspects[0].support[0].role is Role.CAUSE


def test_work_that_ends_early_is_the_symptom_of_a_callee_whose_work_fails() -> None:
    """The deepest place where work ends or fails is where it begins."""
    first, second = ranked(
        [
            span("checkout", direction="stopped", change="ends early"),
            span("payment", direction="failing", change="fails on its way"),
        ]
    )
    assert (first.entity, second.entity, second.explained_by) == ("payment", "checkout", ("payment",))


def test_a_service_whose_calls_wait_both_ways_is_what_they_share() -> None:
    """Calls to it wait, and so do its calls to several others, more even: it gets no time to send or to receive."""

    def waits(callee: str, caller: str, score: float) -> dict[str, Any]:
        return {**span(callee, change="calls slower", callers=(caller,)), "score": score}

    edges = (*CALLS, Edge("checkout", "mail"))
    slow = [waits("payment", "checkout", 9.0), waits("mail", "checkout", 9.0)]
    assert ranked([*slow, waits("checkout", "storefront", 5.0)], edges=edges)[0].entity == "checkout"
    assert ranked([slow[0], waits("checkout", "storefront", 5.0)], edges=edges)[0].entity == "payment"
