"""The bootstrap over queries: resamples, and the BCa quantiles of what is computed from them."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import t

from whobenefits.uncertainty.arrays import QueryArrays

LEVEL = 0.95
Z = float(ndtri((1 + LEVEL) / 2))
# Differences smaller than this are rounding: resamples that equal the estimate must count as equal.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Resamples:
    """Group means `means` (draws, 1 + 2R, G) and `factor_means` (draws, R, F, G), both of the same resamples."""

    means: np.ndarray
    factor_means: np.ndarray


def resample_counts(strata: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """How often each query is drawn in each resample, shape (draws, Q); each stratum keeps its number of queries."""
    counts = np.zeros((draws, len(strata)))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        n = len(members)
        drawn = rng.integers(n, size=(draws, n)) + n * np.arange(draws)[:, None]
        counts[:, members] = np.bincount(drawn.ravel(), minlength=draws * n).reshape(draws, n)
    return counts


def resamples(arrays: QueryArrays, draws: int, rng: np.random.Generator) -> Resamples:
    """Every group mean and factor mean in each of `draws` resamples of the queries.

    Queries are resampled within their groups: the numbers of queries were set when the queries were drawn, and no group
    is ever empty. A resample is the same one for all retrievers and measures, so that what they share varies together.
    NaN for a group without a query and where a value is undefined.
    """
    counts = resample_counts(arrays.label, draws, rng)
    columns = by_group(arrays) / np.where(arrays.sizes, arrays.sizes, np.nan)[:, None]
    means = counts @ columns.reshape(-1, len(arrays.label)).T
    factors = counts @ np.moveaxis(arrays.factors, 2, 0).reshape(len(arrays.label), -1) / len(arrays.label)
    shape = arrays.factors.shape
    return Resamples(means.reshape(draws, -1, len(arrays.groups)), factors.reshape(draws, *shape[:2], shape[3]))


def by_group(arrays: QueryArrays) -> np.ndarray:
    """The values of the queries of each group, 0 for the others, shape (1 + 2R, G, Q)."""
    member = arrays.label == np.arange(len(arrays.groups))[:, None]
    return np.where(member, arrays.values[:, None], 0.0)


def centred(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Values (..., Q) less the mean of their stratum."""
    out = np.array(values, dtype=float)
    for stratum in np.unique(strata):
        out[..., strata == stratum] -= out[..., strata == stratum].mean(axis=-1, keepdims=True)
    return out


def acceleration(squares: np.ndarray, cubes: np.ndarray) -> np.ndarray:
    """BCa's acceleration from Σ l² and Σ l³ of the influences l of the queries; 0 where nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, cubes / (6 * squares**1.5), 0.0)


def bca_quantiles(
    draws: np.ndarray, estimates: np.ndarray, accelerations: np.ndarray, deviates: np.ndarray
) -> np.ndarray:
    """The quantiles of the columns of `draws` (B, K) at normal deviates (J,), moved by BCa; shape (J, K).

    For a deviate z the level is Φ(z0 + (z0 + z) / (1 - a(z0 + z))) with z0 the normal deviate of the share of draws
    below the estimate and a the acceleration (Efron 1987). Undefined draws are left out; NaN where none is defined.
    """
    ordered = np.sort(draws, axis=0)
    n = (~np.isnan(ordered)).sum(axis=0)
    below = (ordered < estimates - ROUNDING).sum(axis=0) + (np.abs(ordered - estimates) <= ROUNDING).sum(axis=0) / 2
    z0 = ndtri(np.clip(below, 0.5, n - 0.5) / np.maximum(n, 1))
    shifted = z0 + np.asarray(deviates)[:, None]
    levels = ndtr(z0 + shifted / np.maximum(1 - accelerations * shifted, 0.1))
    return _quantiles(ordered, n, levels)


def _quantiles(ordered: np.ndarray, n: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Linear between order statistics, as numpy.quantile does by default."""
    places = np.nan_to_num(levels) * np.maximum(n - 1, 0)
    lower = np.floor(places).astype(int)
    upper = np.minimum(lower + 1, np.maximum(n - 1, 0))
    low, high = np.take_along_axis(ordered, lower, axis=0), np.take_along_axis(ordered, upper, axis=0)
    return low + (places - lower) * (high - low)


def widened(ends: np.ndarray, estimates: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Ends of intervals moved away from the estimate by a factor."""
    return estimates + (ends - estimates) * factor


def student_factor(df: np.ndarray) -> np.ndarray:
    """How much wider an interval by Student's t with so many degrees of freedom is than a normal one; NaN below 1."""
    df = np.asarray(df, dtype=float)
    return np.where(df >= 1, t.ppf((1 + LEVEL) / 2, np.maximum(df, 1)) / Z, np.nan)
