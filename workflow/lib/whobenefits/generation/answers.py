"""The answers of one LLM to the requests of one topic and task: from the store where they are known, else generated."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd
import torch

from whobenefits.generation.engine import VERSION, Answer, Decoding, Engine
from whobenefits.generation.kinds import SETTINGS
from whobenefits.generation.loading import load_tokenizer, usable_dtype
from whobenefits.generation.prompts import (
    Document,
    Prompt,
    Template,
    Tokenizer,
    fitted_prompt,
    read_template,
)
from whobenefits.generation.shards import shard_requests
from whobenefits.manifests import asset_identity
from whobenefits.store import content_key, segment_writer, stored_records
from whobenefits.tables import ANSWERS, CORPUS, REQUESTS, read_table, write_table
from whobenefits.termination import deferred_termination


def request_prompts(
    requests: pd.DataFrame,
    queries: Mapping[str, str],
    documents: Mapping[str, Document],
    templates: Mapping[str, Template],
    tokenizer: Tokenizer,
    limit: int,
    truncation: str = "documents",
) -> dict[str, Prompt]:
    """The prompt of each distinct request, in at most `limit` tokens; `truncation` as in fitted_prompt.

    `queries` holds the queries' texts, `documents` the documents that the requests name, `templates` the task's
    templates by setting.
    """
    prompts = {}
    for row in requests.drop_duplicates("request_id").itertuples():
        template = templates[row.setting if len(row.doc_ids) else "llm"]
        context = [documents[doc] for doc in row.doc_ids]
        prompts[row.request_id] = fitted_prompt(template, queries[row.query_id], context, tokenizer, limit, truncation)
    return prompts


def stored_answers(
    prompts: Mapping[str, Prompt],
    engine: Callable[[], Engine],
    model: Mapping[str, str],
    decoding: Decoding,
    batch_tokens: int,
    store: str | Path,
) -> pd.DataFrame:
    """The table of answers to the prompts (by request id).

    `model` identifies the model and its number format. `engine` is called, and the model loaded, only where something
    is missing from the store. Each batch is in the store before the next one starts.
    """
    rule = asdict(decoding)
    keys = {name: content_key(VERSION, dict(model), rule, prompt.text) for name, prompt in prompts.items()}
    known = stored_records(store, set(keys.values()))
    missing = _missing(prompts, keys, known)
    logging.info("%d prompts: %d in the store, %d to generate", len(keys), len(keys) - len(missing), len(missing))
    if missing:
        known |= _generated(missing, engine(), decoding, batch_tokens, store)
    rows = [_row(request, prompt, known[keys[request]]) for request, prompt in prompts.items()]
    return pd.DataFrame(rows, columns=list(ANSWERS.columns)).sort_values("request_id", ignore_index=True)


def _missing(prompts: Mapping[str, Prompt], keys: Mapping[str, str], known: Mapping[str, object]) -> dict[str, Prompt]:
    return {keys[request]: prompt for request, prompt in prompts.items() if keys[request] not in known}


def _generated(
    missing: Mapping[str, Prompt], engine: Engine, decoding: Decoding, batch_tokens: int, store: str | Path
) -> dict[str, dict]:
    # Sorted by text, so that the batches, and with them the rounding, depend on the prompts and not on their order.
    keys: Sequence[str] = sorted(missing, key=lambda key: missing[key].text)
    records: dict[str, dict] = {}
    with segment_writer(store) as write, deferred_termination() as end_if_asked:
        for answers in engine.answers([missing[key] for key in keys], decoding, batch_tokens):
            batch = {keys[i]: asdict(answer) for i, answer in answers.items()}
            write(batch)
            records |= batch
            logging.info("%d of %d prompts generated", len(records), len(keys))
            if len(records) < len(keys):
                end_if_asked(f"{len(records)} of {len(keys)} missing answers are kept")
    return records


def _row(request: str, prompt: Prompt, record: Mapping) -> dict:
    answer = Answer(**record)
    return {
        "request_id": request,
        "answer": answer.text,
        "prompt_tokens": len(prompt.tokens),
        "cut_tokens": prompt.cut_tokens,
        "new_tokens": answer.new_tokens,
        "finish_reason": answer.finish_reason,
    }


def write_answers(
    requests: str,
    corpus: str,
    templates: Sequence[str],
    manifest: str,
    answers: str,
    store: str,
    task: str,
    shard: str,
    decoding: Mapping,
    llm: Mapping,
    threads: int,
) -> None:
    """Write the answers of a model to one shard of a table of requests.

    `manifest` is the asset.json of the model's folder, `decoding` has beams, max_new_tokens and stop, `llm` the
    settings of Config.engine, `shard` is `NUMBER-of-COUNT`, `threads` is the number of processor threads to use.
    """
    torch.set_num_threads(threads)
    folder = Path(manifest).parent
    rule = Decoding(task=task, **decoding)
    plan = shard_requests(read_table(REQUESTS, requests), shard)
    queries, documents = _texts(plan, read_table(CORPUS, corpus), task)
    prompts = request_prompts(
        requests=plan,
        queries=queries,
        documents=documents,
        templates=dict(zip(SETTINGS, map(read_template, templates), strict=True)),
        tokenizer=load_tokenizer(folder),
        limit=llm["context_tokens"] - rule.max_new_tokens,
        truncation=llm["truncation"],
    )
    model = {"model": asset_identity(folder), "dtype": str(usable_dtype(llm["dtype"]))}
    load = partial(Engine, folder, llm["dtype"], llm["gpus"], llm["device_map"])
    table = stored_answers(prompts, load, model, rule, llm["batch_tokens"], store)
    write_table(table, ANSWERS, answers)


def _texts(plan: pd.DataFrame, corpus: pd.DataFrame, task: str) -> tuple[dict[str, str], dict[str, Document]]:
    """The queries' texts and the documents that the plan needs, by id."""
    needed = set(plan["query_id"]) | {doc for docs in plan["doc_ids"] for doc in docs}
    rows = corpus[corpus["doc_id"].isin(needed)]
    documents = {row.doc_id: Document(row.title, row.text) for row in rows.itertuples()}
    return {query: query_text(documents[query], task) for query in plan["query_id"]}, documents


def query_text(document: Document, task: str) -> str:
    """What of a query's document is the query: its title where an article is asked for, its body for a title."""
    return document.title if task == "article" else document.body
