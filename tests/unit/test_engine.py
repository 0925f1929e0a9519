from contextlib import contextmanager
from math import ceil

import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import GenerationConfig, StoppingCriteriaList, StopStringCriteria

from whobenefits.errors import UserError
from whobenefits.generation import engine as engine_module
from whobenefits.generation.engine import Decoding, Engine, batches, free_bytes
from whobenefits.generation.memory import peak_bytes, shape_of
from whobenefits.generation.prompts import Prompt
from whobenefits.generation.shared_prompt import ALIKE
from whobenefits.generation.stopping import PATTERNS, LineEnd, line_flags, trimmed

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


def plain_generate(engine, text, beams, new_tokens, stop="none"):
    """The reference: transformers' generate on one prompt, encoded once per beam, no padding."""
    ids = torch.tensor([engine.tokenizer(text)["input_ids"]])
    config = GenerationConfig(
        num_beams=beams,
        max_new_tokens=new_tokens,
        do_sample=False,
        eos_token_id=engine.model.generation_config.eos_token_id,
        pad_token_id=engine.tokenizer.pad_token_id,
    )
    rules = {
        "none": list,
        "line": lambda: [LineEnd(line_flags(engine.tokenizer, engine.device), ids.shape[1])],
        "pattern": lambda: [StopStringCriteria(engine.tokenizer, [PATTERNS["article"]])],
    }
    mask, rule = torch.ones_like(ids), StoppingCriteriaList(rules[stop]())
    output = engine.model.generate(ids, attention_mask=mask, generation_config=config, stopping_criteria=rule)
    new, ends = output[0, ids.shape[1] :].tolist(), config.eos_token_id
    # A token that ends an answer is no part of it, also where it has a text.
    while new and new[-1] in {config.pad_token_id, *(ends if isinstance(ends, list) else [ends])}:
        new.pop()
    return trimmed(engine.tokenizer.decode(new, skip_special_tokens=True), stop, "article")


@pytest.mark.parametrize("beams", [1, 2, 4])
def test_batched_answers_are_those_of_plain_generate_on_one_prompt(engine, beams):
    got = answers(engine, Decoding("article", beams, 12, "none"), budget=10_000)
    assert [answer.text for answer in got] == [plain_generate(engine, text, beams, 12) for text in PROMPTS]


@contextmanager
def many_ends(engine):
    """Every eighth token ends an answer, and the pattern is a letter, so that beams end at all lengths."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.model.generation_config, "eos_token_id", list(range(7, 260, 8)))
        patch.setitem(PATTERNS, "article", "a")
        patch.setattr(engine, "_stop_rules", {})
        yield


TEXT = "Title: Lake Baikal\nArticle: Lake Baikal is a rift lake in Russia. Mount Kenya is an extinct volcano.\nTitle:"


@pytest.mark.parametrize("stop", ["none", "line", "pattern"])
@settings(max_examples=12, deadline=None)
@given(
    cuts=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 45)), min_size=1, max_size=6),
    beams=st.integers(1, 5),
    new_tokens=st.integers(1, 14),
    budget=st.sampled_from([1, 60, 10_000]),
)
def test_whatever_ends_the_answers_they_are_those_of_plain_generate(engine, stop, cuts, beams, new_tokens, budget):
    texts = [TEXT[start : start + length] for start, length in cuts]
    with many_ends(engine):
        got = answers(engine, Decoding("article", beams, new_tokens, stop), budget, texts)
        assert [answer.text for answer in got] == [plain_generate(engine, t, beams, new_tokens, stop) for t in texts]


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


@pytest.mark.parametrize("prompts", [1, 2, 4])
def test_where_a_gpu_has_little_free_memory_batches_are_what_fits(engine, monkeypatch, prompts):
    decoding, lengths = Decoding("article", 2, 6, "none"), [len(prompt.tokens) for prompt in prompts_of(engine)]
    encoded, logits = 10, 1000
    monkeypatch.setitem(engine_module.ENCODED_TOKENS, "cpu", encoded)
    monkeypatch.setattr(engine_module, "logits_at_once", lambda device: logits)
    repeats = 1 if engine.shares_prompts else 2
    shape = shape_of(engine.model.config, torch.float32)

    def needed(lengths):
        rooms = ceil(sum(lengths) / ALIKE) if engine.shares_prompts else 2 * len(lengths) * max(lengths)
        return peak_bytes(shape, repeats * len(lengths), max(lengths), rooms, 2 // repeats, 6, encoded, logits)

    # As much as so many of the longest need.
    room = needed(sorted(lengths)[-prompts:])
    monkeypatch.setattr(engine_module, "free_bytes", lambda model: room / engine_module.SAFE + 1)
    made = [[lengths[place] for place in batch] for batch in engine.answers(prompts_of(engine), decoding, 100_000)]
    assert sorted(length for batch in made for length in batch) == sorted(lengths)
    assert all(needed(batch) <= room for batch in made)
    assert max(len(batch) for batch in made) >= prompts


def test_on_a_processor_only_the_budget_limits_a_batch(engine):
    assert free_bytes(engine.model) is None


def texts(*lengths):
    """Prompts of these lengths that begin with their number."""
    return [(number, *[0] * (length - 1)) for number, length in enumerate(lengths)]


def test_batches_go_from_long_to_short_under_the_budget():
    # new tokens 2, budget 24: [10, 9] -> 2 x (10 + 2) = 24; a third would make 36. [3, 3, 1] -> 3 x (3 + 2) = 15.
    assert batches(texts(3, 10, 1, 9, 3), 2, 24, shared=False) == [[1, 3], [0, 4, 2]]


def test_where_beginnings_are_shared_those_that_begin_alike_go_together_and_no_padding_counts():
    prompts = [(5, 5), (1, 2, 3, 4), (5, 5, 5, 5, 5), (1, 2), (1, 2, 3)]
    # In order: (1, 2), (1, 2, 3), (1, 2, 3, 4), (5, 5), (5, 5, 5, 5, 5). New tokens 1, budget 12: 9 + 3 = 12, then 7 + 2.
    assert batches(prompts, 1, 12, shared=True) == [[2, 0], [1, 4, 3]]
    assert batches(prompts, 1, 11, shared=True) == [[2], [1, 0], [4, 3]]


def test_batches_hold_what_is_thought_to_fit():
    # At most 20 tokens, padding included: [9, 8] = 18; then [7, 1] = 14, with [1] 21.
    fits = lambda prompts, longest, total: total <= 20  # noqa: E731
    assert batches(texts(9, 8, 7, 1, 1), 2, 1000, False, fits) == [[0, 1], [2, 3], [4]]
    assert batches(texts(30, 30), 2, 1000, False, fits) == [[0], [1]]
    # No padding: 9 + 8 = 17, then 7 + 1 + 1.
    assert batches(texts(9, 8, 7, 1, 1), 2, 1000, True, fits) == [[0, 1], [2, 3, 4]]


def test_a_prompt_larger_than_the_budget_goes_alone():
    assert batches(texts(50, 1), 5, 20, shared=False) == batches(texts(50, 1), 5, 20, shared=True) == [[0], [1]]


@given(
    prompts=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=60).map(tuple), max_size=50),
    new=st.integers(1, 64),
    budget=st.integers(1, 2000),
    shared=st.booleans(),
)
def test_each_prompt_is_in_one_batch_and_each_batch_of_several_keeps_the_budget(prompts, new, budget, shared):
    made = batches(prompts, new, budget, shared)
    assert sorted(i for batch in made for i in batch) == list(range(len(prompts)))
    lengths = [[len(prompts[i]) for i in batch] for batch in made]
    assert [batch[0] for batch in lengths] == sorted(map(max, lengths), reverse=True)
    for batch in lengths:
        assert batch == sorted(batch, reverse=True)
        total = sum(batch) if shared else len(batch) * max(batch)
        assert len(batch) == 1 or total + len(batch) * new <= budget
