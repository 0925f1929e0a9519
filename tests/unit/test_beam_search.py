import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.generation import beam_search
from whobenefits.generation.beam_search import BeamSearch, Rules, best_tokens

END, FILL = 0, 9


def never(new):
    return torch.zeros(len(new), dtype=torch.bool)


def rules(beams, new_tokens, ended=never):
    return Rules(beams, new_tokens, torch.tensor([END]), FILL, ended)


def searched(chances, firsts, rule, drop=False):
    """The answers for prompts that end with the tokens `firsts`, where a token is followed by another with a chance."""
    logits = torch.tensor(chances).log()
    search = BeamSearch(len(firsts), rule)
    search.advance(logits[firsts])
    while not search.done.all():
        if drop:
            search.keep_open()
        search.advance(logits[search.tokens[:, :, search.length - 1].flatten()])
    return search.answers.tolist()


# What follows what, of the end (0) and the tokens 1 to 3.
CHANCES = [
    [0.25, 0.25, 0.25, 0.25],  # after the end, which nothing follows
    [0.10, 0.05, 0.45, 0.40],  # after 1
    [0.40, 0.35, 0.05, 0.20],  # after 2
    [0.90, 0.04, 0.03, 0.03],  # after 3
]


def test_two_beams_find_what_greedy_decoding_misses():
    # After 1, greedily: 2 (0.45), then the end (0.40). Two beams: 2 and 3 (0.40); then 3 end = 0.40 x 0.90 = 0.36 is the
    # best, with ln 0.36 / 2 = -0.51 for each token, and 2 end = 0.18 (-0.86) next. The best that goes on is
    # 2 1 = 0.45 x 0.35 = 0.1575 (-0.92): worse than both that have ended, so the search is over.
    assert searched(CHANCES, [1], rules(1, 4)) == [[2, 0, FILL, FILL]]
    assert searched(CHANCES, [1], rules(2, 4)) == [[3, 0, FILL, FILL]]


def test_at_the_last_token_the_best_sum_for_each_token_wins_ended_or_not():
    # One token: after 1 the best is 2 (0.45).
    assert searched(CHANCES, [1], rules(2, 1)) == [[2]]
    # After 2: the end (ln 0.40 / 1 = -0.92), 1 (0.35) and 3 (0.20) go on. At two tokens: 3 end = 0.20 x 0.90 = 0.18
    # (ln 0.18 / 2 = -0.86), better than the end at once; 1 2 = 0.35 x 0.45 = 0.1575 (-0.92) is not.
    assert searched(CHANCES, [2], rules(2, 2)) == [[3, 0]]


def test_greedy_decoding_ends_at_the_first_end_though_a_longer_answer_would_score_better():
    assert searched(CHANCES, [2], rules(1, 2)) == [[0, FILL]]


def test_a_stop_rule_ends_a_sequence_like_an_end_token():
    after_three = rules(2, 4, lambda new: new[:, -1] == 3)
    # After 1: 3 ends (0.40, -0.92) and 2 (0.45) goes on: 2 end = 0.18 (-0.86) is better.
    assert searched(CHANCES, [1], after_three) == [[2, 0, FILL, FILL]]


def test_a_prompt_has_the_same_answer_whether_others_are_done_or_left_behind():
    alone = [searched(CHANCES, [first], rules(2, 6))[0] for first in (1, 2, 3)]
    assert searched(CHANCES, [1, 2, 3], rules(2, 6)) == alone
    assert searched(CHANCES, [1, 2, 3], rules(2, 6), drop=True) == alone


@pytest.mark.parametrize("width", [30, 4 * beam_search.BLOCK, 40 * beam_search.BLOCK])
def test_the_best_tokens_are_those_of_a_sorted_row(width):
    logits = torch.randn(5, width, generator=torch.Generator().manual_seed(1))
    values, tokens = best_tokens(logits, 8)
    expected = logits.log_softmax(1).sort(1, descending=True)
    assert torch.equal(tokens, expected.indices[:, :8])
    assert torch.equal(values, expected.values[:, :8])


@given(st.lists(st.integers(0, 40), min_size=4 * 16, max_size=4 * 16), st.integers(1, 5))
def test_blocks_of_a_row_lose_none_of_its_greatest_numbers(numbers, count):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam_search, "BLOCK", 4)
        row = torch.tensor([numbers], dtype=torch.float)
        values, places = beam_search._greatest(row, count)
        assert torch.equal(values, row.sort(1, descending=True).values[:, :count])
        assert torch.equal(values, row.gather(1, places)) and len(set(places[0].tolist())) == count
