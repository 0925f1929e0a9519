"""BM25 in Okapi's form, over words between white space, with exact search in a sparse matrix."""

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from nltk.stem.porter import PorterStemmer
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from whobenefits.errors import DataError
from whobenefits.retrieval.ranking import best_hits, read_doc_ids, sorted_corpus, write_doc_ids

_COUNTS, _TERMS = "counts.npz", "terms.json"


@dataclass(frozen=True)
class OkapiRetriever:
    """BM25 with the formula of the package rank-bm25, class BM25Okapi.

    The sum over the query's tokens t, each occurrence for itself, of idf(t) · tf (k1 + 1) / (tf + k1 (1 − b + b · len /
    mean)). tf counts t in the document, len the document's tokens, mean is the mean len; idf(t) = ln((N − n + 0.5) / (n +
    0.5)) for N documents, n of them with t, and `epsilon` times the mean idf of all terms where that is negative.
    Formula: Robertson et al. 1994, with the floor of Trotman et al. 2014. A document without any token of the query is
    no hit. k1, b and epsilon work at search time; the index does not depend on them.
    """

    source: Path | None = None
    k1: float = 1.5
    b: float = 0.75
    epsilon: float = 0.25

    def index(self, corpus: pd.DataFrame, folder: Path) -> None:
        """Write how often each term stands in each document of the corpus (doc_id, title, text)."""
        documents = sorted_corpus(corpus)
        counts, terms = term_counts((documents["title"] + "\n" + documents["text"]).tolist())
        sparse.save_npz(folder / _COUNTS, counts)
        (folder / _TERMS).write_text(json.dumps(terms, ensure_ascii=False), encoding="utf-8")
        write_doc_ids(documents["doc_id"], folder)

    def search(self, queries: pd.DataFrame, folder: Path, depth: int) -> pd.DataFrame:
        """Hits (query_id, doc_id, score) of the queries (query_id, text): the depth + 1 best, fewer if fewer match."""
        doc_ids, places = read_doc_ids(folder), _read_terms(folder)
        counts = sparse.load_npz(folder / _COUNTS)  # never unpickles
        index = Weights(counts, self.k1, self.b, self.epsilon)
        scores = (index.scores(_term_places(text, places)) for text in queries["text"])
        return best_hits(queries["query_id"].tolist(), scores, doc_ids, depth)


class Weights:
    """The scores of all documents for a query, one column of the matrix of counts for each of its terms."""

    def __init__(self, counts: sparse.csc_array, k1: float, b: float, epsilon: float) -> None:
        self.counts, self.k1 = counts, k1
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        mean = lengths.mean() if lengths.sum() else 1.0
        self.norms = k1 * (1 - b + b * lengths / mean)
        self.idf = floored_idf(np.diff(counts.indptr), counts.shape[0], epsilon)

    def scores(self, terms: Mapping[int, int]) -> np.ndarray:
        """The score of each document, -inf for one without any of the terms; `terms` are columns and their counts."""
        scores = np.zeros(self.counts.shape[0])
        hit = np.zeros(self.counts.shape[0], dtype=bool)
        # In the order of the columns, so that the order of the query's words does not show in the last digit.
        for term in sorted(terms):
            column = slice(self.counts.indptr[term], self.counts.indptr[term + 1])
            rows, tf = self.counts.indices[column], self.counts.data[column].astype(np.float64)
            scores[rows] += terms[term] * self.idf[term] * tf * (self.k1 + 1) / (tf + self.norms[rows])
            hit[rows] = True
        return np.where(hit, scores, -np.inf)


def floored_idf(document_counts: np.ndarray, documents: int, epsilon: float) -> np.ndarray:
    """ln((N − n + 0.5) / (n + 0.5)) of each term, or `epsilon` times the mean of these where it is negative.

    `document_counts` are the n, the numbers of documents with the term, and `documents` is N.
    """
    idf = np.log(documents - document_counts + 0.5) - np.log(document_counts + 0.5)
    return np.where(idf < 0, epsilon * idf.mean(), idf) if len(idf) else idf


def tokens(text: str) -> list[str]:
    """The words of a text: parts between white space that are no stop word, Porter-stemmed.

    Case and punctuation are kept, so "The" is no stop word and "lake," is not "lake". The stop words are the 318 of the
    Glasgow information retrieval group, as scikit-learn has them; the stems are Porter's own later version, without lower
    case.
    """
    return [_stem(word) for word in text.split() if word not in ENGLISH_STOP_WORDS]


@cache
def _stem(word: str) -> str:
    return _STEMMER.stem(word, to_lowercase=False)


_STEMMER = PorterStemmer(PorterStemmer.MARTIN_EXTENSIONS)


def term_counts(texts: Iterable[str]) -> tuple[sparse.csc_array, list[str]]:
    """How often each term stands in each text: int32, texts × terms, and the terms in the order of the columns."""
    places: dict[str, int] = {}
    columns, counts, ends = array("i"), array("i"), [0]
    for text in texts:
        for term, count in Counter(tokens(text)).items():
            columns.append(places.setdefault(term, len(places)))
            counts.append(count)
        ends.append(len(columns))
    arrays = np.frombuffer(counts, np.int32), np.frombuffer(columns, np.int32), np.array(ends)
    matrix = sparse.csr_array(arrays, shape=(len(ends) - 1, len(places)))
    return matrix.tocsc(), list(places)


def _term_places(text: str, places: Mapping[str, int]) -> Counter[int]:
    return Counter(places[term] for term in tokens(text) if term in places)


def _read_terms(folder: Path) -> dict[str, int]:
    path = folder / _TERMS
    if not path.is_file():
        raise DataError(f"{path}: is not there, so {folder} is not a whole index: remove the folder and run again")
    terms: Sequence[str] = json.loads(path.read_text(encoding="utf-8"))
    return {term: place for place, term in enumerate(terms)}


RETRIEVER = OkapiRetriever
