"""Permutation tests of the range: how wide the gap between groups would be if labels had nothing to do with it."""

import numpy as np

from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import FEW_FILLED, RANGED
from whobenefits.uncertainty.arrays import NO_GROUP, QueryArrays
from whobenefits.uncertainty.bootstrap import ROUNDING


def range_tests(arrays: QueryArrays, draws: int, rng: np.random.Generator) -> list[dict]:
    """Permutation test of each range: rows with retriever, measure, expected, p, p_reason.

    The groups' labels are shuffled over the labelled queries, `draws` times, the same shuffles for all measures and
    retrievers. `expected` is the mean range of the shuffles, in ROUGE points: what a range comes to where no group
    differs. `p` = (1 + shuffles with a range at least as wide) / (1 + draws). NaN with the reason where fewer than two
    groups have queries and where a value is undefined.
    """
    labelled = arrays.label != NO_GROUP
    values, label = arrays.values[:, labelled], arrays.label[labelled]
    observed = group_ranges(values, label[None])[0]
    few = len(np.unique(label)) < 2
    null = np.full((1, len(values)), np.nan) if few else group_ranges(values, shuffled(label, draws, rng))
    rows = []
    for i, (measure, retriever) in enumerate(arrays.series):
        reason = FEW_FILLED if few else UNDEFINED if np.isnan(observed[i]) else ""
        expected, p = (np.nan, np.nan) if reason else (float(null[:, i].mean()) * 100, tail(observed[i], null[:, i]))
        names = {"retriever": retriever, "measure": RANGED[measure]}
        rows.append(names | {"expected": expected, "p": p, "p_reason": reason})
    return rows


def shuffled(label: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The labels in `draws` random orders, shape (draws, N)."""
    return rng.permuted(np.tile(label.astype(np.int32), (draws, 1)), axis=1)


def group_ranges(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """max - min of the group means of values (M, N) under each labelling (draws, N), shape (draws, M).

    Groups without a member are left out. NaN for a series with an undefined value and where no label stands.
    """
    means = group_means(values, labels)
    return np.ptp(means, axis=0) if len(means) else np.full((len(labels), len(values)), np.nan)


def group_means(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The mean of the values (M, N) of each group that has a member, under each labelling: (G, draws, M).

    `labels` (draws, N): orders of the same labels.
    """
    means = []
    for group in np.unique(labels[0]):
        member = labels == group
        means.append(member.astype(float) @ values.T / member[0].sum())
    return np.array(means).reshape(-1, len(labels), len(values))


def tail(observed: float, null: np.ndarray) -> float:
    """(1 + draws at least as large as what was observed) / (1 + draws), so that no p is 0 (Phipson and Smyth 2010)."""
    return float((1 + (null >= observed - ROUNDING).sum()) / (1 + len(null)))
