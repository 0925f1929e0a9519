"""How much sooner the answers come when a prompt is encoded once and shared by its beams.

    .venv/bin/python benchmarks/generation.py FOLDER_OF_A_MODEL ARTICLES_JSON [PROMPTS]

Three ways over the same prompts, model and machine, one after the other: plain `generate`, which encodes a prompt for
each beam; the encoded prompt repeated for the beams; the encoded prompt shared by the beams (what the workflow does).
Prints seconds, ratios, and the share of answers equal to those of plain `generate`.
"""

import json
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow/lib"))

from whobenefits.generation.engine import Answer, Decoding, Engine  # noqa: E402
from whobenefits.generation.prompts import Document, Prompt, read_template, template_path  # noqa: E402

BUDGET = 8192


class PlainEngine(Engine):
    """`generate` as it comes, in the same batches and with the same stop rules."""

    @torch.inference_mode()
    def _answer(self, prompts: list[tuple[int, ...]], decoding: Decoding) -> list[Answer]:
        inputs = self.tokenizer.pad({"input_ids": [list(p) for p in prompts]}, return_tensors="pt").to(self.device)
        length = inputs["input_ids"].shape[1]
        rule = self._stop_rule(decoding, length)
        output = self.model.generate(
            **inputs, generation_config=self._generation_config(decoding), stopping_criteria=rule
        )
        return [self._as_answer(row, decoding) for row in output[:, length:].tolist()]


def prompts_of(engine: Engine, articles: list[dict], task: str, context: int, count: int) -> list[Prompt]:
    """`count` prompts of the paper's form with `context` documents each."""
    template = read_template(template_path(Path(__file__).parents[1] / "config/prompts/paper", task, "rag"))
    made = []
    for i in range(count):
        part = articles[i * (context + 1) : (i + 1) * (context + 1)]
        query = part[0]["title" if task == "article" else "extract"]
        text = template.render(query, [Document(d["title"], d["extract"]) for d in part[1:]])
        made.append(Prompt(text, tuple(engine.tokenizer(text)["input_ids"]), 0))
    return made


def timed(engine: Engine, prompts: list[Prompt], decoding: Decoding) -> tuple[float, list[Answer]]:
    """Seconds and answers."""
    start, answers = time.perf_counter(), {}
    for batch in engine.answers(prompts, decoding, BUDGET):
        answers |= batch
    return time.perf_counter() - start, [answers[i] for i in range(len(prompts))]


def main(folder: str, data: str, count: int) -> None:
    """Print the table."""
    articles = list(json.loads(Path(data).read_text()).values())
    plain, repeated, shared = PlainEngine(folder), Engine(folder), Engine(folder)
    repeated.shares_prompts = False
    print(f"{Path(folder).name}, {shared.dtype}, {torch.get_num_threads()} threads")
    print(f"{'task':8} {'k':>2} {'prompts':>7} {'tokens':>7} {'plain s':>8} {'repeated':>9} {'shared':>8} {'equal':>6}")
    for decoding in (Decoding("article", 2, 48, "pattern"), Decoding("title", 4, 16, "line")):
        for context in (1, 5):
            prompts = prompts_of(plain, articles, decoding.task, context, max(1, count // context))
            (a, first), (b, _), (c, last) = (timed(engine, prompts, decoding) for engine in (plain, repeated, shared))
            equal = sum(x.text == y.text for x, y in zip(first, last, strict=True)) / len(prompts)
            tokens = sum(len(prompt.tokens) for prompt in prompts)
            row = f"{decoding.task:8} {context:2} {len(prompts):7} {tokens:7} {a:8.1f} {a / b:8.1f}x {a / c:7.1f}x"
            print(f"{row} {equal:6.0%}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 40)
