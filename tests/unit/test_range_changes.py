import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from uncertain import arrays, only

from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import FEW_FILLED
from whobenefits.uncertainty.bootstrap import resamples
from whobenefits.uncertainty.intervals import NO_SPREAD, ONE_QUERY
from whobenefits.uncertainty.range_changes import ONLY_RAG, _changes, range_changes, swap_p


def rng(seed=0):
    return np.random.default_rng(seed)


def changes(cell, draws=500, seed=0):
    return range_changes(cell, resamples(cell, draws, rng(seed)), draws, rng(seed))


def p_of(llm, label, rag, draws, source):
    cell = arrays(llm, label, rag=[rag])
    return swap_p(cell, _changes(cell, np.unique(label)), draws, source)[0]


def scores(source, n, groups=4):
    """Skewed scores with and without documents, which share the query's own difficulty, and the groups' labels."""
    label, ease = np.arange(n) % groups, source.gamma(1, 0.05, n)
    return ease + source.gamma(1, 0.05, n), ease + source.gamma(1, 0.05, n) + 0.1, label


def test_the_change_and_p_of_a_case_worked_by_hand():
    # Without documents 0 and 0, with them 0.2 and 0.6: the range rises by 0.4. Less the mean gain of 0.4 the second
    # answers are -0.2 and 0.2. Of the four ways to swap, none: 0.4 - 0; both: 0 - 0.4; one: 0.2 - 0.2. So p goes to 1/2.
    row = changes(arrays([0.0, 0.0], [0, 1], rag=[[0.2, 0.6]]), 20_000)[1]
    assert (row["retriever"], row["measure"], row["change"]) == ("r0", "r_rag", pytest.approx(40))
    assert row["change_p"] == pytest.approx(0.5, abs=0.02)


def test_without_a_difference_p_is_uniform():
    # 1,500 studies of skewed, paired scores in which retrieval adds the same to all groups: Kolmogorov-Smirnov.
    source = rng(2)
    found = []
    for _ in range(1500):
        llm, rag, label = scores(source, 40)
        found.append(p_of(llm, label, rag, 199, source))
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.05
    assert 0.035 <= np.mean(np.array(found) <= 0.05) <= 0.065


def test_p_is_uniform_where_the_groups_differ_alike_with_and_without_documents():
    source = rng(3)
    found = []
    for _ in range(1000):
        llm, rag, label = scores(source, 40)
        found.append(p_of(llm + 0.2 * label, label, rag + 0.2 * label, 199, source))
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.05


def test_at_the_edge_where_no_group_differs_the_interval_holds_no_change():
    source = rng(4)
    held = []
    for _ in range(40):
        llm, rag, label = scores(source, 32)
        row = changes(arrays(llm, label, rag=[rag]))[1]
        held.append(row["change_low"] <= 0 <= row["change_high"])
    assert np.mean(held) >= 0.95


def test_a_wider_and_a_narrower_gap_are_found():
    llm, rag, label = scores(rng(5), 160)
    wider = changes(arrays(llm, label, rag=[rag + 0.3 * (label == 2)]))[1]
    assert wider["change_p"] < 0.01 and 0 < wider["change_low"] < 30 < wider["change_high"]
    narrower = changes(arrays(llm + 0.3 * (label == 2), label, rag=[rag]))[1]
    assert narrower["change_p"] < 0.01 and narrower["change_low"] < -30 < narrower["change_high"] < 0


def test_where_the_widest_pair_is_beyond_doubt_the_interval_is_welch_s_of_its_gain():
    steps = np.array([-0.09, -0.05, -0.03, -0.01, 0.01, 0.03, 0.05, 0.09])
    llm, gain = np.r_[0.1 + steps / 9, 0.6 + steps / 9], np.r_[steps, 0.2 + steps]
    got = changes(arrays(llm, [0] * 8 + [1] * 8, rag=[llm + gain]), 20_000)[1]
    welch = scipy.stats.ttest_ind(gain[8:], gain[:8], equal_var=False).confidence_interval()
    assert (got["change_low"], got["change_high"]) == pytest.approx((welch.low * 100, welch.high * 100), abs=0.6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_change_is_that_of_the_ranges_and_lies_in_its_interval(seed):
    source = rng(seed)
    llm, rag, label = source.random(18), source.random((2, 18)), np.arange(18) % 3
    rows = changes(arrays(llm, label, rag=rag), 300)
    for i, values in enumerate(rag):
        row = only(rows, measure="r_rag", retriever=f"r{i}")
        means = [[side[label == g].mean() for g in range(3)] for side in (llm, values)]
        assert row["change"] == pytest.approx((np.ptp(means[1]) - np.ptp(means[0])) * 100)
        assert row["change_low"] <= row["change"] <= row["change_high"]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(-0.5, 0.5))
def test_a_gain_of_all_queries_changes_nothing_and_the_reverse_has_the_same_p(seed, gain):
    llm, rag, label = scores(rng(seed), 20)
    first = p_of(llm, label, rag, 100, rng())
    assert p_of(llm, label, rag + gain, 100, rng()) == first == p_of(rag, label, llm, 100, rng())


def test_queries_without_a_group_and_groups_without_a_query_do_not_count():
    llm, rag, label = scores(rng(7), 12, groups=2)
    first = p_of(llm, label, rag, 300, rng())
    cell = arrays(np.r_[llm, 0.9, math.nan], np.r_[label * 2, -1, -1], rag=[np.r_[rag, 0.1, 0.2]], n_groups=3)
    row = changes(cell, 300)[1]
    assert row["change_reason"] == "" and row["change_p"] == first


@pytest.mark.parametrize(
    ("llm", "label", "reason"),
    [
        ([0.1, 0.2, 0.3, 0.5], [0, 0, 0, 0], FEW_FILLED),
        ([0.1, math.nan, 0.2, 0.5], [0, 0, 1, 1], UNDEFINED),
        ([0.1, 0.2, 0.3, 0.5], [0, 0, 0, 1], ONE_QUERY),
        ([0.1, 0.1, 0.3, 0.5], [0, 0, 1, 1], NO_SPREAD),
    ],
)
def test_what_is_undefined_is_nan_with_its_reason(llm, label, reason):
    row = changes(arrays(llm, label, rag=[[0.2, 0.4, 0.1, 0.3]], n_groups=2), 50)[1]
    assert row["change_reason"] == reason and math.isnan(row["change_low"]) and math.isnan(row["change_high"])
    undefined = reason in (FEW_FILLED, UNDEFINED)
    assert math.isnan(row["change"]) == math.isnan(row["change_p"]) == undefined


def test_no_other_range_than_that_of_rag_is_compared():
    llm, rag, label = scores(rng(8), 12)
    rows = changes(arrays(llm, label, rag=[rag, rag]), 50)
    assert [row["change_reason"] for row in rows] == [ONLY_RAG, "", "", ONLY_RAG, ONLY_RAG]
    assert rows[1]["change_p"] == rows[2]["change_p"]
    assert math.isnan(rows[0]["change"]) and len(changes(arrays(llm, label), 50)) == 1
