from __future__ import annotations

import pytest
from eval_samples import GUILTY, INNOCENT, LABELS, RUNS

from diag_graph.evals.documents import Figures, Label, Outcome
from diag_graph.evals.matching import blames, folded, rank_among, same_entity, says
from diag_graph.evals.scoring import constant_answer, figures, judge, random_order


def of_all(**runs: Outcome) -> Figures:
    """The figures of the toy cases, with other runs for some."""
    done = {**RUNS, **{name.replace("_", "-"): run for name, run in runs.items()}}
    return figures([judge(LABELS[name], run) for name, run in done.items()])


def test_the_figures_of_three_toy_cases_are_those_worked_out_by_hand() -> None:
    """Section 15: AC@1, AC@3, Avg@5, keywords, commits, abstention, false confidence, citations, verdicts, cost."""
    found = of_all()
    assert (found.cases, found.crashed, found.cause_cases) == (3, 0, 2)
    assert (found.ac1, found.ac3, found.ac5) == (0.5, 1.0, 1.0)
    assert found.avg5 == pytest.approx((0.5 + 1 + 1 + 1 + 1) / 5)
    assert (found.keywords.n, found.keywords.of) == (1, 4)  # cpu; not disk, not 12, not "normal"
    assert (found.keyword_cases.n, found.keyword_cases.of) == (0, 3)
    assert found.forbidden == 1
    assert (found.commit.n, found.commit.of, found.no_commit.n, found.no_commit.of) == (1, 1, 1, 1)
    assert (found.abstention.n, found.abstention.of) == (0, 1)
    assert (found.false_confidence.n, found.false_confidence.of) == (2, 2)  # toy-deploy is no PASS
    assert found.verdicts == {"PASS": 2, "LOW_CONFID": 1, "REJECT": 0, "none": 0}
    assert (found.cited.n, found.cited.of, found.cited.share) == (4, 5, 0.8)
    assert (found.model_calls, found.prompt_tokens, found.completion_tokens, found.cost_usd) == (4, 1000, 50, 0.5)
    assert (found.seconds_median, found.seconds_max) == (3.0, 5.0)


def test_the_constant_answer_knows_only_how_often_each_cause_is_the_first_of_a_label() -> None:
    """Basket and till, once each: in this order the first is right in one case of two, and both within two."""
    constant = constant_answer(list(LABELS.values()))
    assert constant is not None
    assert (constant.ac1, constant.ac3) == (0.5, 1.0)
    assert constant.avg5 == pytest.approx(0.9)
    assert constant_answer([LABELS["toy-calm"]]) is None


def test_a_random_order_is_scored_in_expectation() -> None:
    """Of four and of two candidates: min(1, k / n), averaged."""
    random = random_order(list(LABELS.values()))
    assert random is not None
    assert random.ac1 == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert random.ac3 == pytest.approx((3 / 4 + 1) / 2)
    assert random.avg5 == pytest.approx((0.375 + 0.75 + 0.875 + 1 + 1) / 5)
    assert random_order([Label(services=("till",))]) is None


def test_a_crash_is_wrong_in_every_respect() -> None:
    """Also where saying nothing would have been right: a healthy case, and one with no guilty commit."""
    found = of_all(**{name: Outcome(case=name, crash="MemoryError: ") for name in LABELS})
    assert (found.crashed, found.ac1, found.avg5) == (3, 0.0, 0.0)
    assert (found.abstention.n, found.commit.n, found.no_commit.n, found.keywords.n) == (0, 0, 0, 0)
    assert found.verdicts["none"] == 3
    assert found.false_confidence.of == 0


def test_naming_no_cause_is_right_just_where_nothing_is_wrong() -> None:
    """Abstention counts healthy cases, AC@k the others."""
    found = of_all(**{name: Outcome(case=name, verdict="PASS", answer="all is normal") for name in LABELS})
    assert (found.abstention.n, found.ac5, found.false_confidence.of) == (1, 0.0, 0)


@pytest.mark.parametrize(
    ("label", "run", "expected"),
    [
        (Label(services=("till",)), Outcome(case="c", verdict="PASS", ranked=("till",)), False),
        (Label(services=("till",)), Outcome(case="c", verdict="PASS", ranked=("basket", "till")), True),
        (Label(services=("till",)), Outcome(case="c", verdict="LOW_CONFID", ranked=("basket",)), None),
        (Label(services=("till",)), Outcome(case="c", verdict="PASS"), None),
        (Label(healthy=True), Outcome(case="c", verdict="PASS", ranked=("till",)), True),
        (Label(keywords=(("disk",),)), Outcome(case="c", verdict="PASS", ranked=("x",), answer="Disk full"), False),
        (Label(keywords=(("disk",),)), Outcome(case="c", verdict="PASS", ranked=("x",), answer="CPU"), True),
        (Label(), Outcome(case="c", verdict="PASS", ranked=("x",)), None),
    ],
)
def test_false_confidence_is_a_pass_whose_first_cause_is_wrong(
    label: Label, run: Outcome, expected: bool | None
) -> None:
    """Keywords decide where the label names no entity; without either nobody can tell."""
    assert judge(label, run).false_confidence is expected


def test_half_a_price_is_no_price() -> None:
    """A model call without a known price makes the sum's unknown; the tokens are added up all the same."""
    found = of_all(toy_slow=Outcome(case="toy-slow", model_calls=1, prompt_tokens=10, completion_tokens=2))
    assert (found.cost_usd, found.prompt_tokens, found.completion_tokens) == (None, 1010, 52)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Basket", "basket ", True),
        ("basket-7d9f8b6c4-x7k2q", "basket", True),
        ("basket", "basket-v2-7d9f8b6c4-x7k2q", True),
        ("redis-0", "redis", True),
        ("basket-db", "basket", False),
        ("baskets", "basket", False),
        ("basket2-till", "basket-till", False),
        ("basket-cache-store", "basket", False),
        ("till-7d9f8b6c4-x7k2q", "basket", False),
    ],
)
def test_an_entity_is_itself_or_a_pod_of_itself(one: str, other: str, same: bool) -> None:
    """Names that Kubernetes draws have no vowels; whatever else follows a name makes it another."""
    assert same_entity(one, other) is same
    assert same_entity(other, one) is same


def test_a_name_that_comes_again_takes_no_rank() -> None:
    """Saying the same twice, in whatever case, costs nothing and gains nothing."""
    assert rank_among(["Till", "till", "basket"], ["basket"]) == 2
    assert rank_among([], ["basket"]) is None


@pytest.mark.parametrize(
    ("text", "keyword", "stands"),
    [
        ("Exit\n code  137.", "exit code 137", True),
        ("140 pods", "14", False),
        ("14.5 s", "14", False),
        ("3.14", "14", False),
        ("14ms", "14", False),
        ("at 14.", "14", True),
        ("oomkilled", "OOM", True),
        ("a b", "a ", True),
        ("ab", "a ", False),
        ("anything", "  ", False),
    ],
)
def test_keywords_ignore_case_and_white_space_and_respect_numbers(text: str, keyword: str, stands: bool) -> None:
    """A keyword that is a number is that number, not a part of one."""
    assert says(folded(text), keyword) is stands


@pytest.mark.parametrize(
    ("named", "guilty", "right"),
    [
        (GUILTY, GUILTY, True),
        (GUILTY[:7].upper(), GUILTY, True),
        (GUILTY[:6], GUILTY, False),
        (INNOCENT, GUILTY, False),
        ("none", GUILTY, False),
        ("none", "none", True),
        (INNOCENT[:8], "none", False),
        ("0123456789", "none", False),
    ],
)
def test_just_the_guilty_commit_is_to_be_blamed(named: str, guilty: str, right: bool) -> None:
    """A beginning of at least seven digits will do; `none` is right when no commit is guilty."""
    assert blames(named, guilty, [INNOCENT]) is right


def test_a_commit_whose_beginning_fits_a_decoy_too_is_not_named() -> None:
    """What is ambiguous names nobody."""
    assert not blames(GUILTY[:8], GUILTY, [GUILTY[:8] + "0" * 32])
