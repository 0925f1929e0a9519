import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from uncertain import arrays, only

from whobenefits.measures.means import ALL_ZERO, NO_QUERY, UNDEFINED
from whobenefits.statistics import FEW_FILLED
from whobenefits.uncertainty.bootstrap import Z, bca_quantiles, resample_counts, resamples, student_factor
from whobenefits.uncertainty.intervals import NO_SPREAD, ONE_QUERY, group_mean_rows, measure_intervals
from whobenefits.uncertainty.ranges import TABULATED, _tabulated, _tukey, range_intervals
from whobenefits.uncertainty.seeds import generator


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_resample_keeps_the_number_of_queries_of_each_group():
    strata = np.array([0, 1, 0, 2, 1, 0, -1])
    counts = resample_counts(strata, 200, rng())
    for stratum, n in ((0, 3), (1, 2), (2, 1), (-1, 1)):
        assert (counts[:, strata == stratum].sum(axis=1) == n).all()
    assert counts[:, 0].mean() == pytest.approx(1, abs=0.15)


def test_a_resample_s_means_are_the_means_of_what_was_drawn():
    # Groups 0: 0.1, 0.5; 1: 0.3. With retriever r0 the second query gains 0.2 and the others nothing.
    cell = arrays([0.1, 0.5, 0.3], [0, 0, 1], rag=[[0.1, 0.7, 0.3]])
    drawn = resamples(cell, 50, rng())
    counts = resample_counts(cell.label, 50, rng())
    np.testing.assert_allclose(drawn.means[:, 0, 0], (counts[:, 0] * 0.1 + counts[:, 1] * 0.5) / 2)
    np.testing.assert_allclose(drawn.means[:, 2, 0], counts[:, 1] * 0.2 / 2, atol=1e-15)
    np.testing.assert_allclose(drawn.means[:, 0, 1], 0.3)


@pytest.mark.filterwarnings("ignore::scipy.stats.DegenerateDataWarning")
def test_bca_quantiles_are_those_of_scipy():
    # scipy's own bootstrap of a skewed mean; its acceleration is the jackknife's, for a mean Σ l³ / 6 (Σ l²)^1.5.
    values = rng(1).gamma(1, 1, 30)
    found = scipy.stats.bootstrap((values,), np.mean, n_resamples=2000, method="BCa", rng=rng(2))
    influence = values - values.mean()
    bend = np.array([(influence**3).sum() / (6 * (influence**2).sum() ** 1.5)])
    draws = found.bootstrap_distribution[:, None]
    low, high = bca_quantiles(draws, np.array([values.mean()]), bend, np.array([-Z, Z]))[:, 0]
    assert (low, high) == pytest.approx(tuple(found.confidence_interval), rel=1e-3)


def test_undefined_draws_are_left_out_of_the_quantiles():
    draws = np.r_[np.linspace(0, 1, 101), [np.nan] * 20][:, None]
    got = bca_quantiles(draws, np.array([0.5]), np.array([0.0]), np.array([-1.0, 0.0, 1.0]))[:, 0]
    assert got == pytest.approx([scipy.stats.norm.cdf(-1), 0.5, scipy.stats.norm.cdf(1)], abs=1e-9)


def test_the_interval_of_a_mean_of_few_normal_values_is_about_student_s():
    # t with 7 degrees of freedom: half-width 2.365 s / sqrt(8). Values that lie evenly about their mean have no skewness.
    values = 0.5 + np.array([-0.2, -0.12, -0.07, -0.02, 0.02, 0.07, 0.12, 0.2])
    got = only(
        measure_intervals(arrays(values, [0] * 8), resamples(arrays(values, [0] * 8), 20_000, rng())), measure="ac_llm"
    )
    half = scipy.stats.t.ppf(0.975, 7) * values.std(ddof=1) / math.sqrt(8)
    assert (got["low"], got["high"]) == pytest.approx((0.5 - half, 0.5 + half), abs=0.05 * half)


def test_student_s_factor_of_many_queries_is_one_and_of_one_query_undefined():
    assert student_factor(np.array([1e9])) == pytest.approx(1)
    assert np.isnan(student_factor(np.array([0.0, np.nan]))).all()


def reasons(rows, name="interval_reason"):
    for row in rows:
        assert math.isnan(row["low"]) == bool(row[name]) == math.isnan(row["high"])
    return [row[name] for row in rows]


def test_the_interval_of_a_group_mean_says_why_it_is_undefined():
    label = [0, 0, 0, 1, 2, 2, 2]
    cell = arrays([0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5], label, n_groups=4)
    rows = group_mean_rows(cell, resamples(cell, 99, rng()))
    assert reasons(rows) == ["", ONE_QUERY, NO_SPREAD, NO_QUERY]
    missing = arrays([0.1, math.nan, 0.3, 0.4], [0, 0, 1, 1])
    assert reasons(measure_intervals(missing, resamples(missing, 99, rng()))) == [UNDEFINED, ""]


def test_shares_of_nothing_have_no_interval():
    factors = np.zeros((1, 3, 4, 2))
    factors[0, 1] = [[1, 2], [2, 1], [0, 3], [1, 2]]
    factors[0, 2, :, 0] = [0, 1, 0, 0]
    cell = arrays([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], rag=[[0.2, 0.2, 0.3, 0.3]], factors=factors)
    rows = measure_intervals(cell, resamples(cell, 99, rng()))
    assert only(rows, measure="utility", group="Low")["interval_reason"] == ALL_ZERO
    assert only(rows, measure="utility_mean", group="Low")["interval_reason"] == NO_SPREAD
    # All attribution is one group's, in every resample: the share 1 does not vary.
    assert only(rows, measure="attribution", group="Low")["interval_reason"] == NO_SPREAD
    row = only(rows, measure="exposure", group="Low")
    # Shares are 4/12 and 8/12.
    assert 0 <= row["low"] < 1 / 3 < row["high"] <= 1 and row["interval_reason"] == ""
    other = only(rows, measure="exposure", group="Mid")
    assert (row["low"] + other["high"], row["high"] + other["low"]) == pytest.approx((1, 1))


@pytest.mark.parametrize(
    ("values", "label", "reason"),
    [
        ([0.1, 0.2, 0.3], [0, 0, 0], FEW_FILLED),
        ([0.1, 0.2, 0.3], [0, 0, 2], ONE_QUERY),
        ([0.1, 0.2, 0.3, 0.3], [0, 0, 1, 1], NO_SPREAD),
        ([0.1, 0.2, math.nan, 0.3], [0, 0, 1, 1], UNDEFINED),
        ([0.1, 0.2, math.nan, 0.3, 0.2], [0, 0, -1, 1, 1], ""),
    ],
)
def test_an_undefined_range_interval_is_nan_with_its_reason(values, label, reason):
    cell = arrays(values, label, n_groups=3)
    assert reasons(range_intervals(cell, resamples(cell, 99, rng()))) == [reason]


def test_the_interval_of_two_groups_is_welch_s():
    # Two groups far apart and without skewness: the range is the difference, and its interval is Welch's t.
    steps = np.array([-0.09, -0.05, -0.03, -0.01, 0.01, 0.03, 0.05, 0.09])
    first, second = 0.2 + steps, 0.6 + 2 * np.r_[steps, steps]
    cell = arrays(np.r_[first, second], [0] * 8 + [1] * 16)
    got = range_intervals(cell, resamples(cell, 20_000, rng()))[0]
    welch = scipy.stats.ttest_ind(second, first, equal_var=False).confidence_interval()
    # The lower end takes its degrees of freedom from a printed table, rounded down.
    assert got["high"] == pytest.approx(welch.high * 100, abs=0.4)
    assert got["low"] == pytest.approx(welch.low * 100, abs=0.6)


def test_the_joint_critical_values_are_tukey_s():
    # Printed tables: q(0.95; 4 groups, 20) = 3.96 and, for infinitely many degrees of freedom, 3.63.
    assert _tukey(4, 20) * math.sqrt(2) == pytest.approx(3.96, abs=0.005)
    assert _tukey(4, np.inf) * math.sqrt(2) == pytest.approx(3.63, abs=0.005)
    assert [_tabulated(df) for df in (1.0, 2.9, 29.9, 500)] == [1, 2, 20, TABULATED[-1]]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_names_of_the_groups_change_no_range(seed):
    source = rng(seed)
    values, label, order = source.random(24), np.arange(24) % 4, source.permutation(4)
    first, second = arrays(values, label), arrays(values, order[label])
    low, high = (range_intervals(cell, resamples(cell, 4000, rng(1)))[0] for cell in (first, second))
    # Other random numbers go to the groups, so that the ends agree up to the noise of the resamples.
    assert low["high"] == pytest.approx(high["high"], rel=0.08)
    assert low["low"] == pytest.approx(high["low"], rel=0.25, abs=3)


def test_random_numbers_depend_on_the_seed_and_the_identity_alone():
    first, again, other, seed = (
        generator(*what).random() for what in [(1, "a", "b"), (1, "a", "b"), (1, "b", "a"), (2, "a", "b")]
    )
    assert first == again and len({first, other, seed}) == 3
