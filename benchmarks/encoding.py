"""How much sooner, and in how much memory, documents are encoded when texts of like length share a batch.

    .venv/bin/python benchmarks/encoding.py ARTICLES_JSON dense=FOLDER splade=FOLDER [--texts N] [--threads N]

Four ways over the same texts, each in a process of its own, one after the other: batches of 32 in the given order
(plain); batches of 32 by the texts' length in characters, and in tokens; batches by length in tokens under a budget of
tokens (what the workflow does). Prints a Markdown table: seconds without loading the model; the share of padding among
the tokens that go through the model; the memory that the encoding adds at its peak; and the largest difference of a
number from the plain way, relative to the largest number.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import torch
from scipy import sparse
from transformers import AutoModel, AutoModelForMaskedLM, BatchEncoding

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow/lib"))

from whobenefits.retrieval.dense import mean_vectors  # noqa: E402
from whobenefits.retrieval.encoder import Encoder, load_encoder  # noqa: E402
from whobenefits.retrieval.splade import splade_vectors  # noqa: E402

KINDS = {"dense": (AutoModel, mean_vectors), "splade": (AutoModelForMaskedLM, splade_vectors)}
WAYS = ("given order", "characters", "tokens", "2048", "4096", "8192")
SIZE, MAX_LENGTH = 32, 256


@dataclass(frozen=True)
class Counting(Encoder):
    """An encoder that batches in one of the ways, and counts tokens and places."""

    way: str
    counts: dict[str, int]

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], BatchEncoding]]:
        """The batches, as they are counted."""
        for places, tokens in super().batches(texts) if self.way.isdigit() else self._fixed(texts):
            self.counts["tokens"] += int(tokens["attention_mask"].sum())
            self.counts["places"] += tokens["attention_mask"].numel()
            yield places, tokens

    def _fixed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], BatchEncoding]]:
        options = {"truncation": True, "max_length": self.max_length}
        lengths = {
            "given order": lambda: [0] * len(texts),
            "characters": lambda: [len(text) for text in texts],
            "tokens": lambda: [len(ids) for ids in self.tokenizer(list(texts), **options)["input_ids"]],
        }[self.way]()
        order = sorted(range(len(texts)), key=lambda i: -lengths[i])
        for start in range(0, len(order), SIZE):
            batch = order[start : start + SIZE]
            tokens = self.tokenizer([texts[i] for i in batch], padding=True, return_tensors="pt", **options)
            yield batch, tokens.to(self.device)


def peak() -> float:
    """The largest memory so far in MB: of the GPU if there is one, else of the process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 1e6
    return getrusage(RUSAGE_SELF).ru_maxrss / 1e3


def encode(kind: str, folder: str, data: str, way: str, count: int, threads: int, output: str) -> None:
    """Encode in one way; writes the vectors and prints what was measured as JSON."""
    torch.set_num_threads(threads)
    auto_class, vectors_of = KINDS[kind]
    plain = load_encoder(auto_class, Path(folder), MAX_LENGTH, int(way) if way.isdigit() else 0)
    encoder = Counting(**vars(plain), way=way, counts={"tokens": 0, "places": 0})
    texts = [f"{d['title']}\n{d['extract']}" for d in json.loads(Path(data).read_text()).values()][:count]
    vectors_of(encoder, ["warm"])
    encoder.counts.update(tokens=0, places=0)
    before, start = peak(), time.perf_counter()
    vectors = vectors_of(encoder, texts)
    seconds = time.perf_counter() - start
    sparse.save_npz(output, sparse.csr_array(vectors))
    padding = 1 - encoder.counts["tokens"] / encoder.counts["places"]
    print(json.dumps({"texts": len(texts), "seconds": seconds, "padding": padding, "megabytes": peak() - before}))


def measured(arguments: list[str], output: str) -> dict:
    """What a process of its own measures."""
    command = [sys.executable, __file__, *arguments, "--output", output]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(data: str, models: list[str], count: int, threads: int) -> None:
    """Print the table."""
    print("| model | batches | texts | seconds | padding | peak, MB | differs by |\n|---|---|---|---|---|---|---|")
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            for i, way in enumerate(WAYS):
                options = ["--way", way, "--texts", str(count), "--threads", str(threads)]
                got = measured([data, model, *options], f"{folder}/{i}.npz")
                first, this = (sparse.load_npz(f"{folder}/{j}.npz") for j in (0, i))
                apart = abs(first - this).max() / abs(first).max()
                name = f"{way} tokens, by tokens" if way.isdigit() else f"{SIZE} texts, {way}"
                numbers = f"{got['texts']:,} | {got['seconds']:.1f} | {got['padding']:.0%} | {got['megabytes']:.0f}"
                print(f"| {Path(model.partition('=')[2]).name} | {name} | {numbers} | {apart:.0e} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--output")
    given = parser.parse_args()
    if given.way:
        kind, _, folder = given.models[0].partition("=")
        encode(kind, folder, given.data, given.way, given.texts, given.threads, given.output)
    else:
        compare(given.data, given.models, given.texts, given.threads)
