import torch

from whobenefits.generation import shared_prompt
from whobenefits.generation.shared_prompt import BeamTree, SharedPromptLayer, shared_prompt_attention


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


def test_a_soft_cap_in_parts_is_the_same_as_at_once(monkeypatch):
    chance = torch.Generator().manual_seed(0)
    query, keys, values = (torch.randn(1, heads, 9, 4, generator=chance) for heads in (4, 2, 2))

    def attended():
        tree = BeamTree([9], 1, 1, torch.device("cpu"))
        tree.encode([0], [9])
        layer, _ = SharedPromptLayer(tree).update(keys, values)
        return shared_prompt_attention(None, query, layer, layer, None, 0.5, sliding_window=4, softcap=2.0)[0]

    whole = attended()
    monkeypatch.setattr(shared_prompt, "QUERIES", 2)
    torch.testing.assert_close(attended(), whole)
    # The first token sees itself alone.
    torch.testing.assert_close(whole[0, 0], values[0, :, 0].repeat_interleave(2, 0))
