"""What has to be generated: each distinct prompt of a topic and task, once."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from whobenefits.generation.prompts import Template


def request_plan(
    queries: Sequence[str],
    runs: Mapping[str, pd.DataFrame],
    templates: Mapping[str, Template],
    context_size: int,
    context_order: str = "rank",
) -> pd.DataFrame:
    """The table of requests: per query one for the LLM alone, one for each retriever's first `context_size` documents
    together, and one for each document that any retriever has among these.

    `runs` are tables of retrieved documents by the retriever's name, `templates` the task's templates by setting.
    Requests that lead to the same prompt (two retrievers with the same list, a list of one document, an empty list)
    share their `request_id`, a hash of the template, the query and the documents in their order.

    The documents of a list stand in the order of their ranks, or, with the `context_order` "unordered", in one that
    depends on the query and on which documents they are, and not on their ranks.
    """
    contexts = {name: _contexts(run, context_size) for name, run in runs.items()}
    if context_order == "unordered":
        contexts = {name: {query: _unordered(query, docs) for query, docs in c.items()} for name, c in contexts.items()}
    rows = [row for query in queries for row in _rows(query, contexts)]
    frame = pd.DataFrame(rows, columns=["query_id", "setting", "retriever", "doc_id", "doc_ids"])
    # An empty list leaves the LLM alone with the query.
    used = [templates[setting if docs else "llm"] for setting, docs in zip(frame.setting, frame.doc_ids, strict=True)]
    keys = zip(used, frame.query_id, frame.doc_ids, strict=True)
    frame.insert(0, "request_id", [request_id(template.text, query, docs) for template, query, docs in keys])
    return frame


def request_id(template: str, query_id: str, doc_ids: Sequence[str]) -> str:
    """16 hexadecimal digits that name a prompt."""
    key = json.dumps([template, query_id, list(doc_ids)])
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def _contexts(run: pd.DataFrame, context_size: int) -> dict[str, list[str]]:
    first = run[run["rank"] <= context_size].sort_values(["query_id", "rank"])
    return first.groupby("query_id")["doc_id"].agg(list).to_dict()


def _unordered(query: str, doc_ids: Sequence[str]) -> list[str]:
    """The documents by a hash of query and document, so that no document stands first for every query."""
    return sorted(doc_ids, key=lambda doc_id: hashlib.sha256(json.dumps([query, doc_id]).encode()).digest())


def _rows(query: str, contexts: Mapping[str, Mapping[str, list[str]]]) -> Iterator[tuple]:
    yield query, "llm", None, None, []
    for name in contexts:
        yield query, "rag", name, None, contexts[name].get(query, [])
    # dict keys, not a set: the same order in every run
    union = dict.fromkeys(doc for name in contexts for doc in contexts[name].get(query, []))
    for doc in sorted(union):
        yield query, "doc", None, doc, [doc]
