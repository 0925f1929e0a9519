"""What follows from per-group results alone: overall means, ranges and label-aligned correlations."""

import math
from collections.abc import Mapping

import pandas as pd

from whobenefits.audit.inputs import LLM_ONLY, POINT, Inputs
from whobenefits.measures.factors import FACTORS
from whobenefits.measures.means import NO_QUERY, UNDEFINED
from whobenefits.statistics import MEAN, correlations_of, ranges_of

GROUP = [*POINT, "group"]
UNKNOWN_SIZES = "the groups' sizes are not given"
KEYS = ["task", "topic", "llm", "retriever"]


def measures_of(inputs: Inputs) -> pd.DataFrame:
    """The results as a table of measures (tables.MEASURES): ac_llm, ac_rag, delta in [-1, 1], and shares if given.

    `n` is the group's number of queries; where sizes are not given, 1 for a group with an accuracy and 0 without one.
    The category is named by its field.
    """
    accuracy = inputs.accuracy
    alone, rag = (accuracy[(accuracy["retriever"] == LLM_ONLY) == is_alone] for is_alone in (True, False))
    both = rag.merge(alone[[*GROUP, "value"]], on=GROUP, suffixes=("", "_llm"), validate="many_to_one")
    delta = both.assign(value=both["value"] - both["value_llm"], measure="delta").drop(columns="value_llm")
    parts = [alone.assign(measure="ac_llm"), rag.assign(measure="ac_rag"), delta]
    if inputs.factors is not None:
        parts.append(inputs.factors.melt([*GROUP, "retriever"], list(FACTORS), "measure"))
    return _with_counts(pd.concat(parts, ignore_index=True), inputs).rename(columns={"field": "category"})


def _with_counts(rows: pd.DataFrame, inputs: Inputs) -> pd.DataFrame:
    empty = inputs.accuracy.loc[inputs.accuracy["value"].isna(), GROUP].itertuples(index=False, name=None)
    without = set(empty)
    counts = [
        inputs.sizes.get((topic, field, group), int((task, topic, llm, field, group) not in without))
        for task, topic, llm, field, group in rows[GROUP].itertuples(index=False, name=None)
    ]
    reasons = [
        "" if not math.isnan(value) else UNDEFINED if n else NO_QUERY
        for value, n in zip(rows["value"], counts, strict=True)
    ]
    return rows.assign(n=counts, reason=reasons)


def ranges(inputs: Inputs) -> pd.DataFrame:
    """The ranges R_llm, R_rag and R_delta of the results, in points (statistics.ranges_of)."""
    return ranges_of(measures_of(inputs), _groups(inputs))


def correlations(inputs: Inputs) -> pd.DataFrame | None:
    """Spearman's ρ joined on the group's label (statistics.correlations_of); None where no shares are given."""
    return None if inputs.factors is None else correlations_of(measures_of(inputs), _groups(inputs))


def _groups(inputs: Inputs) -> dict[str, list[str]]:
    return {name: list(item["groups"]) for name, item in inputs.fields.items()}


def valued_without_query(inputs: Inputs) -> int:
    """How many accuracies are given for groups that have no query by the given sizes; they count in ranges as given."""
    places = zip(*(inputs.accuracy[name] for name in ("topic", "field", "group")), strict=True)
    empty = [inputs.sizes.get(place) == 0 for place in places]
    return int((pd.Series(empty, dtype=bool) & inputs.accuracy["value"].notna()).sum())


def overall_means(inputs: Inputs) -> pd.DataFrame:
    """Mean accuracy over all queries in [0, 1]: recomputed from the groups, and as stored.

    A row for each task, topic, LLM and retriever, "none" among these.

    `mean` is that of the groups weighted by their sizes; each category gives it anew, and `spread` is the largest minus
    the smallest of these, so 0 but for rounding if every query has one group in each. `difference` is stored - mean.
    """
    rows = inputs.accuracy
    stored = {} if inputs.overall is None else inputs.overall.set_index(KEYS)["value"].to_dict()
    made = []
    for place, part in rows.groupby(KEYS):
        named = dict(zip(KEYS, place, strict=True))
        means = [weighted_mean(of_field, inputs.sizes) for _, of_field in part.groupby("field", sort=False)]
        # a sum over an undefined mean is undefined; max and min would depend on the order
        whole = not any(map(math.isnan, means))
        mean, spread = (means[0], max(means) - min(means)) if whole else (math.nan, math.nan)
        reason = "" if whole else UNDEFINED if inputs.sizes else UNKNOWN_SIZES
        value = stored.get(place, math.nan)
        made.append(
            named | {"mean": mean, "spread": spread, "stored": value, "difference": value - mean, "reason": reason}
        )
    return pd.DataFrame(made)


def weighted_mean(groups: pd.DataFrame, sizes: Mapping[tuple[str, str, str], int]) -> float:
    """Σ n v / Σ n over the rows of one field. NaN without sizes or queries, and for a NaN v with n > 0."""
    weights = [
        sizes.get(place, math.nan) for place in zip(groups["topic"], groups["field"], groups["group"], strict=True)
    ]
    terms = [n * value for n, value in zip(weights, groups["value"], strict=True) if n != 0]
    total = math.fsum(weights) if not any(map(math.isnan, weights)) else math.nan
    return math.nan if not total or math.isnan(total) or any(map(math.isnan, terms)) else math.fsum(terms) / total


def accuracy_points(inputs: Inputs) -> dict[tuple[str, ...], float]:
    """Overall accuracy x 100 by (topic, task, llm, "", retriever): recomputed where it can be, else as stored."""
    table = overall_means(inputs)
    value = table["mean"].fillna(table["stored"]) * 100
    return dict(
        zip(
            zip(table["topic"], table["task"], table["llm"], [""] * len(table), table["retriever"], strict=True),
            value,
            strict=True,
        )
    )


def range_points(of: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """R_llm (under "none") and R_rag in points by (topic, task, llm, field, retriever)."""
    kept = of[of["measure"].isin(["r_llm", "r_rag"])]
    keys = kept[["topic", "task", "llm", "category", "retriever"]].itertuples(index=False, name=None)
    return dict(zip(keys, kept["value"], strict=True))


def outcome_counts(of: pd.DataFrame, correlated: pd.DataFrame | None) -> list[tuple[str, int, int]]:
    """(what, how many, of how many): cells whose range is wider with RAG, in all and by task, and |ρ| of 1."""
    both = wider_with_rag(of)
    rows = [("R_rag > R_llm", int(both["wider"].sum()), len(both))]
    rows += [(f"R_rag > R_llm, {task}", int(part.sum()), len(part)) for task, part in both.groupby("task")["wider"]]
    if correlated is not None:
        single = correlated.loc[correlated["retriever"] != MEAN, "value"].dropna()
        rows.append(("|ρ| = 1 of single retrievers", int((single.abs() > 1 - 1e-9).sum()), len(single)))
    return rows


def wider_with_rag(of: pd.DataFrame) -> pd.DataFrame:
    """The cells in which both ranges are defined, with `wider` where R_rag exceeds R_llm."""
    keys = ["task", "topic", "llm", "category"]
    alone = of.loc[of["measure"] == "r_llm", [*keys, "value"]]
    both = of[of["measure"] == "r_rag"].merge(alone, on=keys, suffixes=("", "_llm"), validate="many_to_one")
    both = both.dropna(subset=["value", "value_llm"])
    return both.assign(wider=both["value"] > both["value_llm"])
