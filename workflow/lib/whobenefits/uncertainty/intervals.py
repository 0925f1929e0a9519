"""Intervals of everything in the table of measures: group means, factor means and shares.

A bootstrap interval from few queries is too short: a resample of n queries varies by (n - 1) / n of the variance, and
its quantiles are those of a normal rather than of Student's distribution. Both are made good, so that for normal values
the interval is Student's, while BCa moves it for bias and skewness (Hesterberg 2015 widens percentile intervals
likewise).
"""

import numpy as np

from whobenefits.measures.factors import FACTORS
from whobenefits.measures.means import ALL_ZERO, NO_QUERY, UNDEFINED
from whobenefits.uncertainty.arrays import QueryArrays
from whobenefits.uncertainty.bootstrap import (
    Resamples,
    Z,
    acceleration,
    bca_quantiles,
    by_group,
    centred,
    student_factor,
    widened,
)

ONE_QUERY = "fewer than two queries in a group"
NO_SPREAD = "the queries do not differ"
# Sums of squares below this are rounding.
NO_SQUARES = 1e-24
BOUNDS = {"ac_llm": (0, 1), "ac_rag": (0, 1), "delta": (-1, 1)}


def measure_intervals(arrays: QueryArrays, drawn: Resamples) -> list[dict]:
    """95 % intervals: rows with retriever, group, measure, low, high, interval_reason.

    BCa, widened for few queries (see the module). NaN with the reason for a group without a query, with one query, or
    whose queries all have the same value, and where the measure is undefined.
    """
    rows = group_mean_rows(arrays, drawn)
    return rows + factor_rows(arrays, drawn) if arrays.factors.shape[3] else rows


def group_mean_rows(arrays: QueryArrays, drawn: Resamples) -> list[dict]:
    """The intervals of ac_llm, ac_rag and delta of each group."""
    low, high = group_mean_ends(arrays, drawn)
    squares = group_squares(arrays)
    rows = []
    for i, (measure, retriever) in enumerate(arrays.series):
        for g, group in enumerate(arrays.groups):
            reason = _mean_reason(arrays.sizes[g], squares[i, g])
            ends = np.clip([low[i, g], high[i, g]], *BOUNDS[measure])
            rows.append(_row(retriever, group, measure, ends, reason))
    return rows


def group_squares(arrays: QueryArrays, power: int = 2) -> np.ndarray:
    """Σ ((v - mean) / n)^power over the queries of each group, shape (1 + 2R, G); NaN for a group without a query."""
    sizes = np.where(arrays.sizes, arrays.sizes, np.nan)
    values, member = by_group(arrays), arrays.label == np.arange(len(arrays.groups))[:, None]
    means = values.sum(axis=-1) / sizes
    return ((np.where(member, values - means[..., None], 0.0) / sizes[:, None]) ** power).sum(axis=-1)


def group_mean_ends(arrays: QueryArrays, drawn: Resamples) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the intervals of the group means, both of shape (1 + 2R, G)."""
    sizes = np.where(arrays.sizes, arrays.sizes, np.nan)
    means = by_group(arrays).sum(axis=-1) / sizes
    bend = acceleration(group_squares(arrays), group_squares(arrays, 3))
    draws = drawn.means.reshape(len(drawn.means), -1)
    ends = bca_quantiles(draws, means.ravel(), bend.ravel(), np.array([-Z, Z])).reshape(2, *means.shape)
    factor = student_factor(sizes - 1) * small_sample_factor(sizes)
    low, high = widened(ends, means, factor)
    return low, high


def small_sample_factor(sizes: np.ndarray) -> np.ndarray:
    """sqrt(n / (n - 1)): by how much the spread of resamples of n queries falls short; NaN below two queries."""
    sizes = np.where(np.asarray(sizes) > 1, sizes, np.nan)
    return np.sqrt(sizes / (sizes - 1))


def _mean_reason(n: int, squares: float) -> str:
    if n == 0:
        return NO_QUERY
    if np.isnan(squares):
        return UNDEFINED
    return ONE_QUERY if n == 1 else NO_SPREAD if squares < NO_SQUARES else ""


def factor_rows(arrays: QueryArrays, drawn: Resamples) -> list[dict]:
    """The intervals of each factor's mean (`f_mean`) and share (`f`) of each group."""
    means = arrays.factors.mean(axis=2)
    with np.errstate(invalid="ignore"):
        shares = means / means.sum(axis=-1, keepdims=True)
        drawn_shares = drawn.factor_means / drawn.factor_means.sum(axis=-1, keepdims=True)
        influences = (arrays.factors - shares[:, :, None] * arrays.factors.sum(axis=-1, keepdims=True)) / means.sum(
            axis=-1
        )[:, :, None, None]
    mean_ends = _factor_ends(arrays, drawn.factor_means, means, arrays.factors, upper=np.inf)
    share_ends = _factor_ends(arrays, drawn_shares, shares, influences, upper=1)
    rows = []
    for r, retriever in enumerate(arrays.retrievers):
        for f, factor in enumerate(FACTORS):
            empty = ALL_ZERO if not means[r, f].any() else ""
            for g, group in enumerate(arrays.groups):
                for name, (ends, reasons) in ((f"{factor}_mean", mean_ends), (factor, share_ends)):
                    reason = empty if name == factor and empty else reasons[r, f, g]
                    rows.append(_row(retriever, group, name, ends[:, r, f, g], reason))
    return rows


def _factor_ends(
    arrays: QueryArrays, draws: np.ndarray, estimates: np.ndarray, influences: np.ndarray, upper: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends (2, R, F, G) and reasons (R, F, G) of statistics whose influences are (R, F, Q, G)."""
    each = centred(np.moveaxis(influences, 2, -1), arrays.label) / len(arrays.label)
    squares, cubes = (each**2).sum(axis=-1), (each**3).sum(axis=-1)
    flat = draws.reshape(len(draws), -1)
    ends = bca_quantiles(flat, estimates.ravel(), acceleration(squares, cubes).ravel(), np.array([-Z, Z]))
    df = len(arrays.label) - len(np.unique(arrays.label))
    factor = student_factor(df) * np.sqrt(len(arrays.label) / max(df, 1))
    reasons = np.where(np.isnan(squares), UNDEFINED, np.where(squares < NO_SQUARES, NO_SPREAD, ""))
    reasons = np.where((reasons == "") & (df < 1), ONE_QUERY, reasons)
    return np.clip(widened(ends.reshape(2, *estimates.shape), estimates, factor), 0, upper), reasons


def _row(retriever: str, group: str, measure: str, ends: np.ndarray, reason: str) -> dict:
    low, high = (np.nan, np.nan) if reason else ends
    names = {"retriever": retriever, "group": group, "measure": measure}
    return names | {"low": float(low), "high": float(high), "interval_reason": str(reason)}
