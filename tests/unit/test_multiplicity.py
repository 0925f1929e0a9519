import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from whobenefits.uncertainty.multiplicity import benjamini_hochberg, holm, with_adjusted


def test_holm_of_a_hand_worked_case():
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.5, none below the one before it.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])


def test_benjamini_hochberg_of_a_hand_worked_case():
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4/1, 4/2, 4/3, 4/4: 0.04, 0.04, 0.04, 0.5.
    assert benjamini_hochberg([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.04, 0.04, 0.5, 0.04])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=12))
def test_both_are_those_of_statsmodels_over_the_defined_p(p):
    values = np.array(p, dtype=float)
    known = ~np.isnan(values)
    for adjust, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        got = adjust(p)
        assert np.isnan(got[~known]).all() and len(got) == len(p)
        if known.any():
            np.testing.assert_allclose(got[known], multipletests(values[known], method=method)[1], atol=1e-12)


def test_a_family_is_adjusted_by_itself_and_counts_its_tests():
    frame = pd.DataFrame({"measure": ["a", "b", "a", "b"], "p": [0.01, 0.04, 0.5, np.nan]})
    got = with_adjusted(frame, ["measure"])
    assert got["p_holm"].tolist() == pytest.approx([0.02, 0.04, 0.5, np.nan], nan_ok=True)
    assert got["p_bh"].tolist() == pytest.approx([0.02, 0.04, 0.5, np.nan], nan_ok=True)
    assert got["n_tests"].tolist() == [2, 1, 2, 1]
    assert with_adjusted(frame, [])["n_tests"].tolist() == [3] * 4


def test_another_p_is_adjusted_by_its_prefix():
    frame = pd.DataFrame({"p": [0.5, 0.5], "change_p": [0.02, 0.03]})
    got = with_adjusted(frame, [], "change_")
    assert list(got.columns) == ["p", "change_p", "change_p_holm", "change_p_bh", "change_n_tests"]
    assert got["change_p_holm"].tolist() == pytest.approx([0.04, 0.04]) and got["change_n_tests"].tolist() == [2, 2]


def test_an_empty_table_stays_empty():
    assert with_adjusted(pd.DataFrame({"measure": [], "p": []}), ["measure"]).empty
