"""Stop rules: where an answer ends besides the model's own end token."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from transformers import PreTrainedTokenizerBase, StoppingCriteria, StopStringCriteria

# Which rows of new tokens, (rows, tokens), have ended: (rows,) of bool.
StopRule = Callable[[torch.Tensor], torch.Tensor]

# How the prompt's pattern starts again, by task: an answer that goes on to a next example has ended before it.
PATTERNS = {"article": "\nTitle:", "title": "\nArticle:"}


def trimmed(text: str, stop: str, task: str) -> str:
    """The answer without what stands behind its end by the rule `stop` (none, line or pattern)."""
    if stop == "line":
        return text.strip().split("\n", 1)[0].strip()
    if stop == "pattern":
        return text.split(PATTERNS[task], 1)[0].strip()
    return text.strip()


@dataclass(frozen=True)
class LineFlags:
    """For each token of a vocabulary, as Boolean vectors: has it text, a line end before it, a line end behind it."""

    text: torch.Tensor
    before: torch.Tensor
    behind: torch.Tensor


def line_flags(tokenizer: PreTrainedTokenizerBase, device: torch.device) -> LineFlags:
    """The flags of a tokenizer's vocabulary. A token of white space alone has its line ends before its (no) text."""
    pieces = tokenizer.batch_decode([[token] for token in range(len(tokenizer))])
    kept = [piece.lstrip() for piece in pieces]
    blank = [piece[: len(piece) - len(rest)] for piece, rest in zip(pieces, kept, strict=True)]
    flags = ([bool(rest) for rest in kept], ["\n" in part for part in blank], ["\n" in rest for rest in kept])
    return LineFlags(*(torch.tensor(flag, device=device) for flag in flags))


class LineEnd(StoppingCriteria):
    """True for rows whose new tokens hold a line end behind some text; line ends before any text do not count."""

    def __init__(self, flags: LineFlags, prompt_length: int) -> None:
        self.flags, self.prompt_length = flags, prompt_length

    def __call__(self, input_ids: torch.Tensor, scores: object, **options: object) -> torch.Tensor:
        """Which rows have ended: (rows,) of bool; input_ids: (rows, tokens of the prompt and new ones)."""
        new = input_ids[:, self.prompt_length :]
        text = self.flags.text[new].long()
        after_text = text.cumsum(1) - text > 0
        return (self.flags.behind[new] | (self.flags.before[new] & after_text)).any(1)


def stop_rule(stop: str, task: str, tokenizer: PreTrainedTokenizerBase, device: torch.device) -> StopRule:
    """The rule of this name (none, line or pattern), for new tokens alone."""
    if stop == "none":
        return lambda new: torch.zeros(len(new), dtype=torch.bool, device=new.device)
    if stop == "line":
        criterion = LineEnd(line_flags(tokenizer, device), 0)
    else:
        criterion = StopStringCriteria(tokenizer, [PATTERNS[task]])
    return lambda new: criterion(new, None)
