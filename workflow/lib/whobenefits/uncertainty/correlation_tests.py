"""Exact permutation tests of Spearman's ρ over groups, for one retriever and for the mean over several."""

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.stats import rankdata

from whobenefits.measures.means import Value
from whobenefits.statistics import CONSTANT, FEW_GROUPS, NOWHERE
from whobenefits.uncertainty.bootstrap import ROUNDING

# All n! orders are tried up to so many groups; 8! is 40,320.
EXACT = 8
UNEVEN = "the retrievers have values for different groups"


def spearman_p(x: Sequence[float], y: Sequence[float], draws: int, rng: np.random.Generator) -> Value:
    """Two-sided permutation p of Spearman's ρ over the positions where both are defined, in (0, 1], with their number.

    The share of the orders of one side whose |ρ| is at least the observed one: exact over all n! orders for n of at most
    8 (and then never below `smallest_p`), else (1 + hits) / (1 + draws) of random orders. Ties have their mean rank. NaN
    with the reason for fewer than three positions and where one side is constant.
    """
    return mean_spearman_p([x], [y], draws, rng)


def mean_spearman_p(
    xs: Sequence[Sequence[float]], ys: Sequence[Sequence[float]], draws: int, rng: np.random.Generator
) -> Value:
    """Two-sided permutation p of the mean of ρ over the retrievers at which it is defined, one row of values for each.

    The retrievers share their groups and queries, so that one order of the groups is used for all of them. NaN with the
    reason where no ρ is defined, and where the retrievers have values for different groups.
    """
    defined = [~np.isnan(pair).any(axis=0) for pair in map(_pair, xs, ys)]
    pairs = [_pair(x, y)[:, where] for x, y, where in zip(xs, ys, defined, strict=True)]
    reasons = [_reason(pair) for pair in pairs]
    used = [i for i, reason in enumerate(reasons) if not reason]
    n = min((pairs[i].shape[1] for i in used), default=max((pair.shape[1] for pair in pairs), default=0))
    if not used:
        return Value(math.nan, n, reasons[0] if len(reasons) == 1 else NOWHERE)
    if any((defined[i] != defined[used[0]]).any() for i in used):
        return Value(math.nan, n, UNEVEN)
    return Value(_p([pairs[i] for i in used], draws, rng), n)


def _pair(x: Sequence[float], y: Sequence[float]) -> np.ndarray:
    return np.array([x, y], dtype=float).reshape(2, -1)


def _reason(pair: np.ndarray) -> str:
    if pair.shape[1] < 3:
        return FEW_GROUPS
    return CONSTANT if (np.ptp(pair, axis=1) == 0).any() else ""


def _p(pairs: Sequence[np.ndarray], draws: int, rng: np.random.Generator) -> float:
    n = pairs[0].shape[1]
    exact = n <= EXACT
    orders = _orders(n) if exact else rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)
    null = np.mean([order_correlations(x, y, orders) for x, y in pairs], axis=0)
    observed = np.mean([order_correlations(x, y, np.arange(n)[None])[0] for x, y in pairs])
    hits = (np.abs(null) >= abs(observed) - ROUNDING).sum()
    return float(hits / len(null) if exact else (1 + hits) / (1 + len(null)))


def order_correlations(x: np.ndarray, y: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Spearman's ρ of x with y in each order (rows of positions), shape (number of orders,)."""
    first, second = (_standardised(rankdata(side)) for side in (x, y))
    return second[orders] @ first


def _standardised(ranks: np.ndarray) -> np.ndarray:
    deviations = ranks - ranks.mean()
    return deviations / np.sqrt((deviations**2).sum())


@lru_cache(maxsize=EXACT)
def _orders(n: int) -> np.ndarray:
    return np.array(list(itertools.permutations(range(n))))


def smallest_p(n: int, draws: int) -> float:
    """The smallest p that `spearman_p` can give for n groups without ties; NaN below three.

    2 / n! for n of at most 8, because only two orders have |ρ| = 1: 1/3 for three groups, 1/12 for four, 1/60 for five;
    else 1 / (1 + draws). Ties can only make it larger.
    """
    if n < 3:
        return math.nan
    return 2 / math.factorial(n) if n <= EXACT else 1 / (1 + draws)
