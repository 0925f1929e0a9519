"""Random numbers from one seed and the name of what is drawn for."""

import hashlib

import numpy as np


def generator(seed: int, *identity: str) -> np.random.Generator:
    """A generator of random numbers for one thing, such as "bootstrap", topic, task, LLM, category.

    It is seeded with the SHA-256 of the seed and the identity, so that neither the order in which things are drawn for
    nor the job in which they are changes a draw.
    """
    text = "\n".join([str(seed), *identity])
    return np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest(), 16))
