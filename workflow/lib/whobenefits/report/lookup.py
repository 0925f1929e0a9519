"""What the view of single queries shows: each query's prompts, documents, answers and scores, in small script files.

A page that is opened from a disk may not read other files but by script elements, so each file is a script that hands its
record over. A record holds a query of a topic with all its tasks; documents stand in it once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from whobenefits.generation.prompts import Template
from whobenefits.report.prompt_parts import prompt_parts
from whobenefits.report.text import json_text, visible_data


@dataclass(frozen=True)
class TaskTables:
    """The tables of one topic and task: what was asked, the templates by setting, and by LLM what came of it."""

    requests: pd.DataFrame
    templates: Mapping[str, Template]
    answers: Mapping[str, pd.DataFrame]
    scores: Mapping[str, pd.DataFrame]
    factors: Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class TopicTables:
    """The tables of one topic; `groups` and `corpus` are of the documents that are retrieved from and of the queries."""

    queries: pd.DataFrame
    corpus: pd.DataFrame
    groups: pd.DataFrame
    tasks: Mapping[str, TaskTables]


def records(topic: str, tables: TopicTables) -> Iterator[dict]:
    """One record for each query of a topic, in the order of the queries, as plain data with all text made visible.

    `tasks` has by task the query's `prompts` (parts by place, see prompt_parts), and by LLM its `answers` by place and
    the documents' `factors` by retriever; a place is "llm", "rag RETRIEVER" or "doc DOCUMENT". `documents` are all those
    that occur, by identifier, the query's own among them. Undefined numbers are None.
    """
    needed = _needed(tables)
    corpus = tables.corpus[tables.corpus["doc_id"].isin(needed)].set_index("doc_id")[["title", "text"]]
    texts = corpus.to_dict("index")
    labels = _labels(tables.groups[tables.groups["doc_id"].isin(needed)])
    found = {task: _by_query(part) for task, part in tables.tasks.items()}
    for query in tables.queries["query_id"]:
        tasks = {task: _task_record(task, query, found[task][query], texts) for task in found}
        documents = {
            query,
            *(doc for rows in found.values() for docs in rows[query]["requests"]["doc_ids"] for doc in docs),
        }
        shown = {doc: texts[doc] | {"groups": labels.get(doc, {})} for doc in sorted(documents)}
        yield visible_data({"topic": topic, "query": query, "tasks": tasks, "documents": shown})


def _needed(tables: TopicTables) -> set[str]:
    asked = {doc for part in tables.tasks.values() for docs in part.requests["doc_ids"] for doc in docs}
    return asked | set(tables.queries["query_id"])


def _labels(groups: pd.DataFrame) -> dict[str, dict[str, str]]:
    labels: dict[str, dict[str, str]] = {}
    for doc, category, group in groups[["doc_id", "category", "group"]].itertuples(index=False, name=None):
        labels.setdefault(doc, {})[category] = group
    return labels


def _by_query(part: TaskTables) -> dict[str, dict]:
    """The rows of each query: its requests, and by LLM the answers by request and the factors by (retriever, document)."""
    answers = {llm: _answers(part.answers[llm], part.scores[llm]) for llm in part.answers}
    factors = {llm: dict(tuple(frame.groupby("query_id"))) for llm, frame in part.factors.items()}
    return {
        query: {
            "requests": rows,
            "templates": part.templates,
            "answers": answers,
            "factors": {llm: _factors(by_query.get(query)) for llm, by_query in factors.items()},
        }
        for query, rows in part.requests.groupby("query_id")
    }


def _answers(answers: pd.DataFrame, scores: pd.DataFrame) -> dict[str, list]:
    """By request: answer, score, tokens of the prompt, tokens cut from it, tokens of the answer, why it ended."""
    values = dict(zip(scores["request_id"], scores["value"], strict=True))
    columns = ["request_id", "answer", "prompt_tokens", "cut_tokens", "new_tokens", "finish_reason"]
    rows = answers[columns].itertuples(index=False, name=None)
    return {request: [text, plain(values.get(request)), *more] for request, text, *more in rows}


def _factors(rows: pd.DataFrame | None) -> dict[str, dict[str, list]]:
    """By retriever and document: rank, utility and attribution."""
    found: dict[str, dict[str, list]] = {}
    for row in [] if rows is None else rows.itertuples():
        found.setdefault(row.retriever, {})[row.doc_id] = [row.rank, plain(row.utility), plain(row.attribution)]
    return found


def _task_record(task: str, query: str, rows: Mapping, texts: Mapping) -> dict:
    requests = list(rows["requests"].itertuples())
    used = {row.request_id: rows["templates"][row.setting if len(row.doc_ids) else "llm"] for row in requests}
    prompts = {_place(row): (used[row.request_id], task, query, list(row.doc_ids), texts) for row in requests}
    return {
        "prompts": {place: prompt_parts(*parts) for place, parts in prompts.items()},
        "answers": {
            llm: {_place(row): known[row.request_id] for row in requests if row.request_id in known}
            for llm, known in rows["answers"].items()
        },
        "factors": rows["factors"],
    }


def _place(row: tuple) -> str:
    return {"llm": "llm", "rag": f"rag {row.retriever}", "doc": f"doc {row.doc_id}"}[row.setting]


def plain(value: object) -> float | None:
    """A number for JSON: None where it is undefined."""
    return None if value is None or pd.isna(value) else float(value)


def script(record: Mapping) -> str:
    """The record as a script that hands it to the page."""
    return f"whobenefits.receive({json_text(record)});\n"


def write_queries(topic: str, tables: TopicTables, folder: str | Path) -> list[str]:
    """Write each query of a topic into its own file, numbered in the order of the queries; their paths in the folder."""
    paths = []
    for number, record in enumerate(records(topic, tables), 1):
        path = f"{topic}/{number}.js"
        (Path(folder) / topic).mkdir(parents=True, exist_ok=True)
        (Path(folder) / path).write_text(script(record), encoding="utf-8")
        paths.append(path)
    return paths
