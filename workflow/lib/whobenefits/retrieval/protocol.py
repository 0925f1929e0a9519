"""What a retriever is, and retrieval with any of them."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from whobenefits.errors import DataError
from whobenefits.retrieval.ranking import ranked

# Columns of the corpus that make a query: the other one is the reference of the answer.
QUERY_COLUMN = {"article": "title", "title": "text"}


class Retriever(Protocol):
    """A way to index a corpus and to search it."""

    def index(self, corpus: pd.DataFrame, folder: Path) -> None:
        """Write an index of the corpus (doc_id, title, text) into the folder, which exists."""

    def search(self, queries: pd.DataFrame, folder: Path, depth: int) -> pd.DataFrame:
        """Hits (query_id, doc_id, score) of the queries (query_id, text) in an index, in any order.

        More than enough: at least the depth + 1 best of each query where there are so many, equal scores at this edge
        in ascending order of doc_id, so that `depth` are left without the query's own document.
        """


def retriever_of(settings: Mapping[str, Any], source: Path | None) -> Retriever:
    """The retriever of checked settings: the class RETRIEVER of the module named by `kind`.

    `source` is what it works from: the folder of a model, a run file, or None. The settings come as plain values, not
    as a class of whobenefits.config, for else each edit of that module would redo all retrieval.
    """
    module = importlib.import_module(f"whobenefits.retrieval.{settings['kind']}")
    options = {name: value for name, value in settings.items() if name not in ("kind", "label", "model", "path")}
    return module.RETRIEVER(source, **options)


def source_of(model: str | None, given: str | None = None) -> Path | None:
    """What a retriever works from: a given run file, or the folder of the model with this manifest, or nothing."""
    if given:
        return Path(given)
    return Path(model).parent if model else None


def retrieved(
    retriever: Retriever, corpus: pd.DataFrame, query_ids: list[str], task: str, folder: Path, depth: int
) -> pd.DataFrame:
    """The run (query_id, doc_id, rank, score) of one task: `depth` documents for each query, never its own.

    Raises DataError where a query is no document of the corpus.
    """
    queries = query_texts(corpus, query_ids, task)
    return ranked(retriever.search(queries, folder, depth), query_ids, depth)


def query_texts(corpus: pd.DataFrame, query_ids: list[str], task: str) -> pd.DataFrame:
    """The queries (query_id, text): the title of the query's own document for `article`, its text for `title`.

    Raises DataError naming the first query that is no document of the corpus, and how many there are.
    """
    texts = corpus.set_index("doc_id")[QUERY_COLUMN[task]]
    missing = [query_id for query_id in query_ids if query_id not in texts.index]
    if missing:
        raise DataError(
            f"queries: {missing[0]!r} is the first of {len(missing)} queries that are no documents of the corpus: "
            "make corpus and queries again from the same dataset"
        )
    return pd.DataFrame({"query_id": query_ids, "text": texts.loc[query_ids].tolist()}, dtype="str")
