import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.generation import decoders
from whobenefits.generation.decoders import BEGINNING, RepeatedDecoder, SharedDecoder, beginnings, rows_of
from whobenefits.generation.engine import Engine
from whobenefits.generation.shared_prompt import ATTENTION

# The first three are kept together, and so are the last two. The third begins as the first, the fifth is a beginning of
# the second, and the last of another; that of the sixth is too short to be shared.
LONG = list(range(60, 95))
PROMPTS = [list(range(5, 45)), LONG, [*range(5, 30), *range(100, 113)], [7], LONG[:20], LONG[:2] + [9], [7, 8, 9]]
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


def test_what_each_prompt_has_from_the_one_before_it():
    common = list(range(100, 100 + BEGINNING))
    # In order: what is common, the same again, with one more, with one more after that, and another start.
    prompts = [[*common, 5, 7], [200], [*common, 5], common, list(common)]
    order, known = beginnings(prompts)
    assert order == [3, 4, 2, 0, 1]
    # Of the second all but the last token, which is one too few; of the others all that is the same.
    assert known == [0, 0, BEGINNING, BEGINNING + 1, 0]


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=40), min_size=1, max_size=12))
def test_a_beginning_is_shared_with_a_prompt_before_and_never_the_whole(prompts):
    order, known = beginnings(prompts)
    assert sorted(order) == list(range(len(prompts)))
    assert known[0] == 0
    for before, place, count in zip(order, order[1:], known[1:], strict=False):
        assert prompts[before][:count] == prompts[place][:count]
        assert count < len(prompts[place])
        assert count == 0 or count >= BEGINNING


@torch.inference_mode()
def test_a_beginning_that_is_known_is_not_encoded_again(model, monkeypatch):
    if model.config.model_type == "gpt2":
        pytest.skip("its beams cannot share a prompt")
    seen = []
    own = SharedDecoder._logits
    monkeypatch.setattr(
        SharedDecoder, "_logits", lambda self, tokens, *rest: seen.append(tokens.numel()) or own(self, tokens, *rest)
    )
    monkeypatch.setattr(model.config, "_attn_implementation", ATTENTION)
    SharedDecoder(model, PROMPTS, BEAMS, STEPS).encode()
    # 40; 13 after 25 known; 20; 15 after 20 known; 1, 3 and 3.
    assert sum(seen) == 40 + 13 + 20 + 15 + 1 + 3 + 3
