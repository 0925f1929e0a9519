"""BM25 by Lucene, over title and text, with Anserini's English analysis (Porter stemmer, stop words)."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from whobenefits.retrieval.java import java_cast, java_class
from whobenefits.retrieval.ranking import sorted_corpus

_LUCENE = "org.apache.lucene"
_UNLIMITED = 2**31 - 1


@dataclass(frozen=True)
class Bm25Retriever:
    """BM25 with Lucene's formula: the sum over the query's tokens t of idf(t) · tf / (tf + k1 (1 − b + b · len / mean)).

    tf counts t in the document, len its tokens, rounded down to what Lucene keeps in one byte (exact up to 40), mean is
    the mean len; idf(t) = ln(1 + (N − n + 0.5) / (n + 0.5)) for N documents, n of them with t. A document without any
    token of the query is no hit. Formula: Robertson and Zaragoza 2009, in the variant of Kamphuis et al. 2020, "Lucene
    (default)". k1 and b work at search time; the index does not depend on them.
    """

    source: Path | None = None
    k1: float = 0.9
    b: float = 0.4

    def index(self, corpus: pd.DataFrame, folder: Path) -> None:
        """Write a Lucene index of the corpus (doc_id, title, text)."""
        # One thread, so that the same corpus makes the same index.
        indexer = java_class("io.anserini.index.SimpleIndexer")(str(folder), False, 1)
        documents = sorted_corpus(corpus)
        contents = documents["title"] + "\n" + documents["text"]
        for doc_id, content in zip(documents["doc_id"], contents, strict=True):
            indexer.addRawDocument(json.dumps({"id": doc_id, "contents": content}))
        indexer.close()

    def search(self, queries: pd.DataFrame, folder: Path, depth: int) -> pd.DataFrame:
        """Hits (query_id, doc_id, score) of the queries (query_id, text), fewer where fewer documents share a token.

        Query texts are bags of words: no character in them is an operator, and they may have any length.
        """
        rows = []
        searcher = _searcher(folder, self.k1, self.b)
        for query_id, text in zip(queries["query_id"], queries["text"], strict=True):
            rows += [(query_id, doc_id, score) for doc_id, score in _hits(searcher, text, depth + 1)]
        return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype(
            {"query_id": "str", "doc_id": "str", "score": "float64"}
        )


def _searcher(folder: Path, k1: float, b: float) -> Any:
    # Lucene itself and not pyserini's LuceneSearcher: that rounds scores to four decimals and takes 0.000001 from each
    # further one of equal scores, so that ties can no longer be told.
    directory = java_class(f"{_LUCENE}.store.FSDirectory").open(java_class("java.nio.file.Paths").get(str(folder)))
    reader = java_class(f"{_LUCENE}.index.DirectoryReader").open(directory)
    searcher = java_class(f"{_LUCENE}.search.IndexSearcher")(java_cast(f"{_LUCENE}.index.IndexReader", reader))
    searcher.setSimilarity(java_class(f"{_LUCENE}.search.similarities.BM25Similarity")(k1, b))
    # Lucene refuses more than 1,024 different words, which a whole document as a query can have.
    searcher.setMaxClauseCount(_UNLIMITED)
    return searcher


def _hits(searcher: Any, text: str, count: int) -> list[tuple[str, float]]:
    generator, analyzer, order = _parts()
    query = generator.buildQuery("contents", analyzer, text)
    hits = searcher.search(query, count, order, True).scoreDocs
    stored = searcher.storedFields()
    return [(stored.document(hit.doc).get("id"), hit.score) for hit in hits]


@cache
def _parts() -> tuple[Any, Any, Any]:
    """Query generator, analyzer and order of hits: by score, then by doc_id, whose UTF-8 bytes sort like code points."""
    generator = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
    analyzer = java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()
    field = java_class(f"{_LUCENE}.search.SortField")
    by_id = field("id", java_class(f"{_LUCENE}.search.SortField$Type").STRING_VAL)
    return generator, analyzer, java_class(f"{_LUCENE}.search.Sort")(field.FIELD_SCORE, by_id)


RETRIEVER = Bm25Retriever
