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

from whobenefits.errors import UserError


@dataclass(frozen=True)
class Encoder:
    """A model in float32 with its tokenizer, on the GPU if there is one."""

    model: Any
    tokenizer: Any
    device: torch.device
    max_length: int
    batch_size: int

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], BatchEncoding]]:
        """Positions in `texts` and the padded tokens of the texts there, longest texts first.

        The sizes of the batches follow from the number of texts, and what is in them from the texts' length in
        characters, a stand-in for tokens; each text is in one batch.
        """
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            tokens = self.tokenizer(
                [texts[i] for i in batch],
                padding=True,
                truncation=True,
                max_length=self.max_length,
                return_tensors="pt",
            )
            yield batch, tokens.to(self.device)


def load_encoder(auto_class: Any, folder: Path, max_length: int, batch_size: int) -> Encoder:
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
    return Encoder(model.to(device), tokenizer, device, max_length, batch_size)


def distinct(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The different texts in ascending order, and the place of each given text among them.

    Encoded so, equal texts have equal vectors, and the order of the texts changes nothing.
    """
    different, places = np.unique(np.array(texts, dtype=object), return_inverse=True)
    return different.tolist(), places


def document_texts(corpus: pd.DataFrame) -> list[str]:
    """What is encoded of each document: title and text, on two lines."""
    return (corpus["title"] + "\n" + corpus["text"]).tolist()
