"""A cache for beam search in which all beams of a prompt share the prompt's keys and values.

A usual cache holds the prompt once for each beam, and each step of decoding copies all of it twice: to append one token,
and to reorder the beams. Here the prompt is stored once and never moves; only the new tokens of each beam, in a block
of fixed size, are reordered. The attention is the same sum, split into the prompt's part and the new tokens' part.
"""

import torch
from transformers import AttentionInterface, Cache, DynamicCache
from transformers.cache_utils import CacheLayerMixin

ATTENTION = "shared_prompt"
# Architectures whose attention needs no more than a scale, a sliding window and a soft cap; each is tested.
ARCHITECTURES = ("llama", "gemma2", "gemma3_text")


class SharedPromptLayer(CacheLayerMixin):
    """The keys and values of one layer: (prompts, heads, tokens, size) of the prompts, (rows, heads, room, size) new.

    A row is one beam of one prompt; the beams of a prompt stand side by side.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, visible: torch.Tensor, beams: int, room: int) -> None:
        super().__init__()
        # The layers of a large model can be on several devices.
        self.prompt_keys, self.prompt_values, self.visible = keys, values, visible.to(keys.device)
        prompts, heads, _, size = keys.shape
        self.keys = keys.new_empty(prompts * beams, heads, room, size)
        self.values = values.new_empty(prompts * beams, heads, room, size)
        self.new = 0
        self.is_initialized = True

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Nothing: the layer is made with its shapes."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object
    ) -> tuple["SharedPromptLayer", "SharedPromptLayer"]:
        """Append one token of each row; the layer itself goes on to the attention in place of keys and values."""
        self.keys[:, :, self.new] = key_states[:, :, 0]
        self.values[:, :, self.new] = value_states[:, :, 0]
        self.new += 1
        return self, self

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Rows go on from the rows `beam_idx`, of the same prompt: so only what is new moves."""
        beam_idx = beam_idx.to(self.keys.device)
        self.keys[:, :, : self.new] = self.keys[:, :, : self.new].index_select(0, beam_idx)
        self.values[:, :, : self.new] = self.values[:, :, : self.new].index_select(0, beam_idx)

    def get_seq_length(self) -> int:
        """Tokens seen."""
        return self.prompt_keys.shape[2] + self.new

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Tokens that a query sees, from the first one on."""
        return self.get_seq_length() + query_length, 0

    def get_max_length(self) -> int:
        """The most tokens that the layer can hold."""
        return self.prompt_keys.shape[2] + self.keys.shape[2]


def shared_prompt_cache(encoded: DynamicCache, mask: torch.Tensor, beams: int, room: int) -> Cache:
    """The cache of encoded prompts, for `beams` beams each and `room` new tokens.

    `mask`, (prompts, tokens), is 0 at padding.
    """
    visible = mask.bool()
    return Cache(layers=[SharedPromptLayer(x.keys, x.values, visible, beams, room) for x in encoded.layers])


def shared_prompt_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: SharedPromptLayer,
    value: SharedPromptLayer,
    attention_mask: object,
    scaling: float,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **options: object,
) -> tuple[torch.Tensor, None]:
    """The attention of one new token of each row: query (rows, heads, 1, size) to (rows, 1, heads, size).

    Masks come from the layer, not from `attention_mask`.
    """
    layer = key
    rows, heads, _, size = query.shape
    prompts, groups, length, _ = layer.prompt_keys.shape
    beams, shared = rows // prompts, heads // groups
    # (rows, groups, heads of a group, size), and the same with the beams of a prompt side by side
    own = query.view(rows, groups, shared, size)
    joint = own.view(prompts, beams, groups, shared, size).transpose(1, 2).reshape(prompts, groups, -1, size)
    to_prompt = (joint @ layer.prompt_keys.transpose(2, 3)).view(prompts, groups, beams, shared, length)
    to_new = own @ layer.keys[:, :, : layer.new].transpose(2, 3)
    to_new = to_new.view(prompts, beams, groups, shared, layer.new).transpose(1, 2)
    scores = torch.cat([to_prompt, to_new], -1).float() * scaling
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    hidden = ~_seen(layer, sliding_window)
    weights = scores.masked_fill(hidden[:, None, None, None], -torch.inf).softmax(-1).to(query.dtype)
    of_prompt = weights[..., :length].reshape(prompts, groups, beams * shared, length) @ layer.prompt_values
    of_prompt = of_prompt.view(prompts, groups, beams, shared, size).transpose(1, 2).reshape(rows, groups, shared, size)
    of_new = weights[..., length:].transpose(1, 2).reshape(rows, groups, shared, layer.new)
    output = of_prompt + of_new @ layer.values[:, :, : layer.new]
    return output.reshape(rows, 1, heads, size), None


def _seen(layer: SharedPromptLayer, window: int | None) -> torch.Tensor:
    """(prompts, tokens): which tokens the newest one sees, itself among them."""
    seen = torch.nn.functional.pad(layer.visible, (0, layer.new), value=True)
    if window is not None and window < seen.shape[1]:
        seen[:, : seen.shape[1] - window] = False
    return seen


AttentionInterface.register(ATTENTION, shared_prompt_attention)
