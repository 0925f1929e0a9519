"""Adjusted p of families of tests."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control


def holm(p: Sequence[float]) -> np.ndarray:
    """The p of one family, adjusted by Holm 1979: at 5 %, the chance of any false finding is at most 5 %.

    The i-th smallest of m becomes max over j <= i of min(1, (m - j + 1) p_j). NaN are no tests: they are left out and
    stay NaN.
    """
    return _over_defined(p, _holm)


def benjamini_hochberg(p: Sequence[float]) -> np.ndarray:
    """The p of one family, adjusted by Benjamini and Hochberg 1995: of the findings at 5 %, at most 5 % are false.

    That is so on average, for tests that are independent or positively dependent. NaN are left out and stay NaN.
    """
    return _over_defined(p, false_discovery_control)


METHODS = {"p_holm": holm, "p_bh": benjamini_hochberg}


def _over_defined(p: Sequence[float], adjust: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    values = np.asarray(p, dtype=float)
    out, known = np.full(len(values), np.nan), ~np.isnan(values)
    if known.any():
        out[known] = adjust(values[known])
    return out


def _holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p)
    out = np.empty(len(p))
    out[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return out


def with_adjusted(frame: pd.DataFrame, family: Sequence[str], prefix: str = "") -> pd.DataFrame:
    """The frame with columns `p_holm`, `p_bh` and `n_tests`, the family's number of tests, beside its `p`.

    A family is the rows with the same values in the columns `family`; without such columns it is all rows. Another p, as
    `change_p`, is adjusted by its prefix, `change_`, which the new columns also have.
    """
    keys = list(family)
    places = frame.groupby(keys).ngroup().to_numpy() if keys else np.zeros(len(frame), dtype=int)
    out = {name: np.full(len(frame), np.nan) for name in METHODS}
    n_tests = np.zeros(len(frame), dtype=np.int64)
    p = frame[f"{prefix}p"].to_numpy(dtype=float)
    for place in np.unique(places):
        rows = places == place
        n_tests[rows] = (~np.isnan(p[rows])).sum()
        for name, adjust in METHODS.items():
            out[name][rows] = adjust(p[rows])
    return frame.assign(**{prefix + name: column for name, column in (out | {"n_tests": n_tests}).items()})
