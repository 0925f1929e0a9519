import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from uncertain import arrays, only

from whobenefits.statistics import CONSTANT, FEW_GROUPS, NOWHERE, spearman
from whobenefits.uncertainty.bootstrap import resamples
from whobenefits.uncertainty.correlation_bootstrap import correlation_tests, rank_correlations
from whobenefits.uncertainty.correlation_tests import UNEVEN, mean_spearman_p, smallest_p, spearman_p


def rng(seed=0):
    return np.random.default_rng(seed)


def p(x, y, draws=100):
    return spearman_p(x, y, draws, rng())


@pytest.mark.parametrize(
    ("y", "hits"),
    [
        # ρ = 1: of the 24 orders of four, only this one and its reverse have |ρ| = 1.
        ([1, 2, 3, 4], 2),
        # ρ = 0.8 (one swap of neighbours): 3 orders with 0.8, 3 with -0.8, and the 2 above.
        ([2, 1, 3, 4], 8),
        # ρ = 0: every order is at least as far from 0.
        ([2, 4, 1, 3], 24),
    ],
)
def test_p_of_four_groups_is_a_count_of_24_orders(y, hits):
    assert p([1, 2, 3, 4], y).value == pytest.approx(hits / 24)


def test_four_groups_cannot_go_below_a_twelfth():
    assert [smallest_p(n, 10_000) for n in (3, 4, 5)] == [1 / 3, 1 / 12, 1 / 60]
    assert smallest_p(9, 9999) == 1e-4 and math.isnan(smallest_p(2, 100))
    for n in range(3, 8):
        assert p(range(n), range(n)).value == pytest.approx(smallest_p(n, 100))


def test_ties_make_the_smallest_p_larger():
    # Ranks 1, 2.5, 2.5, 4 of both: of the 24 orders, 2 have ρ = 1 (the tied may swap places) and 2 have -1.
    assert p([1, 2, 2, 3], [1, 5, 5, 7]).value == pytest.approx(4 / 24)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=6))
def test_p_is_that_of_scipy_with_all_orders(pairs):
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    got = p(x, y)
    if spearman(x, y).reason:
        assert math.isnan(got.value) and got.reason == spearman(x, y).reason
        return

    def statistic(order):
        # Rounded, because scipy compares within a tolerance of its own.
        return round(abs(scipy.stats.spearmanr(order, y).statistic), 9)

    expected = scipy.stats.permutation_test(
        (x,), statistic, permutation_type="pairings", alternative="greater", n_resamples=np.inf
    )
    assert got.value == pytest.approx(expected.pvalue) and got.n == len(pairs)


def test_p_of_many_groups_is_by_random_orders_and_near_scipy_s():
    x = rng(1).random(12)
    y = x + rng(2).normal(0, 0.4, 12)
    got = p(x, y, draws=20_000)
    assert got.value == pytest.approx(scipy.stats.spearmanr(x, y).pvalue, abs=0.01)
    assert p(range(12), range(12), draws=999).value == 0.001


def test_without_a_relation_p_is_uniform_on_its_steps():
    # P(p <= a) = a at each p that can occur; 2,000 studies of five groups.
    source = rng(3)
    found = np.array([p(source.random(5), source.random(5)).value for _ in range(2000)])
    for step in np.unique(found):
        assert np.mean(found <= step + 1e-9) == pytest.approx(step, abs=0.035)


@pytest.mark.parametrize(
    ("x", "y", "n", "reason"),
    [
        ([1, 2], [1, 2], 2, FEW_GROUPS),
        ([1, 2, 3, math.nan], [1, math.nan, 3, 4], 2, FEW_GROUPS),
        ([1, 1, 1], [1, 2, 3], 3, CONSTANT),
        ([], [], 0, FEW_GROUPS),
    ],
)
def test_an_undefined_p_is_nan_with_its_reason(x, y, n, reason):
    got = p(x, y)
    assert math.isnan(got.value) and (got.n, got.reason) == (n, reason)


def test_the_p_of_a_mean_shuffles_the_groups_of_all_retrievers_alike():
    # Two retrievers with the same ranks: their mean is one ρ, and so is its p.
    x, y = [1, 2, 3, 4], [2, 1, 3, 4]
    assert mean_spearman_p([x, x], [y, y], 10, rng()).value == p(x, y).value
    # ρ = 1 and -1: the mean is 0, and every order is at least as far from 0.
    assert mean_spearman_p([x, x], [x, x[::-1]], 10, rng()).value == 1


def test_the_p_of_a_mean_leaves_undefined_retrievers_out():
    x, nothing = [1, 2, 3, 4], [math.nan] * 4
    assert mean_spearman_p([x, nothing], [x, x], 10, rng()).value == pytest.approx(1 / 12)
    assert mean_spearman_p([nothing, nothing], [x, x], 10, rng()).reason == NOWHERE
    assert mean_spearman_p([x, [1, 2, 3, math.nan]], [x, x], 10, rng()).reason == UNEVEN


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.0, math.nan])), min_size=1, max_size=7))
def test_rank_correlations_are_spearman_s(pairs):
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    assert rank_correlations(x, y) == pytest.approx(spearman(x, y).value, nan_ok=True)


def planted(noise, seed=4):
    """Two retrievers, 80 queries in four groups: scores and shares both rise from group to group."""
    source, label = rng(seed), np.arange(80) % 4
    rag = label * 0.1 + source.normal(0.2, noise, (2, 80))
    factors = np.zeros((2, 3, 80, 4))
    factors[:, 0] = [1, 2, 3, 4] + source.normal(0, noise, (2, 80, 4))
    factors[:, 1] = 1
    return arrays(np.full(80, 0.2), label, rag=rag, factors=factors)


def rows_of(cell, seed=0):
    return correlation_tests(cell, resamples(cell, 400, rng(seed)), 100, rng(seed))


def test_an_ordering_that_is_settled_has_a_narrow_interval_at_one():
    row = only(rows_of(planted(0.05)), factor="utility", outcome="ac_rag", retriever="mean")
    assert (row["low"], row["high"], row["defined"]) == (1, 1, 1)
    assert row["p"] == row["smallest_p"] == pytest.approx(1 / 12)


def test_an_ordering_that_is_not_settled_has_a_wide_interval():
    row = only(rows_of(planted(1.0)), factor="utility", outcome="ac_rag", retriever="mean")
    assert row["high"] - row["low"] > 0.4 and -1 <= row["low"] <= row["high"] <= 1


def test_a_share_that_is_the_same_for_all_groups_has_no_interval_and_no_p():
    rows = rows_of(planted(0.05))
    assert len(rows) == 3 * 2 * 3
    row = only(rows, factor="exposure", outcome="delta", retriever="r1")
    assert math.isnan(row["low"]) and math.isnan(row["p"]) and row["uncertainty_reason"] == CONSTANT
    assert row["defined"] == 0
    assert only(rows, factor="attribution", outcome="delta", retriever="mean")["uncertainty_reason"] == NOWHERE


def test_the_mean_s_interval_is_of_the_mean_in_each_resample():
    # Retrievers whose scores rise and fall with the same queries: each ρ is uncertain, their mean is always 0.
    first = planted(1.0)
    both = arrays(first.llm, first.label, rag=[first.rag[0], -first.rag[0]], factors=first.factors[[0, 0]])
    rows = rows_of(both)
    mean, single = (only(rows, factor="utility", outcome="ac_rag", retriever=name) for name in ("mean", "r0"))
    assert (mean["low"], mean["high"]) == pytest.approx((0, 0), abs=1e-12) and single["low"] < single["high"]
