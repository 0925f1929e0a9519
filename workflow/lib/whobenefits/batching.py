"""Sequences of like length in one batch, under a budget of tokens. Imports nothing: many stages use it."""

from collections.abc import Sequence


def batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Positions in batches of like length, longest first: of n members, the longest of m tokens, n x m <= budget or n = 1.

    Sequences of one length keep their order, so that the batches depend on nothing but the lengths.
    """
    made: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if made and (len(made[-1]) + 1) * lengths[made[-1][0]] <= budget:
            made[-1].append(i)
        else:
            made.append([i])
    return made
