import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_nli import LABELS, LONGEST, WORDS, tiny_nli
from transformers import BertConfig

from whobenefits.attribution.nli import NliAttributor, entailment_index
from whobenefits.attribution.protocol import attributor_of
from whobenefits.errors import ConfigError, DataError


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request, tmp_path_factory):
    return tiny_nli(tmp_path_factory.mktemp(request.param), request.param)


def one_at_a_time(attributor, document, answer):
    """The reference: one pair, cut token by token from the longer side, no padding, plain softmax."""
    premise, hypothesis = (
        attributor.tokenizer(text, add_special_tokens=False)["input_ids"] for text in (document, answer)
    )
    room = attributor.max_length - attributor.tokenizer.num_special_tokens_to_add(pair=True)
    # Of an odd number of tokens, the side that was longer keeps one more.
    tie = premise if len(premise) <= len(hypothesis) else hypothesis
    while len(premise) + len(hypothesis) > room:
        (tie if len(premise) == len(hypothesis) else max(premise, hypothesis, key=len)).pop()
    bert = "token_type_ids" in attributor.tokenizer.model_input_names
    ids = [2, *premise, 3, *([] if bert else [3]), *hypothesis, 3]
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    if bert:
        inputs["token_type_ids"] = torch.tensor([[0] * (len(premise) + 2) + [1] * (len(hypothesis) + 1)])
    with torch.no_grad():
        logits = attributor.model(**inputs).logits[0].double().numpy()
    return np.exp(logits) / np.exp(logits).sum()


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
PAIRS = [
    ("Lake Baikal\nLake Baikal is the deepest lake in the world", "the deepest lake"),
    ("Mount Kenya\na volcano", "Mount Kenya is the highest mountain of the world in a lake"),
    ("Ob", "a river"),
    ("a river of Russia", "Ob"),
    ("lake " * 40, "Lake Baikal"),
    ("Baikal", "deepest lake in Russia " * 10),
    ("mountain " * 40, "volcano " * 40),
    ("the highest mountain", "Mount Kenya"),
    ("volcano volcano", "lake of the volcano"),
    ("mountain " * 40, "volcano " * 30),
]


@pytest.fixture(scope="module")
def attributor(folder):
    return NliAttributor(folder, None, LONGEST, 128)


def test_probabilities_and_verdicts_are_those_of_one_pair_at_a_time(attributor):
    reference = np.array([one_at_a_time(attributor, *pair) for pair in PAIRS])
    support = attributor.support(PAIRS)
    np.testing.assert_allclose(support.scores, reference[:, 2], atol=1e-5)
    assert support.attributed.tolist() == (reference.argmax(axis=1) == 2).tolist()
    assert 0 < support.attributed.sum() < len(PAIRS)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6), st.sampled_from([1, 64, 1000]))
def test_neither_batch_nor_order_nor_company_changes_a_score(attributor, pairs, batch_tokens):
    whole = attributor.support(pairs).scores
    attributor.batch_tokens, before = batch_tokens, attributor.batch_tokens
    turned = attributor.support(pairs[::-1]).scores[::-1]
    attributor.batch_tokens = before
    np.testing.assert_allclose(turned, whole, atol=1e-5)
    assert ((whole >= 0) & (whole <= 1)).all()


def test_each_distinct_pair_is_computed_once_in_batches_under_the_budget(attributor, monkeypatch):
    seen = []
    forward = attributor.model.forward
    monkeypatch.setattr(
        attributor.model, "forward", lambda **batch: seen.append(batch["input_ids"]) or forward(**batch)
    )
    support = attributor.support(PAIRS + PAIRS[::-1])
    assert sum(len(batch) for batch in seen) == len(PAIRS)
    assert all(batch.numel() <= 128 for batch in seen)
    assert support.scores.tolist() == support.scores[::-1].tolist()


def test_with_a_threshold_a_document_supports_an_answer_from_that_probability_on(folder, attributor):
    scores = attributor.support(PAIRS).scores
    middle = float(np.median(scores))
    got = NliAttributor(folder, middle, LONGEST, 128).support(PAIRS)
    assert got.attributed.tolist() == (scores >= middle).tolist()


@pytest.mark.parametrize("threshold", [None, 0.0])
def test_an_empty_answer_is_undefined_and_attributed_to_no_document(folder, threshold):
    attributor = NliAttributor(folder, threshold, LONGEST, 128)
    support = attributor.support([("Ob", ""), PAIRS[0], ("Ob", " \n")])
    assert np.isnan(support.scores).tolist() == [True, False, True]
    assert support.attributed[[0, 2]].tolist() == [False, False]
    assert np.isnan(attributor.support([("Ob", "")]).scores).all()


def test_no_pair_gives_empty_arrays(attributor):
    support = attributor.support([])
    assert support.scores.shape == support.attributed.shape == (0,)
    assert support.attributed.dtype == bool


@pytest.mark.parametrize("order", [(2, 0, 1), (0, 2, 1), (1, 2, 0)])
def test_another_order_of_the_labels_changes_no_result(tmp_path, order):
    plain = NliAttributor(tiny_nli(tmp_path / "plain"), None, LONGEST, 128)
    other = NliAttributor(tiny_nli(tmp_path / "other", labels=[LABELS[i].title() for i in order]), None, LONGEST, 128)
    with torch.no_grad():
        other.model.classifier.weight.copy_(plain.model.classifier.weight[list(order)])
        other.model.classifier.bias.copy_(plain.model.classifier.bias[list(order)])
    expected, got = plain.support(PAIRS), other.support(PAIRS)
    np.testing.assert_allclose(got.scores, expected.scores, atol=1e-6)
    assert got.attributed.tolist() == expected.attributed.tolist()


@pytest.mark.parametrize(
    ("labels", "index"),
    [(["entailment", "neutral", "contradiction"], 0), (["Not_Entailment", "ENTAILMENT"], 1), (LABELS, 2)],
)
def test_the_entailment_label_is_found_by_its_name(labels, index):
    assert entailment_index(BertConfig(id2label=dict(enumerate(labels)))) == index


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1", "LABEL_2"], ["positive", "negative"]])
def test_a_model_without_an_entailment_label_is_refused_with_the_labels_it_has(tmp_path, labels):
    with pytest.raises(DataError, match=labels[0]):
        NliAttributor(tiny_nli(tmp_path, labels=labels), None, LONGEST, 128)


def test_more_tokens_than_the_model_reads_are_refused(folder):
    with pytest.raises(ConfigError, match="max_length is 512 but the model reads at most 32"):
        NliAttributor(folder, None, 512, 8192)


def test_a_pickled_model_is_not_loaded(tmp_path):
    tiny_nli(tmp_path)
    torch.save({}, tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(OSError, match="safetensors"):
        NliAttributor(tmp_path, None, LONGEST, 128)


def test_the_attributor_is_found_by_the_kind_in_the_settings(folder):
    options = {"kind": "nli", "model": "tiny", "threshold": None, "max_length": LONGEST, "batch_tokens": 64}
    assert isinstance(attributor_of(options, folder), NliAttributor)
