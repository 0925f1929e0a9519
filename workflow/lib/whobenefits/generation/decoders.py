"""How a model goes on with the beams of a batch of prompts: encoded once, then one token at a time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor
from transformers import Cache, DynamicCache, PreTrainedModel

from whobenefits.generation.shared_prompt import Grove, SharedPromptLayer

# Tokens encoded at once: enough for full-speed products, and on a processor few enough for its cache.
ENCODED_TOKENS = {"cpu": 1024, "cuda": 16384}

# A common beginning of fewer tokens is encoded again: it would spare less than its copies and its mask cost. Not measured.
BEGINNING = 16


class Decoder(Protocol):
    """The state of a batch of prompts in a model."""

    def encode(self) -> Tensor:
        """Encode the prompts; the logits of their next tokens: (prompts, tokens of the vocabulary)."""

    def step(self, tokens: Tensor, parents: Tensor) -> Tensor:
        """Go on by one token for each beam; both (prompts, beams). The logits: (prompts x beams, vocabulary)."""

    def keep(self, prompts: Tensor) -> None:
        """Leave all but the prompts at these places behind."""


class SharedDecoder:
    """For architectures whose beams can share their prompt: see shared_prompt."""

    def __init__(self, model: PreTrainedModel, prompts: Sequence[Sequence[int]], beams: int, new_tokens: int) -> None:
        self.model, self.prompts, self.beams = model, prompts, beams
        self.grove = Grove([len(prompt) for prompt in prompts], beams, new_tokens, model.device)
        layers = model.config.get_text_config().num_hidden_layers
        self.cache = Cache(layers=[SharedPromptLayer(self.grove) for _ in range(layers)])

    def encode(self) -> Tensor:
        """See Decoder. Whole prompts side by side, as many at once as ENCODED_TOKENS allows; each beginning once."""
        order, known = beginnings(self.prompts)
        sizes = [len(self.prompts[prompt]) - first for prompt, first in zip(order, known, strict=True)]
        logits: Tensor | None = None
        for row in rows_of(sizes, ENCODED_TOKENS[self.model.device.type]):
            prompts = [order[place] for place in row]
            # What the first one of all has from the one before it is nothing.
            before = [order[max(place - 1, 0)] for place in row]
            part = self._encoded(prompts, [sizes[i] for i in row], [known[i] for i in row], before)
            logits = part.new_empty(len(order), part.shape[1]) if logits is None else logits
            logits[prompts] = part
        return logits

    def _encoded(self, prompts: list[int], sizes: list[int], known: list[int], before: list[int]) -> Tensor:
        self.grove.encode(prompts, sizes, known, before)
        firsts = list(zip(prompts, known, strict=True))
        tokens = [token for prompt, first in firsts for token in self.prompts[prompt][first:]]
        positions = [place for prompt, first in firsts for place in range(first, len(self.prompts[prompt]))]
        last = torch.tensor(sizes).cumsum(0) - 1
        return self._logits(torch.tensor([tokens]), torch.tensor([positions]), last.to(self.model.device))[0]

    def step(self, tokens: Tensor, parents: Tensor) -> Tensor:
        """See Decoder."""
        self.grove.grow(parents)
        positions = self.grove.next_positions.repeat_interleave(self.beams)[:, None]
        return self._logits(tokens.reshape(-1, 1), positions, 1)[:, 0]

    def _logits(self, tokens: Tensor, positions: Tensor, kept: int | Tensor) -> Tensor:
        device = self.model.device
        output = self.model(
            input_ids=tokens.to(device), position_ids=positions.to(device), cache=self.cache, logits_to_keep=kept
        )
        return output.logits

    def keep(self, prompts: Tensor) -> None:
        """See Decoder."""
        kept = self.grove.keep(prompts)
        for layer in self.cache.layers:
            layer.keep(kept)


def beginnings(prompts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The places of the prompts in the order of their tokens, and how many first tokens of each are those of the one before.

    The last token of a prompt is never among them, since what comes after it is asked for; fewer than BEGINNING are none.
    """
    order = sorted(range(len(prompts)), key=lambda place: prompts[place])
    common = [_common(prompts[a], prompts[b]) for a, b in pairwise(order)]
    return order, [0, *(count if count >= BEGINNING else 0 for count in common)]


def _common(before: Sequence[int], prompt: Sequence[int]) -> int:
    most = min(len(before), len(prompt) - 1)
    return next((place for place in range(most) if before[place] != prompt[place]), most)


def rows_of(lengths: Sequence[int], most: int) -> list[list[int]]:
    """The places of the lengths in groups that are one after the other, of at most `most` together or of one alone."""
    rows: list[list[int]] = []
    total = most
    for place, length in enumerate(lengths):
        total += length
        if total > most:
            rows.append([])
            total = length
        rows[-1].append(place)
    return rows


class RepeatedDecoder:
    """For any other architecture: the encoded prompts, padded on the left, are repeated for each beam."""

    def __init__(self, model: PreTrainedModel, prompts: Sequence[Sequence[int]], beams: int, fill: int) -> None:
        self.model, self.beams = model, beams
        longest = max(map(len, prompts))
        padded = [[fill] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
        seen = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        self.tokens = torch.tensor(padded, device=model.device)
        self.mask = torch.tensor(seen, device=model.device)
        self.cache = DynamicCache(config=model.config)

    def encode(self) -> Tensor:
        """See Decoder."""
        positions = (self.mask.cumsum(1) - 1).clamp(min=0)
        logits = self._logits(self.tokens, positions)
        self.cache.batch_repeat_interleave(self.beams)
        self.mask = self.mask.repeat_interleave(self.beams, 0)
        return logits

    def step(self, tokens: Tensor, parents: Tensor) -> Tensor:
        """See Decoder."""
        first = torch.arange(len(parents), device=parents.device)[:, None] * self.beams
        self.cache.reorder_cache((first + parents).flatten())
        self.mask = torch.nn.functional.pad(self.mask, (0, 1), value=1)
        return self._logits(tokens.reshape(-1, 1), self.mask.sum(1, keepdim=True) - 1)

    def _logits(self, tokens: Tensor, positions: Tensor) -> Tensor:
        output = self.model(
            input_ids=tokens, attention_mask=self.mask, position_ids=positions, cache=self.cache, logits_to_keep=1
        )
        return output.logits[:, -1]

    def keep(self, prompts: Tensor) -> None:
        """See Decoder."""
        rows = (prompts[:, None] * self.beams + torch.arange(self.beams, device=prompts.device)).flatten()
        self.cache.reorder_cache(rows)
        self.mask = self.mask[rows]
