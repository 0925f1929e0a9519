import math

import numpy as np
import pandas as pd
import pytest
import tiny_encoder
import torch
from scipy import sparse
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForMaskedLM

from whobenefits.retrieval.encoder import document_texts, load_encoder
from whobenefits.retrieval.ranking import ranked
from whobenefits.retrieval.splade import SpladeRetriever, hit_scores, splade_vectors

QUERIES = pd.DataFrame({"query_id": ["b", "q"], "text": ["the old moon", "deep water of the lake"]}, dtype="str")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_encoder.tiny_bert(tmp_path_factory.mktemp("bert"), BertForMaskedLM)


def vectors(model, texts, batch_tokens=40):
    return splade_vectors(load_encoder(AutoModelForMaskedLM, model, 64, batch_tokens), texts).toarray()


def reference(model, text):
    """One text at a time, no padding; the formula by plain loops, the logarithm inside the maximum as published."""
    network = AutoModelForMaskedLM.from_pretrained(model).eval()
    with torch.no_grad():
        logits = network(torch.tensor([AutoTokenizer.from_pretrained(model)(text)["input_ids"]])).logits[0].tolist()
    return [max(math.log(1 + max(token[j], 0)) for token in logits) for j in range(len(logits[0]))]


@pytest.mark.parametrize("batch_tokens", [1, 40, 200])
def test_batched_vectors_are_those_of_one_text_at_a_time(model, batch_tokens):
    texts = document_texts(tiny_encoder.corpus())
    expected = [reference(model, text) for text in texts]
    np.testing.assert_allclose(vectors(model, texts, batch_tokens), expected, rtol=1e-4, atol=1e-5)


def test_the_order_of_the_texts_changes_no_bit_and_equal_texts_have_equal_vectors(model):
    texts = document_texts(tiny_encoder.corpus())
    np.testing.assert_array_equal(vectors(model, texts[::-1])[::-1], vectors(model, texts))
    doubled = vectors(model, [*texts, *texts])
    np.testing.assert_array_equal(doubled[: len(texts)], doubled[len(texts) :])


def test_scores_are_the_products_of_the_vectors(model, tmp_path):
    corpus = tiny_encoder.corpus()
    retriever = SpladeRetriever(model, max_length=64, batch_tokens=40)
    retriever.index(corpus, tmp_path)
    hits = retriever.search(QUERIES, tmp_path, 10).set_index(["query_id", "doc_id"])["score"]
    for query_id, text in zip(QUERIES["query_id"], QUERIES["text"], strict=True):
        query = reference(model, text)
        for doc_id, document in zip(corpus["doc_id"], document_texts(corpus), strict=True):
            product = sum(a * b for a, b in zip(query, reference(model, document), strict=True))
            assert hits[query_id, doc_id] == pytest.approx(product, rel=1e-4)


def test_a_document_that_shares_no_dimension_is_no_hit():
    documents = sparse.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], dtype=np.float32))
    # 1 x 0.5 + 2 x 2 = 4.5; the second document has only the third dimension, where the query has nothing.
    query = sparse.csr_array(np.array([[0.5, 2.0, 0.0]], dtype=np.float32))
    assert hit_scores(documents, query).tolist() == [4.5, -math.inf]


def test_of_the_top_terms_the_largest_weights_stay_as_they_are_and_the_others_are_0(model):
    texts = document_texts(tiny_encoder.corpus())
    whole, encoder = vectors(model, texts), load_encoder(AutoModelForMaskedLM, model, 64, 40)
    few = splade_vectors(encoder, texts, top_terms=3).toarray()
    for all_weights, kept in zip(whole, few, strict=True):
        np.testing.assert_array_equal(np.sort(kept)[-3:], np.sort(all_weights)[-3:])
        np.testing.assert_array_equal(kept[kept > 0], all_weights[kept > 0])
        assert (kept > 0).sum() == min(3, (all_weights > 0).sum())
    np.testing.assert_array_equal(splade_vectors(encoder, texts, top_terms=10_000).toarray(), whole)


def test_the_index_is_read_without_unpickling_and_keeps_no_dense_matrix(model, tmp_path):
    SpladeRetriever(model, max_length=64).index(tiny_encoder.corpus(), tmp_path)
    with np.load(tmp_path / "vectors.npz", allow_pickle=False) as stored:
        shape, data = stored["shape"].tolist(), stored["data"]
    assert shape[0] == 5
    assert data.dtype == np.float32
    assert (data > 0).all()
    assert data.size < shape[0] * shape[1]


def test_the_run_is_the_same_for_any_order_of_corpus_and_queries(model, tmp_path):
    runs = []
    for name, step in (("as-is", 1), ("turned", -1)):
        folder = tmp_path / name
        folder.mkdir()
        retriever = SpladeRetriever(model, max_length=64, batch_tokens=60)
        retriever.index(tiny_encoder.corpus()[::step], folder)
        runs.append(ranked(retriever.search(QUERIES[::step], folder, 3), ["b", "q"], 3))
    pd.testing.assert_frame_equal(*runs)
    assert "b" not in runs[0].loc[runs[0]["query_id"] == "b", "doc_id"].tolist()
