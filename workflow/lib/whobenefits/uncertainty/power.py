"""Power: the smallest range that so many queries in each group can detect."""

from collections.abc import Sequence

import numpy as np

from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import FEW_FILLED, RANGED
from whobenefits.uncertainty.arrays import QueryArrays
from whobenefits.uncertainty.intervals import NO_SPREAD, NO_SQUARES, ONE_QUERY, group_squares
from whobenefits.uncertainty.seeds import generator

LEVEL = 0.05
POWER = 0.80
# Enough that the detectable range is settled to about one part in a hundred.
DRAWS = 20_000


def detectable_ranges(arrays: QueryArrays, seed: int) -> list[dict]:
    """The smallest true range that each range's test would find: rows with retriever, measure, detectable (ROUGE
    points), power_reason.

    80 % power at 5 %, from the numbers of queries in the groups and the standard deviation within them (pooled). NaN
    with the reason where fewer than two groups have queries, where no group has two, where a value is undefined and
    where queries of a group never differ.
    """
    sizes = arrays.sizes[arrays.sizes > 0]
    unit = smallest_detectable_range(sizes, 1.0, seed) if len(sizes) > 1 else np.nan
    spreads, rows = within_sd(arrays), []
    for (measure, retriever), sd in zip(arrays.series, spreads, strict=True):
        reason = FEW_FILLED if len(sizes) < 2 else ONE_QUERY if sizes.max() < 2 else _reason(sd)
        names = {"retriever": retriever, "measure": RANGED[measure]}
        rows.append(names | {"detectable": np.nan if reason else float(unit * sd) * 100, "power_reason": reason})
    return rows


def _reason(sd: float) -> str:
    return UNDEFINED if np.isnan(sd) else NO_SPREAD if sd**2 < NO_SQUARES else ""


def within_sd(arrays: QueryArrays) -> np.ndarray:
    """The standard deviation of the queries within their groups, pooled over the groups, of each series (1 + 2R,)."""
    filled = arrays.sizes > 0
    squares = (group_squares(arrays)[:, filled] * arrays.sizes[filled] ** 2).sum(axis=-1)
    spare = arrays.sizes.sum() - filled.sum()
    return np.sqrt(squares / spare) if spare > 0 else np.full(len(squares), np.nan)


def smallest_detectable_range(
    sizes: Sequence[int], sd: float, seed: int, level: float = LEVEL, power: float = POWER
) -> float:
    """The smallest range of the true group means whose observed range is significant at `level` with this `power`.

    `sizes` (at least two, each at least 1) are the queries of the groups, `sd` their spread within a group, in the unit
    of the result. Simulated with normal group means: an observed range is significant where it is wider than all but
    5 % of those without a difference, as in the permutation test. For the least favourable groups: the two smallest
    differ and the others lie in the middle between them. For two groups it is (z_0.975 + z_0.8) · sd · sqrt(1/n + 1/m).
    """
    errors = 1 / np.sqrt(np.sort(np.asarray(sizes, dtype=float)))
    noise = generator(seed, "power", *map(str, sorted(sizes))).standard_normal((DRAWS, len(errors))) * errors
    critical = np.quantile(np.ptp(noise, axis=1), 1 - level)
    pattern = np.zeros(len(errors))
    pattern[:2] = -0.5, 0.5
    return sd * _solution(noise, pattern, critical, power)


def _solution(noise: np.ndarray, pattern: np.ndarray, critical: float, power: float) -> float:
    """The multiple of the pattern at which a share `power` of the ranges is above the critical one, by bisection."""
    low, high = 0.0, critical + 20 * np.abs(noise).max()
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        found = (np.ptp(noise + middle * pattern, axis=1) > critical).mean()
        low, high = (middle, high) if found < power else (low, middle)
    return (low + high) / 2
