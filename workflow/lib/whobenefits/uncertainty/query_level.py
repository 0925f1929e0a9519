"""Companions of ρ over groups at the level of queries, with as many points as there are queries.

For each query: its outcome beside the utility, exposure and attribution that the documents of its own group got in its
own list. By construction utility and delta both fall as the accuracy without documents rises, and are related through
that alone; the model "given-llm" holds it fixed.
"""

import math
from collections.abc import Iterator

import numpy as np
import scipy.stats

from whobenefits.measures.factors import FACTORS
from whobenefits.measures.groups import ALL
from whobenefits.statistics import CONSTANT, OUTCOMES
from whobenefits.uncertainty.arrays import NO_GROUP, QueryArrays
from whobenefits.uncertainty.bootstrap import LEVEL, ROUNDING, Z

# Below this neither the interval of ρ nor standard errors clustered by query are to be trusted.
MIN_QUERIES = 10
FEW_QUERIES = f"fewer than {MIN_QUERIES} queries"
TIED_TO_OTHERS = "the factor does not vary beside the model's other terms"
# What a model holds fixed, beside the retriever.
MODELS = {"rank": (), "linear": (), "within-groups": ("group",), "given-llm": ("group", "llm")}


def own_group_factors(arrays: QueryArrays) -> np.ndarray:
    """Each factor's sum over the documents of the query's own group in its list, (R, F, Q); NaN for a query without one.

    So exposure is the number of the query's own group among the k documents, from 0 to k.
    """
    places = np.where(arrays.label == NO_GROUP, 0, arrays.label)
    own = np.take_along_axis(arrays.factors, places[None, None, :, None], axis=3)[..., 0]
    return np.where(arrays.label == NO_GROUP, np.nan, own)


def outcome_values(arrays: QueryArrays) -> np.ndarray:
    """ac_rag and delta of each query, shape (2, R, Q)."""
    return arrays.values[1:].reshape(len(OUTCOMES), len(arrays.retrievers), -1)


def query_correlations(arrays: QueryArrays) -> list[dict]:
    """Spearman's ρ over queries: rows with retriever, group, factor, outcome, value, low, high, p, n, reason.

    For each retriever, over all labelled queries of the category (group "all") and over those of each group.
    """
    own, outcomes, rows = own_group_factors(arrays), outcome_values(arrays), []
    for r, retriever in enumerate(arrays.retrievers):
        for group, member in _members(arrays):
            for f, factor in enumerate(FACTORS):
                for o, outcome in enumerate(OUTCOMES):
                    names = {"retriever": retriever, "group": group, "factor": factor, "outcome": outcome}
                    rows.append(names | query_spearman(own[r, f, member], outcomes[o, r, member]))
    return rows


def _members(arrays: QueryArrays) -> Iterator[tuple[str, np.ndarray]]:
    yield ALL, arrays.label != NO_GROUP
    for g, group in enumerate(arrays.groups):
        yield group, arrays.label == g


def query_spearman(x: np.ndarray, y: np.ndarray) -> dict:
    """Spearman's ρ with value, low, high, p, n and reason, over the queries where both are defined.

    `p` is two-sided, by Student's t; the 95 % interval is Fisher's z with the variance (1 + ρ²/2) / (n - 3) (Bonett and
    Wright 2000). NaN with the reason for fewer than 10 queries and where one side is constant.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    x, y, n = x[both], y[both], int(both.sum())
    if n < MIN_QUERIES or np.ptp(x) <= ROUNDING or np.ptp(y) <= ROUNDING:
        return _undefined(FEW_QUERIES if n < MIN_QUERIES else CONSTANT) | {"n": n}
    found = scipy.stats.spearmanr(x, y)
    rho = float(found.statistic)
    centre = math.atanh(min(max(rho, -1 + ROUNDING), 1 - ROUNDING))
    half = Z * math.sqrt((1 + rho**2 / 2) / (n - 3))
    ends = {"low": math.tanh(centre - half), "high": math.tanh(centre + half)}
    return {"value": rho, **ends, "p": float(found.pvalue), "n": n, "reason": ""}


def _undefined(reason: str) -> dict:
    return {"value": math.nan, "low": math.nan, "high": math.nan, "p": math.nan, "reason": reason}


def query_regressions(arrays: QueryArrays) -> list[dict]:
    """Regressions over all (query, retriever): rows with factor, outcome, model, value, low, high, p, n, n_queries,
    reason.

    A query occurs under each retriever, so that standard errors are clustered by query; each retriever has its own
    intercept. `value` is the standardised slope: by how many standard deviations the outcome rises with one of the
    factor. Models: "linear"; "within-groups", which also gives each group its intercept, so that differences between
    groups do not count; "given-llm", which also holds the accuracy without documents fixed (ac_rag and delta then have
    the same slope before it is standardised); "rank", on ranks within the retriever, whose slope is the mean of ρ over
    the retrievers. 95 % intervals and p by Student's t with queries - 1 degrees of freedom. NaN with the reason for
    fewer than 10 queries and where the factor, or the outcome, does not vary.
    """
    own, outcomes, rows = own_group_factors(arrays), outcome_values(arrays), []
    for f, factor in enumerate(FACTORS):
        for o, outcome in enumerate(OUTCOMES):
            for model in MODELS:
                fit = _fit(own[:, f], outcomes[o], arrays, model)
                rows.append({"factor": factor, "outcome": outcome, "model": model} | fit)
    return rows


def _fit(x: np.ndarray, y: np.ndarray, arrays: QueryArrays, model: str) -> dict:
    """The regression of y on x, both (R, Q)."""
    known = ~(np.isnan(x) | np.isnan(y))
    retriever, query = np.nonzero(known)
    counts = {"n": len(query), "n_queries": len(np.unique(query))}
    if counts["n_queries"] < MIN_QUERIES:
        return _undefined(FEW_QUERIES) | counts
    sides = [(_ranks(side, known) if model == "rank" else side)[known] for side in (x, y)]
    if any(np.ptp(side) <= ROUNDING for side in sides):
        return _undefined(CONSTANT) | counts
    terms = [_dummies(retriever), *_terms(arrays, model, query)]
    columns, outcome = np.column_stack([_z(sides[0]), *terms]), _z(sides[1])
    if np.linalg.matrix_rank(columns) <= np.linalg.matrix_rank(columns[:, 1:]):
        return _undefined(TIED_TO_OTHERS) | counts
    return clustered_slope(outcome, columns, query) | counts


def _terms(arrays: QueryArrays, model: str, query: np.ndarray) -> Iterator[np.ndarray]:
    if "group" in MODELS[model]:
        yield _dummies(arrays.label[query])[:, 1:]
    if "llm" in MODELS[model]:
        yield arrays.llm[query]


def _dummies(labels: np.ndarray) -> np.ndarray:
    """A column of 0 and 1 for each label that occurs."""
    return (labels[:, None] == np.unique(labels)).astype(float)


def _ranks(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Ranks within each retriever, as z-scores, so that each retriever's slope is its ρ; 0 where a side is constant."""
    out = np.zeros(values.shape)
    for row, value, where in zip(out, values, known, strict=True):
        row[where] = _z(scipy.stats.rankdata(value[where])) if where.any() else 0.0
    return out


def _z(values: np.ndarray) -> np.ndarray:
    spread = values.std()
    return (values - values.mean()) / spread if spread > ROUNDING else np.zeros(len(values))


def clustered_slope(outcome: np.ndarray, columns: np.ndarray, clusters: np.ndarray) -> dict:
    """The first column's slope by least squares, with standard errors clustered: value, low, high, p, reason.

    The variance is the jackknife's over clusters, (C - 1) / C · Σ (slope without cluster c - slope)², known as CR3: with
    tens of clusters and skewed counts the usual sandwich is too small (MacKinnon, Nielsen and Webb 2023).
    """
    inverse = np.linalg.inv(columns.T @ columns)
    slopes = inverse @ (columns.T @ outcome)
    changes = _jackknife_changes(outcome - columns @ slopes, columns, clusters, inverse)
    n = len(changes)
    error = math.sqrt((n - 1) / n * (changes**2).sum())
    value, half = float(slopes[0]), float(scipy.stats.t.ppf((1 + LEVEL) / 2, n - 1)) * error
    p = float(2 * scipy.stats.t.sf(abs(value) / error, n - 1)) if error > ROUNDING else 0.0
    return {"value": value, "low": value - half, "high": value + half, "p": p, "reason": ""}


def _jackknife_changes(
    residuals: np.ndarray, columns: np.ndarray, clusters: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """How much the first slope changes as each cluster is left out, shape (clusters,), without fitting again.

    By the block form of the leave-one-out formula; clusters are padded with rows of 0, which add nothing.
    """
    names, cluster, counts = np.unique(clusters, return_inverse=True, return_counts=True)
    order = np.argsort(cluster, kind="stable")
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    blocks = np.zeros((len(names), counts.max(), columns.shape[1]))
    left = np.zeros(blocks.shape[:2])
    blocks[cluster[order], place], left[cluster[order], place] = columns[order], residuals[order]
    hats = blocks @ inverse @ blocks.transpose(0, 2, 1)
    # Singular where a term exists in one cluster only: without the cluster, the slope then does without the term.
    adjusted = np.linalg.pinv(np.eye(counts.max()) - hats, rcond=1e-8) @ left[..., None]
    return (blocks @ inverse[0] * adjusted[..., 0]).sum(axis=1)
