import math

import numpy as np
import pytest
import scipy.stats
from uncertain import arrays

from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import FEW_FILLED
from whobenefits.uncertainty.intervals import NO_SPREAD, ONE_QUERY
from whobenefits.uncertainty.permutation import range_tests
from whobenefits.uncertainty.power import detectable_ranges, smallest_detectable_range, within_sd

Z = scipy.stats.norm.ppf


@pytest.mark.parametrize(("n", "m"), [(40, 40), (20, 90)])
def test_of_two_groups_it_is_the_textbook_s(n, m):
    expected = (Z(0.975) + Z(0.8)) * 0.1 * math.sqrt(1 / n + 1 / m)
    assert smallest_detectable_range([n, m], 0.1, seed=1) == pytest.approx(expected, rel=0.02)


def test_of_four_equal_groups_it_is_near_the_f_test_s():
    # Noncentral F with λ = n R² / 2 σ² (two groups R apart, two in the middle): a related test, of much the same power.
    def power(r):
        return scipy.stats.ncf.sf(scipy.stats.f.ppf(0.95, 3, 156), 3, 156, 40 * r**2 / 2)

    found = smallest_detectable_range([40] * 4, 1.0, seed=1)
    assert power(found) == pytest.approx(0.8, abs=0.06)


def test_more_queries_find_smaller_ranges_and_the_order_of_groups_changes_nothing():
    few, many = (smallest_detectable_range([n] * 4, 1.0, seed=1) for n in (10, 40))
    assert many == pytest.approx(few / 2, rel=0.03)
    assert smallest_detectable_range([10, 60, 30], 1.0, 1) == smallest_detectable_range([30, 10, 60], 1.0, 1)
    assert smallest_detectable_range([10, 10], 3.0, 1) == pytest.approx(3 * smallest_detectable_range([10, 10], 1.0, 1))


def test_the_permutation_test_finds_it_in_80_of_100_studies():
    # 159 queries in four groups with a spread of 0.1, the two smallest groups R apart.
    source, label = np.random.default_rng(2), np.repeat(np.arange(4), [30, 35, 44, 50])
    gap = smallest_detectable_range([30, 35, 44, 50], 0.1, seed=1)
    means = np.array([0.5 - gap / 2, 0.5 + gap / 2, 0.5, 0.5])[label]
    found = []
    for _ in range(4):
        rag = source.normal(means, 0.1, (100, len(label)))
        rows = range_tests(arrays(np.full(len(label), 0.5), label, rag=rag), 400, source)
        found += [row["p"] <= 0.05 for row in rows if row["measure"] == "r_rag"]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def test_the_spread_is_within_the_groups():
    # Squares about the group means: 0.02 (0.1, 0.3) and 0.08 (0.4, 0.8), over 4 - 2: 0.05.
    assert within_sd(arrays([0.1, 0.3, 0.4, 0.8], [0, 0, 1, 1])) == pytest.approx([math.sqrt(0.05)])
    # An overall difference between groups adds nothing.
    assert within_sd(arrays([0.1, 0.3, 5.4, 5.8], [0, 0, 1, 1])) == pytest.approx([math.sqrt(0.05)])


def test_the_detectable_range_is_in_points():
    cell = arrays([0.1, 0.3, 0.4, 0.8], [0, 0, 1, 1])
    unit = smallest_detectable_range([2, 2], 1.0, seed=3)
    row = detectable_ranges(cell, seed=3)[0]
    assert row["detectable"] == pytest.approx(unit * math.sqrt(0.05) * 100)
    assert (row["measure"], row["power_reason"]) == ("r_llm", "")


@pytest.mark.parametrize(
    ("values", "label", "reason"),
    [
        ([0.1, 0.2], [0, 0], FEW_FILLED),
        ([0.1, 0.2], [0, 1], ONE_QUERY),
        ([0.1, 0.1, 0.2], [0, 0, 1], NO_SPREAD),
        ([0.1, math.nan, 0.2], [0, 0, 1], UNDEFINED),
    ],
)
def test_an_undefined_detectable_range_is_nan_with_its_reason(values, label, reason):
    row = detectable_ranges(arrays(values, label, n_groups=2), seed=1)[0]
    assert math.isnan(row["detectable"]) and row["power_reason"] == reason
