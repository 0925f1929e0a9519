import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.generation import shared_prompt
from whobenefits.generation.shared_prompt import (
    ALIKE,
    BeamTree,
    Grove,
    SharedPromptLayer,
    alike,
    shared_prompt_attention,
)


def seen(tree, window=None):
    """Which places the newest token of each beam sees: (prompts, beams, places), as text."""
    mask = tree.mask(window, 1, torch.device("cpu"))[:, 0]
    return ["/".join("".join(".x"[place] for place in beam) for beam in prompt) for prompt in mask]


def grown(*parents):
    """Two prompts, of 3 tokens and 1, with two beams, after steps with these parents for both prompts."""
    tree = BeamTree([3, 1], 2, 4, torch.device("cpu"))
    for pair in parents:
        tree.grow(torch.tensor([pair, pair]))
    return tree


def test_a_beam_sees_its_prompt_and_its_own_tokens():
    assert seen(grown([0, 0])) == ["xxxx./xxx.x", "x..x./x...x"]


def test_a_beam_sees_the_tokens_of_the_beams_that_it_goes_on_from_and_of_no_other():
    # Both beams go on from the second beam of the first step.
    assert seen(grown([0, 0], [1, 1])) == ["xxx.xx./xxx.x.x", "x...xx./x...x.x"]
    # Then they change places.
    assert seen(grown([0, 0], [1, 1], [1, 0])) == ["xxx.x.xx./xxx.xx..x", "x...x.xx./x...xx..x"]


def test_a_window_counts_tokens_of_the_text_and_not_places():
    # Texts of 5 and 3 tokens; a window of 3 shows the last 3 of them.
    assert seen(grown([0, 0], [1, 1]), 3) == ["..x.xx./..x.x.x", "x...xx./x...x.x"]
    assert seen(grown([0, 0], [1, 1]), 1) == [".....x./......x", ".....x./......x"]


def test_prompts_that_are_left_behind_take_their_places_along():
    tree = grown([0, 0])
    tree.keep(torch.tensor([1]))
    tree.grow(torch.tensor([[1, 0]]))
    assert seen(tree) == ["x...xx./x..x..x"]


@pytest.mark.parametrize(
    ("lengths", "groups"),
    [
        # 75 is the least that goes with 100.
        ([100, 90, 75, 74, 60], [[0, 1, 2], [3, 4]]),
        # The longest and the shortest count, whichever comes first; what is alike but apart stays apart.
        ([90, 100, 76, 70, 100], [[0, 1, 2], [3], [4]]),
        ([5], [[0]]),
    ],
)
def test_prompts_are_kept_with_those_of_like_length(lengths, groups):
    assert alike(lengths) == groups


@given(st.lists(st.integers(1, 400), min_size=1, max_size=40))
def test_most_places_of_a_group_are_filled_and_each_prompt_has_one(lengths):
    groups = [[lengths[place] for place in group] for group in alike(lengths)]
    assert [length for group in groups for length in group] == lengths
    assert all(min(group) >= ALIKE * max(group) for group in groups)
    # Of two groups side by side, the first of the second goes with the first group no more.
    for group, after in zip(groups, groups[1:], strict=False):
        assert min(*group, after[0]) < ALIKE * max(*group, after[0])


def test_a_group_that_none_are_left_of_is_left_behind():
    grove = Grove([100, 90, 50, 10, 10], 2, 4, torch.device("cpu"))
    kept = grove.keep(torch.tensor([1, 3, 4]))
    assert [None if own is None else own.tolist() for own in kept] == [[1], [], None]
    assert [tree.lengths.tolist() for tree in grove.trees] == [[90], [10, 10]]
    assert [part.tolist() for part in grove.split(torch.arange(3))] == [[0], [1, 2]]
    grove.grow(torch.zeros(3, 2, dtype=torch.long))
    assert grove.next_positions.tolist() == [90, 10, 10]


def test_a_soft_cap_in_parts_is_the_same_as_at_once(monkeypatch):
    chance = torch.Generator().manual_seed(0)
    query, keys, values = (torch.randn(1, heads, 9, 4, generator=chance) for heads in (4, 2, 2))

    def attended():
        grove = Grove([9], 1, 1, torch.device("cpu"))
        grove.encode([0], [9], [0], [0])
        layer, _ = SharedPromptLayer(grove).update(keys, values)
        return shared_prompt_attention(None, query, layer, layer, None, 0.5, sliding_window=4, softcap=2.0)[0]

    whole = attended()
    monkeypatch.setattr(shared_prompt, "QUERIES", 2)
    torch.testing.assert_close(attended(), whole)
    # The first token sees itself alone.
    torch.testing.assert_close(whole[0, 0], values[0, :, 0].repeat_interleave(2, 0))
