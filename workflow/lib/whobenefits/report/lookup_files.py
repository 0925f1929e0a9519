"""The files of the view of single queries, from the tables of a run."""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from whobenefits.generation.kinds import SETTINGS
from whobenefits.generation.prompts import read_template
from whobenefits.report.lookup import TaskTables, TopicTables, write_queries
from whobenefits.report.sample import query_rows
from whobenefits.tables import ANSWERS, CORPUS, FACTORS, GROUPS, OUTCOMES, QUERIES, REQUESTS, SCORES, read_table

LIST = "list.json"


def write_query_files(topics: Mapping[str, Mapping], folder: str | Path) -> None:
    """Write the records of all queries, and list.json with a row for each (sample.query_rows).

    `topics` has for each topic the paths of `queries`, `corpus` and `groups`, and `tasks`: for each task those of
    `requests`, of the `templates` by setting, and under `llms`, for each LLM, of `answers`, `scores`, `outcomes` and
    `factors`. One topic after the other, so that memory holds one.
    """
    rows = []
    for topic, paths in topics.items():
        tables = read_topic(paths)
        files = write_queries(topic, tables, folder)
        titles = tables.corpus.set_index("doc_id")["title"]
        ids = tables.queries["query_id"].tolist()
        rows += query_rows(topic, files, {query: titles[query] for query in ids}, _outcomes(paths))
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, LIST).write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def read_topic(paths: Mapping) -> TopicTables:
    """The tables of one topic, from paths as write_query_files takes them."""
    return TopicTables(
        queries=read_table(QUERIES, paths["queries"]),
        corpus=read_table(CORPUS, paths["corpus"]),
        groups=read_table(GROUPS, paths["groups"]),
        tasks={task: _task(of_task) for task, of_task in paths["tasks"].items()},
    )


def _task(paths: Mapping) -> TaskTables:
    llms = paths["llms"]
    return TaskTables(
        requests=read_table(REQUESTS, paths["requests"]),
        templates=dict(zip(SETTINGS, map(read_template, paths["templates"]), strict=True)),
        answers={llm: read_table(ANSWERS, of["answers"]) for llm, of in llms.items()},
        scores={llm: read_table(SCORES, of["scores"]) for llm, of in llms.items()},
        factors={llm: read_table(FACTORS, of["factors"]) for llm, of in llms.items()},
    )


def _outcomes(paths: Mapping) -> pd.DataFrame:
    tables = [of["outcomes"] for task in paths["tasks"].values() for of in task["llms"].values()]
    return pd.concat([read_table(OUTCOMES, path) for path in tables], ignore_index=True)
