"""What a retrieved document brings: its utility, its exposure and its attribution."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from whobenefits.measures.joins import looked_up, setting_scores

FACTORS = ("utility", "exposure", "attribution")


def utility(e_doc: np.ndarray, e_llm: np.ndarray) -> np.ndarray:
    """max(E(answer with the document alone) - E(answer without documents), 0), elementwise, in [0, 1].

    Formula: study Q, u(q, d). NaN where either E is.
    """
    return np.maximum(np.asarray(e_doc, dtype=float) - np.asarray(e_llm, dtype=float), 0.0)


def document_factors(
    requests: pd.DataFrame,
    scores: pd.DataFrame,
    attributions: pd.DataFrame,
    runs: Mapping[str, pd.DataFrame],
    context_size: int,
) -> pd.DataFrame:
    """The factors of each document in the top `context_size` of each retriever's run, one row each.

    Columns: retriever, query_id, doc_id, rank, utility (in [0, 1]), exposure (1: every document that the LLM gets is
    shown to it once, whatever its rank) and attribution (1 where the document supports the answer, else 0). A document
    without a score or an attribution is a DataError; an undefined score makes its utility NaN.
    """
    llm, doc = (setting_scores(requests, scores, setting) for setting in ("llm", "doc"))
    keys = zip(attributions["query_id"], attributions["retriever"], attributions["doc_id"], strict=True)
    supported = dict(zip(keys, attributions["attributed"], strict=True))
    rows = pd.concat([_shown(name, runs[name], context_size) for name in sorted(runs)], ignore_index=True)
    shown = list(zip(rows["query_id"], rows["retriever"], rows["doc_id"], strict=True))
    e_doc = looked_up([(query, doc_id) for query, _, doc_id in shown], doc, "the request with the document alone")
    e_llm = looked_up([(query,) for query, _, _ in shown], llm, "the request to the LLM alone")
    attributed = looked_up(shown, supported, "an attribution of (query, retriever, document)")
    return rows.assign(
        utility=utility(np.array(e_doc, dtype=float), np.array(e_llm, dtype=float)),
        exposure=1.0,
        attribution=np.array(attributed, dtype=float),
    )


def _shown(retriever: str, run: pd.DataFrame, context_size: int) -> pd.DataFrame:
    first = run.loc[run["rank"] <= context_size, ["query_id", "doc_id", "rank"]].sort_values(["query_id", "rank"])
    return first.assign(retriever=retriever)
