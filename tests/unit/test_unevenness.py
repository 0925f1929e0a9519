import math

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from hypothesis import given, settings
from hypothesis import strategies as st
from uncertain import arrays, only

from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import FEW_FILLED
from whobenefits.uncertainty.intervals import ONE_QUERY
from whobenefits.uncertainty.permutation import range_tests
from whobenefits.uncertainty.unevenness import (
    NET_OF_CHANCE,
    NO_GAP,
    NOT_POSITIVE,
    NOT_POSITIVE_BY_CHANCE,
    crossed_groups,
    unevenness,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def statistics(values, label, n_groups=None):
    return {row["statistic"]: row for row in unevenness(arrays(values, label, n_groups=n_groups), 100, rng())}


def test_unevenness_of_a_hand_worked_case():
    # Means: Low 0.2 (0.1, 0.3), Mid 0.5 (0.5, 0.5), High 0.3 (0.3); overall 1.7/5 = 0.34.
    got = statistics([0.1, 0.3, 0.5, 0.5, 0.3], [0, 0, 1, 1, 2])
    values = {name: row["value"] for name, row in got.items()}
    assert values["group_min"] == pytest.approx(20) and got["group_min"]["group"] == "Low"
    assert values["group_max"] == pytest.approx(50) and got["group_max"]["group"] == "Mid"
    assert values["overall"] == pytest.approx(34)
    assert values["difference_between_groups"] == pytest.approx(30)
    assert values["difference_to_overall"] == pytest.approx(16) and got["difference_to_overall"]["group"] == "Mid"
    # Mean of means 1/3; deviations -0.4/3, 0.5/3, -0.1/3: variance (0.16 + 0.25 + 0.01) / 9 / 2 = 0.02333.
    assert values["sd_between_groups"] == pytest.approx(math.sqrt(0.42 / 18) * 100)
    assert values["ratio_between_groups"] == pytest.approx(0.4)
    assert values["ratio_to_overall"] == pytest.approx(0.2 / 0.34)
    # High has one query, and no standard error.
    assert got["sd_between_groups_net"]["reason"] == ONE_QUERY
    assert {row["n"] for row in got.values()} == {5}


def test_the_net_standard_deviation_takes_off_what_chance_adds():
    # Means 0.2 and 0.6: variance 0.08. Squared standard errors: s²/n = 0.02/2 = 0.01 and 0.08/2 = 0.04, mean 0.025.
    got = statistics([0.1, 0.3, 0.4, 0.8], [0, 0, 1, 1])
    assert got["sd_between_groups_net"]["value"] == pytest.approx(math.sqrt(0.08 - 0.025) * 100)
    # Means 0.2 and 0.25 with the same errors: chance explains more than all of it.
    assert statistics([0.1, 0.3, 0.05, 0.45], [0, 0, 1, 1])["sd_between_groups_net"]["value"] == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_unevenness_is_that_of_fairlearn(seed):
    source = np.random.default_rng(seed)
    label, values = np.r_[0, 1, 2, source.integers(0, 3, 20)], source.random(23) + 0.01
    frame = MetricFrame(
        metrics=lambda true, predicted: np.mean(predicted), y_true=values, y_pred=values, sensitive_features=label
    )
    expected = {
        "group_min": frame.group_min() * 100,
        "group_max": frame.group_max() * 100,
        "overall": frame.overall * 100,
        "difference_between_groups": frame.difference(method="between_groups") * 100,
        "difference_to_overall": frame.difference(method="to_overall") * 100,
        "ratio_between_groups": frame.ratio(method="between_groups"),
        "ratio_to_overall": frame.ratio(method="to_overall"),
    }
    got = statistics(values, label)
    for name, value in expected.items():
        assert got[name]["value"] == pytest.approx(value), name


def test_ratios_of_losses_are_undefined_and_gaps_are_not():
    rows = unevenness(arrays([0.5] * 4, [0, 0, 1, 1], rag=[[0.4, 0.4, 0.7, 0.7]]), 100, rng())
    for name in ("ratio_between_groups", "ratio_to_overall"):
        row = only(rows, measure="delta", statistic=name)
        assert math.isnan(row["value"]) and row["reason"] == NOT_POSITIVE
    assert only(rows, measure="delta", statistic="difference_between_groups")["value"] == pytest.approx(30)


@pytest.mark.parametrize(
    ("values", "label", "reason"), [([0.1, 0.2], [0, 0], FEW_FILLED), ([0.1, math.nan, 0.2], [0, 0, 1], UNDEFINED)]
)
def test_undefined_unevenness_is_nan_with_its_reason(values, label, reason):
    got = statistics(values, label, n_groups=3)
    assert len(got) == 9
    assert all(math.isnan(row["value"]) and row["reason"] == reason for row in got.values())


def test_groups_without_a_query_do_not_count_and_equal_groups_are_even():
    got = statistics([0.2, 0.4, 0.3], [0, 0, 2], n_groups=4)
    assert got["difference_between_groups"]["value"] == pytest.approx(0)
    assert got["ratio_between_groups"]["value"] == pytest.approx(1)
    assert statistics([0.2, 0.4, 0.3], [0, 0, 2])["overall"] == got["overall"]


def test_each_gap_and_ratio_is_tested_against_shuffled_labels():
    # Scores 0.2, 0.2, 0.6, 0.6 in two groups of two: of the 6 ways to deal them out 2 have means 0.2 and 0.6, as observed,
    # and 4 have 0.4 and 0.4. So every p goes to 1/3; expected: a gap of 40/3, a largest deviation of 20/3, a standard
    # deviation of 40/sqrt(2)/3, and ratios of (1/3 + 2)/3 = 7/9 between groups and (1/2 + 2)/3 = 5/6 to the mean of all.
    rows = unevenness(arrays([0.2, 0.2, 0.6, 0.6], [0, 0, 1, 1]), 40_000, rng())
    expected = {
        "difference_between_groups": 40 / 3,
        "difference_to_overall": 20 / 3,
        "sd_between_groups": 40 / math.sqrt(2) / 3,
        "ratio_between_groups": 7 / 9,
        "ratio_to_overall": 5 / 6,
    }
    for name, value in expected.items():
        row = only(rows, statistic=name)
        assert row["p"] == pytest.approx(1 / 3, abs=0.01) and row["expected"] == pytest.approx(value, rel=0.02)
    reasons = {row["statistic"]: row["p_reason"] for row in rows if math.isnan(row["p"])}
    means = dict.fromkeys(("group_min", "group_max", "overall"), NO_GAP)
    assert reasons == means | {"sd_between_groups_net": NET_OF_CHANCE}


def test_the_difference_between_groups_has_the_p_of_the_range():
    values, label = rng(3).random(30), np.arange(30) % 4
    row = only(unevenness(arrays(values, label), 300, rng()), statistic="difference_between_groups")
    test = range_tests(arrays(values, label), 300, rng())[0]
    assert (row["p"], row["expected"]) == (test["p"], pytest.approx(test["expected"]))


def test_a_ratio_that_shuffles_can_make_undefined_has_no_test():
    # Means 0.1 and 0.2, but a shuffle can deal out 0 and 0: a ratio of 0.
    got = statistics([0.0, 0.2, 0.0, 0.4], [0, 0, 1, 1])["ratio_between_groups"]
    assert got["value"] == pytest.approx(0.5) and math.isnan(got["p"]) and got["p_reason"] == NOT_POSITIVE_BY_CHANCE


def labels():
    # d0 … d5; ages Old Old Old New New New, sizes Low Mid Low Low Low -; d5 has no size.
    sizes = ["Low", "Mid", "Low", "Low", "Low"]
    rows = [(f"d{i}", "age", "Old" if i < 3 else "New") for i in range(6)]
    rows += [(f"d{i}", "size", size) for i, size in enumerate(sizes)]
    return pd.DataFrame(rows, columns=["doc_id", "category", "group"])


def test_crossed_groups_are_those_with_enough_queries():
    # Queries d0, d1, d2, d3: Old and Low has two (d0, d2), Old and Mid one, New and Low one of its two documents.
    table, names = crossed_groups(labels(), "age", "size", ["d0", "d1", "d2", "d3"], min_queries=2)
    assert names == ["Old | Low"]
    assert table["doc_id"].tolist() == ["d0", "d2"] and set(table["category"]) == {"age+size"}
    table, names = crossed_groups(labels(), "age", "size", ["d0", "d1", "d2", "d3"], min_queries=1)
    assert names == ["New | Low", "Old | Low", "Old | Mid"]
    assert dict(zip(table["doc_id"], table["group"], strict=True))["d4"] == "New | Low"
    assert "d5" not in set(table["doc_id"])


def test_crossed_groups_may_be_none():
    table, names = crossed_groups(labels(), "age", "size", ["d0"], min_queries=5)
    assert names == [] and table.empty and list(table.columns) == ["doc_id", "category", "group"]
