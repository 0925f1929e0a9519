"""Batched beam search over many prompts: one model load, each prompt encoded once for all its beams."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
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
from whobenefits.generation.shared_prompt import ALIKE, ARCHITECTURES, ATTENTION
from whobenefits.generation.stopping import StopRule, stop_rule, trimmed

# Raised when the engine answers otherwise than before, so that what is in the store is generated again.
VERSION = 2
# The share of prompts with a final answer from which on their rows are given up: giving up copies the others.
IDLE = 0.125
# The part of a GPU's free memory that a batch may be thought to need: the allocator wastes some.
SAFE = 0.85


# Of so many prompts, the longest of so many tokens, with so many in all.
Fits = Callable[[int, int, int], bool]


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

        A batch has at most `batch_tokens` tokens, or one prompt; on a GPU also no more than are thought to fit into its
        free memory. The longest come first, so that what does not fit into memory shows at once; it is halved then.
        """
        texts, new = [prompt.tokens for prompt in prompts], decoding.max_new_tokens
        waiting = batches(texts, new, batch_tokens, self.shares_prompts, self._fits(decoding))
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

    def _fits(self, decoding: Decoding) -> Fits:
        """Whether a batch is thought to fit into memory: on a processor it always is."""
        if (room := free_bytes(self.model)) is None:
            return lambda prompts, longest, total: True
        shape, at_once = shape_of(self.model.config, self.dtype), logits_at_once(self.device)
        encoded, beams, new = ENCODED_TOKENS[self.device.type], decoding.beams, decoding.max_new_tokens
        # Empty places count: of a group of like length, or beside beams that are prompts of their own.
        repeats, spread = (1, ALIKE) if self.shares_prompts else (beams, 1)

        def fits(prompts: int, longest: int, total: int) -> bool:
            rows, places = prompts * repeats, ceil(total * repeats / spread)
            return peak_bytes(shape, rows, longest, places, beams // repeats, new, encoded, at_once) <= SAFE * room

        return fits

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
    prompts: Sequence[Sequence[int]],
    new_tokens: int,
    budget: int,
    shared: bool,
    fits: Fits = lambda prompts, longest, total: True,
) -> list[list[int]]:
    """Places of the prompts in batches, the batch with the longest first, and in each the longest first.

    Where beginnings are `shared`, prompts that begin alike go together; a batch of n prompts with m tokens in all has
    m + n x new_tokens <= budget. Otherwise those of like length go together, and m counts n times the longest. In any
    case fits(n, longest, m), or n = 1. The batches depend on nothing but the prompts and what fits.
    """
    lengths = [len(prompt) for prompt in prompts]
    order = sorted(range(len(prompts)), key=lambda i: prompts[i] if shared else -lengths[i])
    made: list[list[int]] = []
    longest = total = 0
    for i in order:
        more = len(made[-1]) + 1 if made else 1
        longest = max(longest, lengths[i])
        total = total + lengths[i] if shared else more * longest
        if made and total + more * new_tokens <= budget and fits(more, longest, total):
            made[-1].append(i)
        else:
            made.append([i])
            longest = total = lengths[i]
    for batch in made:
        batch.sort(key=lambda i: -lengths[i])
    return sorted(made, key=lambda batch: -lengths[batch[0]])
