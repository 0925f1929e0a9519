import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import GenerationConfig

from whobenefits.errors import UserError
from whobenefits.generation.engine import Decoding, Engine, batches
from whobenefits.generation.prompts import Prompt

PROMPTS = [
    "Title: Lake Baikal\nArticle:",
    "Article: Mount Kenya is an extinct volcano.\nTitle:",
    "Title: Mount Kenya\nArticle: Mount Kenya is the highest mountain in Kenya.\nTitle: Lake Baikal\nArticle:",
    "Following",
    "Title: the deepest lake in the world, in Russia\nArticle:",
]


@pytest.fixture(scope="module", params=["llama", "gemma2", "gemma3", "gpt2"])
def engine(request, tmp_path_factory):
    return Engine(tiny.tiny_llm(tmp_path_factory.mktemp(request.param), request.param), "float32")


def prompts_of(engine, texts=PROMPTS):
    return [Prompt(text, tuple(engine.tokenizer(text)["input_ids"]), 0) for text in texts]


def answers(engine, decoding, budget, texts=PROMPTS):
    merged = {}
    for batch in engine.answers(prompts_of(engine, texts), decoding, budget):
        merged |= batch
    return [merged[i] for i in range(len(texts))]


def plain_generate(engine, text, beams, new_tokens):
    """The reference: transformers' generate on one prompt, encoded once per beam, no padding."""
    ids = torch.tensor([engine.tokenizer(text)["input_ids"]])
    config = GenerationConfig(
        num_beams=beams,
        max_new_tokens=new_tokens,
        do_sample=False,
        eos_token_id=engine.tokenizer.eos_token_id,
        pad_token_id=engine.tokenizer.pad_token_id,
    )
    output = engine.model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
    return engine.tokenizer.decode(output[0, ids.shape[1] :], skip_special_tokens=True).strip()


@pytest.mark.parametrize("beams", [1, 2, 4])
def test_batched_answers_are_those_of_plain_generate_on_one_prompt(engine, beams):
    got = answers(engine, Decoding("article", beams, 12, "none"), budget=10_000)
    assert [answer.text for answer in got] == [plain_generate(engine, text, beams, 12) for text in PROMPTS]


def test_the_architectures_that_share_prompts_are_those_listed(engine, request):
    assert engine.shares_prompts == (engine.model.config.model_type != "gpt2")


def test_the_batch_size_changes_no_answer(engine):
    decoding = Decoding("article", 2, 10, "none")
    assert answers(engine, decoding, budget=1) == answers(engine, decoding, budget=100_000)


def test_an_answer_of_full_length_says_length_and_counts_its_tokens(engine):
    for answer in answers(engine, Decoding("article", 2, 5, "none"), 10_000):
        assert answer.new_tokens <= 5
        assert (answer.finish_reason == "length") == (answer.new_tokens == 5)


def test_a_batch_that_does_not_fit_into_memory_is_halved_and_nothing_is_lost(engine, monkeypatch):
    decoding = Decoding("article", 2, 6, "none")
    expected = answers(engine, decoding, 100_000)
    whole, sizes = engine._answer, []

    def small_memory(prompts, rule):
        sizes.append(len(prompts))
        if len(prompts) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return whole(prompts, rule)

    monkeypatch.setattr(engine, "_answer", small_memory)
    assert answers(engine, decoding, 100_000) == expected
    assert sizes == [5, 2, 3, 1, 2]


def test_one_prompt_that_does_not_fit_into_memory_is_an_error_with_the_sizes_and_what_helps(engine, monkeypatch):
    def no_memory(prompts, rule):
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(engine, "_answer", no_memory)
    message = r"a prompt of \d+ tokens with 2 beams of 6 new tokens does not fit .*\(0\.0 GB\): raise llms\.NAME\.gpus"
    with pytest.raises(UserError, match=message):
        answers(engine, Decoding("article", 2, 6, "none"), 100_000)


def test_batches_go_from_long_to_short_under_the_budget():
    # new tokens 2, budget 24: [10, 9] -> 2 x (10 + 2) = 24; a third would make 36. [3, 3, 1] -> 3 x (3 + 2) = 15.
    assert batches([3, 10, 1, 9, 3], 2, 24) == [[1, 3], [0, 4, 2]]


def test_a_prompt_larger_than_the_budget_goes_alone():
    assert batches([50, 1], 5, 20) == [[0], [1]]


@given(st.lists(st.integers(1, 300), max_size=50), st.integers(1, 64), st.integers(1, 2000))
def test_each_prompt_is_in_one_batch_and_each_batch_of_several_keeps_the_budget(lengths, new, budget):
    made = batches(lengths, new, budget)
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) == 1 or len(batch) * (max(lengths[i] for i in batch) + new) <= budget
