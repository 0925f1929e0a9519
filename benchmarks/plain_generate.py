"""What the workflow's generation is measured against: the demo's requests, the prompts of the published way, plain `generate`."""

import random
from dataclasses import replace
from pathlib import Path

import pandas as pd
import torch
from transformers import GenerationConfig, PreTrainedModel, StoppingCriteriaList, StopStringCriteria

from whobenefits.generation.answers import _texts, request_prompts
from whobenefits.generation.engine import Answer, Decoding, Engine
from whobenefits.generation.kinds import SETTINGS
from whobenefits.generation.plan import request_plan
from whobenefits.generation.prompts import Prompt, read_template, template_path
from whobenefits.generation.stopping import PATTERNS, LineEnd, line_flags

ROOT = Path(__file__).parents[1]
DECODING = {"article": Decoding("article", 2, 32, "pattern"), "title": Decoding("title", 4, 16, "line")}
CONTEXT_TOKENS = 2048


class Plain:
    """`generate` as it comes, with a model as it comes."""

    def __init__(self, engine: Engine, model: PreTrainedModel, decoding: Decoding) -> None:
        self.engine, self.model, self.decoding = engine, model, decoding
        flags = line_flags(engine.tokenizer, engine.device)
        self.rules = {
            "none": lambda length: [],
            "line": lambda length: [LineEnd(flags, length)],
            "pattern": lambda length: [pattern],
        }
        pattern = StopStringCriteria(engine.tokenizer, [PATTERNS[decoding.task]])
        self.config = GenerationConfig(
            num_beams=decoding.beams,
            max_new_tokens=decoding.max_new_tokens,
            do_sample=False,
            eos_token_id=engine.model.generation_config.eos_token_id,
            pad_token_id=engine.tokenizer.pad_token_id,
        )

    @torch.inference_mode()
    def answers(self, prompts: list[Prompt], stop: str) -> list[Answer]:
        """The prompts' answers, as one batch."""
        inputs = self.engine.tokenizer.pad({"input_ids": [list(p.tokens) for p in prompts]}, return_tensors="pt")
        length = inputs["input_ids"].shape[1]
        rules = StoppingCriteriaList(self.rules[stop](length))
        inputs = inputs.to(self.engine.device)
        output = self.model.generate(**inputs, generation_config=self.config, stopping_criteria=rules)
        decoding = replace(self.decoding, stop=stop)
        return [self.engine._as_answer(row, decoding) for row in output[:, length:].tolist()]


def requests_of(task: str, folder: Path, corpus: pd.DataFrame, queries: int | None, templates: dict) -> pd.DataFrame:
    """The demo's plan, or one of so many queries with 6 documents each, of which three retrievers list 3 each."""
    if not queries:
        return pd.read_parquet(folder / task / "requests.parquet")
    draw = random.Random(queries)
    names, runs = list(corpus["doc_id"]), {name: [] for name in ("one", "two", "three")}
    drawn = draw.sample(names, queries)
    for query in drawn:
        pool = draw.sample(names, 6)
        for rows in runs.values():
            rows += [(query, doc, rank) for rank, doc in enumerate(draw.sample(pool, 3), 1)]
    tables = {name: pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"]) for name, rows in runs.items()}
    return request_plan(drawn, tables, templates, 3)


def authors_requests(plan: pd.DataFrame) -> list[str]:
    """The prompts of the published way by request: for each retriever all three settings, whether known or not."""
    alone = plan[plan["setting"] == "llm"].set_index("query_id")["request_id"]
    single = plan[plan["setting"] == "doc"].set_index(["query_id", "doc_id"])["request_id"]
    made = []
    for row in plan[plan["setting"] == "rag"].itertuples():
        made += [alone[row.query_id], row.request_id, *(single[row.query_id, doc] for doc in row.doc_ids)]
    return made


def prompts_of(engine: Engine, task: str, results: Path, queries: int | None) -> tuple:
    """The plan, and its prompts by request."""
    corpus = pd.read_parquet(results / "corpus.parquet")
    templates = {s: read_template(template_path(ROOT / "config/prompts/paper", task, s)) for s in SETTINGS}
    plan = requests_of(task, results, corpus, queries, templates)
    texts, documents = _texts(plan, corpus, task)
    limit = CONTEXT_TOKENS - DECODING[task].max_new_tokens
    return plan, request_prompts(plan, texts, documents, templates, engine.tokenizer, limit)
