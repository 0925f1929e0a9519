"""Beam search over many prompts at once, with the scores, the ends and the choices of transformers' `generate`.

It knows logits and nothing of a model. Unlike `generate` it takes the best tokens of each beam without a table of all
beams x tokens, it begins with one row for each prompt, and it ends with each prompt: the others go on without it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

# The score of what must not be chosen.
DEAD = -1.0e9
# Numbers of a block whose greatest ones are looked at together.
BLOCK = 256
# Logits that are looked at together: on a processor so few, for each core, that they stay in its cache.
CORE_LOGITS, GPU_LOGITS = 2**18, 2**27


@dataclass(frozen=True)
class Rules:
    """How a search goes on and ends.

    `ends` are the end tokens, `fill` stands behind the end of an answer, and `ended` says of rows of new tokens,
    (rows, tokens), which have ended by another rule.
    """

    beams: int
    new_tokens: int
    ends: Tensor
    fill: int
    ended: Callable[[Tensor], Tensor]

    @property
    def candidates(self) -> int:
        """How many continuations of a prompt are looked at: enough for `beams` that go on where others end."""
        return max(2, 1 + len(self.ends)) * self.beams


class BeamSearch:
    """The beams of several prompts, step by step.

    `tokens`, (prompts, beams, new tokens), are the beams that go on, the best first, and `parents`, (prompts, beams),
    the beams of the step before that they continue. `prompts` are the positions of the prompts that are still searched;
    those that are `done` stay among them until `keep_open`.
    """

    def __init__(self, prompts: int, rules: Rules) -> None:
        self.rules, self.length = rules, 0
        device = rules.ends.device
        self.prompts = torch.arange(prompts, device=device)
        self.done = torch.zeros(prompts, dtype=torch.bool, device=device)
        self.tokens = torch.full((prompts, rules.beams, rules.new_tokens), rules.fill, device=device)
        self.parents = torch.zeros(prompts, rules.beams, dtype=torch.long, device=device)
        self.scores = torch.zeros(prompts, rules.beams, device=device)
        self.ended_tokens = self.tokens.clone()
        self.ended_scores = torch.full((prompts, rules.beams), DEAD, device=device)
        self.ended = torch.zeros(prompts, rules.beams, dtype=torch.bool, device=device)
        self.answers = self.tokens[:, 0].clone()

    def advance(self, logits: Tensor) -> None:
        """Go on by one token. Logits: (prompts, tokens) at first, then (prompts x beams, tokens)."""
        totals, parents, tokens = self._candidates(logits)
        self.length += 1
        sequences = _of_beams(self.tokens, parents)
        sequences[:, :, self.length - 1] = tokens
        new = sequences[:, :, : self.length].flatten(0, 1)
        ends = torch.isin(tokens, self.rules.ends) | self.rules.ended(new).view_as(tokens)
        ends |= self.length == self.rules.new_tokens
        self._collect(sequences, totals, ends)
        self._choose(sequences, totals, ends, parents)
        self._settle(ends)

    def _candidates(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The best continuations, (prompts, candidates), the best first: their scores, beams and tokens."""
        count, prompts = self.rules.candidates, len(self.prompts)
        scores, tokens = best_tokens(logits, count)
        rows = len(logits) // prompts
        totals = (scores.view(prompts, rows, -1) + self.scores[:, :rows, None]).flatten(1)
        totals, places = totals.topk(count)
        return totals, places // count, tokens.view(prompts, -1).gather(1, places)

    def _collect(self, sequences: Tensor, totals: Tensor, ends: Tensor) -> None:
        """Keep the best sequences that have ended, by their scores for each token. Only the first `beams` may end."""
        beams = self.rules.beams
        scores = torch.where(ends[:, :beams], totals[:, :beams] / self.length, DEAD)
        self.ended_scores, best = torch.cat([self.ended_scores, scores], 1).topk(beams)
        self.ended_tokens = _of_beams(torch.cat([self.ended_tokens, sequences[:, :beams]], 1), best)
        self.ended = torch.cat([self.ended, ends[:, :beams]], 1).gather(1, best)

    def _choose(self, sequences: Tensor, totals: Tensor, ends: Tensor, parents: Tensor) -> None:
        """Go on with the best sequences that have not ended."""
        self.scores, best = (totals + ends * DEAD).topk(self.rules.beams)
        self.tokens, self.parents = _of_beams(sequences, best), parents.gather(1, best)

    def _settle(self, ends: Tensor) -> None:
        """End the prompts whose best beam is, for each token so far, no better than the worst sequence that has ended.

        With a single beam, `generate` decodes greedily: the first end is the end.
        """
        worst = torch.where(self.ended.all(1), self.ended_scores.min(1).values, DEAD)
        settled = (self.scores[:, 0] / self.length <= worst) | ends.all(1)
        if self.rules.beams == 1:
            settled |= self.ended[:, 0]
        settled &= ~self.done
        self.answers[self.prompts[settled]] = self.ended_tokens[settled, 0]
        self.done |= settled

    def keep_open(self) -> Tensor:
        """Leave the prompts that are done behind; which places, among the prompts so far, are kept."""
        kept = (~self.done).nonzero()[:, 0]
        for name in ("prompts", "done", "tokens", "parents", "scores", "ended_tokens", "ended_scores", "ended"):
            setattr(self, name, getattr(self, name)[kept])
        return kept


def _of_beams(sequences: Tensor, beams: Tensor) -> Tensor:
    """The sequences, (prompts, beams, tokens), of the beams that are named, (prompts, any number)."""
    return sequences.take_along_dim(beams[:, :, None], 1)


def best_tokens(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` likeliest tokens of each row, the likeliest first: log probabilities in float32, and tokens."""
    rows = max(1, logits_at_once(logits.device) // logits.shape[1])
    parts = [_greatest(part.log_softmax(-1, dtype=torch.float32), count) for part in logits.split(rows)]
    return torch.cat([values for values, _ in parts]), torch.cat([places for _, places in parts])


def logits_at_once(device: torch.device) -> int:
    """How many logits a device looks at together."""
    return GPU_LOGITS if device.type == "cuda" else CORE_LOGITS * torch.get_num_threads()


def _greatest(numbers: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As topk, which is slow for long rows: the greatest are in the blocks whose greatest are greatest."""
    rows, width = numbers.shape
    if width % BLOCK or width // BLOCK < 2 * count:
        return numbers.topk(count)
    blocks = numbers.view(rows, -1, BLOCK)
    # In the order of the row, so that equal numbers stand as they stood.
    chosen = blocks.amax(-1).topk(count).indices.sort().values
    values, places = blocks.take_along_dim(chosen[:, :, None], 1).flatten(1).topk(count)
    return values, chosen.gather(1, places // BLOCK) * BLOCK + places % BLOCK
