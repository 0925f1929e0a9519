"""A bi-encoder: mean of the token vectors, exact search."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import AutoModel

from whobenefits.retrieval.encoder import Encoder, distinct, document_texts, load_encoder
from whobenefits.retrieval.ranking import best_hits, read_doc_ids, sorted_corpus, write_doc_ids

_VECTORS = "vectors.npy"


@dataclass(frozen=True)
class DenseRetriever:
    """Mean-pooled vectors compared by `dot` product or by `cosine` (in [-1, 1]); each document is a hit."""

    source: Path
    similarity: str = "cosine"
    max_length: int = 256
    batch_tokens: int = 2048

    def index(self, corpus: pd.DataFrame, folder: Path) -> None:
        """Write the vectors of the corpus (doc_id, title, text), one float32 row for each document."""
        documents = sorted_corpus(corpus)
        np.save(folder / _VECTORS, self._vectors(document_texts(documents)), allow_pickle=False)
        write_doc_ids(documents["doc_id"], folder)

    def search(self, queries: pd.DataFrame, folder: Path, depth: int) -> pd.DataFrame:
        """Hits (query_id, doc_id, score) of the queries (query_id, text): the depth + 1 best of all documents."""
        doc_ids, vectors = read_doc_ids(folder), np.load(folder / _VECTORS, allow_pickle=False)
        # One product for each query, so that its scores do not depend on which queries stand beside it.
        scores = (vectors @ vector for vector in self._vectors(queries["text"].tolist()))
        return best_hits(queries["query_id"].tolist(), scores, doc_ids, depth)

    def _vectors(self, texts: list[str]) -> np.ndarray:
        encoder = load_encoder(AutoModel, self.source, self.max_length, self.batch_tokens)
        vectors = mean_vectors(encoder, texts)
        return unit_vectors(vectors) if self.similarity == "cosine" else vectors


def mean_vectors(encoder: Encoder, texts: list[str]) -> np.ndarray:
    """The mean over the tokens of each text of the model's last hidden states: float32, texts × dimensions."""
    different, places = distinct(texts)
    vectors = np.empty((len(different), encoder.model.config.hidden_size), dtype=np.float32)
    for batch, tokens in encoder.batches(different):
        vectors[batch] = _pooled(encoder, tokens).cpu().numpy()
    return vectors[places]


@torch.inference_mode()
def _pooled(encoder: Encoder, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
    mask = tokens["attention_mask"].unsqueeze(-1)
    return (encoder.model(**tokens).last_hidden_state * mask).sum(1) / mask.sum(1)


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """The vectors divided by their length; a zero vector stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


RETRIEVER = DenseRetriever
