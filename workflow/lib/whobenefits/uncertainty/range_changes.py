"""Whether retrieval widens the gap: R^rag - R^llm, of the same queries, with its interval and its test.

Each end of the interval is the tighter of two that hold where no group differs, too, which is the edge of what is
possible for both ranges:

- The widest pair of groups of the one kind of answers has at least its own difference in the other kind. With the gain
  of a pair, its difference of delta: gain(widest pair of llm) <= R^rag - R^llm <= gain(widest pair of rag). So the upper
  end is the largest upper end of the 95 % intervals of the gains of all pairs that may be the widest of rag, and the
  lower end the smallest lower end of those that may be the widest of llm. A pair may be, unless the intervals that hold
  for all pairs at once (see ranges.py) keep it below another one.
- The ends of the intervals of the two ranges: upper end of rag less lower end of llm, and the reverse.

Where the widest pair is beyond doubt and the same, this is the interval of its gain. In simulations (1,000 resamples; 5,
10 and 40 queries in a group; normal and skewed scores) it held the true change in 95 to 100 % of studies, and in 92 to
94 % where skewed scores have a gap in one of the two kinds of answers alone. Where little is settled it is wider than it
would have to be.
"""

import numpy as np

from whobenefits.measures.means import UNDEFINED
from whobenefits.statistics import FEW_FILLED, RANGED
from whobenefits.uncertainty.arrays import NO_GROUP, QueryArrays
from whobenefits.uncertainty.bootstrap import Resamples, by_group
from whobenefits.uncertainty.intervals import NO_SPREAD, NO_SQUARES, ONE_QUERY, group_squares
from whobenefits.uncertainty.permutation import tail
from whobenefits.uncertainty.ranges import difference_ends

ONLY_RAG = "r_rag alone is compared with r_llm"


def range_changes(arrays: QueryArrays, drawn: Resamples, draws: int, rng: np.random.Generator) -> list[dict]:
    """R^rag - R^llm by retriever: rows with retriever, measure, change, change_low, change_high (ROUGE points),
    change_p, change_reason, in the order of `arrays.series`; all but those of r_rag are empty.

    The change is in [-100, 100], the interval that of the module. `change_p` is two-sided, in (0, 1]: the two answers of
    each query are swapped at random, `draws` times, the same queries for all retrievers, after rag's own mean gain is
    taken off, which no range sees. What is tested is that answers with and without documents, but for that gain, come
    from one distribution; of that the p is uniform. It is not a test of equal ranges alone: of studies with equal ranges
    5 to 12 % had a p below 5 % where retrieval makes scores half as variable again, and up to 17 % where other groups are
    ahead than without documents. The size of the change is what the interval tells.
    NaN with the reason where fewer than two groups have queries and where a value is undefined; the interval alone where
    a group has one query or queries that do not differ.
    """
    filled = np.flatnonzero(arrays.sizes)
    n, changes = len(arrays.retrievers), _changes(arrays, filled)
    low, high = change_ends(arrays, drawn, filled) if len(filled) > 1 else np.full((2, n), np.nan)
    p = swap_p(arrays, changes, draws, rng)
    rows = []
    for i, (measure, retriever) in enumerate(arrays.series):
        names = {"retriever": retriever, "measure": RANGED[measure]}
        if measure == "ac_rag":
            found = _row((changes[i - 1], low[i - 1], high[i - 1]), p[i - 1], _reason(arrays, filled, i - 1))
        else:
            found = _row((np.nan,) * 3, np.nan, ONLY_RAG)
        rows.append(names | found)
    return rows


def _row(points: tuple[float, float, float], p: float, reason: str) -> dict:
    change, low, high = (float(value) * 100 for value in points)
    ends = {"change_low": np.nan, "change_high": np.nan} if reason else {"change_low": low, "change_high": high}
    return {"change": change, **ends, "change_p": float(p), "change_reason": reason}


def _reason(arrays: QueryArrays, filled: np.ndarray, retriever: int) -> str:
    if len(filled) < 2:
        return FEW_FILLED
    n = len(arrays.retrievers)
    squares = group_squares(arrays)[[0, 1 + retriever, 1 + n + retriever]][:, filled]
    if np.isnan(squares).any():
        return UNDEFINED
    return ONE_QUERY if arrays.sizes[filled].min() < 2 else NO_SPREAD if squares.min() < NO_SQUARES else ""


def _changes(arrays: QueryArrays, filled: np.ndarray) -> np.ndarray:
    """R^rag - R^llm of each retriever, shape (R,)."""
    n = len(arrays.retrievers)
    if len(filled) < 2:
        return np.full(n, np.nan)
    ranges = np.ptp(by_group(arrays).sum(axis=-1)[:, filled] / arrays.sizes[filled], axis=-1)
    return ranges[1 : 1 + n] - ranges[0]


def change_ends(arrays: QueryArrays, drawn: Resamples, filled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of R^rag - R^llm of each retriever, both of shape (R,), in [-1, 1]; see the module."""
    n = len(arrays.retrievers)
    single, joint = (_both_orders(ends) for ends in difference_ends(arrays, drawn, filled))
    widest = joint[1] >= joint[0].max(axis=-1, keepdims=True)
    gain_low, gain_high = single[:, 1 + n :]
    low = np.where(widest[0], gain_low, np.inf).min(axis=-1)
    high = np.where(widest[1 : 1 + n], gain_high, -np.inf).max(axis=-1)
    range_low, range_high = np.maximum(joint[0].max(axis=-1), 0.0), single[1].max(axis=-1)
    low = np.maximum(low, range_low[1 : 1 + n] - range_high[0])
    high = np.minimum(high, range_high[1 : 1 + n] - range_low[0])
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def _both_orders(ends: np.ndarray) -> np.ndarray:
    """Ends (2, ..., pairs) of the pairs in one order and then in the other, whose differences are minus the first's."""
    return np.concatenate([ends, -ends[::-1]], axis=-1)


def swap_p(arrays: QueryArrays, changes: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The p of `range_changes` of each retriever, shape (R,); NaN where its change is."""
    labelled = arrays.label != NO_GROUP
    llm, rag, label = arrays.llm[labelled], arrays.rag[:, labelled], arrays.label[labelled]
    if len(np.unique(label)) < 2 or not len(rag):
        return np.full(len(rag), np.nan)
    gain = rag - llm
    half = (gain - gain.mean(axis=1, keepdims=True)) / 2
    signs = 2.0 * rng.integers(0, 2, size=(draws, len(label))) - 1
    with_documents, without = [], []
    for group in np.unique(label):
        member = label == group
        middle, moved = (llm + half)[:, member].mean(axis=1), signs[:, member] @ half[:, member].T / member.sum()
        with_documents.append(middle + moved)
        without.append(middle - moved)
    null = np.abs(np.ptp(with_documents, axis=0) - np.ptp(without, axis=0))
    p = [tail(abs(change), null[:, i]) for i, change in enumerate(changes)]
    return np.where(np.isnan(changes), np.nan, p)
