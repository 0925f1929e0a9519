"""SPLADE: sparse vectors over the vocabulary of a masked language model, exact product."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy import sparse
from transformers import AutoModelForMaskedLM

from whobenefits.retrieval.encoder import Encoder, distinct, document_texts, load_encoder
from whobenefits.retrieval.ranking import best_hits, read_doc_ids, sorted_corpus, write_doc_ids

_VECTORS = "vectors.npz"


@dataclass(frozen=True)
class SpladeRetriever:
    """Query and document by the same encoder; the score is the product of their vectors.

    A document that shares no dimension with the query is no hit, as it is none of an inverted index.
    """

    source: Path
    max_length: int = 256
    top_terms: int | None = None
    batch_tokens: int = 2048

    def index(self, corpus: pd.DataFrame, folder: Path) -> None:
        """Write the vectors of the corpus (doc_id, title, text), one sparse float32 row for each document."""
        documents = sorted_corpus(corpus)
        sparse.save_npz(folder / _VECTORS, self._vectors(document_texts(documents)))
        write_doc_ids(documents["doc_id"], folder)

    def search(self, queries: pd.DataFrame, folder: Path, depth: int) -> pd.DataFrame:
        """Hits (query_id, doc_id, score) of the queries (query_id, text): the depth + 1 best, fewer if fewer match."""
        # load_npz never unpickles.
        doc_ids, vectors = read_doc_ids(folder), sparse.load_npz(folder / _VECTORS).astype(np.float64)
        scores = (hit_scores(vectors, vector) for vector in self._vectors(queries["text"].tolist()))
        return best_hits(queries["query_id"].tolist(), scores, doc_ids, depth)

    def _vectors(self, texts: list[str]) -> sparse.csr_array:
        encoder = load_encoder(AutoModelForMaskedLM, self.source, self.max_length, self.batch_tokens)
        return splade_vectors(encoder, texts, self.top_terms)


def hit_scores(documents: sparse.csr_array, query: sparse.csr_array) -> np.ndarray:
    """The product of each document's vector with the query's, -inf where they share no dimension."""
    scores = documents @ query.toarray().ravel().astype(np.float64)
    return np.where(scores > 0, scores, -np.inf)  # weights are positive, so a product of 0 shares nothing


def splade_vectors(encoder: Encoder, texts: list[str], top_terms: int | None = None) -> sparse.csr_array:
    """Weights max over the tokens i of ln(1 + relu(logit_ij)) for each word j: float32, texts × vocabulary.

    With `top_terms`, only so many of a text's largest weights are kept; None keeps all. Dense vectors are held for one
    batch.

    Formula: Formal et al. 2021, "SPLADE v2: Sparse Lexical and Expansion Model for Information Retrieval", max pooling.
    """
    different, places = distinct(texts)
    rows, order = [], []
    for batch, tokens in encoder.batches(different):
        rows.append(sparse.csr_array(largest(_weights(encoder, tokens), top_terms).cpu().numpy()))
        order += batch
    return sparse.vstack(rows, format="csr")[np.argsort(order)[places]]


@torch.inference_mode()
def _weights(encoder: Encoder, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
    # The logarithm rises, so it may follow the maximum: it is then taken once for each word instead of each token.
    outside = tokens["attention_mask"].unsqueeze(-1) == 0
    highest = encoder.model(**tokens).logits.masked_fill_(outside, 0).amax(1)
    return torch.log1p(torch.relu(highest))


def largest(weights: torch.Tensor, count: int | None) -> torch.Tensor:
    """The weights with all but the `count` largest of each row set to 0; None keeps all."""
    if count is None or count >= weights.shape[1]:
        return weights
    kept = weights.topk(count, dim=1)
    return torch.zeros_like(weights).scatter_(1, kept.indices, kept.values)


RETRIEVER = SpladeRetriever
