"""Û, Ê, Â and U, E, A: how much of utility, exposure and attribution falls to the documents of each group."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from whobenefits.measures.factors import FACTORS
from whobenefits.measures.means import ALL_ZERO, Value, defined, exact_sum


def shares(means: Sequence[float]) -> np.ndarray:
    """Each group's part of the sum over the groups, in [0, 1], summing to 1; shape (number of groups,).

    All NaN where the sum is 0 or NaN: a part of nothing is undefined.
    """
    total = exact_sum(means)
    return np.array(means, dtype=float) / (total if total else np.nan)


def group_means(factors: pd.DataFrame, factor: str, labels: Mapping[str, str], groups: Sequence[str], n: int) -> list:
    """(1/n) Σ_q Σ_{d in top k, d in g} of a factor for each group, at least 0, NaN where a summand is.

    `factors` holds the documents of one retriever, `labels` the group of each document, and `n` = |Q| counts ALL queries
    of the set, also those with nothing of the group in their list. A document that `labels` does not name counts towards
    no group. Formula: study Q, Û, Ê and Â.
    """
    group = factors["doc_id"].map(lambda doc_id: labels.get(doc_id))
    return [exact_sum(factors.loc[group == name, factor]) / n if n else np.nan for name in groups]


def group_shares(
    factors: pd.DataFrame, retrievers: Sequence[str], labels: Mapping[str, str], groups: Sequence[str], n: int
) -> list[dict]:
    """The factors of each retriever and group: rows with retriever, group, measure, value, n, reason.

    For each factor f: `f_mean`, the mean over all n queries, and `f`, the group's share of it. The shares are over the
    documents that have a label in the category. Where nothing of a factor was seen, all its shares are NaN.
    """
    rows = []
    for retriever in retrievers:
        shown = factors[factors["retriever"] == retriever]
        for factor in FACTORS:
            means = group_means(shown, factor, labels, groups, n)
            for group, mean, share in zip(groups, means, shares(means), strict=True):
                names = {"retriever": retriever, "group": group}
                rows.append(names | {"measure": f"{factor}_mean", **vars(defined(mean, n))})
                rows.append(names | {"measure": factor, **vars(_share(share, means, n))})
    return rows


def _share(share: float, means: Sequence[float], n: int) -> Value:
    return Value(share, n, ALL_ZERO) if not any(means) else defined(share, n)
