"""What the neural retrievers share: loading a model, and texts in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import AutoTokenizer, BatchEncoding
from transformers.utils.logging import disable_progress_bar

from whobenefits.batching import batches
from whobenefits.errors import UserError

# Texts whose tokens are held at once: enough that texts of like length fill their batches.
WINDOW = 8192


@dataclass(frozen=True)
class Encoder:
    """A model in float32 with its tokenizer, on the GPU if there is one."""

    model: Any
    tokenizer: Any
    device: torch.device
    max_length: int
    batch_tokens: int

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], BatchEncoding]]:
        """Positions in `texts` and the tokens of the texts there, padded to the longest; each text is in one batch.

        Texts of like length go together, the longest of WINDOW texts first, at most `batch_tokens` tokens a batch or
        one text. What is in a batch follows from the texts and their order alone.
        """
        for start in range(0, len(texts), WINDOW):
            # Tokens are held for one window, so that memory does not grow with the collection.
            encoded = self.tokenizer(texts[start : start + WINDOW], truncation=True, max_length=self.max_length)
            for places in batches([len(ids) for ids in encoded["input_ids"]], self.batch_tokens):
                rows = {name: [column[i] for i in places] for name, column in encoded.items()}
                tokens = self.tokenizer.pad(rows, return_tensors="pt")
                yield [start + i for i in places], tokens.to(self.device)


def load_encoder(auto_class: Any, folder: Path, max_length: int, batch_tokens: int) -> Encoder:
    """The model of an asset's folder by one of transformers' auto classes; no code of the folder runs, nothing is unpickled.

    Raises UserError where `max_length` is more than the model has positions for.
    """
    disable_progress_bar()
    local = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(folder, **local)
    model = auto_class.from_pretrained(folder, use_safetensors=True, dtype=torch.float32, **local).eval()
    longest = min(tokenizer.model_max_length, model.config.max_position_embeddings)
    if max_length > longest:
        raise UserError(f"{folder}: max_length is {max_length} but the model reads {longest} tokens: lower max_length")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return Encoder(model.to(device), tokenizer, device, max_length, batch_tokens)


def distinct(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The different texts in ascending order, and the place of each given text among them.

    Encoded so, equal texts have equal vectors, and the order of the texts changes nothing.
    """
    different, places = np.unique(np.array(texts, dtype=object), return_inverse=True)
    return different.tolist(), places


def document_texts(corpus: pd.DataFrame) -> list[str]:
    """What is encoded of each document: title and text, on two lines."""
    return (corpus["title"] + "\n" + corpus["text"]).tolist()
