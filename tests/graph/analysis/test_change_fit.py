"""Which change fits a failure: by time, place and content, and when none does."""

from __future__ import annotations

import pytest

from diag_graph.analysis.change_contents import Setting, contents_of
from diag_graph.analysis.change_fit import Failure, Fit, Standing, weigh
from diag_graph.analysis.change_subjects import SUBJECTS, Subject
from diag_graph.analysis.records import Change

BROKE = 100_000.0


def shipped(name: str, title: str, path: str, diff: str, service: str, before: float = 400.0) -> list[Change]:
    """A commit and its deploy, some seconds before the failure."""
    sha = name.ljust(40, "0")
    commit = Change("commit", BROKE - before - 60, "", sha, title, "x", {"files_changed": [path], "diff": diff})
    return [commit, Change("deploy", BROKE - before, service, f"v-{name}", "", "x", {"commit_sha": sha[:12]})]


INNOCENT = [
    *shipped("d0c", "docs: how to page us", "docs/paging.md", "+ text", "cart", 30),
    *shipped("c55", "feat: rounder buttons", "cart/button.css", "+.b { border-radius: 9px }", "cart", 40),
    *shipped("de9", "chore: bump dependencies", "go.mod", "-\tx v1.0.1\n+\tx v1.0.2", "cart", 50),
    *shipped("109", "Say more on start-up", "cart/main.go", '-\tlog.Debug("up")\n+\tlog.Info("up")', "cart", 60),
]

FAILURES: dict[str, tuple[list[Change], str, list[str]]] = {
    "a time limit": (
        shipped("bad", "refactor: one place for budgets", "cart/prices.go",
                "-\tc := ctx.WithTimeout(ctx, 4*time.Second)\n+\tc := ctx.WithTimeout(ctx, 90*time.Millisecond)",
                "cart"),
        "GET /prices; context deadline exceeded", ["cart", "prices"],
    ),
    "a pool": (
        shipped("bad", "tidy options", "pkg/db/options.go", "-const maxConns = 40\n+const maxConns = 4", "cart"),
        "db_pool_wait_seconds 0.01 -> 9.1; timed out waiting for a connection", ["cart", "cart-db"],
    ),
    "a dropped lock": (
        shipped("bad", "simplify counter", "cart/count.go",
                "-\tc.mu.Lock()\n-\tdefer c.mu.Unlock()\n \tc.n[k]++",
                "cart"),
        "fatal error: concurrent map writes", ["cart"],
    ),
    "a dropped guard": (
        shipped("bad", "simplify", "cart/gift.py",
                "-    if gift is None:\n-        return 0\n     return gift.price",
                "cart"),
        "AttributeError: 'NoneType' object has no attribute 'price'", ["cart"],
    ),
    "a variable that is gone": (
        shipped("bad", "clean up manifest", "deploy/cart.yaml",
                "-  - name: SMTP_HOST\n-    value: mail.internal",
                "cart"),
        "KeyError: 'SMTP_HOST'", ["cart"],
    ),
    "a quota": (
        shipped("bad", "tune gateway", "gw/limits.yaml", "-requests_per_second: 900\n+requests_per_second: 90", "gw"),
        "http_429_ratio 0 -> 0.7; too many requests", ["gw"],
    ),
    "a cache of a caller": (
        shipped("bad", "adjust lifetimes", "shop/cache.yaml", "-  ttl: 30m\n+  ttl: 3s", "shop", 1_500),
        "cache_hit_ratio 0.97 -> 0.4; db_cpu 20 -> 95", ["shop-db", "shop"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILURES)
def test_the_change_whose_content_is_about_the_failure_fits(case: str) -> None:
    """Among later and nearer innocent ones, the change is found that does what fails."""
    guilty, text, places = FAILURES[case]
    best = weigh([*INNOCENT, *guilty], Failure(text, places, BROKE))[0]
    assert (best.standing, best.change.identifier) == (Standing.FITS, "v-bad")
    assert best.commit is guilty[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x509: certificate has expired or is not yet valid", "certificate"),
        ("POST https://api.payer.com/v2/pay returned 503 Service Unavailable", "api.payer.com"),
    ],
)
def test_what_ended_by_itself_or_fails_elsewhere_is_no_changes_doing(text: str, why: str) -> None:
    """Settings of TLS and retries make no certificate end and no provider fail, however near they were changed."""
    diff = "-\tMaxAttempts: 2,\n+\tMaxAttempts: 3,\n-\tCiphers: tls.A,\n+\tCiphers: tls.B,"
    fits = weigh(
        shipped("715", "tune TLS and retries", "cart/pay.go", diff, "cart", 60), Failure(text, ["cart"], BROKE)
    )
    assert [fit.standing for fit in fits] == [Standing.MISFIT]
    assert why in fits[0].why[0]


@pytest.mark.parametrize(
    ("before", "service", "why"),
    [(-60, "cart", "after the failure"), (60, "search", "went to search"), (3_000, "cart", "touches nothing")],
)
def test_a_change_too_late_elsewhere_or_of_something_else_does_not_fit(before: float, service: str, why: str) -> None:
    """Time, place and content must all agree, and what does not is said."""
    diff = "-\treturn a.Colour()\n+\treturn a.Tone()"
    made = shipped("abc", "rename", "x/colour.go", diff, service, before)
    fit = weigh(made, Failure("context deadline exceeded", ["cart"], BROKE))[0]
    assert fit.standing is Standing.MISFIT
    assert why in fit.why[0]


def test_an_unrecorded_content_just_before_is_possible_and_said_to_be_unknown() -> None:
    """A deploy of which only the version is known may be behind what fails right after it."""
    deploy = Change("deploy", BROKE - 60, "cart", "3.8.0", "", "", {})
    fit = weigh([deploy], Failure("context deadline exceeded", ["cart"], BROKE))[0]
    assert fit.standing is Standing.POSSIBLE
    assert "not recorded" in fit.why[0]


def test_only_the_most_likely_of_possible_changes_is_possible() -> None:
    """Of two deploys of unknown content the last one before the failure is suspected."""
    deploys = [Change("deploy", BROKE - far, "cart", f"v{far}", "", "", {}) for far in (300, 60)]
    fits = weigh(deploys, Failure("context deadline exceeded", ["cart"], BROKE))
    assert [(fit.change.identifier, fit.standing) for fit in fits] == [
        ("v60", Standing.POSSIBLE),
        ("v300", Standing.MISFIT),
    ]


def test_a_recorded_configuration_change_is_read_from_its_old_and_new_value() -> None:
    """A setting that a record gives with both values is as good as a diff."""
    change = Change("config", BROKE - 900, "cart", "db.pool.size", "", "", {"old": "50", "new": "5"})
    fit = weigh([change], Failure("could not get a connection from the pool", ["cart"], BROKE))[0]
    assert fit.standing is Standing.FITS
    assert 'sets "db.pool.size" from "50" to "5"' in fit.why[0]


def test_a_flag_is_read_by_its_name() -> None:
    """A flag has no diff: its name is all that is known, and is enough when it is what fails."""
    flag = Change("flag", BROKE - 200, "cart", "bulk_pricing_engine", "off->on", "", {})
    fit = weigh([flag], Failure("bulk pricing: division by zero", ["cart"], BROKE))[0]
    assert fit.standing is not Standing.MISFIT


def test_moved_lines_and_comments_are_no_change_of_what_runs() -> None:
    """What is taken out here and put in there, and what stands in comments, is not counted."""
    diff = "-\tcall(a)\n-\t// old words\n+\t// new words\n+\tcall(a)\n"
    assert contents_of("move", ["a.go"], diff).touched == ()


def test_settings_are_read_with_their_values_before_and_after() -> None:
    """Calls, assignments and plain configuration name the setting that a value belongs to."""
    diff = "-  level: info\n+  level: debug\n-const limit = 50\n+const limit = 10\n-\tretry(max=3)\n+\tretry(max=9)\n"
    assert set(contents_of("", [], diff).settings) == {
        Setting("level", "info", "debug"),
        Setting("limit", "50", "10"),
        Setting("max", "3", "9"),
    }


@pytest.mark.parametrize("diff", ["@@ nothing", "-" * 5_000, "+" + "a(" * 5_000, "\x00\n-\n+\n", "--- a\n+++ b\n"])
def test_a_diff_that_is_none_is_read_without_harm(diff: str) -> None:
    """Whatever stands in a record, it is weighed."""
    made = [Change("commit", BROKE - 60, "cart", "a" * 40, "x", "", {"diff": diff, "files": [{"n": 1}, 3]})]
    assert isinstance(weigh(made, Failure("deadline", ["cart"], BROKE))[0], Fit)


def test_every_subject_has_words_for_changes_and_for_failures() -> None:
    """The table of subjects is total."""
    assert set(SUBJECTS) == set(Subject)


@pytest.mark.parametrize(
    ("path", "diff", "why"),
    [
        ("services/cart/README.md", "+The pool holds 20 connections.\n", "documents only"),
        ("cart/prices.py", "+    # prices time out after 2 s, see the wiki\n", "comments only"),
        ("cart/test_prices.py", "+def test_timeout():\n", "tests only"),
    ],
)
def test_a_change_that_runs_no_other_code_does_not_fit_and_is_called_what_it_is(path: str, diff: str, why: str) -> None:
    """Just before the failure, at its place and in its words: still innocent."""
    changes = shipped("d0c", "Say more of the time limit", path, diff, "cart", 50)
    fit = weigh(changes, Failure("GET /prices; read timed out after 2 s", ["cart"], BROKE))[0]
    assert (fit.standing, why in fit.why[0]) == (Standing.MISFIT, True)


@pytest.mark.parametrize(
    ("path", "diff"),
    [
        ("cart/blocked.txt", "+203.0.113.0/24\n"),
        ("cart/pool.h", "-#define MAX_CONNS 40\n+#define MAX_CONNS 4\n"),
        ("cart/main.c", "\n".join(["+// said at length"] * 500 + ["+exit(1);"])),
    ],
)
def test_what_may_run_otherwise_is_not_called_innocent(path: str, diff: str) -> None:
    """Lists in plain text, preprocessor lines, and what stands behind the part that is read are no comments."""
    changes = shipped("0dd", "tidy", path, diff, "cart", 50)
    assert weigh(changes, Failure("GET /prices failed", ["cart"], BROKE))[0].standing is not Standing.MISFIT


def test_raised_packages_just_before_are_possible_and_said_to_be_unknown() -> None:
    """What a package of another version does is not recorded, so that it is neither blamed nor cleared."""
    changes = shipped("de9", "chore: bump dependencies", "go.mod", "-\tx v1.0.1\n+\tx v2.0.0", "cart", 50)
    fit = weigh(changes, Failure("GET /prices failed", ["cart"], BROKE))[0]
    assert (fit.standing, "not recorded" in fit.why[0]) == (Standing.POSSIBLE, True)


@pytest.mark.parametrize(
    "text", ["write failed: no space left on device", "AttributeError: 'NoneType' object has no attribute 'code'"]
)
def test_more_logging_is_not_cleared_of_what_logging_can_do(text: str) -> None:
    """It fills disks, and what is logged can itself be missing."""
    changes = shipped("109", "Log the voucher", "cart/pay.py", "+    logger.info(order.voucher.code)", "cart", 50)
    assert weigh(changes, Failure(text, ["cart"], BROKE))[0].standing is not Standing.MISFIT
    slow = weigh(changes, Failure("latency_p95 0.1 -> 4", ["cart"], BROKE))[0]
    assert (slow.standing, slow.why) == (Standing.MISFIT, ("changes what is logged or measured only",))


def test_too_little_that_speaks_for_a_change_is_told_from_what_rules_it_out() -> None:
    """V1: that nothing ties a change to a failure does not say that it is innocent."""
    unseen = shipped("add", "Check entries", "books/entries.py", "+verify(entry)", "books", 400)
    documents = shipped("d0c", "docs: how to page us", "docs/paging.md", "+ text", "books", 400)
    fits = weigh([*unseen, *documents], Failure("call to books timed out", ["cart", "books"], BROKE))
    assert {fit.change.identifier: (fit.standing, fit.unproven) for fit in fits} == {
        "v-add": (Standing.MISFIT, True),
        "v-d0c": (Standing.MISFIT, False),
    }
