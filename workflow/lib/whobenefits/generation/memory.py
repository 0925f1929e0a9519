"""How much memory a batch of prompts needs beside the model, from the shapes of both."""

from dataclasses import dataclass

import torch
from transformers import PreTrainedConfig

from whobenefits.generation.shared_prompt import QUERIES

FLOAT32 = 4
# Activations of one token in one layer of its encoding that exist together, in units of the widest: a gated MLP holds its
# gate, its up projection and their product.
WIDEST = 3
# Vectors of the model's width beside them: the residual and, in float32, a norm with its square and its result.
VECTORS = 2
FLOAT_VECTORS = 3


@dataclass(frozen=True)
class Shape:
    """What of a model decides how much memory its batches need; `number` is the size of its numbers in bytes."""

    layers: int
    heads: int
    kv_heads: int
    head_size: int
    hidden: int
    intermediate: int
    vocabulary: int
    number: int
    window: int | None = None
    softcap: bool = False

    @property
    def token(self) -> int:
        """Bytes of the keys and values of a token in all layers."""
        return 2 * self.layers * self.kv_heads * self.head_size * self.number


def shape_of(config: PreTrainedConfig, dtype: torch.dtype) -> Shape:
    """The shape of a model with this configuration and number format."""
    text = config.get_text_config()
    heads, hidden = text.num_attention_heads, text.hidden_size
    return Shape(
        layers=text.num_hidden_layers,
        heads=heads,
        kv_heads=getattr(text, "num_key_value_heads", None) or heads,
        head_size=getattr(text, "head_dim", None) or hidden // heads,
        hidden=hidden,
        # Some architectures leave it out, and mean four times the width.
        intermediate=getattr(text, "intermediate_size", None) or 4 * hidden,
        vocabulary=text.vocab_size,
        number=dtype.itemsize,
        window=getattr(text, "sliding_window", None),
        softcap=bool(getattr(text, "attn_logit_softcapping", None)),
    )


def peak_bytes(
    shape: Shape, prompts: int, longest: int, rooms: int, beams: int, new_tokens: int, encoded: int, numbers: int
) -> int:
    """The most memory, in bytes, that a batch needs beside the model: of so many prompts, the longest of so many tokens.

    `rooms` are the places kept for the tokens of all prompts. `encoded` tokens are encoded at once, or one prompt; the
    likeliest tokens are looked for among `numbers` logits at once. The keys and values are there all the time; beside
    them either the activations of what is encoded or the logits of a step are largest.
    """
    places = rooms + prompts * beams * new_tokens
    kept = places * shape.token
    # What each beam sees: a table, its copy for the beams' new order, and one for the heads, with a window and without.
    kept += beams * places * (2 + 2 * shape.heads // shape.kv_heads)
    encoding = _encoding(shape, prompts, longest, rooms, encoded)
    return kept + max(encoding, _step(shape, prompts, beams, places, numbers))


def _encoding(shape: Shape, prompts: int, longest: int, rooms: int, encoded: int) -> int:
    row = max(longest, min(encoded, rooms))
    widest = max(shape.intermediate, shape.heads * shape.head_size)
    each = (WIDEST * widest + VECTORS * shape.hidden) * shape.number + FLOAT_VECTORS * shape.hidden * FLOAT32
    # What each token sees where its prompt begins as another: tables of a row, kept for all layers.
    seen = row * longest if prompts > 1 else 0
    return row * each + seen + _attention(shape, longest, prompts > 1) + prompts * shape.vocabulary * shape.number


def _attention(shape: Shape, tokens: int, known: bool) -> int:
    """What attention needs where it is not fused: with a soft cap, for what is longer than a window, and for what begins as
    another prompt: masks, and keys and values repeated for the heads that share them."""
    repeated = 2 * tokens * shape.heads * shape.head_size * shape.number
    if shape.softcap:
        scores = shape.heads * min(tokens, QUERIES) * tokens * 2 * FLOAT32
        return 2 * tokens**2 + scores + repeated
    if known or (shape.window and tokens > shape.window):
        return tokens**2 * (1 + shape.number) + repeated
    return 0


def _step(shape: Shape, prompts: int, beams: int, places: int, numbers: int) -> int:
    logits = prompts * beams * shape.vocabulary
    # In float32 twice: as they are, and as log probabilities.
    chosen = logits * shape.number + 2 * FLOAT32 * min(logits, max(numbers, shape.vocabulary))
    # A mask in numbers, or scores, for one layer.
    seen = beams * shape.heads * places * 2 * (FLOAT32 if shape.softcap else shape.number)
    return chosen + seen
