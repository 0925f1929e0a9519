"""From scores to ranked lists: equal scores, the query's own document, the depth."""

import json
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from whobenefits.errors import DataError

DIGITS = 6
_IDS = "doc_ids.json"


def ranked(hits: pd.DataFrame, query_ids: Sequence[str], depth: int) -> pd.DataFrame:
    """A run of (query_id, doc_id, rank, score): the best `depth` hits of each query without the query's own document.

    `hits` are rows (query_id, doc_id, score) in any order and more than enough: where a query has so many, its best
    depth + 1. Scores fall from rank 1 on; equal scores stand in ascending order of doc_id, by code point. A query with
    fewer hits has a shorter list, or none; how many these are is logged.
    """
    others = hits[hits["query_id"] != hits["doc_id"]]
    others = others.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, True], ignore_index=True)
    run = others.assign(rank=others.groupby("query_id").cumcount().astype("int64") + 1)
    run = run.loc[run["rank"] <= depth, ["query_id", "doc_id", "rank", "score"]].reset_index(drop=True)
    _log_short(run, query_ids, depth)
    return run


def _log_short(run: pd.DataFrame, query_ids: Sequence[str], depth: int) -> None:
    found = run["query_id"].value_counts().reindex(list(query_ids), fill_value=0)
    if (found < depth).any():
        message = "%d of %d queries have fewer than %d documents, %d of them none"
        logging.getLogger(__name__).warning(message, (found < depth).sum(), len(found), depth, (found == 0).sum())


def best_hits(
    query_ids: Sequence[str], scores: Iterable[np.ndarray], doc_ids: Sequence[str], depth: int
) -> pd.DataFrame:
    """The best depth + 1 documents of each query, one more because its own may be among them.

    `scores` has one row for each query with the score of each document, -inf for one that is no hit. `doc_ids` must be
    in ascending order: equal scores, also those at the cut-off, then come in this order. Scores are rounded to six
    significant digits of the query's largest: what is left of float32 arithmetic beyond that changes with the batch and
    the machine, and would decide between documents that are in fact equal.
    """
    rows = []
    for query_id, row in zip(query_ids, scores, strict=True):
        row = rounded(row)
        best = first_largest(row, depth + 1)
        rows += [(query_id, doc_ids[i], float(row[i])) for i in best if row[i] > -np.inf]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype(
        {"query_id": "str", "doc_id": "str", "score": "float64"}
    )


def rounded(scores: np.ndarray) -> np.ndarray:
    """The scores as float64, rounded to so many decimals that the largest magnitude keeps six significant digits."""
    scores = np.asarray(scores, dtype=np.float64)
    largest = np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    return np.round(scores, DIGITS - 1 - int(np.floor(np.log10(largest)))) if largest > 0 else scores


def first_largest(scores: np.ndarray, count: int) -> np.ndarray:
    """Positions of the `count` largest scores, largest first; among equal ones the first positions win."""
    if count < len(scores):
        edge = np.partition(scores, -count)[-count]
        kept = np.flatnonzero(scores >= edge)
    else:
        kept = np.arange(len(scores))
    return kept[np.argsort(-scores[kept], kind="stable")[:count]]


def sorted_corpus(corpus: pd.DataFrame) -> pd.DataFrame:
    """The corpus in ascending order of doc_id, so that an index does not depend on the order of its rows."""
    return corpus.sort_values("doc_id", ignore_index=True)


def write_doc_ids(doc_ids: Sequence[str], folder: Path) -> None:
    """Keep the documents' ids beside an index, in the order of its rows."""
    (folder / _IDS).write_text(json.dumps(list(doc_ids), ensure_ascii=False), encoding="utf-8")


def read_doc_ids(folder: Path) -> list[str]:
    """The documents' ids in the order of the rows of an index. Raises DataError where the folder is no index."""
    path = folder / _IDS
    if not path.is_file():
        raise DataError(f"{path}: is not there, so {folder} is not a whole index: remove the folder and run again")
    return json.loads(path.read_text(encoding="utf-8"))
