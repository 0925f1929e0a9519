"""Support by natural language inference: the document entails the answer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from scipy.special import softmax
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BatchEncoding,
    PretrainedConfig,
    PreTrainedTokenizerBase,
)

from whobenefits.attribution.protocol import Pair, Support
from whobenefits.batching import batches
from whobenefits.errors import ConfigError, DataError

LOCAL = {"local_files_only": True, "trust_remote_code": False}


class NliAttributor:
    """The probability that the document (premise) entails the answer (hypothesis), in [0, 1].

    The softmax over all labels of the model's float32 logits. A document supports the answer where entailment is the most
    probable label, or, with a threshold, where its probability is at least that. A pair of more than `max_length` tokens
    has its longer side cut at the end, down to the length of the other and then both alike. An answer of nothing but
    white space supports nothing: NaN, not attributed. Each distinct pair is computed once.
    """

    # Which side of a pair is cut that has too many tokens, in transformers' words.
    truncation = "longest_first"

    def __init__(self, source: Path, threshold: float | None, max_length: int, batch_tokens: int) -> None:
        """Load model and tokenizer of an asset's folder; no code of the folder is run and nothing is unpickled.

        ConfigError where the model cannot read `max_length` tokens, DataError where no label is named entailment.
        """
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer = AutoTokenizer.from_pretrained(source, padding_side="right", **LOCAL)
        model = AutoModelForSequenceClassification.from_pretrained(
            source, dtype=torch.float32, use_safetensors=True, **LOCAL
        )
        self.model = model.to(self.device).eval()
        self.entailment = entailment_index(model.config, source)
        self.threshold, self.max_length, self.batch_tokens = threshold, max_length, batch_tokens
        _check_length(max_length, model.config, self.tokenizer)

    def support(self, pairs: Sequence[Pair]) -> Support:
        """The probability of entailment and the verdict of each pair."""
        distinct = [pair for pair in dict.fromkeys(pairs) if pair[1].strip()]
        known = dict(zip(distinct, softmax(self.logits(distinct), axis=1), strict=True))
        silent = np.full(len(self.model.config.id2label), np.nan)
        rows = np.array([known.get(pair, silent) for pair in pairs]).reshape(len(pairs), len(silent))
        scores = rows[:, self.entailment]
        if self.threshold is None:
            return Support(scores, ~np.isnan(scores) & (rows.argmax(axis=1) == self.entailment))
        return Support(scores, scores >= self.threshold)

    def logits(self, pairs: Sequence[Pair]) -> np.ndarray:
        """The model's logits of pairs of premise and hypothesis; shape (number of pairs, number of labels)."""
        rows = np.empty((len(pairs), len(self.model.config.id2label)))
        for places, batch in self._batches(pairs):
            with torch.inference_mode():
                rows[places] = self.model(**batch.to(self.device)).logits.float().cpu().numpy()
        return rows

    def _batches(self, pairs: Sequence[Pair]) -> Iterator[tuple[list[int], BatchEncoding]]:
        """Pairs of like length together, padded to the longest, at most `batch_tokens` tokens (or one pair) a batch."""
        if not pairs:
            return
        encoded = self.tokenizer(
            [premise for premise, _ in pairs],
            [hypothesis for _, hypothesis in pairs],
            truncation=self.truncation,
            max_length=self.max_length,
        )
        for places in batches([len(ids) for ids in encoded["input_ids"]], self.batch_tokens):
            rows = {name: [column[i] for i in places] for name, column in encoded.items()}
            yield places, self.tokenizer.pad(rows, return_tensors="pt")


def entailment_index(config: PretrainedConfig, folder: str | Path = "the model") -> int:
    """The position of the label named entailment, in any case of letters; DataError where there is not exactly one.

    Models order their labels differently, so a model with names such as LABEL_0 cannot be used: a guess may turn every
    verdict round.
    """
    found = [index for index, label in config.id2label.items() if label.casefold() == "entailment"]
    if len(found) != 1:
        raise DataError(
            f"{folder}: the labels of the model are {list(config.id2label.values())}, and not exactly one is entailment: "
            "take a model for natural language inference, or name the labels under id2label in its config.json"
        )
    return int(found[0])


def _check_length(max_length: int, config: PretrainedConfig, tokenizer: PreTrainedTokenizerBase) -> None:
    longest = min(tokenizer.model_max_length, getattr(config, "max_position_embeddings", max_length))
    if max_length > longest:
        raise ConfigError(
            f"attribution.max_length is {max_length} but the model reads at most {longest} tokens: lower max_length"
        )


ATTRIBUTOR = NliAttributor
