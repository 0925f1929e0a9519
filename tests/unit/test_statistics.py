import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.errors import DataError
from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import (
    CONSTANT,
    FEW_FILLED,
    FEW_GROUPS,
    NOWHERE,
    correlations_of,
    in_grid_order,
    ranges_of,
    spearman,
)
from whobenefits.tables import RANGES, write_table

TESTS = Path(__file__).resolve().parents[1]
PUBLISHED = TESTS / "reference/query_group_fairness"
GROUPS = ["Low", "Mid", "High", "Top"]
CATEGORIES = {"size": GROUPS}


def measures(values, n=(1, 1, 1, 1), retriever="bm25"):
    """Rows of one cell: `values` gives a number for each group by the measure's name."""
    rows = [
        ("none" if name == "ac_llm" else retriever, group, name, value, count)
        for name, numbers in values.items()
        for group, value, count in zip(GROUPS, numbers, n, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["retriever", "group", "measure", "value", "n"])
    return frame.assign(topic="t", task="title", llm="m", category="size", reason="")


def only(frame, **where):
    for name, value in where.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_a_range_is_the_gap_between_the_highest_and_the_lowest_group_in_points():
    # 0.50 - 0.20 = 0.30, 30 points.
    got = only(ranges_of(measures({"ac_rag": [0.3, 0.2, 0.5, 0.4]}, n=(2, 1, 4, 3)), CATEGORIES))
    assert got["value"] == pytest.approx(30)
    assert (got["measure"], got["retriever"]) == ("r_rag", "bm25")
    assert (got["lowest"], got["highest"]) == ("Mid", "High")
    assert (got["n_groups"], got["n_empty"], got["n"], got["reason"]) == (4, 0, 10, "")


def test_groups_without_queries_are_left_out_and_counted():
    got = only(ranges_of(measures({"delta": [0.3, np.nan, -0.1, np.nan]}, n=(2, 0, 4, 0)), CATEGORIES))
    assert got["value"] == pytest.approx(40)
    assert (got["n_groups"], got["n_empty"], got["n"]) == (2, 2, 6)


def test_a_group_without_a_query_that_is_scored_0_widens_the_range():
    # measures.empty_groups: zero gives Top a 0: 50 - 0 points instead of 50 - 20
    got = only(ranges_of(measures({"ac_rag": [0.3, 0.2, 0.5, 0.0]}, n=(2, 1, 4, 0)), CATEGORIES))
    assert got["value"] == pytest.approx(50)
    assert (got["lowest"], got["n_groups"], got["n"]) == ("Top", 4, 7)


def test_of_equal_groups_the_first_in_the_category_s_order_is_named():
    got = only(ranges_of(measures({"ac_llm": [0.5, 0.2, 0.2, 0.5]})[::-1], CATEGORIES))
    assert (got["lowest"], got["highest"], got["retriever"]) == ("Mid", "Low", "none")


@pytest.mark.parametrize(
    ("values", "n", "reason"),
    [([0.3, np.nan, np.nan, np.nan], (2, 0, 0, 0), FEW_FILLED), ([0.3, np.nan, 0.1, 0.2], (2, 1, 1, 1), UNDEFINED)],
)
def test_an_undefined_range_is_nan_with_its_reason(tmp_path, values, n, reason):
    table = ranges_of(measures({"ac_rag": values}, n), CATEGORIES)
    write_table(table, RANGES, tmp_path / "ranges.parquet")
    got = only(table)
    assert math.isnan(got["value"]) and got["reason"] == reason
    assert got["lowest"] is None and got["highest"] is None


def test_a_group_that_is_missing_from_the_measures_is_an_error():
    with pytest.raises(DataError, match="Top"):
        ranges_of(measures({"ac_rag": [0.3, 0.2, 0.5, 0.4]}).iloc[:3], CATEGORIES)


def test_spearman_of_a_hand_worked_case():
    # Ranks of x: 1 2 3 4, of y: 2 1 4 3; d = 1 1 1 1, ρ = 1 - 6·4/(4·15) = 0.6.
    got = spearman([0.1, 0.2, 0.3, 0.4], [20, 10, 40, 30])
    assert (got.value, got.n, got.reason) == (pytest.approx(0.6), 4, "")


@pytest.mark.parametrize(
    ("x", "y", "n", "reason"),
    [
        ([1, 2], [1, 2], 2, FEW_GROUPS),
        ([], [], 0, FEW_GROUPS),
        ([1, 2, 3, np.nan], [1, np.nan, 3, 4], 2, FEW_GROUPS),
        ([1, 1, 1, 2], [1, 2, 3, np.nan], 3, CONSTANT),
    ],
)
def test_an_undefined_correlation_is_nan_with_its_reason(x, y, n, reason):
    got = spearman(x, y)
    assert math.isnan(got.value) and (got.n, got.reason) == (n, reason)


NUMBER = st.one_of(st.just(math.nan), st.integers(0, 4).map(float))


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBER, NUMBER), max_size=7))
def test_spearman_is_the_correlation_of_the_ranks_of_what_is_defined_on_both_sides(pairs):
    got = spearman([x for x, _ in pairs], [y for _, y in pairs])
    both = [(x, y) for x, y in pairs if x == x and y == y]
    assert got.n == len(both)
    if got.reason:
        assert len(both) < 3 or len({x for x, _ in both}) == 1 or len({y for _, y in both}) == 1
    else:
        ranks = [scipy.stats.rankdata(side) for side in zip(*both, strict=True)]
        assert got.value == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-12)


SHARES = {"utility": [0.1, 0.2, 0.3, 0.4], "exposure": [0.25] * 4, "attribution": [0.4, 0.3, 0.2, 0.1]}
NOTHING = {name: [np.nan] * 4 for name in SHARES}


def test_the_mean_is_over_the_retrievers_where_the_correlation_is_defined():
    # bm25: shares rise with ac_rag, ρ = 1; splade: 2 1 4 3, ρ = 0.6; minilm has no utility. Mean 0.8 of two.
    parts = [
        measures(SHARES | {"ac_rag": [1, 2, 3, 4], "delta": [1, 2, 3, 4]}),
        measures(SHARES | {"ac_rag": [2, 1, 4, 3], "delta": [1, 2, 3, 4]}, retriever="splade"),
        measures(NOTHING | {"ac_rag": [2, 1, 4, 3], "delta": [1, 2, 3, 4]}, retriever="minilm"),
    ]
    table = correlations_of(pd.concat(parts), CATEGORIES)
    mean = only(table, factor="utility", outcome="ac_rag", retriever="mean")
    assert (mean["value"], mean["n"], mean["n_retrievers"]) == (pytest.approx(0.8), 4, 2)
    single = only(table, factor="utility", outcome="ac_rag", retriever="minilm")
    assert math.isnan(single["value"]) and (single["n_retrievers"], single["reason"]) == (0, FEW_GROUPS)
    nowhere = only(table, factor="exposure", outcome="delta", retriever="mean")
    assert math.isnan(nowhere["value"])
    assert (nowhere["n"], nowhere["n_retrievers"], nowhere["reason"]) == (0, 0, NOWHERE)


def test_the_n_of_a_mean_is_the_smallest_that_went_into_it():
    parts = [
        measures(SHARES | {"ac_rag": [1, 2, 3, 4], "delta": [1, 2, 3, 4]}),
        measures(SHARES | {"ac_rag": [1, 2, 3, np.nan], "delta": [1, 2, 3, np.nan]}, (1, 1, 1, 0), "splade"),
    ]
    table = correlations_of(pd.concat(parts), CATEGORIES)
    assert only(table, factor="attribution", outcome="delta", retriever="mean")["n"] == 3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_rows_changes_nothing(seed):
    table = measures(SHARES | {"ac_llm": [3, 1, 2, 2], "ac_rag": [2, 1, 4, 3], "delta": [0.1, 0.2, 0.2, 0.3]})
    mixed = table.sample(frac=1, random_state=seed)
    for function in (ranges_of, correlations_of, in_grid_order):
        pd.testing.assert_frame_equal(function(mixed, CATEGORIES), function(table, CATEGORIES))


def published_measures():
    """The published group results as a table of measures; their LLM-only rows hold for all retrievers."""
    accuracy = pd.read_csv(PUBLISHED / "group_accuracy.csv").rename(columns={"field": "category"})
    keys = ["task", "topic", "llm", "category", "group"]
    llm, rag = (accuracy[accuracy.setting == setting].drop(columns="setting") for setting in ("llm", "rag"))
    both = rag.merge(llm.drop(columns="retriever"), on=keys, suffixes=("", "_llm"), validate="many_to_one")
    delta = both.assign(value=both["value"] - both["value_llm"], measure="delta").drop(columns="value_llm")
    factors = pd.read_csv(PUBLISHED / "group_factors.csv").rename(
        columns={
            "field": "category",
            "prob_utility": "utility",
            "prob_exposure": "exposure",
            "prob_consumption": "attribution",
        }
    )
    long = factors.melt([*keys, "retriever"], ["utility", "exposure", "attribution"], "measure")
    accuracies = [llm.assign(retriever="none", measure="ac_llm"), rag.assign(measure="ac_rag"), delta]
    return pd.concat([*accuracies, long], ignore_index=True).assign(n=1, reason="")


@pytest.fixture(scope="module")
def published():
    table = published_measures()
    categories = {name: list(dict.fromkeys(part["group"])) for name, part in table.groupby("category")}
    return table, categories


def test_ranges_of_the_published_accuracies_are_the_published_ranges(published):
    # Per-group results published by the authors of the query-group study; ranges with six decimals.
    got = ranges_of(*published)
    expected = pd.read_csv(PUBLISHED / "ranges.csv").rename(columns={"field": "category"})
    assert len(expected) == 144
    assert len(got) == 144 * 2 + 48
    keys = ["task", "topic", "llm", "category"]
    for measure in ("r_llm", "r_rag", "r_delta"):
        on = keys if measure == "r_llm" else [*keys, "retriever"]
        joined = expected.merge(got[got.measure == measure], on=on, validate="many_to_one")
        assert len(joined) == 144
        np.testing.assert_allclose(joined["value"], joined[f"{measure}_x100"], atol=5.1e-7)


def test_correlations_of_the_published_results_are_the_aligned_ones(published):
    # The same source, joined on the group's label: means in full precision, single retrievers with six decimals.
    got = correlations_of(*published)
    write_columns = ["task", "topic", "llm", "category", "factor", "retriever", "outcome"]
    values = got.set_index(write_columns)["value"]
    expected = pd.read_csv(PUBLISHED / "spearman_aligned.csv").rename(columns={"field": "category"})
    assert len(expected) == 144 and len(got) == 144 * 4 * 2
    for row in expected.to_dict("records"):
        place = tuple(row[name] for name in write_columns[:5])
        for outcome, name in (("ac_rag", "rho_acrag"), ("delta", "rho_delta")):
            assert values[(*place, "mean", outcome)] == pytest.approx(row[f"{name}_mean"], abs=1e-12)
            for retriever in ("bm25", "splade", "contriver"):
                assert values[(*place, retriever, outcome)] == pytest.approx(row[f"{name}_{retriever}"], abs=5.1e-7)


def test_the_published_retrievers_widen_the_range_in_88_of_144_cells(published):
    # A fact of the published numbers: R_rag > R_llm in 60 of 72 cells for articles and in 28 of 72 for titles.
    got = ranges_of(*published)
    keys = ["task", "topic", "llm", "category"]
    joined = got[got.measure == "r_rag"].merge(got[got.measure == "r_llm"], on=keys, suffixes=("", "_llm"))
    wider = joined[joined["value"] > joined["value_llm"]]
    assert wider["task"].value_counts().to_dict() == {"article": 60, "title": 28}
