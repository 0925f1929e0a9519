"""The hierarchical bootstrap of Spearman's ρ over groups, for each retriever and for the mean over retrievers.

Retrievers share their queries. So the queries are resampled once, and from the same resample come the shares and the
outcomes of every retriever, its ρ, and their mean.

The intervals are between quantiles of the resampled ρ, and are NOT confidence intervals of nominal coverage. Over four
groups ρ takes at most 11 values without ties, where two groups are about equal their order in a resample is a toss, and
noise draws every ρ towards 0, so that a true ρ of 1 is missed until the ordering is settled (in simulations of 160
queries it was in none, 29 % and 100 % of the intervals as the steps between groups grew). What the interval shows is how
far these queries settle the ordering of the groups; the test is the permutation p, and the power is at query level.
"""

from collections.abc import Iterator

import numpy as np

from whobenefits.measures.factors import FACTORS
from whobenefits.statistics import MEAN, OUTCOMES
from whobenefits.uncertainty.arrays import QueryArrays
from whobenefits.uncertainty.bootstrap import LEVEL, ROUNDING, Resamples, by_group
from whobenefits.uncertainty.correlation_tests import mean_spearman_p, smallest_p

QUANTILES = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


def correlation_tests(arrays: QueryArrays, drawn: Resamples, draws: int, rng: np.random.Generator) -> list[dict]:
    """Intervals and permutation p of every ρ of a category: rows with retriever, factor, outcome, low, high, defined,
    p, smallest_p (that so many groups can give), uncertainty_reason.

    For each retriever and, under "mean", for the mean over them. `defined` is the share of resamples in which there is a
    ρ; the interval is between the 2.5 % and 97.5 % quantiles of these. NaN with the reason where ρ itself is undefined.
    """
    shares, outcomes = _observed(arrays)
    drawn_shares, drawn_outcomes = _drawn(arrays, drawn)
    rows = []
    for f, factor in enumerate(FACTORS):
        for o, outcome in enumerate(OUTCOMES):
            rho = rank_correlations(drawn_shares[:, :, f], drawn_outcomes[:, o])
            for retriever, where in _scopes(arrays):
                p = mean_spearman_p(shares[where, f], outcomes[o, where], draws, rng)
                names = {"retriever": retriever, "factor": factor, "outcome": outcome}
                found = {"p": p.value, "smallest_p": smallest_p(p.n, draws), "uncertainty_reason": p.reason}
                rows.append(names | _interval(rho[:, where], p.reason) | found)
    return rows


def _scopes(arrays: QueryArrays) -> Iterator[tuple[str, slice]]:
    for i, name in enumerate(arrays.retrievers):
        yield name, slice(i, i + 1)
    yield MEAN, slice(None)


def _observed(arrays: QueryArrays) -> tuple[np.ndarray, np.ndarray]:
    """Shares (R, F, G) and outcomes (2, R, G) as they are."""
    sizes = np.where(arrays.sizes, arrays.sizes, np.nan)
    means = by_group(arrays).sum(axis=-1)[1:] / sizes
    return _shares(arrays.factors.mean(axis=2)), means.reshape(2, len(arrays.retrievers), -1)


def _drawn(arrays: QueryArrays, drawn: Resamples) -> tuple[np.ndarray, np.ndarray]:
    """Shares (draws, R, F, G) and outcomes (draws, 2, R, G) in each resample."""
    outcomes = drawn.means[:, 1:].reshape(len(drawn.means), 2, len(arrays.retrievers), -1)
    return _shares(drawn.factor_means), outcomes


def _shares(means: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return means / means.sum(axis=-1, keepdims=True)


def _interval(rho: np.ndarray, reason: str) -> dict[str, float]:
    """`rho` (draws, retrievers): the interval of its mean over the retrievers."""
    known = ~np.isnan(rho)
    some = known.any(axis=1)
    if reason or not some.any():
        return {"low": np.nan, "high": np.nan, "defined": float(some.mean())}
    means = np.where(known, rho, 0.0)[some].sum(axis=1) / known[some].sum(axis=1)
    low, high = np.quantile(means, QUANTILES)
    return {"low": float(low), "high": float(high), "defined": float(some.mean())}


def rank_correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Spearman's ρ along the last axis, over the positions where both are defined; ties have their mean rank.

    NaN for fewer than three positions and where one side is constant.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    first, second = (_centred_ranks(side, both) for side in (x, y))
    squares = (first**2).sum(axis=-1) * (second**2).sum(axis=-1)
    enough = (both.sum(axis=-1) > 2) & (squares > ROUNDING)
    return np.where(enough, (first * second).sum(axis=-1) / np.sqrt(np.where(enough, squares, 1.0)), np.nan)


def _centred_ranks(values: np.ndarray, defined: np.ndarray) -> np.ndarray:
    """The ranks along the last axis less their mean, 0 where not defined: half of (smaller - larger) values."""
    gaps = values[..., :, None] - values[..., None, :]
    signs = np.sign(np.where(np.abs(gaps) > ROUNDING, gaps, 0.0))
    return np.where(defined[..., :, None] & defined[..., None, :], signs, 0.0).sum(axis=-1) / 2
