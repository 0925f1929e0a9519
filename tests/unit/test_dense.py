import numpy as np
import pandas as pd
import pytest
import tiny_encoder
import torch
from transformers import AutoModel, AutoTokenizer, BertModel

from whobenefits.errors import UserError
from whobenefits.retrieval.dense import DenseRetriever, mean_vectors, unit_vectors
from whobenefits.retrieval.encoder import document_texts, load_encoder
from whobenefits.retrieval.ranking import ranked

QUERIES = pd.DataFrame({"query_id": ["b", "q"], "text": ["the old moon", "deep water of the lake"]}, dtype="str")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_encoder.tiny_bert(tmp_path_factory.mktemp("bert"), BertModel)


def vectors(model, texts, max_length=64, batch_tokens=40):
    return mean_vectors(load_encoder(AutoModel, model, max_length, batch_tokens), texts)


def reference(model, text, max_length=64):
    """One text at a time, no padding, the mean by a plain loop."""
    network = AutoModel.from_pretrained(model).eval()
    ids = AutoTokenizer.from_pretrained(model)(text)["input_ids"]
    ids = ids if len(ids) <= max_length else ids[: max_length - 1] + [3]  # [SEP] ends a text that is cut, too
    with torch.no_grad():
        states = network(torch.tensor([ids])).last_hidden_state[0].tolist()
    return [sum(state[j] for state in states) / len(states) for j in range(len(states[0]))]


@pytest.mark.parametrize("max_length", [5, 64])
def test_batched_vectors_are_those_of_one_text_at_a_time(model, max_length):
    texts = document_texts(tiny_encoder.corpus())
    expected = [reference(model, text, max_length) for text in texts]
    np.testing.assert_allclose(vectors(model, texts, max_length), expected, rtol=1e-4, atol=1e-5)


def test_the_order_of_the_texts_changes_no_bit_and_equal_texts_have_equal_vectors(model):
    texts = document_texts(tiny_encoder.corpus())
    np.testing.assert_array_equal(vectors(model, texts[::-1])[::-1], vectors(model, texts))
    doubled = vectors(model, [*texts, *texts])
    np.testing.assert_array_equal(doubled[: len(texts)], doubled[len(texts) :])


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_scores_are_the_products_of_the_vectors_for_every_document(model, tmp_path, similarity):
    corpus = tiny_encoder.corpus()
    retriever = DenseRetriever(model, similarity, max_length=64, batch_tokens=40)
    retriever.index(corpus, tmp_path)
    hits = retriever.search(QUERIES, tmp_path, 10).set_index(["query_id", "doc_id"])["score"]
    assert len(hits) == len(QUERIES) * len(corpus)
    for query_id, text in zip(QUERIES["query_id"], QUERIES["text"], strict=True):
        query = np.array(reference(model, text))
        for doc_id, document in zip(corpus["doc_id"], document_texts(corpus), strict=True):
            vector = np.array(reference(model, document))
            lengths = np.sqrt((query**2).sum() * (vector**2).sum()) if similarity == "cosine" else 1
            assert hits[query_id, doc_id] == pytest.approx((query * vector).sum() / lengths, rel=1e-4, abs=1e-4)


def test_the_run_is_the_same_for_any_order_of_the_corpus_and_any_other_queries(model, tmp_path):
    runs = []
    for name, corpus, queries in (
        ("as-is", tiny_encoder.corpus(), QUERIES),
        ("turned", tiny_encoder.corpus()[::-1], QUERIES[::-1]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        retriever = DenseRetriever(model, "cosine", max_length=64, batch_tokens=60)
        retriever.index(corpus, folder)
        runs.append(ranked(retriever.search(queries, folder, 2), ["b", "q"], 2))
    pd.testing.assert_frame_equal(*runs)
    assert (runs[0]["query_id"] != runs[0]["doc_id"]).all()
    assert runs[0]["rank"].tolist() == [1, 2, 1, 2]


def test_documents_with_the_same_text_stand_in_the_order_of_their_ids(model, tmp_path):
    ids = [f"d{i:02}" for i in range(30)]
    corpus = pd.DataFrame({"doc_id": ids[::-1], "title": "Moon", "text": "deep water"}, dtype="str")
    retriever = DenseRetriever(model, "dot", max_length=64, batch_tokens=60)
    retriever.index(corpus, tmp_path)
    run = ranked(retriever.search(QUERIES, tmp_path, 5), ["b", "q"], 5)
    assert run["doc_id"].tolist() == ids[:5] * 2


def test_a_zero_vector_keeps_its_length_and_others_get_length_one():
    np.testing.assert_allclose(unit_vectors(np.array([[0.0, 0.0], [3.0, 4.0]])), [[0, 0], [0.6, 0.8]])


def test_more_tokens_than_the_model_reads_are_an_error(model):
    with pytest.raises(UserError, match="max_length is 65 but the model reads 64 tokens: lower max_length"):
        load_encoder(AutoModel, model, 65, 2)
