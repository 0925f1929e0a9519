"""A cache for beam search in which all beams of a prompt share its keys and values, and no beam's are ever moved.

A usual cache holds the prompt once for each beam, and each step of decoding copies all of it twice: to append one token,
and to reorder the beams. Here a prompt's tokens are stored once and the new tokens of its beams behind them, each where
it was made. Which beam goes on from which is only a table of what each beam sees: its prompt, and its own past.

Prompts are encoded side by side, as one long row without padding, and kept with those of like length. A prompt that begins
as one before it takes over what that one has of its beginning: the documents come first, and one serves many queries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface
from transformers.cache_utils import CacheLayerMixin

ATTENTION = "shared_prompt"
# Architectures whose attention needs no more than a scale, a sliding window and a soft cap; each is tested.
ARCHITECTURES = ("llama", "gemma2", "gemma3_text")
# Prompts are kept together if none is shorter than this share of the first: most of the places are filled then.
ALIKE = 0.75
# Queries whose scores are held at once where there is no fused attention: with a soft cap.
QUERIES = 512


class BeamTree:
    """Who sees what: of each of `beams` beams, which places of its prompt's cache.

    The places of a prompt are those of its tokens, as many for each as the longest has, and `beams` places for each of
    up to `new_tokens` steps.
    """

    def __init__(self, lengths: Sequence[int], beams: int, new_tokens: int, device: torch.device) -> None:
        self.beams, self.room, self.steps = beams, max(lengths), 0
        self.places = self.room + beams * new_tokens
        self.lengths = torch.tensor(lengths, device=device)
        at = torch.arange(self.room, device=device)
        later = torch.arange(new_tokens, device=device).repeat_interleave(beams)
        # The place of each token in its text, (prompts, places): behind a short prompt, places stay empty.
        self.position = torch.cat([at.expand(len(lengths), -1), self.lengths[:, None] + later], 1)
        self.seen = torch.zeros(len(lengths), beams, self.places, dtype=torch.bool, device=device)
        self.seen[:, :, : self.room] = (at < self.lengths[:, None])[:, None]
        self._masks: dict[tuple, Tensor] = {}

    @property
    def used(self) -> int:
        """How many places have been filled."""
        return self.room + self.beams * self.steps

    def grow(self, parents: Tensor) -> None:
        """One more token for each beam: `parents`, (prompts, beams), are the beams that they go on from."""
        self.seen = self.seen.take_along_dim(parents[:, :, None], 1)
        own = torch.arange(self.beams, device=parents.device)
        self.seen[:, own, self.used + own] = True
        self.steps += 1
        self._masks.clear()

    def keep(self, prompts: Tensor) -> None:
        """Only the prompts at these places stay."""
        self.lengths, self.position, self.seen = self.lengths[prompts], self.position[prompts], self.seen[prompts]

    def mask(self, window: int | None, heads: int, device: torch.device) -> Tensor:
        """What the newest token of each beam sees, the same for `heads` heads: (prompts, 1, beams x heads, places)."""
        key = (window, heads, device)
        if key not in self._masks:
            seen = self.seen[:, :, : self.used]
            if window is not None:
                newest = self.lengths[:, None] + self.steps - 1
                seen = seen & (self.position[:, : self.used] > newest - window)[:, None]
            self._masks[key] = seen.to(device)[:, None].repeat_interleave(heads, 2)
        return self._masks[key]


@dataclass(frozen=True)
class Encoded:
    """What is encoded of a prompt, which is at this place of a tree: all but its first `known` tokens.

    `part` is where they are in the row; `source`, a tree and a place of it, has what is known.
    """

    tree: int
    place: int
    part: slice
    known: int
    source: tuple[int, int]

    @property
    def length(self) -> int:
        """Tokens of the prompt."""
        return self.known + self.part.stop - self.part.start


class Grove:
    """The beam trees of a batch, one for each of its groups of like length. `row` is what is encoded now."""

    def __init__(self, lengths: Sequence[int], beams: int, new_tokens: int, device: torch.device) -> None:
        groups = alike(lengths)
        self.trees = [BeamTree([lengths[i] for i in group], beams, new_tokens, device) for group in groups]
        self.row: list[Encoded] = []
        self._homes = [(tree, place) for tree, group in enumerate(groups) for place in range(len(group))]
        self._causal: dict[tuple, Tensor] = {}

    @property
    def next_positions(self) -> Tensor:
        """Of each prompt, where the newest tokens of its beams stand in their texts: (prompts,)."""
        return torch.cat([tree.lengths + tree.steps - 1 for tree in self.trees])

    def encode(self, prompts: Sequence[int], sizes: Sequence[int], known: Sequence[int], before: Sequence[int]) -> None:
        """So many tokens of these prompts are encoded now, side by side: all but the first, known from those `before`.

        Prompts that others have something from come before them, in this row or an earlier one.
        """
        stops = accumulate(sizes)
        self.row = [
            Encoded(*self._homes[prompt], slice(stop - size, stop), first, self._homes[source])
            for prompt, size, first, source, stop in zip(prompts, sizes, known, before, stops, strict=True)
        ]
        self._causal.clear()

    def grow(self, parents: Tensor) -> None:
        """One more token for each beam: `parents`, (prompts, beams), are the beams that they go on from."""
        self.row = []
        self._causal.clear()
        for tree, own in zip(self.trees, self.split(parents), strict=True):
            tree.grow(own)

    def split(self, of_prompts: Tensor) -> Sequence[Tensor]:
        """What belongs to each tree, of a tensor with a row for each prompt."""
        return of_prompts.split([len(tree.lengths) for tree in self.trees])

    def keep(self, prompts: Tensor) -> list[Tensor | None]:
        """Only the prompts at these places stay. Their places in each tree so far, or None where all of its stay.

        A tree that none are left of stays behind as well.
        """
        sizes = [len(tree.lengths) for tree in self.trees]
        places = torch.zeros(sum(sizes), dtype=torch.bool, device=prompts.device)
        places[prompts] = True
        kept = [None if own.all() else own.nonzero()[:, 0] for own in places.split(sizes)]
        for tree, own in zip(self.trees, kept, strict=True):
            if own is not None:
                tree.keep(own)
        self.trees = [tree for tree in self.trees if len(tree.lengths)]
        return kept

    def causal(self, known: int, length: int, window: int | None, device: torch.device) -> Tensor:
        """What each token of a prompt of this length sees, but those that are known: (tokens, length)."""
        key = (window, known, length, device)
        if key not in self._causal:
            seen = torch.ones(length - known, length, dtype=torch.bool, device=device).tril_(known)
            self._causal[key] = seen if window is None else seen.triu_(known + 1 - window)
        return self._causal[key]


def alike(lengths: Sequence[int]) -> list[list[int]]:
    """The places of the lengths in groups that are one after the other, each of like length: see ALIKE."""
    groups: list[list[int]] = []
    shortest = longest = 0
    for place, length in enumerate(lengths):
        shortest, longest = min(shortest, length), max(longest, length)
        if not groups or shortest < ALIKE * longest:
            groups.append([])
            shortest = longest = length
        groups[-1].append(place)
    return groups


class SharedPromptLayer(CacheLayerMixin):
    """The keys and values of one layer, for each tree (prompts, heads, places, size)."""

    def __init__(self, grove: Grove) -> None:
        super().__init__()
        self.grove = grove

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Make room where the layer is: those of a large model can be on several devices."""
        _, heads, _, size = key_states.shape
        # Zeros, because what stands in a place that is not seen is still multiplied by 0.
        shapes = [(len(tree.lengths), heads, tree.places, size) for tree in self.grove.trees]
        self.keys = [key_states.new_zeros(shape) for shape in shapes]
        self.values = [value_states.new_zeros(shape) for shape in shapes]
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object
    ) -> tuple["SharedPromptLayer", "SharedPromptLayer"]:
        """Store what is new; the layer itself goes on to the attention in place of keys and values."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        for stored, states in ((self.keys, key_states), (self.values, value_states)):
            if self.grove.row:
                for new in self.grove.row:
                    tree, place = new.source
                    own = stored[new.tree][new.place]
                    own[:, : new.known] = stored[tree][place, :, : new.known]
                    own[:, new.known : new.length] = states[0, :, new.part]
            else:
                beams, _, size = self.grove.trees[0].beams, *stored[0].shape[2:]
                newest = states.view(-1, beams, states.shape[1], size).transpose(1, 2)
                for tree, own, new in zip(self.grove.trees, stored, self.grove.split(newest), strict=True):
                    own[:, :, tree.used - beams : tree.used] = new
        return self, self

    def keep(self, kept: Sequence[Tensor | None]) -> None:
        """Only the prompts at these places of each tree stay: see Grove."""
        for stored in (self.keys, self.values):
            left = [x if own is None else x[own.to(x.device)] for x, own in zip(stored, kept, strict=True)]
            stored[:] = [x for x in left if len(x)]

    def parts(self) -> Iterator[tuple[BeamTree, Tensor, Tensor]]:
        """Each tree with its keys and values."""
        return zip(self.grove.trees, self.keys, self.values, strict=True)

    def get_seq_length(self) -> int:
        """Places filled, where most are."""
        return max(tree.used for tree in self.grove.trees)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Places that a query can see, from the first one on."""
        return self.get_seq_length(), 0

    def get_max_length(self) -> int:
        """The most places that the layer has."""
        return max(tree.places for tree in self.grove.trees)


def shared_prompt_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: SharedPromptLayer,
    value: SharedPromptLayer,
    attention_mask: object,
    scaling: float,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **options: object,
) -> tuple[Tensor, None]:
    """The attention of prompts side by side, or of the newest token of each beam.

    Query: (1, heads, tokens of all prompts, size) or (beams of all prompts, heads, 1, size); what comes back has heads
    and tokens exchanged. Masks come from the layer, not from `attention_mask`.
    """
    part = _of_prompts if key.grove.row else _of_beams
    return part(query, key, scaling, sliding_window, softcap), None


def _of_prompts(
    query: Tensor, layer: SharedPromptLayer, scaling: float, window: int | None, softcap: float | None
) -> Tensor:
    output = torch.empty_like(query.transpose(1, 2))
    for new in layer.grove.row:
        keys, values = (stored[new.tree][new.place, None, :, : new.length] for stored in (layer.keys, layer.values))
        plain = softcap is None and not new.known and (window is None or window >= new.length)
        mask = None if plain else layer.grove.causal(new.known, new.length, window, query.device)
        output[:, new.part] = _attention(query[:, :, new.part], keys, values, mask, scaling, softcap).transpose(1, 2)
    return output


def _of_beams(
    query: Tensor, layer: SharedPromptLayer, scaling: float, window: int | None, softcap: float | None
) -> Tensor:
    rows, heads, _, size = query.shape
    beams, groups = layer.grove.trees[0].beams, layer.keys[0].shape[1]
    shared = heads // groups
    # The queries of a prompt's beams, and of the heads that share their keys, side by side as if they were tokens.
    joint = query.view(-1, beams, groups, shared, size).transpose(1, 2).reshape(-1, groups, beams * shared, size)
    attended = []
    for (tree, keys, values), own in zip(layer.parts(), layer.grove.split(joint), strict=True):
        seen, mask = slice(tree.used), tree.mask(window, shared, query.device)
        attended.append(_attention(own, keys[:, :, seen], values[:, :, seen], mask, scaling, softcap))
    together = torch.cat(attended).view(-1, groups, beams, shared, size)
    return together.transpose(1, 2).reshape(rows, 1, heads, size)


def _attention(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scaling: float, softcap: float | None
) -> Tensor:
    """Softmax attention, (batch, heads, queries, size), of what the mask shows; causal where there is no mask."""
    times = query.shape[1] // keys.shape[1]
    if times > 1 and (softcap is not None or (mask is not None and query.device.type == "cuda")):
        # No fused attention of a GPU takes both a mask and heads that share their keys.
        keys, values = keys.repeat_interleave(times, 1), values.repeat_interleave(times, 1)
    if softcap is None:
        options = {"attn_mask": mask, "is_causal": mask is None, "scale": scaling}
        return scaled_dot_product_attention(query, keys, values, enable_gqa=query.shape[1] > keys.shape[1], **options)
    output = torch.empty_like(query)
    for part in range(0, query.shape[2], QUERIES):
        some = slice(part, part + QUERIES)
        scores = (query[:, :, some] @ keys.transpose(2, 3)).float()
        scores.mul_(scaling / softcap).tanh_().mul_(softcap).masked_fill_(~mask[..., some, :], -torch.inf)
        output[:, :, some] = scores.softmax(-1).to(query.dtype) @ values
    return output


AttentionInterface.register(ATTENTION, shared_prompt_attention)
