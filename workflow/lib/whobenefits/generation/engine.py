"""Batched beam search over many prompts: one model load, each prompt encoded once for all its beams."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel

from whobenefits.errors import UserError
from whobenefits.generation.beam_search import BeamSearch, Rules, logits_at_once
from whobenefits.generation.decoders import ENCODED_TOKENS, Decoder, RepeatedDecoder, SharedDecoder
from whobenefits.generation.loading import GIGABYTE, load_model, load_tokenizer, usable_dtype
from whobenefits.generation.memory import peak_bytes, shape_of
from whobenefits.generation.processor import made_quicker
from whobenefits.generation.prompts import Prompt
from whobenefits.generation.shared_prompt import ARCHITECTURES, ATTENTION
from whobenefits.generation.stopping import StopRule, stop_rule, trimmed

# Raised when the engine answers otherwise than before, so that what is in the store is generated again.
VERSION = 2
# The share of prompts with a final answer from which on their rows are given up: giving up copies the others.
IDLE = 0.125
# The part of a GPU's free memory that a batch may be thought to need: the allocator wastes some.
SAFE = 0.85


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
        self.model = made_quicker(load_model(folder, self.dtype, gpus, device_map))
        self.device = self.model.device
        self.attention = self.model.config._attn_implementation
        self.shares_prompts = self.model.config.model_type in ARCHITECTURES
        self._stop_rules: dict[tuple[str, str], StopRule] = {}

    def answers(self, prompts: Sequence[Prompt], decoding: Decoding, batch_tokens: int) -> Iterator[dict[int, Answer]]:
        """The answers, batch by batch, by the prompts' positions.

        Prompts of like length go together, the longest first, so that a batch that does not fit into memory shows
        at once; it is halved then. A batch has at most `batch_tokens` tokens, or one prompt; on a GPU also no more
        than are thought to fit into its free memory.
        """
        lengths = [len(prompt.tokens) for prompt in prompts]
        waiting = batches(lengths, decoding.max_new_tokens, batch_tokens, self._fits(decoding))
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

    def _fits(self, decoding: Decoding) -> Callable[[int, int], bool]:
        """Whether so many prompts of so many tokens are thought to fit into memory; on a processor they always are."""
        if (room := free_bytes(self.model)) is None:
            return lambda prompts, tokens: True
        shape, at_once = shape_of(self.model.config, self.dtype), logits_at_once(self.device)
        encoded, repeats = ENCODED_TOKENS[self.device.type], 1 if self.shares_prompts else decoding.beams
        rest = (decoding.beams // repeats, decoding.max_new_tokens, encoded, at_once)
        return lambda prompts, tokens: peak_bytes(shape, prompts * repeats, tokens, *rest) <= SAFE * room

    def _too_long(self, tokens: int, decoding: Decoding) -> str:
        size = self.model.get_memory_footprint() / GIGABYTE
        return (
            f"a prompt of {tokens} tokens with {decoding.beams} beams of {decoding.max_new_tokens} new tokens does not fit "
            f"into memory beside the model ({size:.1f} GB): raise llms.NAME.gpus, ask for larger GPUs, or lower "
            "llms.NAME.context_tokens"
        )

    @torch.inference_mode()
    def _answer(self, prompts: list[tuple[int, ...]], decoding: Decoding) -> list[Answer]:
        search = BeamSearch(len(prompts), self._rules(decoding))
        self.model.set_attn_implementation(ATTENTION if self.shares_prompts else self.attention)
        try:
            decoder = self._decoder(prompts, decoding)
            search.advance(decoder.encode())
            while not search.done.all():
                if search.done.float().mean() >= IDLE:
                    decoder.keep(search.keep_open())
                search.advance(decoder.step(search.tokens[:, :, search.length - 1], search.parents))
        finally:
            self.model.set_attn_implementation(self.attention)
        return [self._as_answer(row, decoding) for row in search.answers.tolist()]

    def _decoder(self, prompts: list[tuple[int, ...]], decoding: Decoding) -> Decoder:
        if self.shares_prompts:
            return SharedDecoder(self.model, prompts, decoding.beams, decoding.max_new_tokens)
        return RepeatedDecoder(self.model, prompts, decoding.beams, self.tokenizer.pad_token_id)

    def _rules(self, decoding: Decoding) -> Rules:
        """Only the settings of the study: none of the defaults that a model brings along, such as sampling."""
        return Rules(
            beams=decoding.beams,
            new_tokens=decoding.max_new_tokens,
            ends=torch.tensor(self._ends, dtype=torch.long, device=self.device),
            fill=self.tokenizer.pad_token_id,
            ended=self._stop_rule(decoding.stop, decoding.task),
        )

    @property
    def _ends(self) -> list[int]:
        ends = self.model.generation_config.eos_token_id
        return ends if isinstance(ends, list) else [] if ends is None else [ends]

    def _stop_rule(self, stop: str, task: str) -> StopRule:
        # Made once: it reads the whole vocabulary.
        if (stop, task) not in self._stop_rules:
            self._stop_rules[stop, task] = stop_rule(stop, task, self.tokenizer, self.device)
        return self._stop_rules[stop, task]

    def _as_answer(self, tokens: list[int], decoding: Decoding) -> Answer:
        special = {self.tokenizer.pad_token_id, *self._ends}
        while tokens and tokens[-1] in special:
            tokens = tokens[:-1]
        text = self.tokenizer.decode(tokens, skip_special_tokens=True)
        answer = trimmed(text, decoding.stop, decoding.task)
        full = len(tokens) >= decoding.max_new_tokens and answer == text.strip()
        return Answer(answer, len(tokens), "length" if full else "stop")


def free_bytes(model: PreTrainedModel) -> int | None:
    """The memory that is free on the model's GPUs, were all like the fullest of them; None on a processor."""
    devices = {parameter.device for parameter in model.parameters()}
    if any(device.type != "cuda" for device in devices):
        return None
    # What torch holds but does not use is free as well.
    free = [
        torch.cuda.mem_get_info(d)[0] + torch.cuda.memory_reserved(d) - torch.cuda.memory_allocated(d) for d in devices
    ]
    return min(free) * len(free)


def batches(
    lengths: Sequence[int],
    new_tokens: int,
    budget: int,
    fits: Callable[[int, int], bool] = lambda prompts, tokens: True,
) -> list[list[int]]:
    """Positions of the prompts in batches of like length, longest first.

    A batch of n prompts, the longest of m tokens, has n x (m + new_tokens) <= budget and fits(n, m), or n = 1. Prompts
    of one length keep their order, so that the batches depend on nothing but the lengths and what fits.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    made: list[list[int]] = []
    for i in order:
        more, longest = (len(made[-1]) + 1, lengths[made[-1][0]]) if made else (1, 0)
        if made and more * (longest + new_tokens) <= budget and fits(more, longest):
            made[-1].append(i)
        else:
            made.append([i])
    return made
