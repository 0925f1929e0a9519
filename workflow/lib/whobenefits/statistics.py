"""Statistics over the groups of a category: how wide the gap is, and what goes along with what."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import scipy.stats

from whobenefits.errors import DataError
from whobenefits.measures.factors import FACTORS
from whobenefits.measures.joins import looked_up
from whobenefits.measures.means import UNDEFINED, Value, mean

RANGED = {"ac_llm": "r_llm", "ac_rag": "r_rag", "delta": "r_delta"}
OUTCOMES = ("ac_rag", "delta")
MEAN = "mean"
FEW_FILLED = "fewer than two groups have queries"
FEW_GROUPS = "fewer than three groups"
CONSTANT = "one side is constant"
NOWHERE = "undefined for every retriever"
# Measures in the order in which people read them.
ORDER = (
    *RANGED,
    *RANGED.values(),
    *(name for factor in FACTORS for name in (factor, f"{factor}_mean")),
)


def ranges_of(measures: pd.DataFrame, categories: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The table of ranges: R = max - min over the groups of a category, in ROUGE points (x 100, so in [0, 200]).

    r_llm stands under the retriever "none", r_rag and r_delta under each retriever. Groups without a query are left out
    and counted in `n_empty`; `n` is the number of queries in the `n_groups` others. `lowest` and `highest` name the
    groups; of several with the same value, the first in the category's order. NaN where fewer than two groups have
    queries and where a group's accuracy is undefined. Formula: study Q, R^llm, R^rag and R^Δ.
    """
    rows = measures[measures["category"].isin(list(categories)) & measures["measure"].isin(list(RANGED))]
    keys = ["topic", "task", "retriever", "llm", "category", "measure"]
    made = []
    for names, part in rows.groupby(keys):
        place = dict(zip(keys, names, strict=True))
        by_group = _by_group(part, categories[place["category"]], place)
        made.append(place | {"measure": RANGED[place["measure"]]} | _range(by_group))
    return in_grid_order(pd.DataFrame(made), categories)


def _by_group(part: pd.DataFrame, groups: Sequence[str], place: Mapping[str, str]) -> dict[str, Value]:
    """The value of each group of a category, in the category's order."""
    values = {row.group: Value(row.value, row.n) for row in part.itertuples()}
    if set(values) != set(groups):
        raise DataError(f"measures: {place} has the groups {sorted(values)}, but the category has {list(groups)}")
    return {group: values[group] for group in groups}


def _range(by_group: Mapping[str, Value]) -> dict:
    filled = {group: item.value for group, item in by_group.items() if _counts(item)}
    row = {"value": math.nan, "lowest": None, "highest": None, "reason": FEW_FILLED}
    if len(filled) > 1 and any(map(math.isnan, filled.values())):
        row["reason"] = UNDEFINED
    elif len(filled) > 1:
        # min and max return the first of equals, and the groups stand in the category's order
        lowest, highest = min(filled, key=filled.__getitem__), max(filled, key=filled.__getitem__)
        row = {"value": (filled[highest] - filled[lowest]) * 100, "lowest": lowest, "highest": highest, "reason": ""}
    counts = {"n_groups": len(filled), "n_empty": len(by_group) - len(filled)}
    return row | counts | {"n": sum(item.n for item in by_group.values())}


def _counts(item: Value) -> bool:
    """Whether a group is compared: it has queries, or measures.empty_groups has given it a value."""
    return item.n > 0 or not math.isnan(item.value)


def spearman(x: Sequence[float], y: Sequence[float]) -> Value:
    """Spearman's ρ over the positions at which both are defined, in [-1, 1], with how many these are.

    Ties have their mean rank. NaN, with the reason, for fewer than three positions and where one side is constant.
    """
    both = np.array([x, y], dtype=float).reshape(2, -1)
    both = both[:, ~np.isnan(both).any(axis=0)]
    n = both.shape[1]
    if n < 3:
        return Value(math.nan, n, FEW_GROUPS)
    if (np.ptp(both, axis=1) == 0).any():
        return Value(math.nan, n, CONSTANT)
    return Value(float(scipy.stats.spearmanr(both[0], both[1]).statistic), n)


def correlations_of(measures: pd.DataFrame, categories: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The table of correlations: Spearman's ρ over the groups between a factor's share and an outcome.

    For each retriever, and under the retriever "mean" the mean of ρ over the retrievers where it is defined. Shares and
    outcomes are joined on the group's label. `n` is the number of groups (of the mean: the smallest that went into it, 0
    if none did), `n_retrievers` the number of retrievers with a defined ρ. Source: study Q, its correlations.
    """
    rows = measures[measures["category"].isin(list(categories))]
    keys = ["topic", "task", "llm", "category"]
    made = []
    for names, part in rows.groupby(keys):
        place = dict(zip(keys, names, strict=True))
        made += [place | row for row in _correlations(part, categories[place["category"]])]
    return in_grid_order(pd.DataFrame(made), categories)


def _correlations(part: pd.DataFrame, groups: Sequence[str]) -> Iterator[dict]:
    keys = zip(part["measure"], part["retriever"], part["group"], strict=True)
    known = dict(zip(keys, part["value"], strict=True))

    def values(measure: str, retriever: str) -> list[float]:
        return looked_up([(measure, retriever, group) for group in groups], known, "a measure")

    retrievers = sorted(set(part.loc[part["measure"] == "ac_rag", "retriever"]))
    for factor in FACTORS:
        for outcome in OUTCOMES:
            names = {"factor": factor, "outcome": outcome}
            single = {name: spearman(values(factor, name), values(outcome, name)) for name in retrievers}
            for name, rho in single.items():
                yield names | {"retriever": name, "n_retrievers": int(not rho.reason), **vars(rho)}
            yield names | {"retriever": MEAN, **_mean_correlation(list(single.values()))}


def _mean_correlation(single: Sequence[Value]) -> dict:
    used = [rho for rho in single if not rho.reason]
    n = min((rho.n for rho in used), default=0)
    value = mean(rho.value for rho in used).value
    return {"value": value, "n": n, "n_retrievers": len(used), "reason": "" if used else NOWHERE}


def in_grid_order(frame: pd.DataFrame, categories: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The rows in one order, whatever order they came in.

    By topic, task and LLM, the category ("all" first), the retriever ("none" first, "mean" last), the group, and the
    measure or the factor and outcome; names in their alphabet, categories and groups as `categories` has them.
    """
    places = {"all": {"all": 0}} | {name: {g: i for i, g in enumerate(groups)} for name, groups in categories.items()}

    def place(row: dict) -> tuple:
        return (
            *(row[name] for name in ("topic", "task", "llm")),
            list(places).index(row["category"]),
            {"none": 0, MEAN: 2}.get(row["retriever"], 1),
            row["retriever"],
            places[row["category"]][row["group"]] if "group" in row else 0,
            *(names.index(row[name]) for name, names in _ORDERED.items() if name in row),
        )

    records = frame.to_dict("records")
    return frame.iloc[sorted(range(len(records)), key=lambda i: place(records[i]))].reset_index(drop=True)


_ORDERED = {"measure": ORDER, "factor": FACTORS, "outcome": OUTCOMES}
