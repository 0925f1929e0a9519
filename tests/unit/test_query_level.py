import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from uncertain import arrays, only

from whobenefits.statistics import CONSTANT
from whobenefits.uncertainty.query_level import (
    FEW_QUERIES,
    TIED_TO_OTHERS,
    clustered_slope,
    own_group_factors,
    query_correlations,
    query_regressions,
    query_spearman,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def study(slope=0.0, n=40, retrievers=3, seed=1, groups=4):
    """Queries whose accuracy with documents rises by `slope` with each document of their own group in their list."""
    source, label = rng(seed), np.arange(n) % groups
    factors = source.poisson(2.0, (retrievers, 3, n, groups)).astype(float)
    own = factors[:, 1, np.arange(n), label]
    base = source.normal(0.5, 0.1, n)
    rag = base + slope * own + source.normal(0, 0.05, (retrievers, n))
    return arrays(base, label, rag=rag, factors=factors)


def test_a_query_has_what_the_documents_of_its_own_group_brought_it():
    # Query 0 (Low) got 3 of its own 10 documents, query 1 (Mid) 6, and query 2 has no group.
    factors = np.zeros((1, 3, 3, 2))
    factors[0, 1] = [[3, 7], [4, 6], [5, 5]]
    own = own_group_factors(arrays([0.1] * 3, [0, 1, -1], rag=[[0.2] * 3], factors=factors, n_groups=2))
    assert own[0, 1].tolist() == pytest.approx([3, 6, math.nan], nan_ok=True)


def test_a_correlation_over_queries_is_scipy_s_with_its_interval():
    x, y = rng(1).random(60), rng(2).random(60)
    got, expected = query_spearman(x, x + y), scipy.stats.spearmanr(x, x + y)
    assert (got["value"], got["p"], got["n"]) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue), 60)
    # Fisher's z ± 1.96 · sqrt((1 + ρ²/2) / 57).
    half = 1.959964 * math.sqrt((1 + got["value"] ** 2 / 2) / 57)
    assert math.atanh(got["high"]) == pytest.approx(math.atanh(got["value"]) + half, abs=1e-6)
    assert math.atanh(got["low"]) == pytest.approx(math.atanh(got["value"]) - half, abs=1e-6)


def test_about_95_of_100_intervals_hold_the_true_correlation():
    # Normal with r = 0.6: Spearman's ρ is (6/π) asin(0.3) = 0.582.
    source, true, found = rng(3), 6 / math.pi * math.asin(0.3), []
    for _ in range(1000):
        x, noise = source.normal(size=(2, 50))
        row = query_spearman(x, 0.6 * x + 0.8 * noise)
        found.append(row["low"] <= true <= row["high"])
    assert 0.93 <= np.mean(found) <= 0.97


@pytest.mark.parametrize(
    ("x", "reason"),
    [(np.arange(9.0), FEW_QUERIES), (np.zeros(12), CONSTANT), (np.r_[np.arange(9.0), [math.nan] * 3], FEW_QUERIES)],
)
def test_an_undefined_correlation_is_nan_with_its_reason(x, reason):
    got = query_spearman(x, np.arange(len(x)) % 4)
    assert math.isnan(got["value"]) and math.isnan(got["p"]) and got["reason"] == reason


def test_correlations_are_for_each_group_and_for_all_of_them():
    rows = query_correlations(study(0.05, n=80))
    assert len(rows) == 3 * 5 * 3 * 2
    whole = only(rows, retriever="r0", group="all", factor="exposure", outcome="delta")
    assert whole["n"] == 80 and whole["low"] > 0 and whole["p"] < 0.001
    assert only(rows, retriever="r0", group="Mid", factor="exposure", outcome="delta")["n"] == 20


def test_the_slope_is_statsmodels_and_its_error_is_the_jackknife_over_queries():
    source, clusters = rng(4), np.repeat(np.arange(15), 3)[:43]
    columns = np.column_stack([source.normal(size=43), np.ones(43), source.random(43) < 0.5]).astype(float)
    outcome = columns[:, 0] * 0.3 + source.normal(size=43) + source.normal(size=15)[clusters]
    order = source.permutation(43)
    got = clustered_slope(outcome[order], columns[order], clusters[order])
    fit = sm.OLS(outcome, columns).fit()
    left_out = [sm.OLS(outcome[clusters != c], columns[clusters != c]).fit().params[0] for c in range(15)]
    error = math.sqrt(14 / 15 * ((np.array(left_out) - fit.params[0]) ** 2).sum())
    assert got["value"] == pytest.approx(fit.params[0])
    assert (got["high"] - got["low"]) / 2 == pytest.approx(scipy.stats.t.ppf(0.975, 14) * error)
    assert got["p"] == pytest.approx(2 * scipy.stats.t.sf(abs(fit.params[0]) / error, 14))


def test_with_many_queries_the_error_is_near_statsmodels_clustered_one():
    source, clusters = rng(5), np.repeat(np.arange(400), 3)
    columns = np.column_stack([source.normal(size=1200), np.ones(1200)])
    outcome = source.normal(size=1200) + source.normal(size=400)[clusters]
    got = clustered_slope(outcome, columns, clusters)
    fit = sm.OLS(outcome, columns).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    assert (got["low"], got["high"]) == pytest.approx(tuple(fit.conf_int()[0]), abs=0.002)
    assert got["p"] == pytest.approx(fit.pvalues[0], abs=0.01)


def test_the_slope_of_ranks_is_the_mean_of_the_correlations_over_the_retrievers():
    cell = study(0.02)
    slope = only(query_regressions(cell), factor="exposure", outcome="ac_rag", model="rank")
    rows = [
        r for r in query_correlations(cell) if (r["group"], r["factor"], r["outcome"]) == ("all", "exposure", "ac_rag")
    ]
    assert slope["value"] == pytest.approx(np.mean([row["value"] for row in rows]))
    assert (slope["n"], slope["n_queries"]) == (120, 40)


def test_a_planted_relation_is_found_by_every_model():
    rows = [r for r in query_regressions(study(0.05, n=120)) if r["factor"] == "exposure"]
    assert len(rows) == 8 and all(row["low"] > 0 and row["p"] < 0.001 for row in rows)


def test_differences_between_groups_do_not_count_within_groups():
    # Accuracy and exposure rise from group to group, and within a group they have nothing to do with each other.
    base = study(0.0, n=120)
    factors = base.factors + base.label[:, None] * 3
    cell = arrays(base.llm, base.label, rag=base.rag + base.label * 0.3, factors=factors)
    linear, within = (
        only(query_regressions(cell), factor="exposure", outcome="ac_rag", model=name)
        for name in ("linear", "within-groups")
    )
    assert linear["low"] > 0.5 and within["low"] < 0 < within["high"]


def test_without_a_relation_p_is_about_uniform():
    found: dict[str, list[float]] = {}
    for seed in range(120):
        for row in query_regressions(study(seed=seed, n=40)):
            if row["outcome"] == "delta":
                found.setdefault(row["model"], []).append(row["p"])
    for p in found.values():
        assert scipy.stats.kstest(p, "uniform").pvalue > 0.01
        assert np.mean(np.array(p) < 0.05) < 0.09


def test_given_the_llm_both_outcomes_have_the_same_p():
    rows = query_regressions(study(0.02))
    first, second = (only(rows, factor="utility", outcome=name, model="given-llm") for name in ("ac_rag", "delta"))
    assert first["p"] == pytest.approx(second["p"])


def test_an_undefined_slope_is_nan_with_its_reason():
    few = query_regressions(study(n=9))
    assert {row["reason"] for row in few} == {FEW_QUERIES} and all(math.isnan(row["value"]) for row in few)
    cell = study(n=40)
    same = np.zeros_like(cell.factors)
    # Exposure depends on the group alone, and utility on nothing.
    same[:, 1] = np.arange(4)
    rows = query_regressions(arrays(cell.llm, cell.label, rag=cell.rag, factors=same))
    assert only(rows, factor="utility", outcome="delta", model="linear")["reason"] == CONSTANT
    assert only(rows, factor="exposure", outcome="delta", model="within-groups")["reason"] == TIED_TO_OTHERS
    assert only(rows, factor="exposure", outcome="delta", model="linear")["reason"] == ""


def test_queries_with_an_undefined_score_are_left_out_and_counted():
    cell = study(n=40)
    rag = cell.rag.copy()
    rag[0, 0] = math.nan
    rag[:, 1] = math.nan
    row = only(
        query_regressions(arrays(cell.llm, cell.label, rag=rag, factors=cell.factors)),
        factor="utility",
        outcome="delta",
        model="rank",
    )
    assert (row["n"], row["n_queries"], row["reason"]) == (116, 39, "")


def test_the_order_of_queries_and_the_names_of_groups_change_nothing():
    cell, source = study(0.02), rng(6)
    order, names = source.permutation(40), source.permutation(4)
    back = np.argsort(names)
    mixed = arrays(
        cell.llm[order], names[cell.label[order]], rag=cell.rag[:, order], factors=cell.factors[:, :, order][..., back]
    )
    for first, second in zip(query_regressions(cell), query_regressions(mixed), strict=True):
        assert first == pytest.approx(second)
