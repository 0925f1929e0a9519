import numpy as np
import pytest
import tiny_encoder
from transformers import AutoModel, BertModel

from whobenefits.retrieval import encoder
from whobenefits.retrieval.dense import mean_vectors
from whobenefits.retrieval.encoder import document_texts, load_encoder

TEXTS = [*document_texts(tiny_encoder.corpus()), "", "moon " * 100]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_encoder.tiny_bert(tmp_path_factory.mktemp("bert"), BertModel)


def batched(folder, batch_tokens):
    return list(load_encoder(AutoModel, folder, 64, batch_tokens).batches(TEXTS))


@pytest.mark.parametrize(("batch_tokens", "window"), [(1, 8192), (40, 8192), (150, 8192), (150, 2), (150, 3)])
def test_each_text_is_in_one_batch_under_the_budget_with_its_own_tokens(folder, monkeypatch, batch_tokens, window):
    monkeypatch.setattr(encoder, "WINDOW", window)
    tokenizer = load_encoder(AutoModel, folder, 64, 1).tokenizer
    found = {}
    for places, tokens in batched(folder, batch_tokens):
        assert len(places) == 1 or tokens["input_ids"].numel() <= batch_tokens
        assert len({place // window for place in places}) == 1
        for place, ids, mask in zip(places, tokens["input_ids"], tokens["attention_mask"], strict=True):
            assert place not in found
            found[place] = ids[mask == 1].tolist()
    expected = tokenizer(TEXTS, truncation=True, max_length=64)["input_ids"]
    assert [found[i] for i in range(len(TEXTS))] == expected


def test_neither_budget_nor_window_changes_a_vector_beyond_rounding(folder, monkeypatch):
    vectors = [mean_vectors(load_encoder(AutoModel, folder, 64, budget), TEXTS) for budget in (1, 40, 10_000)]
    monkeypatch.setattr(encoder, "WINDOW", 2)
    vectors.append(mean_vectors(load_encoder(AutoModel, folder, 64, 150), TEXTS))
    for other in vectors[1:]:
        np.testing.assert_allclose(other, vectors[0], rtol=1e-4, atol=1e-5)
