"""Unevenness between groups beside the range, named as fairlearn's MetricFrame names it, and crossed groups."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from whobenefits.measures.means import UNDEFINED
from whobenefits.sampling import document_cells
from whobenefits.statistics import FEW_FILLED
from whobenefits.uncertainty.arrays import NO_GROUP, QueryArrays
from whobenefits.uncertainty.bootstrap import by_group
from whobenefits.uncertainty.intervals import ONE_QUERY, group_squares
from whobenefits.uncertainty.permutation import group_means, shuffled, tail

NOT_POSITIVE = "a ratio of values that are not all positive"
SPREAD = "sd_between_groups"
NET_SPREAD = "sd_between_groups_net"
GAPS = ("difference_between_groups", "difference_to_overall")
RATIOS = ("ratio_between_groups", "ratio_to_overall")
NO_GAP = "a mean and no gap: measures has the intervals of the groups"
NET_OF_CHANCE = "chance is taken off already: see sd_between_groups"
NOT_POSITIVE_BY_CHANCE = "a ratio of values that are not all positive once labels are shuffled"


def unevenness(arrays: QueryArrays, draws: int, rng: np.random.Generator) -> list[dict]:
    """How uneven each of ac_llm, ac_rag and delta is: rows with retriever, measure, statistic, value, group, n, reason,
    expected, p, p_reason.

    In ROUGE points (x 100), of the means of the groups that have queries:
    - group_min, group_max: the worst and the best group's mean, named in `group`; overall: over all labelled queries
    - difference_between_groups: max - min; difference_to_overall: max |group - overall|, with that group
    - sd_between_groups: standard deviation of the group means, each group counting once (divisor: groups - 1)
    - sd_between_groups_net: the same less what chance adds, sqrt(max(0, variance - mean of the squared standard errors))
    and without a unit, in [0, 1], where all means are positive:
    - ratio_between_groups: min / max; ratio_to_overall: the smallest of group / overall and overall / group

    NaN with the reason where fewer than two groups have queries and where a group's mean is undefined.

    `expected` and `p` are those of a permutation test, as of the range (see permutation.py): the statistic's mean over
    `draws` shuffles of the labels, and the share of these that are at least as uneven. The means themselves and what is
    net of chance have none.
    """
    null = chance_statistics(arrays, draws, rng)
    filled = np.flatnonzero(arrays.sizes)
    sizes = arrays.sizes[filled]
    sums = by_group(arrays).sum(axis=-1)[:, filled]
    errors = (group_squares(arrays)[:, filled] * sizes) / np.where(sizes > 1, sizes - 1, np.nan)
    names = [arrays.groups[i] for i in filled]
    rows = []
    for i, (measure, retriever) in enumerate(arrays.series):
        overall = sums[i].sum() / sizes.sum() if len(sizes) else math.nan
        for row in group_statistics(sums[i] / sizes, overall, errors[i], names):
            test = _test(row, {name: values[:, i] for name, values in null.items()})
            rows.append({"retriever": retriever, "measure": measure} | row | {"n": int(sizes.sum())} | test)
    return rows


def chance_statistics(arrays: QueryArrays, draws: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The statistics that are tested, each of shape (draws, 1 + 2R), under shuffled labels, in the unit of `unevenness`.

    None where fewer than two groups have queries; NaN where a value is undefined and for ratios of means that are not
    all positive.
    """
    labelled = arrays.label != NO_GROUP
    values, label = arrays.values[:, labelled], arrays.label[labelled]
    if len(np.unique(label)) < 2:
        return {}
    means, overall = group_means(values, shuffled(label, draws, rng)), values.mean(axis=1)
    gaps = {
        "difference_between_groups": np.ptp(means, axis=0) * 100,
        "difference_to_overall": np.abs(means - overall).max(axis=0) * 100,
        SPREAD: means.std(axis=0, ddof=1) * 100,
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        to_overall = np.minimum(means / overall, overall / means).min(axis=0)
        ratios = {RATIOS[0]: means.min(axis=0) / means.max(axis=0), RATIOS[1]: to_overall}
    positive = means.min(axis=0) > 0
    return gaps | {name: np.where(positive, values, np.nan) for name, values in ratios.items()}


def _test(row: dict, null: dict[str, np.ndarray]) -> dict:
    """The permutation test of one statistic; `null` has the shuffles (draws,) of each."""
    name, reason = row["statistic"], row["reason"]
    if not reason and name not in null:
        reason = NET_OF_CHANCE if name == NET_SPREAD else NO_GAP
    if not reason and np.isnan(null[name]).any():
        reason = NOT_POSITIVE_BY_CHANCE
    if reason:
        return {"expected": math.nan, "p": math.nan, "p_reason": reason}
    # A ratio is the more uneven the smaller it is.
    sign = -1 if name in RATIOS else 1
    return {"expected": float(null[name].mean()), "p": tail(sign * row["value"], sign * null[name]), "p_reason": ""}


def group_statistics(means: np.ndarray, overall: float, squared_errors: np.ndarray, names: Sequence[str]) -> list[dict]:
    """The statistics of `unevenness` of one measure's group means, in their unit times 100."""
    everything = ("group_min", "group_max", "overall", *GAPS, SPREAD, NET_SPREAD, *RATIOS)
    if len(means) < 2 or np.isnan(means).any():
        reason = FEW_FILLED if len(means) < 2 else UNDEFINED
        return [_row(name, math.nan, None, reason) for name in everything]
    low, high, far = int(means.argmin()), int(means.argmax()), int(np.abs(means - overall).argmax())
    points = {
        "group_min": (means[low], names[low]),
        "group_max": (means[high], names[high]),
        "overall": (overall, None),
        "difference_between_groups": (means[high] - means[low], names[low]),
        "difference_to_overall": (abs(means[far] - overall), names[far]),
        SPREAD: (means.std(ddof=1), None),
    }
    rows = [_row(name, value * 100, group) for name, (value, group) in points.items()]
    return [*rows, _net_spread(means, squared_errors), *_ratios(means, overall, names)]


def _net_spread(means: np.ndarray, squared_errors: np.ndarray) -> dict:
    if np.isnan(squared_errors).any():
        return _row(NET_SPREAD, math.nan, None, ONE_QUERY)
    return _row(NET_SPREAD, math.sqrt(max(0.0, means.var(ddof=1) - squared_errors.mean())) * 100, None)


def _ratios(means: np.ndarray, overall: float, names: Sequence[str]) -> list[dict]:
    if means.min() <= 0:
        return [_row(name, math.nan, None, NOT_POSITIVE) for name in RATIOS]
    to_overall = np.minimum(means / overall, overall / means)
    worst = int(to_overall.argmin())
    between = _row(RATIOS[0], means.min() / means.max(), names[int(means.argmin())])
    return [between, _row(RATIOS[1], to_overall[worst], names[worst])]


def _row(statistic: str, value: float, group: str | None, reason: str = "") -> dict:
    return {"statistic": statistic, "value": float(value), "group": group, "reason": reason}


def crossed_groups(
    groups: pd.DataFrame, first: str, second: str, queries: Sequence[str], min_queries: int
) -> tuple[pd.DataFrame, list[str]]:
    """Every document's group in two categories at once, and those crossed groups with at least `min_queries` queries.

    The table has doc_id, category ("first+second") and group ("a | b"); it takes the place of a category's rows wherever
    these are measured. Documents of the smaller crossed groups, and those without a label in both categories, have no
    row: they count towards no group. The crossed groups are sorted.
    """
    cells = document_cells(groups, [first, second])
    counts = cells[cells.index.isin(list(queries))].value_counts()
    kept = sorted(counts.index[counts >= min_queries])
    rows = cells[cells.isin(kept)].reset_index(name="group").assign(category=f"{first}+{second}")
    return rows[["doc_id", "category", "group"]], kept
