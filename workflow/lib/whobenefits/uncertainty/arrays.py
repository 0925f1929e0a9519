"""The tables of one topic, task and LLM as arrays over its queries, for one category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from whobenefits.errors import DataError
from whobenefits.measures.accuracy import NO_RETRIEVER
from whobenefits.measures.factors import FACTORS
from whobenefits.measures.groups import ALL, CELL
from whobenefits.measures.joins import looked_up

NO_GROUP = -1


@dataclass(frozen=True)
class QueryArrays:
    """Q queries, sorted by id, with their G groups, R retrievers (sorted) and F factors.

    `label` (Q,) is the index of each query's group, -1 without one. `llm` (Q,) and `rag` (R, Q) are E, in [0, 1] or NaN.
    `factors` (R, F, Q, G) holds, for each query, a factor's sum over the documents of each group in its list; of the
    category "all" it has no groups.
    """

    place: dict[str, str]
    groups: tuple[str, ...]
    retrievers: tuple[str, ...]
    queries: tuple[str, ...]
    label: np.ndarray
    llm: np.ndarray
    rag: np.ndarray
    factors: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """The number of queries in each group, shape (G,)."""
        return np.bincount(self.label[self.label != NO_GROUP], minlength=len(self.groups))

    @property
    def series(self) -> list[tuple[str, str]]:
        """Measure and retriever of each row of `values`."""
        names = [(measure, name) for measure in ("ac_rag", "delta") for name in self.retrievers]
        return [("ac_llm", NO_RETRIEVER), *names]

    @property
    def values(self) -> np.ndarray:
        """ac_llm, then ac_rag and then delta of each retriever, for each query; shape (1 + 2R, Q)."""
        return np.vstack([self.llm[None], self.rag, self.rag - self.llm])


def query_arrays(
    outcomes: pd.DataFrame, factors: pd.DataFrame, groups: pd.DataFrame, category: str, names: Sequence[str]
) -> QueryArrays:
    """The arrays of one topic, task and LLM from its tables of outcomes, factors and groups.

    `names` are the category's groups in their order; the category "all" has one group with every query. The order of
    rows changes nothing. Several cells, a missing outcome, or a label that the category does not have is a DataError.
    """
    ids = sorted(set(outcomes["query_id"]))
    retrievers = sorted(set(outcomes.loc[outcomes["measure"] == "ac_rag", "retriever"]))
    labels = {} if category == ALL else _labels(groups, category, names)
    own = [0 if category == ALL else labels.get(query, NO_GROUP) for query in ids]
    return QueryArrays(
        place=_cell(outcomes) | {"category": category},
        groups=tuple(names),
        retrievers=tuple(retrievers),
        queries=tuple(ids),
        label=np.array(own, dtype=np.int64),
        llm=_scores(outcomes, "ac_llm", [NO_RETRIEVER], ids)[0],
        rag=_scores(outcomes, "ac_rag", retrievers, ids),
        factors=_sums(factors, retrievers, ids, labels, 0 if category == ALL else len(names)),
    )


def _labels(groups: pd.DataFrame, category: str, names: Sequence[str]) -> dict[str, int]:
    rows = groups[groups["category"] == category]
    unknown = sorted(set(rows["group"]) - set(names))
    if unknown:
        raise DataError(f"groups: hold {unknown[0]!r}, which {category} does not have: its groups are {list(names)}")
    index = {name: i for i, name in enumerate(names)}
    return {doc_id: index[group] for doc_id, group in zip(rows["doc_id"], rows["group"], strict=True)}


def _scores(outcomes: pd.DataFrame, measure: str, retrievers: Sequence[str], ids: Sequence[str]) -> np.ndarray:
    rows = outcomes[outcomes["measure"] == measure]
    known = dict(zip(zip(rows["retriever"], rows["query_id"], strict=True), rows["value"], strict=True))
    found = looked_up([(name, query) for name in retrievers for query in ids], known, measure)
    return np.array(found, dtype=float).reshape(len(retrievers), len(ids))


def _sums(
    factors: pd.DataFrame, retrievers: Sequence[str], ids: Sequence[str], labels: Mapping[str, int], n_groups: int
) -> np.ndarray:
    # Sorted, so that the order of the rows does not show in the last digit of a sum.
    rows = factors[factors["doc_id"].isin(labels)].sort_values(["retriever", "query_id", "doc_id"])
    where = {name: i for i, name in enumerate(retrievers)}, {name: i for i, name in enumerate(ids)}
    retriever = looked_up(rows["retriever"], where[0], "the outcomes of the retriever")
    query = looked_up(rows["query_id"], where[1], "the outcomes of the query")
    group = looked_up(rows["doc_id"], labels, "a label")
    sums = np.zeros((len(retrievers), len(FACTORS), len(ids), n_groups))
    for i, name in enumerate(FACTORS):
        np.add.at(sums, (retriever, i, query, group), rows[name].to_numpy(dtype=float))
    return sums


def _cell(outcomes: pd.DataFrame) -> dict[str, str]:
    cells = outcomes[CELL].drop_duplicates()
    if len(cells) != 1:
        raise DataError(f"outcomes: hold {len(cells)} cells of topic, task and LLM, but one is needed: pass one table")
    return cells.iloc[0].to_dict()
