"""What a run costs, printed before anything is submitted: jobs, prompts, tokens and GPU hours of each stage.

    make estimate CONFIG=config/paper.yaml

Where a topic's data and plans are there, prompts and words are counted in them; where not, they are bounded by the
settings: the most queries, and no two retrievers with a document in common.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from whobenefits.config import checked_config
from whobenefits.devices import DEVICES
from whobenefits.errors import UserError
from whobenefits.settings.study import Config
from whobenefits.tables import CORPUS, QUERIES, REQUESTS, read_table
from whobenefits.workload import (
    BANDWIDTH,
    BODY_WORDS,
    INSTRUCTION_TOKENS,
    PRODUCTS,
    STEP_SECONDS,
    TITLE_WORDS,
    TOKENS_PER_WORD,
    Load,
    prompt_loads,
    query_bound,
    seconds,
    shard_count,
)

# An encoder and an NLI model of the size of BERT-base and RoBERTa-large, in billions of parameters. They compute in
# float32, which the devices do at about a sixteenth of their rate in bfloat16.
ENCODER, NLI, SINGLE = 0.11, 0.36, 1 / 16
# Parts between commas of a text of BODY_WORDS words: each is a pair of its own for the attributor `fragments`.
FRAGMENTS = 9


@dataclass(frozen=True)
class Cost:
    """One line: what is done, in how many jobs, on how many items, with how many tokens, for how long on GPUs."""

    stage: str
    jobs: int
    items: str
    prompt_tokens: float
    new_tokens: float
    gpu_hours: float
    counted: bool


def costs(config: Config, device: str) -> list[Cost]:
    """The lines of a run on a device of DEVICES, in the order of the stages."""
    return [*_retrieval(config, device), *_generation(config, device), *_attribution(config, device), _measures(config)]


def _retrieval(config: Config, device: str) -> Iterator[Cost]:
    grid, topics = config.grid, len(config.grid.topics)
    pools = 1 if config.dataset.retrieval_corpus == "union" else topics
    encoders = sum(hasattr(config.retrievers[name], "model") for name in grid.retrievers)
    yield Cost("prepare_dataset", topics, f"{topics} topics", 0, 0, 0, True)
    lexical = len(grid.retrievers) - encoders
    yield Cost("build_index", pools * lexical, f"{pools * lexical} indexes", 0, 0, 0, True)
    if encoders:
        words, documents, counted = _documents(config)
        tokens = encoders * words * TOKENS_PER_WORD
        hours = _hours_of_products(ENCODER, tokens, device, SINGLE)
        items = f"{encoders * documents:,} documents" if counted else "documents not yet prepared"
        yield Cost("encode_corpus", pools * encoders, items, tokens, 0, hours, counted)
    jobs = topics * len(grid.tasks)
    yield Cost("retrieve, plan", jobs, f"{jobs * len(grid.retrievers)} runs", 0, 0, 0, True)


def _documents(config: Config) -> tuple[float, int, bool]:
    """Words and documents of all topics, and whether they could be counted."""
    paths = [Path(config.results) / topic / "dataset.csv" for topic in config.grid.topics]
    if not all(path.is_file() for path in paths):
        return 0.0, 0, False
    rows = pd.concat(map(pd.read_csv, paths))
    return float((rows["documents"] * rows["mean_body_words"]).sum()), int(rows["documents"].sum()), True


def _generation(config: Config, device: str) -> Iterator[Cost]:
    for llm in config.grid.llms:
        for task in config.grid.tasks:
            parts = [_loads(config, topic, task) for topic in config.grid.topics]
            loads = [load for found, _ in parts for load in found.values()]
            hours = sum(seconds(load, config.llms[llm], DEVICES[device]) for load in loads) / 3600
            yield Cost(
                stage=f"generate {task}, {config.llms[llm].label}",
                jobs=len(config.grid.topics) * shard_count(config, task, llm),
                items=f"{sum(load.prompts for load in loads):,} prompts",
                prompt_tokens=sum(load.prompts * load.tokens for load in loads),
                new_tokens=sum(load.prompts * load.new_tokens for load in loads),
                gpu_hours=hours * config.llms[llm].gpus,
                counted=all(counted for _, counted in parts),
            )


def _loads(config: Config, topic: str, task: str) -> tuple[dict[str, Load], bool]:
    """The loads of one topic and task, and whether they were counted in its plan."""
    folder = Path(config.results) / topic
    corpus, queries, plan = folder / "corpus.parquet", folder / "queries.parquet", folder / task / "requests.parquet"
    if plan.is_file() and corpus.is_file():
        return counted_loads(config, task, read_table(REQUESTS, plan), read_table(CORPUS, corpus)), True
    if queries.is_file() and corpus.is_file():
        texts = read_table(CORPUS, corpus)
        body, title = (float(texts[name].str.split().str.len().mean()) for name in ("text", "title"))
        return prompt_loads(config, task, len(read_table(QUERIES, queries)), body, title), False
    return prompt_loads(config, task, query_bound(config), BODY_WORDS, TITLE_WORDS), False


def counted_loads(config: Config, task: str, requests: pd.DataFrame, corpus: pd.DataFrame) -> dict[str, Load]:
    """The loads by setting: each distinct prompt of the plan once, its tokens from the words of its own texts."""
    words = corpus.assign(
        title=corpus["title"].str.split().str.len(), text=corpus["text"].str.split().str.len()
    ).set_index("doc_id")
    whole = (words["title"] + words["text"]).to_dict()
    asked = words["title" if task == "article" else "text"].to_dict()
    plan = requests.drop_duplicates("request_id")
    loads = {}
    for setting, rows in plan.groupby("setting"):
        total = sum(
            asked[query] + sum(whole.get(doc, BODY_WORDS) for doc in docs)
            for query, docs in zip(rows["query_id"], rows["doc_ids"], strict=True)
        )
        tokens = INSTRUCTION_TOKENS + TOKENS_PER_WORD * total / len(rows)
        loads[setting] = Load(len(rows), tokens, config.tasks[task].max_new_tokens)
    return loads


def _attribution(config: Config, device: str) -> Iterator[Cost]:
    grid, kind = config.grid, config.attribution.kind
    jobs = len(grid.topics) * len(grid.tasks) * len(grid.llms)
    lists = query_bound(config) * len(grid.retrievers)
    answer = sum(config.tasks[task].max_new_tokens for task in grid.tasks) / len(grid.tasks)
    if kind == "likelihood":
        pairs = jobs * lists * (config.retrieval.context_size + config.attribution.controls)
        tokens = pairs * (INSTRUCTION_TOKENS + TOKENS_PER_WORD * (BODY_WORDS + TITLE_WORDS) + answer)
        billions = sum(config.llms[llm].billion_parameters for llm in grid.llms) / len(grid.llms)
        hours = _hours_of_products(billions, tokens, device)
    elif hasattr(config.attribution, "model"):
        pairs, one = jobs * lists * config.retrieval.context_size, TOKENS_PER_WORD * BODY_WORDS + answer
        if kind == "fragments":
            pairs, one = FRAGMENTS * pairs, TOKENS_PER_WORD * BODY_WORDS / FRAGMENTS + answer
        tokens = pairs * one
        hours = _hours_of_products(NLI, tokens, device, SINGLE)
    else:
        return
    yield Cost("attribute_by_model", jobs, f"{pairs:,} pairs", tokens, 0, hours, False)


def _hours_of_products(billions: float, tokens: float, device: str, share: float = 1.0) -> float:
    """Hours that a model of so many parameters takes to read so many tokens, at a share of the rate in bfloat16."""
    return 2 * billions * 1e9 * tokens / (DEVICES[device].teraflops * 1e12 * PRODUCTS * share) / 3600


def _measures(config: Config) -> Cost:
    cells = len(config.grid.topics) * len(config.grid.tasks) * len(config.grid.llms)
    return Cost("score, measure", cells, f"{cells} cells", 0, 0, 0, True)


def shown(lines: list[Cost], config: Config, device: str) -> str:
    """The lines as a table for a terminal, with what they rest on."""
    rows = [("stage", "jobs", "of", "prompt tokens", "new tokens", "GPU hours", "")]
    rows += [
        (c.stage, f"{c.jobs:,}", c.items, _round(c.prompt_tokens), _round(c.new_tokens), _hours(c), _mark(c))
        for c in lines
    ]
    total = sum(c.gpu_hours for c in lines)
    rows.append(("all", f"{sum(c.jobs for c in lines):,}", "", "", "", f"{total:.1f}", ""))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = "\n".join(
        "  ".join(_aligned(cell, w, i) for i, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    )
    return f"{config.name} on {device}\n\n{text}\n\n{_basis(device)}"


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column in (0, 2, 6) else cell.rjust(width)


def _round(tokens: float) -> str:
    return f"{tokens / 1e6:,.1f} M" if tokens else ""


def _hours(cost: Cost) -> str:
    return f"{cost.gpu_hours:.1f}" if cost.prompt_tokens else ""


def _mark(cost: Cost) -> str:
    return "" if cost.counted else "at most"


def _basis(device: str) -> str:
    d = DEVICES[device]
    return (
        f"Assumed: {TOKENS_PER_WORD} tokens a word; the {device} of the data sheet ({d.teraflops:.0f} TFLOPS, {d.bandwidth:.0f} GB/s), "
        f"of which encoding reaches {PRODUCTS:.0%} and decoding {BANDWIDTH:.0%}, with at least {1000 * STEP_SECONDS:.0f} ms a "
        "step; answers as long as max_new_tokens allows. `at most`: not planned yet, so bounded by the settings\n"
        "(no two retrievers share a document). Loading a model, queueing and what the store already holds are not counted."
    )


def main(arguments: list[str]) -> int:
    """Print the estimate of a config file; 1 where the settings have a fault."""
    parser = argparse.ArgumentParser(description="What a run costs.")
    parser.add_argument("config", help="the YAML file of the settings")
    parser.add_argument("--device", choices=sorted(DEVICES), help="instead of generation.device")
    given = parser.parse_args(arguments)
    try:
        config = checked_config(yaml.safe_load(Path(given.config).read_text(encoding="utf-8")), given.config)
        device = given.device or config.generation.device
        print(shown(costs(config, device), config, device))
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
