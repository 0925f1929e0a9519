import re

import pytest
import tiny
import torch

from whobenefits.generation.engine import Decoding, Engine
from whobenefits.generation.prompts import Prompt
from whobenefits.generation.stopping import PATTERNS, LineEnd, line_flags, stop_rule, trimmed

RULES = ("none", "line", "pattern")


def ended(texts, prompt="Title:"):
    """What the rule says of rows that begin with the prompt."""
    tokenizer = tiny.tiny_tokenizer()
    start = tokenizer(prompt)["input_ids"]
    flags = line_flags(tokenizer, torch.device("cpu"))
    rule = LineEnd(flags, len(start))
    return [bool(rule(torch.tensor([start + tokenizer(text)["input_ids"]]), None)) for text in texts]


def test_a_line_end_behind_text_ends_an_answer():
    assert ended(["Lake Baikal\n", "Lake\nBaikal", " Lake\n\n"]) == [True, True, True]


def test_a_line_end_before_any_text_ends_nothing():
    assert ended(["\n", "\n\n ", "\nLake Baikal", " Lake Baikal"]) == [False, False, False, False]


def test_line_ends_of_the_prompt_do_not_count():
    assert ended([" Lake"], prompt="Article: x\nTitle:") == [False]


def test_a_token_with_a_line_end_before_its_own_text_ends_an_answer_only_behind_text():
    class Vocabulary:
        pieces = ("a", "\nb", "c\n", "\n")

        def __len__(self):
            return len(self.pieces)

        def batch_decode(self, tokens):
            return [self.pieces[token] for (token,) in tokens]

    rule = LineEnd(line_flags(Vocabulary(), torch.device("cpu")), 0)
    rows = torch.tensor([[1, 0], [0, 1], [2, 2], [3, 0]])
    assert rule(rows, None).tolist() == [False, True, True, False]


def test_rules_by_name_look_at_new_tokens_alone():
    tokenizer = tiny.tiny_tokenizer()
    new = tokenizer([" Lake\nTitle:", " Lake Baikal"], padding=True, return_tensors="pt")["input_ids"]
    says = {stop: stop_rule(stop, "article", tokenizer, torch.device("cpu"))(new).tolist() for stop in RULES}
    assert says == {"none": [False, False], "line": [True, False], "pattern": [True, False]}


def test_text_behind_the_end_is_cut():
    assert trimmed("\n Lake Baikal\nArticle: more", "line", "title") == "Lake Baikal"
    assert trimmed(" A lake.\nIt is deep.\nTitle: next", "pattern", "article") == "A lake.\nIt is deep."
    assert trimmed(" Lake\nArticle: next", "pattern", "title") == "Lake"
    assert trimmed(" A lake.\nTitle: next ", "none", "article") == "A lake.\nTitle: next"
    assert trimmed("\n", "line", "title") == ""


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    # With this seed, half of the answers below have more than one line.
    return Engine(tiny.tiny_llm(tmp_path_factory.mktemp("llm"), seed=7), "float32")


TEXTS = ("Title:", "Lake", "Mount Kenya is", "Article: deep", "Russia", "Title: Lake Baikal", "the", "world")


def answers(engine, stop, texts=TEXTS):
    """Greedy answers to the texts, one at a time."""
    prompts = [Prompt(text, tuple(engine.tokenizer(text)["input_ids"]), 0) for text in texts]
    return [a for batch in engine.answers(prompts, Decoding("title", 1, 60, stop), 1) for a in batch.values()]


def test_the_line_rule_gives_the_first_line_of_the_free_answer_and_ends_decoding_there(engine):
    pairs = list(zip(answers(engine, "none"), answers(engine, "line"), strict=True))
    assert all(line.text == trimmed(free.text, "line", "title") for free, line in pairs)
    stopped = [(free, line) for free, line in pairs if line.text != free.text]
    assert len(stopped) >= 3
    assert all(line.new_tokens < free.new_tokens and line.finish_reason == "stop" for free, line in stopped)


def test_the_pattern_rule_ends_decoding_where_the_pattern_starts_again(engine, monkeypatch):
    (free,) = answers(engine, "none", ["Lake"])
    pattern = re.search("[a-z]{4}", free.text)[0]
    monkeypatch.setitem(PATTERNS, "title", pattern)
    (cut,) = answers(engine, "pattern", ["Lake"])
    assert cut.text == free.text[: free.text.index(pattern)].strip() != free.text
    assert cut.new_tokens < free.new_tokens and cut.finish_reason == "stop"
