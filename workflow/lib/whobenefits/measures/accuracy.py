"""AC and Δ: accuracy of the answers without and with retrieved documents, for a query and for a group of queries."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from whobenefits.measures.joins import looked_up, setting_scores
from whobenefits.measures.means import Value, mean

NO_RETRIEVER = "none"


def query_accuracy(requests: pd.DataFrame, scores: pd.DataFrame, retrievers: Iterable[str]) -> pd.DataFrame:
    """E of each query: columns retriever, query_id, measure, value.

    Measures: `ac_llm`, the answer without documents, under the retriever "none"; and for each retriever `ac_rag`, the
    answer with its documents, and `delta` = ac_rag - ac_llm. A query without one of these requests is a DataError; a
    score of NaN stays NaN.
    """
    queries = sorted(set(requests["query_id"]))
    llm, rag = (setting_scores(requests, scores, setting) for setting in ("llm", "rag"))
    e_llm = np.array(looked_up([(query,) for query in queries], llm, "the request to the LLM alone"), dtype=float)
    parts = [_outcomes(NO_RETRIEVER, "ac_llm", queries, e_llm)]
    for name in sorted(retrievers):
        e_rag = np.array(
            looked_up([(query, name) for query in queries], rag, "the request with documents"), dtype=float
        )
        parts += [_outcomes(name, "ac_rag", queries, e_rag), _outcomes(name, "delta", queries, e_rag - e_llm)]
    return pd.concat(parts, ignore_index=True)


def _outcomes(retriever: str, measure: str, queries: Sequence[str], values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"retriever": retriever, "query_id": queries, "measure": measure, "value": values})


def group_accuracy(outcomes: pd.DataFrame, labels: Mapping[str, str], groups: Sequence[str]) -> list[dict]:
    """AC of each group: rows with retriever, group, measure, value, n, reason.

    AC(g) is the mean of E over the queries of the group, in [0, 1], and delta(g) = ac_rag(g) - ac_llm(g), in [-1, 1].
    NaN for a group without a query and for one with an undefined score. `labels` gives the group of each query; a query
    that it does not name counts towards no group. Formula: study Q, AC^x(g) and Δ.
    """
    values = {key: dict(zip(part.query_id, part.value, strict=True)) for key, part in _parts(outcomes)}
    retrievers = sorted(retriever for measure, retriever in values if measure == "ac_rag")
    rows = []
    for group in groups:
        members = [query for query in values["ac_llm", NO_RETRIEVER] if labels.get(query) == group]
        llm = mean(looked_up(members, values["ac_llm", NO_RETRIEVER], "ac_llm"))
        rows.append(_row(NO_RETRIEVER, group, "ac_llm", llm))
        for name in retrievers:
            rag = mean(looked_up(members, values["ac_rag", name], f"ac_rag of {name}"))
            rows += [_row(name, group, "ac_rag", rag), _row(name, group, "delta", _difference(rag, llm))]
    return rows


def _parts(outcomes: pd.DataFrame) -> Iterable[tuple]:
    return outcomes.groupby(["measure", "retriever"])


def _difference(rag: Value, llm: Value) -> Value:
    value = rag.value - llm.value
    return Value(value, rag.n, (rag.reason or llm.reason) if math.isnan(value) else "")


def _row(retriever: str, group: str, measure: str, value: Value) -> dict:
    return {"retriever": retriever, "group": group, "measure": measure, **vars(value)}
