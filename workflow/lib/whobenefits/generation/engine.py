"""Batched beam search over many prompts: one model load, each prompt encoded once for all its beams."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import torch
from transformers import (
    Cache,
    DynamicCache,
    GenerationConfig,
    StoppingCriteriaList,
    StopStringCriteria,
)

from whobenefits.errors import UserError
from whobenefits.generation.loading import GIGABYTE, load_model, load_tokenizer, usable_dtype
from whobenefits.generation.prompts import Prompt
from whobenefits.generation.shared_prompt import ARCHITECTURES, ATTENTION, shared_prompt_cache
from whobenefits.generation.stopping import PATTERNS, LineEnd, LineFlags, line_flags, trimmed

# Raised when the engine answers otherwise than before, so that what is in the store is generated again.
VERSION = 1


@dataclass(frozen=True)
class Decoding:
    """How answers are decoded: beam search without sampling, with the length normalisation of transformers."""

    task: str
    beams: int
    max_new_tokens: int
    stop: str


@dataclass(frozen=True)
class Answer:
    """One answer: its text, how many tokens were generated for it, and why it ended (`stop` or `length`)."""

    text: str
    new_tokens: int
    finish_reason: str


class Engine:
    """A causal language model that answers prompts in batches."""

    def __init__(self, folder: str | Path, dtype: str = "auto", gpus: int = 1, device_map: str = "auto") -> None:
        """Load model and tokenizer of an asset's folder; see load_model."""
        self.dtype = usable_dtype(dtype)
        self.tokenizer = load_tokenizer(folder)
        self.model = load_model(folder, self.dtype, gpus, device_map)
        self.device = self.model.device
        self.attention = self.model.config._attn_implementation
        self.shares_prompts = self.model.config.model_type in ARCHITECTURES

    def answers(self, prompts: Sequence[Prompt], decoding: Decoding, batch_tokens: int) -> Iterator[dict[int, Answer]]:
        """The answers, batch by batch, by the prompts' positions.

        Prompts of like length go together, the longest first, so that a batch that does not fit into memory shows
        at once; it is halved then. A batch has at most `batch_tokens` tokens, or one prompt.
        """
        waiting = [
            list(batch) for batch in batches([len(p.tokens) for p in prompts], decoding.max_new_tokens, batch_tokens)
        ]
        while waiting:
            batch = waiting.pop(0)
            try:
                answers = self._answer([prompts[i].tokens for i in batch], decoding)
            except torch.OutOfMemoryError:
                if len(batch) == 1:
                    raise UserError(self._too_long(len(prompts[batch[0]].tokens), decoding)) from None
                logging.warning("a batch of %d prompts does not fit into memory: halved", len(batch))
                torch.cuda.empty_cache()
                half = len(batch) // 2
                waiting[:0] = [batch[:half], batch[half:]]
                continue
            yield dict(zip(batch, answers, strict=True))

    def _too_long(self, tokens: int, decoding: Decoding) -> str:
        size = self.model.get_memory_footprint() / GIGABYTE
        return (
            f"a prompt of {tokens} tokens with {decoding.beams} beams of {decoding.max_new_tokens} new tokens does not fit "
            f"into memory beside the model ({size:.1f} GB): raise llms.NAME.gpus, ask for larger GPUs, or lower "
            "llms.NAME.context_tokens"
        )

    @torch.inference_mode()
    def _answer(self, prompts: list[tuple[int, ...]], decoding: Decoding) -> list[Answer]:
        # At least two columns: all but the last are encoded before the beams begin.
        room = {"padding": "max_length", "max_length": max(2, *map(len, prompts))}
        inputs = self.tokenizer.pad({"input_ids": [list(p) for p in prompts]}, return_tensors="pt", **room)
        inputs = inputs.to(self.device)
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        cache = self._encoded(ids, mask, decoding)
        self.model.set_attn_implementation(ATTENTION if self.shares_prompts else self.attention)
        try:
            output = self.model.generate(
                input_ids=ids,
                attention_mask=mask,
                cache=cache,
                generation_config=self._generation_config(decoding),
                stopping_criteria=self._stop_rule(decoding, ids.shape[1]),
            )
        finally:
            self.model.set_attn_implementation(self.attention)
        return [self._as_answer(row, decoding) for row in output[:, ids.shape[1] :].tolist()]

    def _encoded(self, ids: torch.Tensor, mask: torch.Tensor, decoding: Decoding) -> Cache:
        """The prompts but for their last tokens, encoded once for all beams.

        Left to itself, generate repeats each prompt first and so encodes it once for each beam. Where the architecture
        is not one of those that can share the prompt among the beams, the encoded prompt is repeated.
        """
        encoded = DynamicCache() if self.shares_prompts else DynamicCache(config=self.model.config)
        self.model(
            input_ids=ids[:, :-1],
            attention_mask=mask[:, :-1],
            position_ids=(mask.cumsum(1) - 1).clamp(min=0)[:, :-1],
            cache=encoded,
            logits_to_keep=1,
        )
        if self.shares_prompts:
            return shared_prompt_cache(encoded, mask[:, :-1], decoding.beams, decoding.max_new_tokens)
        encoded.batch_repeat_interleave(decoding.beams)
        return encoded

    def _generation_config(self, decoding: Decoding) -> GenerationConfig:
        """Only the settings of the study: none of the defaults that a model brings along, such as sampling."""
        own = self.model.generation_config
        return GenerationConfig(
            num_beams=decoding.beams,
            max_new_tokens=decoding.max_new_tokens,
            do_sample=False,
            bos_token_id=own.bos_token_id,
            eos_token_id=own.eos_token_id,
            pad_token_id=self.tokenizer.pad_token_id,
        )

    @cached_property
    def _line_flags(self) -> LineFlags:
        return line_flags(self.tokenizer, self.device)

    def _stop_rule(self, decoding: Decoding, prompt_length: int) -> StoppingCriteriaList:
        rules = {
            "line": lambda: LineEnd(self._line_flags, prompt_length),
            "pattern": partial(StopStringCriteria, self.tokenizer, [PATTERNS[decoding.task]]),
        }
        return StoppingCriteriaList([rules[decoding.stop]()] if decoding.stop in rules else [])

    def _as_answer(self, tokens: list[int], decoding: Decoding) -> Answer:
        ends = self.model.generation_config.eos_token_id
        special = {self.tokenizer.pad_token_id, *(ends if isinstance(ends, list) else [ends])}
        while tokens and tokens[-1] in special:
            tokens = tokens[:-1]
        text = self.tokenizer.decode(tokens, skip_special_tokens=True)
        answer = trimmed(text, decoding.stop, decoding.task)
        full = len(tokens) >= decoding.max_new_tokens and answer == text.strip()
        return Answer(answer, len(tokens), "length" if full else "stop")


def batches(lengths: Sequence[int], new_tokens: int, budget: int) -> list[list[int]]:
    """Positions of the prompts in batches of like length, longest first.

    A batch of n prompts, the longest of m tokens, has n x (m + new_tokens) <= budget, or n = 1. Prompts of one length
    keep their order, so that the batches depend on nothing but the lengths.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    made: list[list[int]] = []
    for i in order:
        if made and (len(made[-1]) + 1) * (lengths[made[-1][0]] + new_tokens) <= budget:
            made[-1].append(i)
        else:
            made.append([i])
    return made
