"""Joins of tables by their ids, in which nothing gets lost."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from whobenefits.errors import DataError

# The columns that, beside the query, tell the requests of a setting apart.
PARTS = {"llm": [], "rag": ["retriever"], "doc": ["doc_id"]}


def looked_up(ids: Iterable[Hashable], known: Mapping[Any, Any], what: str) -> list[Any]:
    """The value of each id, in their order; a DataError naming the first id that has none."""
    ids = list(ids)
    missing = [item for item in dict.fromkeys(ids) if item not in known]
    if missing:
        raise DataError(
            f"{what} is missing for {missing[0]!r} ({len(missing)} in all): the tables are not of one run, "
            "remove them and run again"
        )
    return [known[item] for item in ids]


def setting_scores(requests: pd.DataFrame, scores: pd.DataFrame, setting: str) -> dict[tuple[str, ...], float]:
    """E of the answers of one setting.

    By (query_id,) for "llm", (query_id, retriever) for "rag" and (query_id, doc_id) for "doc". A request without a
    score is a DataError, and so are scores by more than one measure; a score of NaN stays NaN.
    """
    names = scores["measure"].unique()
    if len(names) > 1:
        raise DataError(f"scores: hold the measures {sorted(names)}, but one accuracy is needed: keep one")
    known = dict(zip(scores["request_id"], scores["value"], strict=True))
    rows = requests[requests["setting"] == setting]
    keys = zip(*(rows[name] for name in ["query_id", *PARTS[setting]]), strict=True)
    return dict(zip(keys, looked_up(rows["request_id"], known, "a score of the request"), strict=True))
