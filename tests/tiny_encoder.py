"""Tiny BERT models for tests of the neural retrievers: random weights from a seed, a WordPiece vocabulary of few words."""

import string
from pathlib import Path

import pandas as pd
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, BertModel, PreTrainedTokenizerFast

WORDS = [
    "lake",
    "river",
    "hill",
    "snow",
    "moon",
    "the",
    "deep",
    "old",
    "water",
    "stone",
    "island",
    "bay",
    "north",
    "south",
    "of",
    "in",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXTS = {
    "d": ("Lake", "the deep old lake of the north, deep water in old stone, the lake of the island in the bay"),
    "a": ("River", "the old river"),
    "c": ("Hill", "snow on the hill in the south of the island"),
    "b": ("Moon", "moon"),
    "é": ("Bay", "the bay of the moon, deep water, stone"),
}


def corpus() -> pd.DataFrame:
    """Five documents of very different length, not in the order of their ids."""
    rows = [(doc_id, title, text) for doc_id, (title, text) in TEXTS.items()]
    return pd.DataFrame(rows, columns=["doc_id", "title", "text"], dtype="str")


def tiny_bert(folder: Path, model_class: type[BertModel] | type[BertForMaskedLM], seed: int = 0) -> Path:
    """A BERT with two layers and room for 64 tokens, and its tokenizer, saved as any hub model."""
    torch.manual_seed(seed)
    pieces = SPECIAL + WORDS + list(string.ascii_lowercase) + ["##" + letter for letter in string.ascii_lowercase]
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        # Large weights make the texts differ by more than rounding.
        initializer_range=0.4,
    )
    model_class(config).save_pretrained(folder)
    _tokenizer(pieces).save_pretrained(folder)
    return folder


def _tokenizer(pieces: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)
