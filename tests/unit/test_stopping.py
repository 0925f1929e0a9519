import tiny
import torch

from whobenefits.generation.engine import Decoding, Engine
from whobenefits.generation.prompts import Prompt
from whobenefits.generation.stopping import LineEnd, line_flags, trimmed


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


def test_text_behind_the_end_is_cut():
    assert trimmed("\n Lake Baikal\nArticle: more", "line", "title") == "Lake Baikal"
    assert trimmed(" A lake.\nIt is deep.\nTitle: next", "pattern", "article") == "A lake.\nIt is deep."
    assert trimmed(" Lake\nArticle: next", "pattern", "title") == "Lake"
    assert trimmed(" A lake.\nTitle: next ", "none", "article") == "A lake.\nTitle: next"
    assert trimmed("\n", "line", "title") == ""


def test_a_stop_rule_gives_the_answer_of_no_rule_cut_at_its_end_when_decoding_is_greedy(tmp_path):
    engine = Engine(tiny.tiny_llm(tmp_path, seed=3), "float32")
    prompts = [Prompt(t, tuple(engine.tokenizer(t)["input_ids"]), 0) for t in ("Title:", "Lake", "Mount Kenya is")]

    def run(stop):
        return [a for batch in engine.answers(prompts, Decoding("title", 1, 40, stop), 1) for a in batch.values()]

    for free, line in zip(run("none"), run("line"), strict=True):
        assert line.text == trimmed(free.text, "line", "title")
        assert line.new_tokens <= free.new_tokens
