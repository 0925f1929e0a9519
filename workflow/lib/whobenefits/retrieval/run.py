"""A TREC run file that was made elsewhere stands in for a retriever."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from whobenefits.errors import DataError
from whobenefits.retrieval.ranking import read_doc_ids, write_doc_ids
from whobenefits.retrieval.trec import read_trec_run


@dataclass(frozen=True)
class GivenRun:
    """The run file `source`. Its ranks are not used: they are made again from the scores, ties by doc_id."""

    source: Path | None

    def index(self, corpus: pd.DataFrame, folder: Path) -> None:
        """Write the ids of the corpus (doc_id, title, text): what the documents of the run are checked against."""
        write_doc_ids(sorted(corpus["doc_id"]), folder)

    def search(self, queries: pd.DataFrame, folder: Path, depth: int) -> pd.DataFrame:
        """All hits (query_id, doc_id, score) that the file has for the queries (query_id, text).

        Raises DataError, naming the first and how many there are, for documents that are not in the corpus, queries
        that the file lacks, and queries whose list was cut before `depth` documents besides their own.
        """
        run, doc_ids = read_trec_run(self.source), set(read_doc_ids(folder))
        longest = run["query_id"].value_counts().max()
        run = run.loc[run["query_id"].isin(queries["query_id"]), ["query_id", "doc_id", "score"]]
        self._check_documents(run, doc_ids)
        self._check_queries(run, queries["query_id"].tolist())
        self._check_depth(run, longest, min(depth, len(doc_ids) - 1))
        return run

    def _check_documents(self, run: pd.DataFrame, doc_ids: set[str]) -> None:
        unknown = run.loc[~run["doc_id"].isin(doc_ids), "doc_id"].unique()
        if len(unknown):
            raise DataError(
                f"{self.source}: {unknown[0]!r} is the first of {len(unknown)} documents that are not in the corpus: "
                "give a run over the documents of this topic"
            )

    def _check_queries(self, run: pd.DataFrame, query_ids: list[str]) -> None:
        present = set(run["query_id"])
        missing = [query_id for query_id in query_ids if query_id not in present]
        if missing:
            raise DataError(
                f"{self.source}: {missing[0]!r} is the first of {len(missing)} queries without a document: "
                "give a run with all queries of this topic"
            )

    def _check_depth(self, run: pd.DataFrame, longest: int, depth: int) -> None:
        # A list as long as the longest one of the file was cut there; a shorter one is all that its retriever found.
        cut = run["query_id"].value_counts(sort=False) == longest
        others = run.loc[run["query_id"] != run["doc_id"], "query_id"].value_counts().reindex(cut.index, fill_value=0)
        short = others[cut & (others < depth)]
        if len(short):
            raise DataError(
                f"{self.source}: {short.index[0]!r} is the first of {len(short)} queries whose list was cut, with "
                f"{short.iloc[0]} documents besides its own, but retrieval.depth is {depth}: give a deeper run or "
                "lower the depth"
            )


RETRIEVER = GivenRun
