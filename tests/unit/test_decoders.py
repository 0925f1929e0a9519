import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.generation import decoders
from whobenefits.generation.decoders import RepeatedDecoder, SharedDecoder, rows_of
from whobenefits.generation.engine import Engine
from whobenefits.generation.shared_prompt import ATTENTION

# The first three are kept together, and so are the last two.
PROMPTS = [list(range(5, 45)), list(range(60, 95)), list(range(100, 138)), [7], list(range(200, 220)), [50, 60, 70], [9] * 3]
BEAMS, STEPS = 3, 6


@pytest.fixture(scope="module", params=["llama", "gemma2", "gemma3", "gpt2"])
def model(request, tmp_path_factory):
    # Windows of 16 tokens: the longest prompt is longer, the others grow or stay below.
    return Engine(tiny.tiny_llm(tmp_path_factory.mktemp(request.param), request.param), "float32").model


@pytest.fixture(params=["shared", "repeated"])
def decoder(request, model, monkeypatch):
    if request.param == "repeated":
        yield RepeatedDecoder(model, PROMPTS, BEAMS, fill=2)
        return
    if model.config.model_type == "gpt2":
        pytest.skip("its beams cannot share a prompt")
    monkeypatch.setitem(decoders.ENCODED_TOKENS, "cpu", 30)
    own = model.config._attn_implementation
    model.set_attn_implementation(ATTENTION)
    yield SharedDecoder(model, PROMPTS, BEAMS, STEPS)
    model.set_attn_implementation(own)


def plain_logits(model, text):
    """The reference: the whole text at once, no cache, the model's own attention."""
    own, model.config._attn_implementation = model.config._attn_implementation, "eager"
    logits = model(torch.tensor([text])).logits[0, -1]
    model.config._attn_implementation = own
    return logits


@torch.inference_mode()
def test_each_beam_has_the_logits_of_its_own_text_whatever_it_descends_from(model, decoder):
    chance = torch.Generator().manual_seed(3)
    encoded = decoder.encode()
    for prompt, logits in zip(PROMPTS, encoded, strict=True):
        torch.testing.assert_close(logits, plain_logits(model, prompt), atol=1e-4, rtol=1e-4)
    texts = [[list(prompt)] * BEAMS for prompt in PROMPTS]
    for step in range(STEPS):
        if step == 3:
            # Left behind are one of three, one that was alone, and none of two.
            left = [0, 2, 4, 5, 6]
            texts = [texts[prompt] for prompt in left]
            decoder.keep(torch.tensor(left))
        tokens = torch.randint(3, 250, (len(texts), BEAMS), generator=chance)
        parents = torch.randint(0, BEAMS, (len(texts), BEAMS), generator=chance)
        texts = [
            [beams[parent] + [token] for parent, token in zip(own.tolist(), new.tolist(), strict=True)]
            for beams, own, new in zip(texts, parents, tokens, strict=True)
        ]
        got = decoder.step(tokens, parents)
        expected = torch.stack([plain_logits(model, text) for beams in texts for text in beams])
        torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-4)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20), st.integers(1, 80))
def test_prompts_are_encoded_in_their_order_as_many_at_once_as_allowed(lengths, most):
    rows = rows_of(lengths, most)
    assert [place for row in rows for place in row] == list(range(len(lengths)))
    totals = [sum(lengths[place] for place in row) for row in rows]
    assert all(total <= most or len(row) == 1 for total, row in zip(totals, rows, strict=True))
    assert all(total + lengths[after[0]] > most for total, after in zip(totals, rows[1:], strict=False))
