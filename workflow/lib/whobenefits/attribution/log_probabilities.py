"""How probable a language model finds an answer as what follows a prompt: teacher forcing, in batches."""

import logging
from collections.abc import Sequence
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from whobenefits.attribution.protocol import Pair
from whobenefits.attribution.stored import Scorer, kept_records
from whobenefits.batching import batches
from whobenefits.errors import UserError
from whobenefits.generation.loading import load_model, load_tokenizer, usable_dtype
from whobenefits.generation.processor import made_quicker
from whobenefits.manifests import asset_identity

# Logits of one batch at most, if it has more than one member: 0.5 GB in bfloat16, however large the vocabulary is.
LOGITS = 2**28
# What an answer stands behind when it is split into tokens: no tokenizer joins a line end with a word or its space.
SEAM = "\n"


class LogProbabilities:
    """Mean log-probabilities, in nats a token, that a causal language model gives to answers behind their prompts."""

    def __init__(self, folder: str | Path, dtype: str, gpus: int, device_map: str, batch_tokens: int) -> None:
        """Load model and tokenizer of an asset's folder; see load_model. A batch has at most `batch_tokens` tokens."""
        self.tokenizer = load_tokenizer(folder)
        self.model = made_quicker(load_model(folder, usable_dtype(dtype), gpus, device_map))
        self.batch_tokens = batch_tokens

    def means(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Of each pair of prompt and answer, the sum of log p(token | prompt and earlier tokens) / number of tokens.

        The tokens are those of the answer (see answer_tokens), without an end token: an answer's text was cut at its
        stop rule, and where it ended says nothing of its documents. Shape (number of pairs,), each at most 0.
        """
        rows = [(self.tokenizer(pair[0])["input_ids"], answer_tokens(self.tokenizer, *pair)) for pair in pairs]
        means = np.empty(len(rows))
        waiting = batches([self._cost(*row) for row in rows], self.batch_tokens)
        while waiting:
            batch = waiting.pop(0)
            try:
                means[batch] = self._means([rows[i] for i in batch])
            except torch.OutOfMemoryError:
                waiting[:0] = halves(batch, sum(map(len, rows[batch[0]])))
        return means

    def _cost(self, prompt: list[int], answer: list[int]) -> int:
        """Tokens, or, if that is more, the part of the budget that the answer's logits take of their own one."""
        logits = len(answer) * self.model.config.get_text_config().vocab_size
        return max(len(prompt) + len(answer), ceil(logits * self.batch_tokens / LOGITS))

    @torch.inference_mode()
    def _means(self, rows: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        # The last token predicts nothing that is asked. Padding stands on the left, so the answers end together, and
        # logits are made of no more places than the longest answer has.
        inputs = self.tokenizer.pad(
            {"input_ids": [(prompt + answer)[:-1] for prompt, answer in rows]}, return_tensors="pt"
        )
        inputs = inputs.to(self.model.device)
        logits = self.model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            position_ids=(inputs["attention_mask"].cumsum(1) - 1).clamp(min=0),
            logits_to_keep=max(len(answer) for _, answer in rows),
            use_cache=False,
        ).logits
        return [
            mean_log_probability(row[-len(answer) :], answer) for row, (_, answer) in zip(logits, rows, strict=True)
        ]


def mean_log_probability(logits: torch.Tensor, tokens: Sequence[int]) -> float:
    """The mean of log softmax(logits)[token], in float32; shape of the logits (tokens, vocabulary)."""
    chosen = torch.tensor(tokens, device=logits.device).unsqueeze(1)
    logits = logits.float()
    return float((logits.gather(1, chosen).squeeze(1) - logits.logsumexp(1)).mean())


def halves(batch: list[int], tokens: int) -> list[list[int]]:
    """The two halves of a batch that does not fit into memory, or a UserError where it has one member, of so many tokens."""
    if len(batch) == 1:
        raise UserError(
            f"a prompt and answer of {tokens} tokens do not fit into memory beside the model: raise llms.NAME.gpus, ask for "
            "larger GPUs, or lower llms.NAME.context_tokens"
        )
    logging.warning("a batch of %d prompts does not fit into memory: halved", len(batch))
    torch.cuda.empty_cache()
    return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]


def answer_tokens(tokenizer: PreTrainedTokenizerBase, prompt: str, answer: str) -> list[int]:
    """The tokens of an answer, which are the same behind each prompt with the same last character.

    Prompt and answer are tokenised apart, as in generation, where the prompt's tokens are fixed before the answer's
    begin. Between them stands the space that generation strips from an answer, unless the prompt ends in white space.
    As some tokenizers put a space before a text or treat its beginning in another way, the answer is read behind a line
    end, and its tokens are those that reach beyond it.
    """
    text = SEAM + ("" if prompt[-1:].isspace() else " ") + answer
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    places = zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
    return [token for token, (_, end) in places if end > len(SEAM)]


def stored_log_probabilities(
    pairs: Sequence[Pair], folder: str | Path, dtype: str, store: str | Path, **options: Any
) -> np.ndarray:
    """LogProbabilities.means of pairs with an answer, kept in a store by model, number format, prompt and answer.

    `options` are the further arguments of LogProbabilities. The model is loaded only for what is missing.
    """
    identity = {"kind": "log-probability", "model": asset_identity(folder), "dtype": str(usable_dtype(dtype))}
    load = partial(_scorer, folder, dtype, **options)
    known = kept_records(pairs, load, identity, store)
    return np.array([known[pair]["log_probability"] for pair in pairs], dtype=float)


def _scorer(folder: str | Path, dtype: str, **options: Any) -> Scorer:
    model = LogProbabilities(folder, dtype, **options)
    return lambda pairs: [{"log_probability": mean} for mean in model.means(pairs).tolist()]
