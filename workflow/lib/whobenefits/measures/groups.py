"""The measures of every fairness category and group of one topic, task and LLM, joined on the groups' labels."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from whobenefits.errors import DataError
from whobenefits.measures.accuracy import group_accuracy
from whobenefits.measures.factors import FACTORS
from whobenefits.measures.means import NO_QUERY
from whobenefits.measures.shares import group_shares

ALL = "all"
CELL = ["topic", "task", "llm"]


def group_measures(
    outcomes: pd.DataFrame,
    factors: pd.DataFrame,
    groups: pd.DataFrame,
    queries: pd.DataFrame,
    categories: Mapping[str, Sequence[str]],
    empty_groups: str = "undefined",
    factor_decimals: int | None = None,
) -> pd.DataFrame:
    """The table of measures of one topic, task and LLM.

    `groups` labels the documents, queries among them (a query's id is its document's), and `categories` gives the
    groups of each reported category in their order. A query or document without a label in a category counts towards no
    group of it: accuracies are over the labelled queries, shares over the labelled documents, while factor means are
    divided by all queries. The accuracies over all queries stand under the category "all" and the group "all". The
    order of rows in the inputs changes nothing. Queries that differ between the tables, and labels that a category does
    not have, are a DataError.

    With `empty_groups` "zero", the accuracies of a group without a query are 0 instead of undefined. With
    `factor_decimals`, means and shares of the factors are rounded to so many decimals, the shares being those of the
    means before they are rounded. The public code of study Q does both, with three decimals.
    """
    ids = set(queries["query_id"])
    _check_queries(outcomes, factors, ids)
    retrievers = sorted(set(outcomes.loc[outcomes["measure"] == "ac_rag", "retriever"]))
    parts = [pd.DataFrame(group_accuracy(outcomes, dict.fromkeys(ids, ALL), [ALL])).assign(category=ALL)]
    for category, names in categories.items():
        labels = _labels(groups, category, names, ids.union(factors["doc_id"]))
        rows = group_accuracy(outcomes, labels, names) + group_shares(factors, retrievers, labels, names, len(ids))
        parts.append(pd.DataFrame(rows).assign(category=category))
    table = pd.concat(parts, ignore_index=True).assign(**_cell(outcomes))
    table = _zero_for_empty(table) if empty_groups == "zero" else table
    return table if factor_decimals is None else _rounded(table, factor_decimals)


def _zero_for_empty(table: pd.DataFrame) -> pd.DataFrame:
    """The table with 0, and no reason, for what is undefined because a group has no query; n stays 0."""
    empty = table["reason"] == NO_QUERY
    return table.assign(value=table["value"].mask(empty, 0.0), reason=table["reason"].mask(empty, ""))


def _rounded(table: pd.DataFrame, decimals: int) -> pd.DataFrame:
    of_factors = table["measure"].isin([*FACTORS, *(f"{factor}_mean" for factor in FACTORS)])
    return table.assign(value=table["value"].mask(of_factors, table["value"].round(decimals)))


def _check_queries(outcomes: pd.DataFrame, factors: pd.DataFrame, ids: set[str]) -> None:
    found = {
        f"{name[0]} of {name[1]}": set(part["query_id"]) for name, part in outcomes.groupby(["measure", "retriever"])
    }
    wrong = [(name, query) for name, known in found.items() for query in sorted(known ^ ids)]
    wrong += [("factors", query) for query in sorted(set(factors["query_id"]) - ids)]
    if wrong or not found:
        name, query = wrong[0] if wrong else ("outcomes", "")
        raise DataError(
            f"{name}: the query {query!r} is not both here and among the topic's queries: the tables are not of one "
            "run, remove them and run again"
        )


def _labels(groups: pd.DataFrame, category: str, names: Sequence[str], needed: Collection[str]) -> dict[str, str]:
    """The group of each needed document that has one in the category."""
    rows = groups[groups["category"] == category]
    unknown = sorted(set(rows["group"]) - set(names))
    if unknown or rows.empty:
        what = f"the group {unknown[0]!r}, which {category} does not have" if unknown else f"no label of {category}"
        raise DataError(f"groups: hold {what}: its groups are {list(names)}; remove the table and run again")
    rows = rows[rows["doc_id"].isin(needed)]
    return dict(zip(rows["doc_id"], rows["group"], strict=True))


def _cell(outcomes: pd.DataFrame) -> dict[str, str]:
    cells = outcomes[CELL].drop_duplicates()
    if len(cells) != 1:
        raise DataError(f"outcomes: hold {len(cells)} cells of topic, task and LLM, but one is needed: pass one table")
    return cells.iloc[0].to_dict()
