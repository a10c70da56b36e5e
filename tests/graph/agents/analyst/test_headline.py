"""The first sentence: what fails where and since when, in the words of the claim that blames."""

from __future__ import annotations

import pytest

from diag_graph.agents.analyst.headline import headline
from diag_graph.contracts import AllowedClaim, ClaimKind, Standing
from diag_graph.gate.numbers import ungrounded_numbers

T = "2026-11-30T10:30:00Z"
LEADS = {
    "db_pool_waiting of orders rose from 0 (median before) to 14 (median since) at {T}.": (
        "db_pool_waiting rose from 0 to 14 at {T}"
    ),
    "hit_ratio of orders fell from 97.5 % (median before) to 40 % (median until {T}, when it was back) "
    "at {T}, 0.41 times as much.": "hit_ratio fell from 97.5 % to 40 % at {T}, and was back at {T}",
    "requests of orders stopped at {T}: 30 samples until then with a median of 9/s, none since.": (
        "requests stopped at {T}"
    ),
    "Operation pool.acquire of orders got slower by self time: median 3,038 ms since {T} against 0.04 ms "
    "before (53 and 80 spans).": "pool.acquire takes 3,038 ms since {T}, before 0.04 ms",
    "Operation call payer of orders got slower by self time, waiting for a call to payer, which "
    "records no spans: median "
    "1,659 ms since {T} against 92 ms before (51 and 34 spans).": (
        "call payer takes 1,659 ms since {T}, before 92 ms, waiting for a call to payer, which records no spans"
    ),
    "Operation POST /pay of orders is failing: 14 of 15 spans since {T} (93%) failed with no failed call "
    'beneath, against 0 of 9 before; first at {T}, error: "no; called by: x"; called by shop.': (
        'POST /pay fails in 14 of 15 spans since {T}: "no; called by: x"'
    ),
    'orders logged 27 lines like "cannot: <*>" (ERROR) since {T}, new: none before; first at '
    '{T}, example: "cannot: 3".': '27 lines like "cannot: <*>" (ERROR) since {T}',
    "Document pods.txt, line 9: pod orders, container app: OOMKilled (cause): the container used more memory than its "
    'limit. 3 lines say so. It reads: "x"': "OOMKilled: the container used more memory than its limit",
    "Log line a.log:3 at {T}: orders: quota exceeded (team: 5) (cause): the namespace has no room. It "
    'reads: "x (cause): y"': "quota exceeded (team: 5): the namespace has no room, seen at {T}",
}


def cause(text: str) -> AllowedClaim:
    """A claim that blames orders."""
    return AllowedClaim(
        claim_id="claim-1",
        kind=ClaimKind.ROOT_CAUSE,
        standing=Standing.CONFIRMED,
        entity="orders",
        text=text,
        citations=(),
    )


@pytest.mark.parametrize("lead", LEADS)
def test_the_news_of_each_kind_of_statement_is_told_with_its_own_numbers(lead: str) -> None:
    """C2: whatever the headline says of numbers stands in the claim."""
    claim = cause(f"The trouble starts at orders. {lead}".replace("{T}", T))
    said = headline(claim, [claim])
    assert said == f": {LEADS[lead]}.".replace("{T}", T)
    assert not ungrounded_numbers(said, [claim.text])


FITS = {
    'fits what fails: "budgets; it" sets "limit" from "50" to "10", and what fails speaks of pools.': (
        'sets "limit" from "50" to "10"'
    ),
    "may be behind what fails: it was made just before, but what it does is not recorded.": (
        "was made just before, but what it does is not recorded"
    ),
}


@pytest.mark.parametrize("fit", FITS)
def test_the_change_that_fits_is_named_with_what_it_does(fit: str) -> None:
    """A night's first question: what changed."""
    deploy = f"Deploy 3.8.0 of orders (commit 9f43e153fce6) at {T}"
    claim = cause(
        f"The trouble starts at orders. It waits. Just before: {deploy} (1 min before the failure began) {fit}"
    )
    verdict = fit.partition(":")[0]
    assert headline(claim, [claim]) == f". {deploy} {verdict}: it {FITS[fit]}."


def test_that_no_change_fits_is_said() -> None:
    """When changes were weighed and none fits, the first lines say so."""
    claim = cause("The trouble starts at orders. It waits.")
    none = AllowedClaim(
        claim_id="claim-2", kind=ClaimKind.NO_EVIDENCE, standing=Standing.CONFIRMED, entity=None, citations=(),
        text="No recorded change fits what fails at orders: 2 deploys weighed.",
    )  # fmt: skip
    assert headline(claim, [claim, none]) == ". No recorded change fits what fails."


@pytest.mark.parametrize(
    "text", ["orders is broken", "The trouble starts at orders.", "", "The trouble starts at. " * 9_000]
)
def test_a_claim_in_other_words_gets_no_headline(text: str) -> None:
    """What is not understood is not shortened."""
    assert headline(cause(text), []) == "."
