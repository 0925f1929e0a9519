import pytest
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.batching import batches


def test_sequences_of_like_length_go_together_longest_first():
    # 9 with 5 were 2 x 9 = 18 > 12; 5 and 4 are 2 x 5 = 10, with 3 they were 3 x 5 = 15; 3, 3 and 2 are 3 x 3 = 9.
    assert batches([3, 9, 4, 5, 3, 2], 12) == [[1], [3, 2], [0, 4, 5]]


@pytest.mark.parametrize("budget", [0, 1, 6])
def test_a_sequence_longer_than_the_budget_is_alone(budget):
    assert batches([7, 8], budget) == [[1], [0]]


def test_no_sequence_makes_no_batch():
    assert batches([], 100) == []


@given(st.lists(st.integers(1, 60), max_size=40), st.integers(1, 200))
def test_each_sequence_is_in_one_batch_under_the_budget(lengths, budget):
    made = batches(lengths, budget)
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget
    longest = [max(lengths[i] for i in batch) for batch in made]
    assert longest == sorted(longest, reverse=True)
