"""Stored correlations against the label-aligned ones, and the order of the accuracies that explains others."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
import pandas as pd
import scipy.stats

from whobenefits.audit.inputs import LLM_ONLY, POINT, Inputs
from whobenefits.measures.factors import FACTORS
from whobenefits.statistics import MEAN, OUTCOMES

TOLERANCE = 1e-9
ALIGNED, PERMUTED, UNEXPLAINED, UNCHECKED = "aligned", "permuted", "unexplained", "not checked"
PAIRS = [(factor, outcome) for factor in FACTORS for outcome in OUTCOMES]
# 720 orders of six groups are quickly tried, 5,040 of seven are not for every set.
MOST_GROUPS = 6


def stored_averages(inputs: Inputs, correlations: pd.DataFrame) -> pd.DataFrame:
    """Each stored average beside the aligned one, with what stands between: `difference` = stored - aligned.

    `sign_changes` where one is positive and the other negative. NaN where the aligned one is undefined.
    """
    aligned = correlations[correlations["retriever"] == MEAN].rename(columns={"category": "field", "value": "aligned"})
    keys = [*POINT, "factor", "outcome"]
    both = inputs.stored.rename(columns={"value": "stored"}).merge(aligned[[*keys, "aligned"]], on=keys, how="left")
    signs = [np.sign(both[name].where(both[name].abs() > TOLERANCE, 0)) for name in ("stored", "aligned")]
    return both.assign(difference=both["stored"] - both["aligned"], sign_changes=signs[0] * signs[1] < 0)


def stored_sets(inputs: Inputs, measures: pd.DataFrame, averages: pd.DataFrame) -> pd.DataFrame:
    """For each task, topic, LLM and field: whether its stored averages are the aligned ones, or which order makes them.

    `status`: "aligned"; "permuted", where all come out once the groups' accuracies with RAG stand in `order`, while
    the shares and the accuracies without documents stand in the category's (permuted_means); "unexplained", where no
    order does it; "not checked" (see `reason`). `n_orders` counts the orders that do it: of several, `order` moves the
    fewest groups.
    """
    by_point = dict(tuple(measures.groupby(["task", "topic", "llm", "category"])))
    made = []
    for place, part in averages.groupby(POINT, sort=False):
        groups = list(inputs.fields[place[3]]["groups"])
        named = dict(zip(POINT, place, strict=True))
        made.append(named | {"n_values": int(part["stored"].notna().sum())} | _explained(part, by_point[place], groups))
    return pd.DataFrame(made)


def _explained(part: pd.DataFrame, measures: pd.DataFrame, groups: Sequence[str]) -> dict:
    known = part.dropna(subset="stored")
    nothing = {"order": "", "n_orders": 0, "reason": ""}
    if known.empty:
        return nothing | {"status": UNCHECKED, "reason": "no value is stored"}
    if (known["difference"].abs() <= TOLERANCE).all():
        order = {"order": "|".join(groups)}
        return nothing | {"status": ALIGNED} | order | {"n_orders": _count(known, measures, groups)}
    if not _can_permute(measures, groups):
        reason = f"only the orders of up to {MOST_GROUPS} groups, all with values, are tried"
        return nothing | {"status": UNCHECKED, "reason": reason}
    found = _explaining(known, measures, groups)
    if not found:
        return nothing | {"status": UNEXPLAINED}
    order = "|".join(groups[i] for i in found[0])
    return nothing | {"status": PERMUTED, "order": order, "n_orders": len(found)}


def _can_permute(measures: pd.DataFrame, groups: Sequence[str]) -> bool:
    used = measures[measures["measure"].isin([*FACTORS, *OUTCOMES, "ac_llm"])]
    return len(groups) <= MOST_GROUPS and bool(used["value"].notna().all())


def _count(known: pd.DataFrame, measures: pd.DataFrame, groups: Sequence[str]) -> int:
    return len(_explaining(known, measures, groups)) if _can_permute(measures, groups) else 1


def _explaining(known: pd.DataFrame, measures: pd.DataFrame, groups: Sequence[str]) -> list[tuple[int, ...]]:
    """The orders of the groups' accuracies that make every stored average, those that move fewer groups first."""
    tried = sorted(permutations(range(len(groups))), key=lambda order: sum(i != j for i, j in enumerate(order)))
    means = permuted_means(measures, groups, tried)
    wanted = zip(zip(known["factor"], known["outcome"], strict=True), known["stored"], strict=True)
    fit = np.all([np.abs(means[pair] - value) <= TOLERANCE for pair, value in wanted], axis=0)
    return [order for order, ok in zip(tried, fit, strict=True) if ok]


def permuted_means(
    measures: pd.DataFrame, groups: Sequence[str], tried: Sequence[Sequence[int]]
) -> Mapping[tuple[str, str], np.ndarray]:
    """By (factor, outcome): ρ averaged over the retrievers when the RAG accuracies stand in each of the tried orders.

    The shares and the accuracies of the LLM alone keep the category's order, so that Δ too is made of what stands at
    one place: an order subtracts from a group's accuracy with RAG that of another group without. `measures` are those
    of one task, topic, LLM and category, all defined. Retrievers with a constant side are left out; NaN where none is
    left.
    """
    values = measures.set_index(["measure", "retriever", "group"])["value"]
    retrievers = sorted(set(measures.loc[measures["measure"] == "ac_rag", "retriever"]))

    def of(measure: str, retriever: str) -> np.ndarray:
        return np.array([values[measure, retriever, group] for group in groups])

    alone = of("ac_llm", LLM_ONLY)
    rhos: dict[tuple[str, str], list[np.ndarray]] = {pair: [] for pair in PAIRS}
    for retriever in retrievers:
        rag = of("ac_rag", retriever)[np.array(tried)]
        outcomes = {"ac_rag": _unit(rag), "delta": _unit(rag - alone)}
        for factor, outcome in PAIRS:
            rhos[factor, outcome].append(outcomes[outcome] @ _unit(of(factor, retriever)[None])[0])
    return {pair: _mean_defined(np.array(found)) for pair, found in rhos.items()}


def _unit(rows: np.ndarray) -> np.ndarray:
    """The ranks in each row, centred and of length one, so that a product of two is Spearman's ρ; NaN if all equal."""
    ranks = scipy.stats.rankdata(rows, axis=1) - (rows.shape[1] + 1) / 2
    length = np.sqrt((ranks**2).sum(axis=1, keepdims=True))
    return np.where(length > 0, ranks, np.nan) / np.where(length > 0, length, 1)


def _mean_defined(rhos: np.ndarray) -> np.ndarray:
    """The mean over the first axis of what is defined; NaN where nothing is."""
    counts = (~np.isnan(rhos)).sum(axis=0)
    return np.where(counts > 0, np.nansum(rhos, axis=0) / np.maximum(counts, 1), np.nan)
