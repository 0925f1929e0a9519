import math
from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from uncertain import arrays

from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import FEW_FILLED
from whobenefits.uncertainty.permutation import group_ranges, range_tests, shuffled, tail


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_shuffle_keeps_the_sizes_of_the_groups():
    labels = shuffled(np.array([0, 0, 1, 2, 2, 2]), 100, rng())
    assert (np.sort(labels, axis=1) == [0, 0, 1, 2, 2, 2]).all()
    assert len(np.unique(labels, axis=0)) > 30


def test_p_and_the_expected_range_of_a_case_worked_by_hand():
    # Scores 0, 0, 1, 1 in two groups of two: of the 6 ways to deal them out, 2 have a range of 1 (as observed) and 4 a
    # range of 0. So p goes to 1/3 and the expected range to 1/3, 33.3 points.
    got = range_tests(arrays([0, 0, 1, 1], [0, 0, 1, 1]), 40_000, rng())[0]
    assert got["p"] == pytest.approx(1 / 3, abs=0.01)
    assert got["expected"] == pytest.approx(100 / 3, abs=1)
    assert (got["measure"], got["retriever"], got["p_reason"]) == ("r_llm", "none", "")


def test_no_p_is_below_one_over_one_more_than_the_shuffles():
    # Three draws, none as large: (1 + 0) / (1 + 3); a draw that is equal up to rounding counts as as large.
    assert tail(0.5, np.array([0.1, 0.2, 0.3])) == 0.25
    assert tail(0.3, np.array([0.1, 0.2, 0.1 + 0.2])) == 0.5


def test_p_is_that_of_scipy():
    values, label = rng(1).random(30), np.repeat([0, 1, 2], [6, 9, 15])
    values[label == 1] += 0.2

    def widest(*groups, axis):
        return np.ptp([group.mean(axis=axis) for group in groups], axis=0)

    groups = [values[label == g] for g in range(3)]
    expected = scipy.stats.permutation_test(
        groups, widest, n_resamples=9999, vectorized=True, alternative="greater", rng=rng(2)
    )
    assert range_tests(arrays(values, label), 9999, rng(3))[0]["p"] == pytest.approx(expected.pvalue, abs=0.01)


def test_all_orders_of_a_small_case_give_the_exact_p():
    values, label = np.array([0.1, 0.5, 0.2, 0.9, 0.4]), np.array([0, 0, 1, 1, 1])
    every = group_ranges(values[None], np.array([label[list(order)] for order in permutations(range(5))]))[:, 0]
    observed = group_ranges(values[None], label[None])[0, 0]
    exact = np.mean(every >= observed - 1e-12)
    assert range_tests(arrays(values, label), 20_000, rng())[0]["p"] == pytest.approx(exact, abs=0.015)


def test_without_a_difference_p_is_uniform():
    # Labels that have nothing to do with skewed scores: 2,000 studies, Kolmogorov-Smirnov.
    source = rng(0)
    found = [
        range_tests(arrays(source.gamma(1, 1, 30), source.permutation(np.arange(30) % 4)), 199, source)[0]["p"]
        for _ in range(2000)
    ]
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.05
    assert 0.04 <= np.mean(np.array(found) <= 0.05) <= 0.06


def test_a_planted_difference_is_found():
    values, label = rng(6).normal(0.2, 0.1, 160), np.arange(160) % 4
    got = range_tests(arrays(values + 0.15 * (label == 2), label), 999, rng())[0]
    assert got["p"] == 0.001 and got["expected"] < 8


def test_queries_without_a_group_and_groups_without_a_query_do_not_count():
    values, label = rng(7).random(12), np.arange(12) % 2
    first = range_tests(arrays(values, label), 500, rng())
    extended = arrays(np.r_[values, 0.9, math.nan], np.r_[label * 2, -1, -1], n_groups=3)
    assert range_tests(extended, 500, rng()) == first


@pytest.mark.parametrize(
    ("values", "label", "reason"),
    [
        ([0.1, 0.2], [0, 0], FEW_FILLED),
        ([0.1, 0.2], [-1, -1], FEW_FILLED),
        ([0.1, math.nan, 0.2], [0, 0, 1], UNDEFINED),
    ],
)
def test_an_undefined_p_is_nan_with_its_reason(values, label, reason):
    got = range_tests(arrays(values, label, n_groups=2), 20, rng())[0]
    assert math.isnan(got["p"]) and math.isnan(got["expected"]) and got["p_reason"] == reason


def test_scores_that_are_all_equal_have_p_one():
    got = range_tests(arrays([0.3] * 7, np.arange(7) % 3), 50, rng())[0]
    assert (got["p"], got["expected"]) == (1.0, pytest.approx(0))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_names_of_the_groups_change_nothing(seed):
    source = rng(seed)
    values, label, names = source.random(20), source.integers(0, 3, 20), source.permutation(3)
    first, second = (range_tests(arrays(values, each, n_groups=3), 400, rng(1))[0] for each in (label, names[label]))
    assert first == pytest.approx(second)


def test_all_measures_and_retrievers_are_tested_by_the_same_shuffles():
    values, label = rng(8).random(20), np.arange(20) % 2
    rows = range_tests(arrays(np.zeros(20), label, rag=[values, values]), 300, rng())
    assert len({row["p"] for row in rows if row["measure"] != "r_llm"}) == 1 and len(rows) == 5
