"""How much sooner the answers of a grid come when each distinct prompt is encoded once, in full batches.

    .venv/bin/python benchmarks/generation.py --llm resources/smollm2-135m resources/gemma3-270m

Three ways over the same queries, documents, model and machine, in turns so that the noise of the machine meets all:

(a) as the published study did it: one prompt at a time through plain `generate`, no stop rule, and the prompts of the LLM
    alone and of single documents again for each retriever. Timed on `--sample` of its prompts drawn at random, and
    multiplied by their share.
(b) plain `generate` for each distinct prompt once, in padded batches of like length, with the budget and the stop rules of (c).
(c) the workflow's engine.

With `--queries N` the requests are drawn from the corpus, as many and as long as those of the demo's plan; without it they
are the demo's own. `--grow N` measures (c) alone at N, 2N, 4N and 8N queries. Prints Markdown.
"""

import argparse
import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow/lib"))

from plain_generate import DECODING, ROOT, Plain, authors_requests, prompts_of  # noqa: E402
from transformers import PreTrainedModel  # noqa: E402

from whobenefits.generation import decoders  # noqa: E402
from whobenefits.generation.beam_search import BeamSearch  # noqa: E402
from whobenefits.generation.engine import Answer, Decoding, Engine, batches  # noqa: E402
from whobenefits.generation.loading import load_model  # noqa: E402
from whobenefits.generation.processor import PackedLinear  # noqa: E402
from whobenefits.generation.prompts import Prompt  # noqa: E402
from whobenefits.generation.stopping import trimmed  # noqa: E402
from whobenefits.settings.generation import Llm  # noqa: E402


class Clock:
    """Seconds by name, with the device's work done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Add what the block takes."""
        start = _now()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + _now() - start

    def watch(self, owner: type, method: str, name: str) -> None:
        """Add what each call of a method takes."""
        plain = getattr(owner, method)

        def timed(*args: object) -> object:
            with self.of(name):
                return plain(*args)

        setattr(owner, method, timed)


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


CLOCK = Clock()


@torch.inference_mode()
def matmul_rate(model: PreTrainedModel, rows: int) -> float:
    """Operations a second in the products of a model's layers with so many rows: the best of 5, packed or not."""
    linear = [m for name, m in model.named_modules() if "proj" in name and hasattr(m, "in_features")]
    packs = model.device.type == "cpu" and model.dtype == torch.bfloat16
    inputs = {m.in_features: torch.randn(rows, m.in_features).to(m.weight) for m in linear}
    times = []
    for layers in [linear] * 5 + [[PackedLinear(m) for m in linear]] * (5 if packs else 0):
        start = _now()
        for m, layer in zip(linear, layers, strict=True):
            layer(inputs[m.in_features])
        times.append(_now() - start)
    return 2 * rows * sum(m.weight.numel() for m in linear) / min(times)


@torch.inference_mode()
def score(engine: Engine, model: PreTrainedModel, prompt: Prompt, answer: Answer) -> float:
    """Mean log probability of an answer's tokens, all at once: what beam search maximises."""
    tokens = engine.tokenizer(" " + answer.text, add_special_tokens=False)["input_ids"]
    ids = torch.tensor([[*prompt.tokens, *tokens]], device=engine.device)
    logits = model(ids).logits[0, len(prompt.tokens) - 1 : -1].float().log_softmax(-1)
    return float(logits.gather(1, ids[0, len(prompt.tokens) :, None]).mean())


def compare(engine: Engine, plain_model: PreTrainedModel, task: str, options: argparse.Namespace) -> list[str]:
    """The row of a task in the table, and examples of answers that differ."""
    decoding, plain = DECODING[task], Plain(engine, plain_model, DECODING[task])
    CLOCK.seconds.clear()
    with CLOCK.of("tokenise"):
        plan, by_request = prompts_of(engine, task, options.results, options.queries)
    published = authors_requests(plan)
    sampled = random.Random(0).sample(published, min(options.sample, len(published)))
    names, prompts = list(by_request), list(by_request.values())
    texts, budget = [prompt.tokens for prompt in prompts], (decoding.max_new_tokens, options.batch_tokens)
    ours, padded = (batches(texts, *budget, shared) for shared in (engine.shares_prompts, False))
    answers: dict[str, dict[str, Answer]] = {"a": {}, "b": {}, "c": {}, "unstopped": {}}
    free = Decoding(task, decoding.beams, decoding.max_new_tokens, "none")
    turns = max(len(ours), len(padded))
    for turn, (group, plain_group) in enumerate(zip_longest(ours, padded, fillvalue=[])):
        if group:
            with CLOCK.of("c"):
                (got,) = engine.answers([prompts[i] for i in group], decoding, 10**9)
            answers["c"] |= {names[i]: got[place] for place, i in enumerate(group)}
        if plain_group and not options.without_plain:
            with CLOCK.of("b"):
                got = plain.answers([prompts[i] for i in plain_group], decoding.stop)
            answers["b"] |= {names[i]: answer for i, answer in zip(plain_group, got, strict=True)}
        for name in sampled[turn::turns]:
            with CLOCK.of("a"):
                (answers["a"][name],) = plain.answers([by_request[name]], "none")
    seconds = dict(CLOCK.seconds)
    some = [by_request[name] for name in answers["a"]]
    for got in engine.answers(some, free, options.batch_tokens):
        answers["unstopped"] |= {list(answers["a"])[i]: answer for i, answer in got.items()}
    encoded = sum(_encoded([texts[i] for i in group], engine.shares_prompts) for group in ours)
    return report(engine, plain_model, task, by_request, published, sampled, answers, seconds, encoded)


def _encoded(texts: list[tuple[int, ...]], shared: bool) -> int:
    """Tokens that pass through the model in prefill: all but the beginnings that are shared, or padding included."""
    return sum(map(len, texts)) - sum(decoders.beginnings(texts)[1]) if shared else len(texts) * max(map(len, texts))


def report(engine, plain_model, task, prompts, published, sampled, answers, seconds, encoded) -> list[str]:
    """The lines of a comparison."""
    tokens = {name: len(prompt.tokens) for name, prompt in prompts.items()}
    stretch = len(published) / max(1, len(sampled))
    a, b, c = seconds.get("a", 0) * stretch, seconds.get("b", 0), seconds["c"]
    new = {way: sum(answer.new_tokens for answer in got.values()) for way, got in answers.items()}
    rate = matmul_rate(plain_model, decoders.ENCODED_TOKENS[engine.device.type])
    products = sum(p.numel() for name, p in plain_model.named_parameters() if "proj" in name)
    reached = 2 * products * encoded / seconds["prefill"] / rate
    same = {
        "a": _share(answers["a"], answers["unstopped"]),
        "cut": _share({n: _cut(x, task) for n, x in answers["a"].items()}, answers["c"]),
        "b": _share(answers["b"], answers["c"]),
    }
    rest = c - seconds["prefill"] - seconds["decode"] - seconds["search"]
    lines = [
        f"| {Path(engine.model.name_or_path).name} | {task} "
        f"| {len(published)} ({sum(tokens[n] for n in published):,} + {new['a'] * stretch:,.0f}) "
        f"| {len(prompts)} ({sum(tokens.values()):,} + {new['c']:,}), {encoded:,} encoded "
        f"| {a:.0f} | {b:.1f} | {c:.1f} | **{a / c:.1f}×** | **{b / c:.1f}×** "
        f"| {same['a']:.0%} | {same['cut']:.0%} | {same['b']:.0%} "
        f"| {seconds['tokenise']:.1f} + {seconds['prefill']:.1f} + {seconds['decode']:.1f} + {seconds['search']:.1f} + {rest:.1f} "
        f"| {rate / 1e12:.2f} | {reached:.0%} |"
    ]
    differing = [name for name in answers["b"] if answers["b"][name].text != answers["c"][name].text]
    for name in differing[:2]:
        both = [
            f"{score(engine, plain_model, prompts[name], answers[way][name]):.4f} {answers[way][name].text!r}"
            for way in "bc"
        ]
        lines.append(f"\n    {task} {name}: (b) {both[0]}\n    {' ' * len(task)} {' ' * len(name)}  (c) {both[1]}")
    return lines


def _cut(answer: Answer, task: str) -> Answer:
    return Answer(trimmed(answer.text, DECODING[task].stop, task), answer.new_tokens, answer.finish_reason)


def _share(some: dict[str, Answer], others: dict[str, Answer]) -> float:
    return sum(answer.text == others[name].text for name, answer in some.items()) / len(some) if some else float("nan")


def grow(engine: Engine, task: str, options: argparse.Namespace) -> Iterator[str]:
    """Seconds of (c) for each distinct prompt, and the most memory so far, as the queries grow."""
    for times in (1, 2, 4, 8):
        _, by_request = prompts_of(engine, task, options.results, options.grow * times)
        start, prompts = _now(), list(by_request.values())
        for _ in engine.answers(prompts, DECODING[task], options.batch_tokens):
            pass
        took, tokens = _now() - start, sum(len(p.tokens) for p in prompts)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        if torch.cuda.is_available():
            memory = torch.cuda.max_memory_allocated() / 1e9
        yield (
            f"| {Path(engine.model.name_or_path).name} | {task} | {options.grow * times} | {len(prompts)} | {tokens:,} "
            f"| {took:.1f} | {1000 * took / len(prompts):.0f} | {1e6 * took / tokens:.0f} | {memory:.2f} |"
        )


def main(options: argparse.Namespace) -> None:
    """Print the tables."""
    torch.set_num_threads(options.threads)
    for owner in (decoders.SharedDecoder, decoders.RepeatedDecoder):
        CLOCK.watch(owner, "encode", "prefill")
        CLOCK.watch(owner, "step", "decode")
        CLOCK.watch(owner, "keep", "decode")
    CLOCK.watch(BeamSearch, "advance", "search")
    place = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{options.threads} processor threads"
    examples = []
    for position, folder in enumerate(options.llm):
        engine = Engine(folder, options.dtype)
        plain = load_model(folder, engine.dtype)
        if not position:
            print(f"{place}, {engine.dtype}, batches of {options.batch_tokens:,} tokens\n")
            print(HEADER_GROW if options.grow else HEADER)
        for task in options.tasks:
            if options.grow:
                for line in grow(engine, task, options):
                    print(line, flush=True)
            else:
                row, *differing = compare(engine, plain, task, options)
                print(row, flush=True)
                examples += differing
    print("\nTwo ways, the mean log probability of their answers, and the answers:" if examples else "", *examples)


HEADER = """\
| LLM | task | (a) prompts (tokens + new) | distinct prompts (tokens + new) | (a) s | (b) s | (c) s | (a)/(c) | (b)/(c) \
| equal to (a), no stop rule | to (a), cut | equal to (b) | (c): tokenise + prefill + decode + search + rest, s \
| products, TFLOPS | of it in prefill |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""
HEADER_GROW = """\
| LLM | task | queries | distinct prompts | prompt tokens | s | ms a prompt | µs a prompt token | memory, GB |
|---|---|---|---|---|---|---|---|---|"""


def arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llm", nargs="+", type=Path, required=True, help="folders of models")
    parser.add_argument("--results", type=Path, default=ROOT / "results/geography", help="a topic's results")
    parser.add_argument("--tasks", nargs="+", choices=list(DECODING), default=list(DECODING))
    parser.add_argument("--queries", type=int, help="draw requests of so many queries")
    parser.add_argument("--sample", type=int, default=24, help="prompts on which (a) is timed")
    parser.add_argument("--without-plain", action="store_true", help="leave (b) out")
    parser.add_argument("--grow", type=int, help="(c) alone at 1, 2, 4 and 8 times so many queries")
    parser.add_argument("--batch-tokens", type=int, default=Llm.model_fields["batch_tokens"].default)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    return parser.parse_args()


if __name__ == "__main__":
    main(arguments())
