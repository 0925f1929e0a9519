import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import tiny_llm, tiny_tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer

from whobenefits.attribution import log_probabilities
from whobenefits.attribution.log_probabilities import (
    LogProbabilities,
    answer_tokens,
    mean_log_probability,
    stored_log_probabilities,
)
from whobenefits.errors import UserError
from whobenefits.manifests import write_manifest

PAIRS = [
    ("Title: Lake Baikal\nArticle:", "Lake Baikal is a rift lake in Russia."),
    ("Article: the deepest lake in the world " * 4 + "\nTitle:", "Lake Baikal"),
    ("Title:", "Kenya"),
    ("Title:", "Ω"),
    ("Title: Mount Kenya\nArticle: ", "Mount Kenya is an extinct volcano"),
]


@pytest.fixture(scope="module", params=["llama", "gemma2", "gemma3", "gpt2"])
def folder(request, tmp_path_factory):
    return tiny_llm(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def model(folder):
    return loaded(folder)


def loaded(folder, batch_tokens=300):
    return LogProbabilities(folder, "float32", 1, "auto", batch_tokens)


def reference(folder, prompt, answer):
    """One pair, no padding, all logits in float64; each token's probability by a plain softmax."""
    network = AutoModelForCausalLM.from_pretrained(folder).double().eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    start = len(tokenizer(prompt)["input_ids"])
    ids = tokenizer(prompt + ("" if prompt.endswith(" ") else " ") + answer)["input_ids"]
    with torch.no_grad():
        weights = network(torch.tensor([ids])).logits[0].exp().tolist()
    found = [math.log(weights[i - 1][ids[i]] / sum(weights[i - 1])) for i in range(start, len(ids))]
    return sum(found) / len(found)


def test_the_mean_is_that_of_the_tokens_log_softmax():
    # softmax of (0, ln 3) is (1/4, 3/4), of (0, 0) it is (1/2, 1/2): (ln 3/4 + ln 1/2) / 2 = ln(3/8) / 2.
    logits = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]])
    assert mean_log_probability(logits, [1, 0]) == pytest.approx(math.log(3 / 8) / 2)


def test_batched_means_are_those_of_one_pair_at_a_time_in_double_precision(folder, model):
    expected = [reference(folder, *pair) for pair in PAIRS[:4]]
    np.testing.assert_allclose(model.means(PAIRS[:4]), expected, rtol=1e-4)
    assert (np.array(expected) < 0).all()


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=6), st.sampled_from([1, 150, 10_000]))
def test_neither_batch_nor_order_nor_company_changes_a_mean(model, pairs, batch_tokens):
    whole = model.means(pairs)
    model.batch_tokens, before = batch_tokens, model.batch_tokens
    turned = model.means(pairs[::-1])[::-1]
    model.batch_tokens = before
    np.testing.assert_allclose(turned, whole, rtol=1e-4)


def test_a_batch_is_padded_on_the_left_and_has_logits_at_the_longest_answers_places_alone(model, monkeypatch):
    seen = []
    forward = model.model.forward

    def watched(**inputs):
        output = forward(**inputs)
        seen.append((inputs["attention_mask"], output.logits.shape[1]))
        return output

    monkeypatch.setattr(model.model, "forward", watched)
    monkeypatch.setattr(model, "batch_tokens", 10_000)
    model.means(PAIRS)
    [(mask, kept)] = seen
    assert (mask[:, -1] == 1).all() and (mask[:, 0] == 0).any()
    assert kept == max(len(answer_tokens(model.tokenizer, *pair)) for pair in PAIRS)


def test_a_large_vocabulary_makes_small_batches(model, monkeypatch):
    sizes = []
    means = model._means
    monkeypatch.setattr(model, "_means", lambda rows: sizes.append(len(rows)) or means(rows))
    monkeypatch.setattr(model, "batch_tokens", 10_000)
    # " Kenya" in few tokens: logits of two such answers fit, those of four do not.
    logits = len(answer_tokens(model.tokenizer, "Title:", "Kenya")) * model.model.config.vocab_size
    monkeypatch.setattr(log_probabilities, "LOGITS", 2 * logits)
    model.means([("Title:", "Kenya")] * 4)
    assert sizes == [2, 2]


@pytest.mark.parametrize("answer", ["Lake Baikal is a rift lake.", "1643", "Ω, ω", "\N{SNOWMAN}"])
def test_an_answers_tokens_are_those_behind_the_prompt_in_the_whole_text(answer):
    tokenizer = tiny_tokenizer()
    for prompt in ("Title: Lake\nArticle:", "Title:"):
        whole = tokenizer(f"{prompt} {answer}")["input_ids"]
        assert whole == tokenizer(prompt)["input_ids"] + answer_tokens(tokenizer, prompt, answer)


def test_behind_white_space_an_answer_begins_without_a_space_of_its_own():
    tokenizer = tiny_tokenizer()
    assert tokenizer.decode(answer_tokens(tokenizer, "Title: ", "Lake Baikal")) == "Lake Baikal"
    assert tokenizer.decode(answer_tokens(tokenizer, "Title:", "Lake Baikal")) == " Lake Baikal"


def test_a_batch_that_does_not_fit_into_memory_is_halved_and_a_single_pair_is_an_error(model, monkeypatch):
    expected, means = model.means(PAIRS), model._means

    def tight(rows):
        if len(rows) > 1:
            raise torch.OutOfMemoryError
        return means(rows)

    monkeypatch.setattr(model, "batch_tokens", 10_000)
    monkeypatch.setattr(model, "_means", tight)
    np.testing.assert_allclose(model.means(PAIRS), expected, rtol=1e-4)
    monkeypatch.setattr(model, "_means", lambda rows: tight([*rows, None]))
    with pytest.raises(UserError, match=r"a prompt and answer of \d+ tokens do not fit into memory"):
        model.means(PAIRS[:1])


def test_what_is_in_the_store_needs_no_model_and_another_number_format_takes_nothing_from_it(tmp_path, monkeypatch):
    folder = tiny_llm(tmp_path / "llm")
    write_manifest(folder, {"files": {"model.safetensors": {"sha256": "0" * 64}}})
    options = {"store": tmp_path / "store", "gpus": 1, "device_map": "auto", "batch_tokens": 300}
    first = stored_log_probabilities(PAIRS, folder, "float32", **options)
    monkeypatch.setattr(log_probabilities, "LogProbabilities", lambda *_, **__: pytest.fail("loaded"))
    again = stored_log_probabilities(PAIRS[::-1], folder, "float32", **options)
    np.testing.assert_array_equal(again[::-1], first)
    with pytest.raises(pytest.fail.Exception, match="loaded"):
        stored_log_probabilities(PAIRS, folder, "bfloat16", **options)
